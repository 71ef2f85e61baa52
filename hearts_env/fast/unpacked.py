"""Kernels whose arguments are kept unpacked in memory: to hand them over costs more than the work of a turn."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple, cast

import numpy as np
from numba import typeof

from hearts_env.cards import Bytes, Ints, Sets
from hearts_env.fast.encode import Shape, room, shape, unpack, write
from hearts_env.fast.jit import Number, kernel
from hearts_env.fast.numba_backend import pick_up, put_down, words_of
from hearts_env.fast.step import NONE_BAD, Game, finish, game, legal_at, step_at, tables
from hearts_env.fast.view import blank, see
from hearts_env.game.compiled_rules import Lookup, lookup
from hearts_env.game.rules import Rules
from hearts_env.game.state import DEAL_OVER, State
from hearts_env.game.view import View
from hearts_env.observe.encode import Layout, layout


class Arguments(NamedTuple):
    """What the kernels below take, of one table."""

    game: Game
    shape: Shape
    tables: State
    seen: View
    words: Sets
    row: Bytes  # uint8 [1, F]


class Held:
    """One table, and one layout of its encodings."""

    def __init__(self, info: Lookup, state: State, shown: Layout) -> None:
        """state: of one row."""
        self.layout = shown
        # The memory below holds their addresses.
        self._arguments = _arguments(info, state, shown)
        self._memory = np.empty(_WORDS, np.int64)
        _hold(self._memory, self._arguments)
        self._bits = self._arguments.row[0, : shown.bits]

    def legal(self) -> int:
        """The set of legal actions of the seat to act."""
        return cast(int, _legal(self._memory))

    def step(self, action: int) -> None:
        """Carry out a legal action."""
        if _step(self._memory, action):
            finish(self._arguments.game, self._arguments.tables)

    def encode(self, seat: int) -> Bytes:
        """The encoding of a seat but for the order block, a fresh uint8 [bits]."""
        _encode(self._memory, seat)
        return self._bits.copy()


def _arguments(info: Lookup, state: State, shown: Layout) -> Arguments:
    made = shape(info, shown.seats)
    return Arguments(
        game=game(info),
        shape=made,
        tables=tables(state),
        seen=blank(info, 1),
        words=room(made),
        row=np.zeros((1, shown.size), np.uint8),
    )


def _any_kind() -> Any:
    """The numba type of Arguments, which is the same for all rules."""
    info = lookup(Rules())
    return typeof(_arguments(info, State.empty(info, 1), layout(info)))


@lru_cache(maxsize=64)
def ready(info: Lookup, seats: int, thread: int) -> tuple[Ints, Arguments]:
    """What `encode_tables` needs besides tables, as memory and what that points to; one for each thread.

    seats: columns of the layouts.
    """
    arguments = _arguments(info, State.empty(info, 1), layout(info, pad=seats != info.num_players))
    memory = np.empty(_WORDS, np.int64)
    _hold(memory, arguments)
    return memory, arguments


_KIND = _any_kind()
_WORDS = words_of(_KIND)


@kernel
def _hold(memory: Ints, arguments: Arguments) -> None:
    put_down(memory, arguments)


@kernel
def _legal(memory: Ints) -> Number:
    held = pick_up(memory, _KIND)
    return legal_at(held.game, held.tables, 0)


@kernel
def _step(memory: Ints, action: int) -> bool:
    held = pick_up(memory, _KIND)
    return held.tables.phase[0] < DEAL_OVER and step_at(held.game, held.tables, 0, action)


@kernel
def _encode(memory: Ints, seat: int) -> None:
    held = pick_up(memory, _KIND)
    see(held.game, held.tables, 0, seat, held.seen, 0)
    write(held.game, held.shape, held.seen, 0, held.words)
    unpack(held.shape, held.words, held.row[0])


@kernel
def encode_tables(memory: Ints, tables: State, of_actor: bool, seats: Ints, out: Bytes) -> int:
    """Fill the columns of `out`, uint8 [N, F], that are bits.

    memory: see `ready`.  seats: int64 [N] unless `of_actor`.  Returns as `kernels_view.view` does.
    """
    held = pick_up(memory, _KIND)
    for n in range(len(out)):
        seat = max(tables.turn[n], 0) if of_actor else seats[n]
        if not 0 <= seat < held.game.num_players:
            return n
        see(held.game, tables, n, seat, held.seen, 0)
        write(held.game, held.shape, held.seen, 0, held.words)
        unpack(held.shape, held.words, out[n])
    return NONE_BAD
