"""The state of many tables as a struct of arrays, table axis first.

Shape letters, here and everywhere: `N` tables, `P` seats, `H` cards of a hand (and tricks of a deal), `C` cards
played in a deal (P * H), `A` actions (54), `D` decisions a seat makes in a deal, `F` bytes of an encoding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hearts_env.cards import NO_CARD, NO_SEAT, NO_SUIT, Bools, Ints, Sets
from hearts_env.game.compiled_rules import CompiledRules, compiled_rules
from hearts_env.game.rules import Rules

PASS = 0
"""Seats pick the cards to pass."""
PLAY = 1
"""Seats play cards."""
MOON = 2
"""The shooter makes the moon choice."""
DEAL_OVER = 3
"""The deal is scored; the game goes on with the next deal."""
GAME_OVER = 4
"""The deal is scored, and the game is over."""
PHASE_NAMES = ("pass", "play", "moon", "deal over", "game over")

Rows = NDArray[np.intp] | slice
"""Which tables: indices, or a slice of all."""


@dataclass(slots=True)
class State:
    """All that there is to know of N tables.  Only `engine.deal` and `engine.step` change it."""

    hands: Sets  # int64 [N, P]  cards held; cards picked to pass stay until the pass
    picks: Sets  # int64 [N, P]  cards picked to pass
    start: Sets  # int64 [N, P]  hands after the pass
    taken: Sets  # int64 [N, P]  cards captured
    table: Sets  # int64 [N]  cards of the current trick
    key: Ints  # int64 [N]  what agents draw their random numbers from; has no part in the game
    scores: NDArray[np.int32]  # int32 [N, P]  score of the game so far
    points: NDArray[np.int32]  # int32 [N, P]  what the deal just scored has added; 0 during a deal
    deal_no: NDArray[np.int32]  # int32 [N]  number of the deal in its game; -1 before the first
    voids: NDArray[np.int32]  # int32 [N]  bit 4*seat + suit: this seat has failed to follow this suit
    plays: NDArray[np.int8]  # int8 [N, C]  cards in order of play; NO_CARD beyond
    leaders: NDArray[np.int8]  # int8 [N, H]  leader of each trick; NO_SEAT beyond
    phase: NDArray[np.int8]  # int8 [N]  PASS, PLAY, MOON, DEAL_OVER or GAME_OVER
    turn: NDArray[np.int8]  # int8 [N]  seat to act; NO_SEAT when a deal is over
    count: NDArray[np.int8]  # int8 [N]  cards picked (in PASS) or played (else) in this deal
    led: NDArray[np.int8]  # int8 [N]  suit led; NO_SUIT when the next card is a lead
    best: NDArray[np.int8]  # int8 [N]  card that is winning the trick; NO_CARD before a lead
    best_seat: NDArray[np.int8]  # int8 [N]  who played it; NO_SEAT before a lead
    shooter: NDArray[np.int8]  # int8 [N]  who shot the moon; NO_SEAT if nobody (yet)
    choice: NDArray[np.int8]  # int8 [N]  ADD or SUBTRACT once a moon is scored; NO_CARD
    broken: Bools  # bool [N]  hearts are broken

    def __len__(self) -> int:
        return len(self.phase)

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return (getattr(self, name) for name in _NAMES)

    @staticmethod
    def empty(rules: Rules | CompiledRules, tables: int) -> State:
        """`tables` tables on which nothing has been dealt: the first deal will be number 0."""
        game = compiled_rules(rules)
        seats, plays, tricks = game.num_players, game.num_plays, game.hand_size

        def full(shape: tuple[int, ...], value: int, dtype: type[np.generic]) -> NDArray[Any]:
            return np.full((tables, *shape), value, dtype)

        return State(
            hands=full((seats,), 0, np.int64),
            picks=full((seats,), 0, np.int64),
            start=full((seats,), 0, np.int64),
            taken=full((seats,), 0, np.int64),
            table=full((), 0, np.int64),
            key=full((), 0, np.int64),
            scores=full((seats,), 0, np.int32),
            points=full((seats,), 0, np.int32),
            deal_no=full((), -1, np.int32),
            voids=full((), 0, np.int32),
            plays=full((plays,), NO_CARD, np.int8),
            leaders=full((tricks,), NO_SEAT, np.int8),
            phase=full((), DEAL_OVER, np.int8),
            turn=full((), NO_SEAT, np.int8),
            count=full((), 0, np.int8),
            led=full((), NO_SUIT, np.int8),
            best=full((), NO_CARD, np.int8),
            best_seat=full((), NO_SEAT, np.int8),
            shooter=full((), NO_SEAT, np.int8),
            choice=full((), NO_CARD, np.int8),
            broken=full((), 0, np.bool_),
        )

    def copy(self) -> State:
        """A copy of the tables that shares no memory with them."""
        return State(*(array.copy() for array in self))

    def take(self, rows: Rows | Bools) -> State:
        """A copy of some tables."""
        return State(*rows_of(self, rows))

    def part(self, rows: slice) -> State:
        """Some tables, sharing their memory."""
        return State(*(array[rows] for array in self))

    def put(self, rows: Rows, other: State) -> None:
        """Overwrite some tables with those of `other`, in order."""
        for mine, theirs in zip(self, other, strict=True):
            mine[rows] = theirs

    def repeat(self, times: int) -> State:
        """Each table `times` times, one after the other."""
        return State(*(np.repeat(array, times, axis=0) for array in self))

    @property
    def over(self) -> Bools:
        """bool [N]: the deal is over."""
        return self.phase >= DEAL_OVER

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays together."""
        return sum(array.nbytes for array in self)


_NAMES = tuple(field.name for field in fields(State))


def rows_of(arrays: Iterable[NDArray[Any]], rows: Rows | Bools) -> Iterator[NDArray[Any]]:
    """A copy of some rows of each array; by `take` where it can, which is twice as fast as indexing."""
    if isinstance(rows, slice):
        return (array[rows].copy() for array in arrays)
    places: Any = np.asarray(rows)
    if places.dtype == np.bool_:
        places = np.flatnonzero(places)
    return (array.take(places, axis=0) for array in arrays)
