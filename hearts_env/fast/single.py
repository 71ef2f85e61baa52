"""One table, played faster than as a batch of one: Python runs the kernels on its numbers, one at a time."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Protocol, cast

import numpy as np

from hearts_env.cards import NUM_ACTIONS, NUM_CARDS, Bytes
from hearts_env.executor import executed
from hearts_env.fast.encode import Shape, shape, write
from hearts_env.fast.step import Game, Tables, game, legal_at, pick_at, play_at
from hearts_env.fast.view import Views, card_points_of, see
from hearts_env.game.compiled_rules import Lookup
from hearts_env.game.engine import ALL, finish, score
from hearts_env.game.state import DEAL_OVER, MOON, PASS, PLAY, State
from hearts_env.game.view import seats_of_plays
from hearts_env.observe.encode import WORD_BITS, Layout, unpack, write_order

_WORD = 2**WORD_BITS - 1


class Held(Protocol):
    """The kernels on one table as machine code: see `held.Held`."""

    layout: Layout

    def legal(self) -> int:
        """The set of legal actions of the seat to act."""

    def step(self, action: int) -> None:
        """Carry out a legal action."""

    def encode(self, seat: int) -> Bytes:
        """The encoding of a seat but for the order block, a fresh uint8 [bits]."""


@executed
def hold(lookup: Lookup, state: State, layout: Layout) -> Held | None:
    """What runs the kernels as machine code on one table, where the compiled executor is chosen."""
    return None


class OneTable:
    """`engine.legal`, `engine.step`, `encode.encode_tables` and `rewards.points_so_far` for a State of one row.

    The results are the same, as numbers in place of arrays of one.  Where the compiled executor is chosen, a table
    that has been encoded goes on as machine code.
    """

    def __init__(self, lookup: Lookup, state: State) -> None:
        self.lookup = lookup
        self.state = state
        self.numbers: Any = Tables(*(memoryview(array) for array in cast(Any, state)))
        """The arrays of the State, whose items are Python's numbers: `numbers.turn[0]`.  The memory is the same."""
        self._game = _plain_game(lookup)
        # What a seat sees, written anew for each: a dict takes the places of any array.
        self._seen: Any = Views._make({} for _ in Views._fields)
        self._held: Held | None = None

    def legal(self) -> int:
        """The set of legal actions of the seat to act; 0 when the deal is over."""
        if self._held is not None:
            return self._held.legal()
        return cast(int, legal_at(self._game, self.numbers, 0))

    def step(self, action: int) -> None:
        """Carry out a legal action.  Raises IndexError for an action that is no action of the phase."""
        phase = self.numbers.phase[0]
        if not 0 <= action < (NUM_ACTIONS if phase == MOON else NUM_CARDS):
            raise IndexError(f"action {action} is out of range in phase {phase}")
        if self._held is not None:
            self._held.step(action)
        elif phase == PASS:
            pick_at(self._game, self.numbers, 0, action)
        elif phase == MOON:
            score(self.lookup, self.state, ALL, np.array([action]))
        elif phase == PLAY and play_at(self._game, self.numbers, 0, action):
            finish(self.lookup, self.state, ALL)

    def points(self) -> list[int]:
        """The points of each seat so far in this deal; what the deal has added once it is over."""
        if self.numbers.phase[0] >= DEAL_OVER:
            return cast(list[int], self.state.points[0].tolist())
        return [card_points_of(self._game, self.numbers.taken[0, seat]) for seat in range(self.lookup.num_players)]

    def encode(self, layout: Layout, seat: int) -> Bytes:
        """What a seat knows as bytes, a fresh uint8 [F]."""
        if self._held is None or self._held.layout is not layout:
            self._held = hold(self.lookup, self.state, layout)
        bits = self._encode(layout, seat) if self._held is None else self._held.encode(seat)
        if not layout.order:
            return bits
        order = np.empty((1, layout.size - layout.bits), np.uint8)
        players = seats_of_plays(self.lookup, self.state.plays, self.state.leaders, np.array([seat]))
        write_order(self.state.plays, players, order)
        return np.concatenate([bits, order[0]])

    def _encode(self, layout: Layout, seat: int) -> Bytes:
        made = _plain_shape(self.lookup, layout.seats)
        words = cast(Any, [0] * made.words)
        see(self._game, self.numbers, 0, seat, self._seen, 0)
        write(self._game, made, self._seen, 0, words)
        # The writer leaves in a word what has run over into the next one, which 64 bits would lose.
        return unpack(layout, np.array([word & _WORD for word in words], np.uint64).view(np.int64))

    def copy(self) -> OneTable:
        """The same table, sharing nothing that changes."""
        return OneTable(self.lookup, self.state.copy())


@lru_cache(maxsize=1024)
def _plain_game(lookup: Lookup) -> Game:
    return Game(*map(_plain, game(lookup)))


@lru_cache(maxsize=1024)
def _plain_shape(lookup: Lookup, seats: int) -> Shape:
    return Shape(*map(_plain, shape(lookup, seats)))


def _plain(value: Any) -> Any:
    """Python's numbers where there are numpy's."""
    return value.tolist() if isinstance(value, np.ndarray) else value
