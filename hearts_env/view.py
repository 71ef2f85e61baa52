"""What one seat may know at each table, seat-relative: the only place where hidden cards are removed."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hearts_env.cards import NO_CARD, NO_SEAT, NUM_SUITS, Bools, Ints, Sets, count
from hearts_env.engine import legal, mix, pass_offset
from hearts_env.lookup import Lookup
from hearts_env.scoring import card_points
from hearts_env.state import DEAL_OVER, PASS, Rows, State


@dataclass(slots=True)
class View:
    """What N seats may know, one at each of N tables.

    Columns are seats as the viewer counts them: 0 is the viewer, 1 the seat to its left, and so on.  Nothing here
    depends on cards that the viewer has not seen, and nothing shares memory with a State.
    """

    lookup: Lookup  # the rules of all tables
    seat: Ints  # int64 [N]  the viewer's seat at the table, for those who name seats to others
    hand: Sets  # int64 [N]  cards held (those picked to pass included, until the pass)
    legal: Sets  # int64 [N]  legal actions, 0 unless the viewer is to act
    picks: Sets  # int64 [N]  cards picked to pass, or passed
    got: Sets  # int64 [N]  cards received in the pass; 0 before it
    table: Sets  # int64 [N]  cards of the current trick
    trick: NDArray[np.int8]  # int8 [N, P]  the card of each seat in the current trick; NO_CARD if none
    played: Sets  # int64 [N, P]  all cards that each seat has played in this deal
    taken: Sets  # int64 [N, P]  cards that each seat has captured
    voids: Ints  # int64 [N, P]  bit `suit`: the seat has failed to follow this suit
    points: Ints  # int64 [N, P]  points taken so far in this deal; what the deal has added once it is over
    scores: Ints  # int64 [N, P]  score of the game
    phase: NDArray[np.int8]  # int8 [N]  see `state`
    turn: Ints  # int64 [N]  seat to act, relative; NO_SEAT when the deal is over
    offset: Ints  # int64 [N]  pass offset of the deal: my cards go to this seat; 0 on a hold deal
    count: Ints  # int64 [N]  cards picked (in the pass phase) or played by all seats
    led: NDArray[np.int8]  # int8 [N]  suit led; NO_SUIT when nothing is led
    best: NDArray[np.int8]  # int8 [N]  card that is winning the trick; NO_CARD if none
    best_seat: Ints  # int64 [N]  seat that played it, relative; NO_SEAT if none
    broken: Bools  # bool [N]  hearts are broken
    shooter: Ints  # int64 [N]  seat that shot the moon, relative; NO_SEAT
    deal_no: Ints  # int64 [N]  number of the deal in its game
    plays: NDArray[np.int8]  # int8 [N, C]  cards in order of play; NO_CARD beyond
    leaders: Ints  # int64 [N, H]  leader of each trick, relative; NO_SEAT beyond
    key: NDArray[np.uint64]  # uint64 [N]  a random number for this decision, the same in every batch

    def __len__(self) -> int:
        return len(self.seat)

    def take(self, rows: Rows | Bools) -> View:
        """Some of the views, as a copy."""
        names = [field.name for field in fields(self)][1:]
        return View(self.lookup, *(np.array(getattr(self, name)[rows]) for name in names))

    @property
    def out(self) -> Sets:
        """int64 [N]: cards not seen by the viewer: in other hands, or dead."""
        seen = self.hand | np.bitwise_or.reduce(self.played, axis=1)
        out: Sets = self.lookup.deck & ~seen
        return out

    @property
    def known(self) -> Sets:
        """int64 [N, P]: cards in each other hand that the viewer has put there by passing and has not seen since."""
        result = np.zeros_like(self.played)
        passed = (self.phase != PASS) & (self.offset != 0)
        rows = np.arange(len(self))
        held = self.picks & ~self.played[rows, self.offset]
        result[rows, self.offset] = np.where(passed, held, 0)
        return result

    @property
    def trick_no(self) -> Ints:
        """int64 [N]: tricks completed."""
        tricks: Ints = self.count // self.lookup.num_players * (self.phase != PASS)
        return tricks

    @property
    def players(self) -> NDArray[np.int8]:
        """int8 [N, C]: who played each of `plays`, relative; NO_SEAT beyond."""
        seats = self.lookup.num_players
        order = np.arange(self.lookup.num_plays)
        player = (self.leaders[:, order // seats] + order % seats) % seats
        return np.where(self.plays == NO_CARD, NO_SEAT, player).astype(np.int8)


def view(lookup: Lookup, state: State, seats: ArrayLike | None = None) -> View:
    """The view of one seat at each table: of the seat to act, or of `seats` (int [N]).

    Tables whose deal is over are seen from seat 0 unless `seats` says otherwise.
    """
    turn = state.turn.astype(np.int64)
    seat = np.maximum(turn, 0) if seats is None else np.asarray(seats, np.int64)
    others = (seat[:, None] + np.arange(lookup.num_players)) % lookup.num_players
    at = np.arange(0, others.size, lookup.num_players)[:, None] + others
    taken = state.taken.reshape(-1)[at]
    points = card_points(lookup, taken)
    over = state.phase >= DEAL_OVER
    if over.any():
        points = np.where(over[:, None], state.points.reshape(-1)[at], points)
    offset = pass_offset(lookup, state.deal_no)
    passing = state.phase == PASS
    played = (state.start & ~state.hands).reshape(-1)[at]
    if passing.all():
        got = np.zeros(len(seat), np.int64)
    else:
        giver = (seat - offset) % lookup.num_players
        got = np.where(passing | (offset == 0), 0, state.picks.reshape(-1)[at[:, 0] - seat + giver])
    return View(
        lookup=lookup,
        seat=seat,
        hand=state.hands.reshape(-1)[at[:, 0]],
        legal=np.where(turn == seat, legal(lookup, state), 0),
        picks=state.picks.reshape(-1)[at[:, 0]],
        got=got,
        table=state.table.copy(),
        trick=_trick(lookup, played, state.table),
        played=played,
        taken=taken,
        voids=state.voids[:, None] >> (NUM_SUITS * others) & (2**NUM_SUITS - 1),
        points=points,
        scores=state.scores.reshape(-1)[at].astype(np.int64),
        phase=state.phase.copy(),
        turn=_relative(lookup, turn, seat),
        offset=offset,
        count=state.count.astype(np.int64),
        led=state.led.copy(),
        best=state.best.copy(),
        best_seat=_relative(lookup, state.best_seat, seat),
        broken=state.broken.copy(),
        shooter=_relative(lookup, state.shooter, seat),
        deal_no=state.deal_no.astype(np.int64),
        plays=state.plays.copy(),
        leaders=_relative(lookup, state.leaders, seat[:, None]),
        key=_decision_key(state, seat),
    )


def _relative(lookup: Lookup, seats: NDArray[np.integer], viewer: Ints) -> Ints:
    return np.where(seats == NO_SEAT, NO_SEAT, (seats - viewer) % lookup.num_players)


def _trick(lookup: Lookup, played: Sets, table: Sets) -> NDArray[np.int8]:
    on_table = played & table[:, None]
    return np.where(on_table == 0, NO_CARD, count(on_table - 1)).astype(np.int8)


def _decision_key(state: State, seat: Ints) -> NDArray[np.uint64]:
    decision = state.phase.astype(np.uint64) << np.uint64(16) | state.count.astype(np.uint64) << np.uint64(8)
    return mix(mix(state.key.view(np.uint64)) + (decision | seat.astype(np.uint64)))
