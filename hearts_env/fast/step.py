"""The loops of the compiled executor: deal, legal, step and the end of a deal, one table after the other.

What may be played, what breaks hearts and what a deal adds to each score is the rulebook's.
A kernel reads a State as a tuple of its arrays with the same names, and the rules as a `Game`.
"""

from __future__ import annotations

from collections import namedtuple
from dataclasses import fields
from functools import lru_cache
from operator import attrgetter
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from hearts_env.cards import (
    MOON_CHOICES,
    NO_CARD,
    NO_SEAT,
    NO_SUIT,
    NUM_ACTIONS,
    NUM_CARDS,
    Bools,
    Ints,
    Sets,
)
from hearts_env.fast.jit import Number, at, bit, inner, kernel, wide
from hearts_env.game.compiled_rules import ALL_ONES, CompiledRules, PlayMasks, ScoreNumbers
from hearts_env.game.rulebook import (
    all_of,
    asked,
    breaks,
    deal_points,
    exchanged,
    first_leader,
    giver,
    in_first_trick,
    is_over,
    legal_follow,
    legal_lead,
    legal_picks,
    next_seat,
    off_suit,
    opening_leads,
    pass_offset,
    plain_points,
    reached,
    reset_exact,
    select,
    shooter,
    shoots,
    unasked_choice,
    void_shown,
    wins,
)
from hearts_env.game.state import DEAL_OVER, GAME_OVER, MOON, PASS, PLAY, State

_ARRAYS = [field.name for field in fields(State)]
Tables: Any = namedtuple("Tables", _ARRAYS)  # type: ignore[misc]
_arrays_of = attrgetter(*_ARRAYS)


class Game(NamedTuple):
    """The fields of CompiledRules that kernels need, as they take them."""

    play: PlayMasks
    score: ScoreNumbers
    num_players: int
    hand_size: int
    num_plays: int
    num_picks: int
    deck: int
    bonus: int
    deck_cards: Ints
    pass_offsets: Ints
    beats: Sets
    suit: NDArray[np.int8]
    suit_sets: Sets
    trick_ends: Bools
    point_sets: Sets  # int64 [K]
    point_values: Ints  # int64 [K]


@lru_cache(maxsize=1024)
def game(rules: CompiledRules) -> Game:
    """The Game of CompiledRules."""
    return Game(
        play=rules.play,
        score=rules.score,
        num_players=rules.num_players,
        hand_size=rules.hand_size,
        num_plays=rules.num_plays,
        num_picks=rules.num_picks,
        deck=rules.deck,
        bonus=rules.bonus,
        deck_cards=rules.deck_cards,
        pass_offsets=rules.pass_offsets,
        beats=rules.beats,
        suit=rules.suit,
        suit_sets=rules.suit_sets,
        trick_ends=rules.trick_ends,
        point_sets=np.array([cards for cards, _ in rules.point_sets], np.int64),
        point_values=np.array([points for _, points in rules.point_sets], np.int64),
    )


def tables(state: State) -> State:
    """The arrays of a State as kernels take them."""
    return cast(State, Tables._make(_arrays_of(state)))


def some_tables(state: State, rows: slice) -> State:
    """The arrays of some tables of a State as kernels take them."""
    if rows.stop - rows.start == len(state):
        return tables(state)
    return cast(State, Tables._make(array[rows] for array in _arrays_of(state)))


# -- deal -----------------------------------------------------------------------------------------------------------


@kernel
def begin_deal(game: Game, tables: State, rows: Ints, hands: Sets) -> None:
    """Deal `hands`, int64 [rows, P], at some tables."""
    for k in range(len(rows)):
        deal_at(game, tables, rows[k], hands[k])


@inner
def deal_at(game: Game, tables: State, n: int, hands: Sets) -> None:
    """Deal `hands`, int64 [P], at table n, whose deal number stands there already."""
    for seat in range(game.num_players):
        tables.hands[n, seat] = tables.start[n, seat] = hands[seat]
        tables.picks[n, seat] = tables.taken[n, seat] = 0
        tables.points[n, seat] = 0
    tables.table[n] = 0
    tables.voids[n] = 0
    tables.plays[n] = NO_CARD
    tables.leaders[n] = NO_SEAT
    tables.phase[n] = PASS
    tables.turn[n] = tables.count[n] = 0
    tables.led[n] = NO_SUIT
    tables.best[n] = NO_CARD
    tables.best_seat[n] = NO_SEAT
    tables.shooter[n] = NO_SEAT
    tables.choice[n] = NO_CARD
    tables.broken[n] = False
    if pass_offset(game.pass_offsets, tables.deal_no[n]) == 0:
        begin_play(game, tables, n)


# -- legal -------------------------------------------------------------------------------------------------------------


@kernel
def legal(game: Game, tables: State, sets: Sets) -> None:
    """Fill `sets`, int64 [N]."""
    for n in range(len(sets)):
        sets[n] = legal_at(game, tables, n)


