"""The view (observation) of one seat at each table, seat-relative: the only place where hidden cards are removed."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache
from operator import attrgetter

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hearts_env.cards import NO_CARD, NO_SEAT, Bools, Ints, Sets
from hearts_env.executor import executed
from hearts_env.game.compiled_rules import CompiledRules
from hearts_env.game.engine import begins_of, legal, mask, mix, pass_offset
from hearts_env.game.random_play import decision_key
from hearts_env.game.rulebook import ALL_SUITS as ALL_SUITS
from hearts_env.game.rulebook import after_pass, giver, relative, seat_after, voids_of
from hearts_env.game.scoring import card_points
from hearts_env.game.state import DEAL_OVER, PASS, Rows, State, rows_of


@dataclass(slots=True)
class View:
    """The views (observations) of N seats, one at each of N tables: all that these seats may know.

    Columns are seats as the viewer counts them: 0 is the viewer, 1 the seat to its left, and so on.  Nothing here
    depends on cards that the viewer has not seen, and nothing shares memory with a State.
    """

    rules: CompiledRules  # the rules of all tables
    seat: Ints  # int64 [N]  the viewer's seat at the table, for those who name seats to others
    hand: Sets  # int64 [N]  cards held (those picked to pass included, until the pass)
    legal: Sets  # int64 [N]  legal actions, 0 unless the viewer is to act
    picks: Sets  # int64 [N]  cards picked to pass, or passed
    got: Sets  # int64 [N]  cards received in the pass; 0 before it
    table: Sets  # int64 [N]  cards of the current trick
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
    leaders: NDArray[np.int8]  # int8 [N, H]  leader of each trick, as a seat of the table; NO_SEAT beyond
    table_key: Ints  # int64 [N]  what `key` is made from

    def __len__(self) -> int:
        return len(self.seat)

    def take(self, rows: Rows | Bools) -> View:
        """Some of the views, as a copy."""
        return View(self.rules, *rows_of(_arrays_of(self), rows))

    def part(self, rows: slice) -> View:
        """Some of the views, sharing their memory."""
        return View(self.rules, *(array[rows] for array in _arrays_of(self)))

    @property
    def trick(self) -> NDArray[np.int8]:
        """int8 [N, P]: the card of each seat in the current trick; NO_CARD if none."""
        on_table = self.played & self.table[:, None]
        return np.where(on_table == 0, NO_CARD, np.bitwise_count(on_table - 1).view(np.int8))

    @property
    def out(self) -> Sets:
        """int64 [N]: cards not seen by the viewer: in other hands, or dead."""
        seen = self.hand | np.bitwise_or.reduce(self.played, axis=1)
        out: Sets = self.rules.deck & ~seen
        return out

    @property
    def known(self) -> Sets:
        """int64 [N, P]: cards that are known to be in the seat's hand: `kept`, at the receiver."""
        seats = np.arange(self.rules.num_players)
        known: Sets = self.kept[:, None] * (seats == self.offset[:, None])
        return known

    @property
    def kept(self) -> Sets:
        """int64 [N]: cards that the viewer passed and the receiver (seat `offset`) still holds."""
        passed = self.picks & after_pass(self.phase, self.offset)
        # Nobody else can play them.
        kept: Sets = passed & ~np.bitwise_or.reduce(self.played, axis=1)
        return kept

    @property
    def trick_no(self) -> Ints:
        """int64 [N]: tricks completed."""
        tricks: Ints = self.count // self.rules.num_players * (self.phase != PASS)
        return tricks

    @property
    def players(self) -> NDArray[np.int8]:
        """int8 [N, C]: who played each of `plays`, relative; NO_SEAT beyond."""
        return seats_of_plays(self.rules, self.plays, self.leaders, self.seat)

    @property
    def key(self) -> NDArray[np.uint64]:
        """uint64 [N]: a random number for this decision, the same in every batch."""
        decision = (array.astype(np.uint64) for array in (self.phase, self.count, self.seat))
        keys: NDArray[np.uint64] = decision_key(mix(self.table_key.view(np.uint64)), *decision)
        return keys


_arrays_of = attrgetter(*(field.name for field in fields(View) if field.name != "rules"))


@executed
def view(rules: CompiledRules, state: State, seats: ArrayLike | None = None) -> View:
    """The view of one seat at each table: of the seat to act, or of `seats` (int [N]).

    Tables whose deal is over are seen from seat 0 unless `seats` says otherwise.  Raises IndexError for a seat that is
    not at the table.
    """
    players, turn = rules.num_players, state.turn
    seat = np.maximum(turn, 0) if seats is None else _narrow(players, np.asarray(seats, np.int64))
    actions, begins = legal(rules, state), begins_of(len(state), players)
    here = begins + seat
    # Seat by seat in memory (hence the transposes): the encoding goes through these columns one at a time.
    seats_on = seat_after(players, seat, _columns(players))
    at = begins + seats_on
    taken = state.taken.take(at).T
    points = card_points(rules, taken)
    over = state.phase >= DEAL_OVER
    if over.any():
        points = np.where(over[:, None], state.points.take(at).T, points)
    offset = pass_offset(rules, state.deal_no)
    from_seat = begins + giver(players, seat, offset.astype(np.int8))
    return View(
        rules=rules,
        seat=seat.astype(np.int64),
        hand=state.hands.take(here),
        legal=actions if seats is None else actions & mask(turn == seat),
        picks=state.picks.take(here),
        got=state.picks.take(from_seat) & after_pass(state.phase, offset),
        table=state.table.copy(),
        played=(state.start & ~state.hands).take(at).T,
        taken=taken,
        voids=voids_of(state.voids, seats_on).astype(np.int64).T,
        points=points,
        scores=state.scores.take(at).T.astype(np.int64),
        phase=state.phase.copy(),
        turn=mask(over) & NO_SEAT if seats is None else relative(players, turn, seat).astype(np.int64),
        offset=offset,
        count=state.count.astype(np.int64),
        led=state.led.copy(),
        best=state.best.copy(),
        best_seat=relative(players, state.best_seat, seat).astype(np.int64),
        broken=state.broken.copy(),
        shooter=relative(players, state.shooter, seat).astype(np.int64),
        deal_no=state.deal_no.astype(np.int64),
        plays=state.plays.copy(),
        leaders=state.leaders.copy(),
        table_key=state.key.copy(),
    )


def seats_of_plays(
    rules: CompiledRules, plays: NDArray[np.int8], leaders: NDArray[np.int8], seat: Ints
) -> NDArray[np.int8]:
    """Who made each of `plays`, as `seat` (int64 [N]) counts the seats; NO_SEAT beyond.  int8 [N, C]."""
    seats, order = rules.num_players, np.arange(rules.num_plays)
    leader = relative(seats, leaders[:, order // seats], seat.astype(np.int8)[:, None])
    player: NDArray[np.int8] = seat_after(seats, leader, (order % seats).astype(np.int8))
    return np.where(plays == NO_CARD, np.int8(NO_SEAT), player)


def _narrow(num_players: int, seats: Ints) -> NDArray[np.int8]:
    bad = np.flatnonzero((seats < 0) | (seats >= num_players))
    if len(bad):
        raise IndexError(f"seat {seats[bad[0]]} at table {bad[0]}: seats are 0 to {num_players - 1}")
    return seats.astype(np.int8)


@lru_cache(maxsize=8)
def _columns(num_players: int) -> NDArray[np.int8]:
    """The columns of a View, one below the other: int8 [P, 1]."""
    columns = np.arange(num_players, dtype=np.int8)[:, None]
    columns.flags.writeable = False
    return columns
