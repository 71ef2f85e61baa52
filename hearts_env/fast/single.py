"""One table, played faster than as a batch of one: the kernels run as Python on its numbers, or compiled."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple, Protocol, cast

import numpy as np

from hearts_env.cards import NUM_ACTIONS, NUM_CARDS, Bytes, Number
from hearts_env.executor import executed, override
from hearts_env.fast.encode import Encoder, Shape, encoder, shape, unpack, write
from hearts_env.fast.jit import kernel, pick_up, unpacked
from hearts_env.fast.step import Game, Tables, finish, game, legal_at, pick_at, play_at, step_at, tables
from hearts_env.fast.view import Views, card_points_of, see
from hearts_env.game import engine
from hearts_env.game.compiled_rules import CompiledRules
from hearts_env.game.state import DEAL_OVER, MOON, PASS, PLAY, State
from hearts_env.game.view import seats_of_plays
from hearts_env.observe.encode import WORD_BITS, Layout, write_order
from hearts_env.observe.encode import unpack as unpack_words

_WORD = 2**WORD_BITS - 1


class OneTable:
    """`engine.legal`, `engine.step`, `encode.encode_tables` and `rewards.points_so_far` for a State of one row.

    The results are the same, as numbers in place of arrays of one.  Where the compiled executor runs, a table that has
    been encoded goes on as machine code.
    """

    def __init__(self, rules: CompiledRules, state: State) -> None:
        self.rules = rules
        self.state = state
        self.numbers: Any = Tables(*(memoryview(array) for array in cast(Any, state)))
        """The arrays of the State, whose items are Python's numbers: `numbers.turn[0]`.  The memory is the same."""
        self._game = _plain_game(rules)
        # What a seat sees, written anew for each: a dict takes the places of any array.
        self._seen: Any = Views._make({} for _ in Views._fields)
        self._compiled: Compiled | None = None

    def legal(self) -> int:
        """The set of legal actions of the seat to act; 0 when the deal is over."""
        if self._compiled is not None:
            return self._compiled.legal()
        return cast(int, legal_at(self._game, self.numbers, 0))

    def step(self, action: int) -> None:
        """Carry out a legal action.  Raises IndexError for an action that is no action of the phase."""
        phase = self.numbers.phase[0]
        if not 0 <= action < (NUM_ACTIONS if phase == MOON else NUM_CARDS):
            raise IndexError(f"action {action} is out of range in phase {phase}")
        if self._compiled is not None:
            self._compiled.step(action)
        elif phase == PASS:
            if pick_at(self._game, self.numbers, 0, action):
                engine.end_pass(self.rules, self.state, engine.ALL)
        elif phase == MOON:
            engine.score(self.rules, self.state, engine.ALL, np.array([action]))
        elif phase == PLAY and play_at(self._game, self.numbers, 0, action):
            engine.finish(self.rules, self.state, engine.ALL)

    def points(self) -> list[int]:
        """The points of each seat so far in this deal; what the deal has added once it is over."""
        if self.numbers.phase[0] >= DEAL_OVER:
            return cast(list[int], self.state.points[0].tolist())
        return [card_points_of(self._game, self.numbers.taken[0, seat]) for seat in range(self.rules.num_players)]

    def encode(self, layout: Layout, seat: int) -> Bytes:
        """The encoding of a seat's view, a fresh uint8 [F]."""
        if self._compiled is None or self._compiled.layout is not layout:
            self._compiled = compiled(self.rules, self.state, layout)
        bits = self._encode(layout, seat) if self._compiled is None else self._compiled.encode(seat)
        if not layout.order:
            return bits
        order = np.empty((1, layout.size - layout.bits), np.uint8)
        players = seats_of_plays(self.rules, self.state.plays, self.state.leaders, np.array([seat]))
        write_order(self.state.plays, players, order)
        return np.concatenate([bits, order[0]])

    def _encode(self, layout: Layout, seat: int) -> Bytes:
        made = _plain_shape(self.rules, layout.seats)
        words = cast(Any, [0] * made.words)
        see(self._game, self.numbers, 0, seat, self._seen, 0)
        write(self._game, made, self._seen, 0, words)
        # The writer leaves in a word what has run over into the next one, which 64 bits would lose.
        return unpack_words(layout, np.array([word & _WORD for word in words], np.uint64).view(np.int64))

    def copy(self) -> OneTable:
        """A copy of the table that shares no mutable state with it."""
        return OneTable(self.rules, self.state.copy())


@lru_cache(maxsize=1024)
def _plain_game(rules: CompiledRules) -> Game:
    return Game(*map(_plain, game(rules)))


@lru_cache(maxsize=1024)
def _plain_shape(rules: CompiledRules, seats: int) -> Shape:
    made = shape(rules, seats)
    return made._replace(given=type(made.given)(*map(_plain, made.given)))


def _plain(value: Any) -> Any:
    """Python's numbers where there are numpy's."""
    return value.tolist() if isinstance(value, np.ndarray) else value


# -- compiled ----------------------------------------------------------------------------------------------------------


class Compiled(Protocol):
    """One table, and one layout of its encodings, played by machine code."""

    layout: Layout

    def legal(self) -> int:
        """The set of legal actions of the seat to act."""

    def step(self, action: int) -> None:
        """Carry out a legal action."""

    def encode(self, seat: int) -> Bytes:
        """The encoding of a seat but for the order block, a fresh uint8 [bits]."""


@executed
def compiled(rules: CompiledRules, state: State, layout: Layout) -> Compiled | None:
    """The machine code for a table, where the compiled executor runs; else None.  state: of one row."""
    return None


class _Arguments(NamedTuple):
    """The arguments of the kernels below, for one table."""

    encoder: Encoder
    tables: State
    row: Bytes  # uint8 [1, F]


class _Kernels:
    def __init__(self, rules: CompiledRules, state: State, layout: Layout) -> None:
        self.layout = layout
        row = np.zeros((1, layout.size), np.uint8)
        # Kept, since the memory holds the addresses of its arrays.
        self._arguments = _Arguments(encoder(rules, layout.seats), tables(state), row)
        self._memory = unpacked(self._arguments)
        self._bits = row[0, : layout.bits]

    def legal(self) -> int:
        return cast(int, _legal(self._memory))

    def step(self, action: int) -> None:
        if _step(self._memory, action):
            finish(self._arguments.encoder.game, self._arguments.tables)

    def encode(self, seat: int) -> Bytes:
        _encode(self._memory, seat)
        return self._bits.copy()


@override(compiled)
def _compiled(rules: CompiledRules, state: State, layout: Layout) -> Compiled | None:
    return _Kernels(rules, state, layout)


@kernel
def _legal(memory: Any) -> Number:
    one = pick_up(memory, _Arguments)
    return legal_at(one.encoder.game, one.tables, 0)


@kernel
def _step(memory: Any, action: int) -> bool:
    one = pick_up(memory, _Arguments)
    return one.tables.phase[0] < DEAL_OVER and step_at(one.encoder.game, one.tables, 0, action)


@kernel
def _encode(memory: Any, seat: int) -> None:
    one = pick_up(memory, _Arguments)
    made = one.encoder
    see(made.game, one.tables, 0, seat, made.seen, 0)
    write(made.game, made.shape, made.seen, 0, made.words)
    unpack(made.shape, made.words, one.row[0])