@inner
def legal_at(game: Game, tables: State, n: int) -> Number:
    """The legal actions at table n."""
    phase = tables.phase[n]
    if phase >= DEAL_OVER:
        return 0
    if phase == MOON:
        return MOON_CHOICES
    turn = at(tables.turn[n])
    hand = tables.hands[n, turn]
    if phase == PASS:
        return legal_picks(game.play, hand, tables.picks[n, turn])
    count, suit = wide(tables.count[n]), game.suit_sets[tables.led[n]]
    if suit == 0:
        return lead_cards(game, hand, -int(tables.broken[n]), count)
    return follow_cards(game, hand, suit, in_first_trick(game.play, count) != 0)


@inner
def lead_cards(game: Game, hand: Number, broken: Number, count: Number) -> Number:
    """The cards of a hand that may be led.  count: the cards played."""
    if count == 0:
        return legal_lead(game.play, hand, broken, opening_leads(game.play, hand, ALL_ONES))
    return legal_lead(game.play, hand, broken, 0)


@inner
def follow_cards(game: Game, hand: Number, suit: Number, first: bool) -> Number:
    """The cards of a hand that may be played once a suit is led.  first: is it the first trick?"""
    # Two constants, so that later tricks leave out what only the first one bars.
    if first:
        return legal_follow(game.play, hand, suit, ALL_ONES)
    return legal_follow(game.play, hand, suit, 0)


# -- step --------------------------------------------------------------------------------------------------------------

NONE_BAD = -1
SOME_END = -2


@kernel
def step(game: Game, tables: State, actions: Ints) -> int:
    """Step all tables; return the row of an action out of range, at which it stops, or how it went.

    SOME_END says that there are tables for `finish`, NONE_BAD that there are none.
    """
    result = NONE_BAD
    for n in range(len(actions)):
        phase, action = tables.phase[n], actions[n]
        if phase >= DEAL_OVER:
            continue
        if not 0 <= action < (NUM_ACTIONS if phase == MOON else NUM_CARDS):
            return n
        if step_at(game, tables, n, action):
            result = SOME_END
    return result


@inner
def step_at(game: Game, tables: State, n: int, action: Number) -> bool:
    """Carry out a legal action at table n, whose deal is not over; is it now for `finish` to end the deal?"""
    phase = tables.phase[n]
    if phase == PASS:
        if pick_at(game, tables, n, action):
            end_pass(game, tables, n)
        return False
    if phase == PLAY:
        return play_at(game, tables, n, action)
    tables.choice[n] = action
    return True


class Course(NamedTuple):
    """The part of a table that changes with each card, as 64-bit numbers: a loop over cards keeps it in registers."""

    turn: Number
    count: Number
    voids: Number
    broken: Number
    """All ones once hearts are broken."""
    led: Number
    suit: Number
    """The set of the suit led, or 0."""
    best: Number
    best_seat: Number
    table: Number
    """The set of those on the table."""


@inner
def course_at(game: Game, tables: State, n: int) -> Course:
    """The Course of table n."""
    turn, count, voids, broken = tables.turn[n], tables.count[n], tables.voids[n], tables.broken[n]
    led, best, best_seat = wide(tables.led[n]), wide(tables.best[n]), wide(tables.best_seat[n])
    suit, table = game.suit_sets[led], tables.table[n]
    # By position: where Python runs this for one table, names would take as long as all the rest.
    return Course(wide(turn), wide(count), wide(voids), -int(broken), led, suit, best, best_seat, table)


@inner
def put_course(tables: State, n: int, course: Course) -> None:
    """Make it the Course of table n."""
    tables.turn[n], tables.count[n] = course.turn, course.count
    tables.voids[n], tables.broken[n] = course.voids, course.broken != 0
    tables.led[n], tables.best[n], tables.best_seat[n] = course.led, course.best, course.best_seat
    tables.table[n] = course.table


@inner
def play_card(game: Game, tables: State, n: int, course: Course, action: Number) -> Course:
    """The seat to act plays a card; if it ends the trick, its winner captures that."""
    course = lead(game, tables, n, course, action) if course.suit == 0 else follow(game, tables, n, course, action)
    return collect(game, tables, n, course) if game.trick_ends[at(course.count)] else course


@inner
def lead(game: Game, tables: State, n: int, course: Course, action: Number) -> Course:
    """The seat to act leads a card."""
    turn, card = course.turn, bit(action)
    tables.hands[n, at(turn)] ^= card
    tables.plays[n, at(course.count)] = action
    left, led, broken = next_seat(game.num_players, turn), wide(game.suit[at(action)]), breaks(game.play, card, 0)
    suit = game.suit_sets[led]
    return Course(left, course.count + 1, course.voids, course.broken | broken, led, suit, action, turn, card)


@inner
def follow(game: Game, tables: State, n: int, course: Course, action: Number) -> Course:
    """The seat to act plays a card to a trick that has begun."""
    turn, card = course.turn, bit(action)
    tables.hands[n, at(turn)] ^= card
    tables.plays[n, at(course.count)] = action
    # By masks where a branch would be a guess.
    won, off = wins(game.beats[at(course.best)], card), off_suit(card, course.suit)
    voids = course.voids | void_shown(turn, course.led, off)
    broken = course.broken | breaks(game.play, card, off)
    best, best_seat = select(won, action, course.best), select(won, turn, course.best_seat)
    left, table = next_seat(game.num_players, turn), course.table | card
    return Course(left, course.count + 1, voids, broken, course.led, course.suit, best, best_seat, table)


