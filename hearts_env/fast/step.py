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
    ADD,
    ALL_CARDS,
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
from hearts_env.fast.jit import Number, at, bit, inner, kernel, wide
from hearts_env.game.compiled_rules import ALL_ONES, Lookup, PlayMasks, ScoreNumbers
from hearts_env.game.rulebook import (
    automatic_choice,
    breaks,
    deal_points,
    empty,
    everything,
    is_over,
    legal_follow,
    legal_lead,
    less,
    plain_points,
    reached,
    reset_exact,
    select,
    shooter,
    shoots,
)
from hearts_env.game.state import DEAL_OVER, GAME_OVER, MOON, PASS, PLAY, State

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
    turn = at(tables.turn[n])
    hand = tables.hands[n, turn]
    if phase == PASS:
        return hand & ~tables.picks[n, turn]
    played = tables.count[n]
    opening = opening_limit(game, tables, n) if played == 0 else 0
    suit = game.suit_sets[tables.led[n]]
    return legal_cards(game, hand, suit, played < game.num_players, -int(tables.broken[n]), opening)


@inner
def legal_cards(game: Game, hand: Number, suit: Number, first: bool, broken: Number, opening: Number) -> Number:
    """What may be played from a hand.  suit: the set of the suit led, 0 for a lead.  first: is it the first trick?"""
    if suit == 0:
        return legal_lead(game.play, hand, broken, opening)
    return follow_cards(game, hand, suit, first)


@inner
def follow_cards(game: Game, hand: Number, suit: Number, first: bool) -> Number:
    """What may be played from a hand once a suit is led."""
    if first:
        return legal_follow(game.play, hand, suit, ALL_ONES)
    return legal_follow(game.play, hand, suit, 0)


@inner
def opening_limit(game: Game, tables: State, n: int) -> Number:
    """What the very first lead at table n is limited to; 0 for no limit."""
    return opening_card(game, tables, n) if game.opening_limit == ALL_ONES else game.opening_limit


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


class Trick(NamedTuple):
    """The trick that is being played, as numbers of 64 bits."""

    led: Number
    suit: Number
    """The set of the suit led, or 0."""
    best: Number
    best_seat: Number
    beaters: Number
    """The set of the cards that would win."""
    cards: Number
    """The set of those on the table."""


NO_TRICK = Trick(NO_SUIT, 0, NO_CARD, NO_SEAT, ALL_CARDS, 0)
"""Before a lead."""


@inner
def trick_at(game: Game, tables: State, n: int) -> Trick:
    """The trick at table n."""
    led, best, best_seat = wide(tables.led[n]), wide(tables.best[n]), wide(tables.best_seat[n])
    return Trick(led, game.suit_sets[led], best, best_seat, game.beats[best], tables.table[n])


@inner
def put_trick(tables: State, n: int, trick: Trick) -> None:
    """Make it the trick at table n."""
    tables.led[n], tables.best[n], tables.best_seat[n] = trick.led, trick.best, trick.best_seat
    tables.table[n] = trick.cards


@inner
def with_card(game: Game, trick: Trick, turn: Number, action: Number) -> Trick:
    """The trick, and the card that seat `turn` plays to it."""
    return lead(game, turn, action) if trick.suit == 0 else follow(game, trick, turn, action)


@inner
def lead(game: Game, turn: Number, action: Number) -> Trick:
    """A trick with its first card."""
    led = wide(game.suit[at(action)])
    return Trick(led, game.suit_sets[led], action, turn, game.beats[at(action)], bit(action))


@inner
def follow(game: Game, trick: Trick, turn: Number, action: Number) -> Trick:
    """A trick with one more card."""
    card = bit(action)
    # By masks where a branch would be a guess.
    wins = ~empty(trick.beaters & card)
    best, best_seat = select(wins, action, trick.best), select(wins, turn, trick.best_seat)
    beaters = select(wins, game.beats[at(action)], trick.beaters)
    return Trick(trick.led, trick.suit, best, best_seat, beaters, trick.cards | card)


@inner
def shown_void(trick: Trick, turn: Number, action: Number) -> Number:
    """The bit of `State.voids` that a card played to this trick sets, or 0.  trick: with the card."""
    return empty(bit(action) & trick.suit) & bit(NUM_SUITS * turn + trick.led)


@inner
def play_at(game: Game, tables: State, n: int, action: Number) -> bool:
    """Play a card; was it the last of the deal?"""
    turn, played = wide(tables.turn[n]), wide(tables.count[n])
    trick = with_card(game, trick_at(game, tables, n), turn, action)
    tables.hands[n, at(turn)] ^= bit(action)
    tables.plays[n, at(played)] = action
    tables.voids[n] |= shown_void(trick, turn, action)
    tables.broken[n] |= breaks(game.play, bit(action), trick.suit) != 0
    played += 1
    tables.count[n] = played
    if not game.trick_ends[at(played)]:
        put_trick(tables, n, trick)
        tables.turn[n] = next_seat(game, turn)
        return False
    winner = trick.best_seat
    tables.taken[n, at(winner)] |= trick.cards
    put_trick(tables, n, NO_TRICK)
    tables.turn[n] = winner
    if played != game.num_plays:
        tables.leaders[n, at(played // game.num_players)] = winner
    return bool(played == game.num_plays)


@inner
def pick_at(game: Game, tables: State, n: int, action: Number) -> None:
    """Pick a card to pass; after the last, pass and begin the play."""
    turn = tables.turn[n]
    tables.picks[n, at(turn)] |= bit(action)
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
        got = tables.picks[n, seats_between(game, offset, seat)]
        hand = (tables.hands[n, seat] & ~tables.picks[n, seat]) | got
        tables.hands[n, seat] = hand
        tables.start[n, seat] = hand


@inner
def begin_play(game: Game, tables: State, n: int) -> None:
    """The first trick begins."""
    leader: Number = 0
    if game.lowest_club_leads:
        opening = opening_card(game, tables, n)
        for seat in range(game.num_players):
            leader = select(empty(tables.hands[n, seat] & opening), leader, seat)
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
def seats_between(game: Game, first: Number, second: Number) -> Number:
    """How many seats to the left of the first one the second is."""
    return second - first + (game.num_players & less(second, first))


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
            ends.shooter[n] = _shooter(ends.score, ends.taken[n])
            if ends.moon_chosen and ends.shooter[n] != NO_SEAT:
                ends.phase[n], ends.turn[n] = MOON, ends.shooter[n]
                choosing += 1
                continue
        elif phase == MOON and ends.choice[n] != NO_CARD:
            choice = np.int64(ends.choice[n])
        else:
            continue
        seat, taken, scores, points = np.int64(ends.shooter[n]), ends.taken[n], ends.scores[n], ends.points[n]
        if seat == NO_SEAT:
            choice = NO_CARD
            for column in range(ends.score.num_players):
                points[column] = plain_points(ends.score, taken[column])
        else:
            if ends.moon_automatic:
                choice = automatic_choice(ends.score, taken, seat, scores, points)
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
    """See `rulebook.shooter`, which takes longer: moons are rare."""
    cards, shot = everything(score, taken), np.int64(0)
    for seat in range(score.num_players):
        shot |= shoots(score, taken, cards, seat)
    return np.int64(NO_SEAT) if shot == 0 else shooter(score, taken)
