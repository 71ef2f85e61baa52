"""The loops of the compiled executor: deal, legal, step and the end of a deal, one table after the other.

What may be played and what breaks hearts is the rulebook's, what a deal adds to each score is `tally`'s.  A kernel
reads a State as a tuple of its arrays with the same names, and the rules as a `Game`.
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
    ADD,
    CLUBS,
    MOON_CHOICES,
    NO_CARD,
    NO_SEAT,
    NO_SUIT,
    NUM_ACTIONS,
    NUM_CARDS,
    NUM_SUITS,
    SUBTRACT,
    Bools,
    Ints,
    Sets,
)
from hearts_env.kernel import Number, bit, inner, kernel
from hearts_env.lookup import ALL_ONES, Lookup, PlayMasks, ScoreNumbers
from hearts_env.rulebook import breaks, legal_follow, legal_lead
from hearts_env.state import DEAL_OVER, GAME_OVER, MOON, PASS, PLAY, State
from hearts_env.tally import automatic_choice, deal_points, is_over, reset_exact, shooter

_ARRAYS = [field.name for field in fields(State)]
Tables: Any = namedtuple("Tables", _ARRAYS)  # type: ignore[misc]
_arrays_of = attrgetter(*_ARRAYS)


class Game(NamedTuple):
    """A Lookup as kernels take it: see there."""

    play: PlayMasks
    score: ScoreNumbers
    num_players: int
    hand_size: int
    num_plays: int
    pass_count: int
    opening_limit: int
    lowest_club_leads: bool
    moon_chosen: bool
    moon_automatic: bool
    moon_action: int
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
def game(lookup: Lookup) -> Game:
    """The Game of a Lookup."""
    return Game(
        play=lookup.play,
        score=lookup.score,
        num_players=lookup.num_players,
        hand_size=lookup.hand_size,
        num_plays=lookup.num_plays,
        pass_count=lookup.pass_count,
        opening_limit=lookup.opening_limit,
        lowest_club_leads=lookup.rules.first_leader == "lowest_club",
        moon_chosen=lookup.rules.moon == "choice",
        moon_automatic=lookup.rules.moon == "auto",
        moon_action=SUBTRACT if lookup.rules.moon == "subtract" else ADD,
        deck=lookup.deck,
        bonus=lookup.bonus,
        deck_cards=lookup.deck_cards,
        pass_offsets=lookup.pass_offsets,
        beats=lookup.beats,
        suit=lookup.suit,
        suit_sets=lookup.suit_sets,
        trick_ends=lookup.trick_ends,
        point_sets=np.array([cards for cards, _ in lookup.point_sets], np.int64),
        point_values=np.array([points for _, points in lookup.point_sets], np.int64),
    )


def tables(state: State) -> State:
    """The arrays of a State as kernels take them."""
    return cast(State, Tables._make(_arrays_of(state)))


def some_tables(state: State, rows: slice) -> State:
    """The same of some tables."""
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
    if offset_of(game, tables.deal_no[n]) == 0:
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
    turn = tables.turn[n]
    hand = tables.hands[n, turn]
    if phase == PASS:
        return hand & ~tables.picks[n, turn]
    led = tables.led[n]
    if led != NO_SUIT:
        first = -int(tables.count[n] < game.num_players)
        return legal_follow(game.play, hand, game.suit_sets[led], first)
    opening: Number = 0
    if tables.count[n] == 0:
        opening = opening_card(game, tables, n) if game.opening_limit == ALL_ONES else game.opening_limit
    return legal_lead(game.play, hand, -int(tables.broken[n]), opening)


@inner
def opening_card(game: Game, tables: State, n: int) -> Number:
    """The lowest club that any seat of table n holds, as a set."""
    clubs: Number = 0
    for seat in range(game.num_players):
        clubs |= tables.hands[n, seat] & CLUBS
    return clubs & -clubs


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
        pick_at(game, tables, n, action)
        return False
    if phase == PLAY:
        return play_at(game, tables, n, action)
    tables.choice[n] = action
    return True


@inner
def play_at(game: Game, tables: State, n: int, action: Number) -> bool:
    """Play a card; was it the last of the deal?"""
    turn, led = tables.turn[n], tables.led[n]
    card, suit = bit(action), game.suit[action]
    tables.hands[n, turn] ^= card
    tables.table[n] |= card
    played = tables.count[n]
    tables.plays[n, played] = action
    played += 1
    tables.count[n] = played
    if breaks(game.play, card, game.suit_sets[led]) != 0:
        tables.broken[n] = True
    if led == NO_SUIT:
        tables.led[n] = suit
    elif suit != led:
        tables.voids[n] |= 1 << (NUM_SUITS * turn + led)
    if game.beats[tables.best[n]] & card:
        tables.best[n] = action
        tables.best_seat[n] = turn
    tables.turn[n] = next_seat(game, turn)
    return game.trick_ends[played] and _collect(game, tables, n, played)


@inner
def _collect(game: Game, tables: State, n: int, played: Number) -> bool:
    """The winner captures the trick and leads the next one; was it the last?"""
    winner = tables.best_seat[n]
    tables.taken[n, winner] |= tables.table[n]
    tables.turn[n] = winner
    tables.table[n] = 0
    tables.led[n] = NO_SUIT
    tables.best[n] = NO_CARD
    tables.best_seat[n] = NO_SEAT
    if played == game.num_plays:
        return True
    tables.leaders[n, played // game.num_players] = winner
    return False


@inner
def pick_at(game: Game, tables: State, n: int, action: Number) -> None:
    """Pick a card to pass; after the last, pass and begin the play."""
    turn = tables.turn[n]
    tables.picks[n, turn] |= bit(action)
    tables.count[n] += 1
    tables.turn[n] = next_seat(game, turn)
    if tables.count[n] == game.num_players * game.pass_count:
        pass_cards(game, tables, n)
        begin_play(game, tables, n)


@inner
def pass_cards(game: Game, tables: State, n: int) -> None:
    """All have picked: the cards change hands."""
    offset = offset_of(game, tables.deal_no[n])
    for seat in range(game.num_players):
        got = tables.picks[n, (seat - offset) % game.num_players]
        hand = (tables.hands[n, seat] & ~tables.picks[n, seat]) | got
        tables.hands[n, seat] = hand
        tables.start[n, seat] = hand


@inner
def begin_play(game: Game, tables: State, n: int) -> None:
    """The first trick begins."""
    leader = 0
    if game.lowest_club_leads:
        opening = opening_card(game, tables, n)
        while leader < game.num_players - 1 and not tables.hands[n, leader] & opening:
            leader += 1
        if opening == 0:
            leader = 0
    else:
        leader = (tables.deal_no[n] + 1) % game.num_players
    tables.phase[n] = PLAY
    tables.count[n] = 0
    tables.turn[n] = leader
    tables.leaders[n, 0] = leader


@inner
def next_seat(game: Game, turn: Number) -> Number:
    """The seat to the left."""
    return 0 if turn + 1 == game.num_players else turn + 1


@inner
def offset_of(game: Game, deal_no: Number) -> Number:
    """The pass offset of a deal number."""
    return game.pass_offsets[deal_no % len(game.pass_offsets)]


# -- the end of a deal -------------------------------------------------------------------------------------------------


class Ends(NamedTuple):
    """What the end of a deal takes of a Game and of a State: little, since what kernels take they must unpack."""

    score: ScoreNumbers
    num_plays: int
    moon_chosen: bool
    moon_automatic: bool
    moon_action: int
    phase: NDArray[np.int8]
    played: NDArray[np.int8]
    turn: NDArray[np.int8]
    shooter: NDArray[np.int8]
    choice: NDArray[np.int8]
    taken: Sets
    scores: NDArray[np.int32]
    points: NDArray[np.int32]


_of_game = attrgetter("score", "num_plays", "moon_chosen", "moon_automatic", "moon_action")
_of_tables = attrgetter("phase", "count", "turn", "shooter", "choice", "taken", "scores", "points")


def finish(game: Game, tables: State) -> int:
    """End the deals whose cards are all played or whose moon choice is made; how many now wait for a choice?"""
    return finish_some(Ends(*_of_game(game), *_of_tables(tables)))


@kernel
def finish_some(ends: Ends) -> int:
    """See `finish`."""
    choosing = 0
    for n in range(len(ends.phase)):
        phase = ends.phase[n]
        choice: Number = ends.moon_action
        if phase == PLAY and ends.played[n] == ends.num_plays:
            ends.shooter[n] = shooter(ends.score, ends.taken[n])
            if ends.moon_chosen and ends.shooter[n] != NO_SEAT:
                ends.phase[n], ends.turn[n] = MOON, ends.shooter[n]
                choosing += 1
                continue
        elif phase == MOON and ends.choice[n] != NO_CARD:
            choice = np.int64(ends.choice[n])
        else:
            continue
        seat, taken, scores, points = np.int64(ends.shooter[n]), ends.taken[n], ends.scores[n], ends.points[n]
        if ends.moon_automatic:
            choice = automatic_choice(ends.score, taken, seat, scores, points)
        deal_points(ends.score, taken, seat, choice, points)
        for column in range(ends.score.num_players):
            scores[column] = reset_exact(ends.score, scores[column] + points[column])
        ends.choice[n] = NO_CARD if seat == NO_SEAT else choice
        ends.phase[n] = GAME_OVER if is_over(ends.score, scores) != 0 else DEAL_OVER
        ends.turn[n] = NO_SEAT
    return choosing