@inner
def collect(game: Game, tables: State, n: int, course: Course) -> Course:
    """The winner captures the trick and leads the next one."""
    winner, count = course.best_seat, course.count
    tables.taken[n, at(winner)] |= course.table
    if count != game.num_plays:
        tables.leaders[n, at(count // game.num_players)] = winner
    return Course(winner, count, course.voids, course.broken, NO_SUIT, 0, NO_CARD, NO_SEAT, 0)


@inner
def play_at(game: Game, tables: State, n: int, action: Number) -> bool:
    """Play a card at table n; was it the last of the deal?"""
    course = play_card(game, tables, n, course_at(game, tables, n), action)
    put_course(tables, n, course)
    return bool(course.count == game.num_plays)


@inner
def pick_at(game: Game, tables: State, n: int, action: Number) -> bool:
    """Pick a card to pass at table n; was it the last, so that it is now for `end_pass`?"""
    turn = wide(tables.turn[n])
    tables.picks[n, at(turn)] |= bit(action)
    tables.count[n] += 1
    tables.turn[n] = next_seat(game.num_players, turn)
    return bool(tables.count[n] == game.num_picks)


@inner
def end_pass(game: Game, tables: State, n: int) -> None:
    """All have picked: the cards change hands, and the play begins."""
    offset = pass_offset(game.pass_offsets, tables.deal_no[n])
    for seat in range(game.num_players):
        got = tables.picks[n, giver(game.num_players, seat, offset)]
        hand = exchanged(tables.hands[n, seat], tables.picks[n, seat], got)
        tables.hands[n, seat] = hand
        tables.start[n, seat] = hand
    begin_play(game, tables, n)


@inner
def begin_play(game: Game, tables: State, n: int) -> None:
    """The first trick begins."""
    leader: Number = first_leader(game.play, tables.hands[n], tables.deal_no[n])
    tables.phase[n] = PLAY
    tables.count[n] = 0
    tables.turn[n] = leader
    tables.leaders[n, 0] = leader


# -- the end of a deal -------------------------------------------------------------------------------------------------


class Ends(NamedTuple):
    """The parts of a Game and a State that the end of a deal needs: few, since kernels unpack all that they take."""

    score: ScoreNumbers
    num_plays: int
    phase: NDArray[np.int8]
    played: NDArray[np.int8]
    turn: NDArray[np.int8]
    shooter: NDArray[np.int8]
    choice: NDArray[np.int8]
    taken: Sets
    scores: NDArray[np.int32]
    points: NDArray[np.int32]


_of_game = attrgetter("score", "num_plays")
_of_tables = attrgetter("phase", "count", "turn", "shooter", "choice", "taken", "scores", "points")


def finish(game: Game, tables: State) -> int:
    """End the deals whose cards are all played or whose moon choice is made; how many now wait for a choice?"""
    return finish_some(Ends(*_of_game(game), *_of_tables(tables)))


@kernel
def finish_some(ends: Ends) -> int:
    """End the deals that `finish` does, and count those that wait."""
    choosing = 0
    for n in range(len(ends.phase)):
        phase = ends.phase[n]
        choice: Number = NO_CARD
        if phase == PLAY and ends.played[n] == ends.num_plays:
            ends.shooter[n] = _shooter(ends.score, ends.taken[n])
            if asked(ends.score, wide(ends.shooter[n])) != 0:
                ends.phase[n], ends.turn[n] = MOON, ends.shooter[n]
                choosing += 1
                continue
        elif phase == MOON and ends.choice[n] != NO_CARD:
            choice = np.int64(ends.choice[n])
        else:
            continue
        seat, taken, scores, points = np.int64(ends.shooter[n]), ends.taken[n], ends.scores[n], ends.points[n]
        if seat == NO_SEAT:
            for column in range(ends.score.num_players):
                points[column] = plain_points(ends.score, taken[column])
        else:
            if choice == NO_CARD:
                choice = unasked_choice(ends.score, taken, seat, scores, points)
            deal_points(ends.score, taken, seat, choice, points)
        for column in range(ends.score.num_players):
            scores[column] = reset_exact(ends.score, scores[column] + points[column])
        ends.choice[n] = choice
        over = reached(ends.score, scores) != 0 and is_over(ends.score, scores) != 0
        ends.phase[n] = GAME_OVER if over else DEAL_OVER
        ends.turn[n] = NO_SEAT
    return choosing


@inner
def _shooter(score: ScoreNumbers, taken: Sets) -> Number:
    """The seat that shot the moon, or NO_SEAT: asks `rulebook.shooter`, which takes longer, only where there is one."""
    cards, shot = all_of(score.num_players, taken), np.int64(0)
    for seat in range(score.num_players):
        shot |= shoots(score, taken, cards, seat)
    return np.int64(NO_SEAT) if shot == 0 else shooter(score, taken)
