"""The loops of the compiled executor: shuffle, deal, legal, step, choose, one table after the other.

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
from hearts_env.engine import CARD_BITS, GOLDEN, mix
from hearts_env.kernel import Number, bit, count, inner, kernel, nth
from hearts_env.lookup import ALL_ONES, Lookup, PlayMasks, ScoreNumbers
from hearts_env.playout import decision_key, unit
from hearts_env.rulebook import breaks, legal_follow, legal_lead
from hearts_env.state import DEAL_OVER, GAME_OVER, MOON, PASS, PLAY, State
from hearts_env.tally import automatic_choice, deal_points, is_over, reset_exact, shooter

_ARRAYS = [field.name for field in fields(State)]
Tables: Any = namedtuple("Tables", _ARRAYS)  # type: ignore[misc]
_arrays_of = attrgetter(*_ARRAYS)
_BUCKETS = 64
ROOM = _BUCKETS + 1
_BUCKET_SHIFT = np.uint64(58)


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


# -- shuffle and choose ------------------------------------------------------------------------------------------------


@kernel
def shuffle(game: Game, ids: NDArray[np.uint64], hands: Sets, room: NDArray[np.uint64]) -> None:
    """Fill `hands`, int64 [N, P].  room: uint64 [3, ROOM] to work in."""
    size = len(game.deck_cards)
    keys, ordered, place = room[0], room[1], room[2]
    for n in range(len(ids)):
        seed = mix(ids[n])
        place[:] = 0
        for i in range(size):
            number: Number = np.uint64(game.deck_cards[i])
            keys[i] = mix(seed + number * GOLDEN) & ~CARD_BITS | number
            place[np.int64(keys[i] >> _BUCKET_SHIFT) + 1] += 1
        # Roughly in order by the highest bits; what little is then out of order moves down.
        for bucket in range(_BUCKETS):
            place[bucket + 1] += place[bucket]
        for i in range(size):
            begin = np.int64(keys[i] >> _BUCKET_SHIFT)
            ordered[place[begin]] = keys[i]
            place[begin] += 1
        for i in range(1, size):
            key: Number = ordered[i]
            k = i
            while k > 0 and ordered[k - 1] > key:
                ordered[k] = ordered[k - 1]
                k -= 1
            ordered[k] = key
        i = 0
        for seat in range(game.num_players):
            hand: Number = np.int64(0)
            for _ in range(game.hand_size):
                card: Number = np.int64(ordered[i] & CARD_BITS)
                hand |= bit(card)
                i += 1
            hands[n, seat] = hand


@kernel
def choose(sets: Sets, uniform: NDArray[np.float64], chosen: Ints) -> None:
    """Fill `chosen`, int64 [N]."""
    for n in range(len(sets)):
        chosen[n] = NO_CARD if sets[n] == 0 else choose_at(sets[n], uniform[n])


@inner
def choose_at(rest: Number, uniform: Number) -> Number:
    """A member of a set that has some."""
    return nth(rest, np.int64(uniform * count(rest)))


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
        _begin_play(game, tables, n)


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


@kernel
def step(game: Game, tables: State, actions: Ints) -> int:
    """Step all tables; return the row of an action out of range, at which it stops, or NONE_BAD."""
    for n in range(len(actions)):
        phase, action = tables.phase[n], actions[n]
        if phase >= DEAL_OVER:
            continue
        if not 0 <= action < (NUM_ACTIONS if phase == MOON else NUM_CARDS):
            return n
        step_at(game, tables, n, action)
    return NONE_BAD


@kernel
def play_random(game: Game, tables: State, seats: Bools, salt: Number) -> int:
    """Play as `playout.play_random` does; return how many actions.  salt: uint64."""
    made = 0
    for n in range(len(seats)):
        number: Number = np.uint64(tables.key[n])
        key = mix(number)
        while waits(tables, n, seats):
            decision = np.uint64(tables.phase[n]), np.uint64(tables.count[n]), np.uint64(tables.turn[n])
            chance = unit(decision_key(key, decision[0], decision[1], decision[2]), salt)
            step_at(game, tables, n, choose_at(legal_at(game, tables, n), chance))
            made += 1
    return made


@inner
def waits(tables: State, n: int, seats: Bools) -> Number:
    """Is one of the seats, bool [N, P], to act at table n?"""
    return tables.phase[n] < DEAL_OVER and seats[n, tables.turn[n]]


@inner
def step_at(game: Game, tables: State, n: int, action: Number) -> None:
    """Carry out a legal action at table n, whose deal is not over."""
    phase = tables.phase[n]
    if phase == PASS:
        pick_at(game, tables, n, action)
        return
    if phase == PLAY:
        if not play_at(game, tables, n, action):
            return
        if _finish(game, tables, n):
            return
        action = game.moon_action
        if game.moon_automatic:
            seats = tables.taken[n], tables.shooter[n], tables.scores[n], tables.points[n]
            action = automatic_choice(game.score, seats[0], seats[1], seats[2], seats[3])
    _score(game, tables, n, action)


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
def _finish(game: Game, tables: State, n: int) -> bool:
    """All cards are played; is there a moon whose shooter has a choice to make?"""
    seat = shooter(game.score, tables.taken[n])
    tables.shooter[n] = seat
    if not game.moon_chosen or seat == NO_SEAT:
        return False
    tables.phase[n] = MOON
    tables.turn[n] = seat
    return True


@inner
def _score(game: Game, tables: State, n: int, choice: Number) -> None:
    """The deal is over.  choice: ADD or SUBTRACT, read where there is a shooter."""
    seat, points, scores = tables.shooter[n], tables.points[n], tables.scores[n]
    deal_points(game.score, tables.taken[n], seat, choice, points)
    for column in range(game.num_players):
        scores[column] = reset_exact(game.score, scores[column] + points[column])
    tables.choice[n] = NO_CARD if seat == NO_SEAT else choice
    tables.phase[n] = GAME_OVER if is_over(game.score, scores) != 0 else DEAL_OVER
    tables.turn[n] = NO_SEAT


@inner
def pick_at(game: Game, tables: State, n: int, action: Number) -> None:
    """Pick a card to pass; after the last, pass and begin the play."""
    turn = tables.turn[n]
    tables.picks[n, turn] |= bit(action)
    tables.count[n] += 1
    tables.turn[n] = next_seat(game, turn)
    if tables.count[n] == game.num_players * game.pass_count:
        _pass(game, tables, n)
        _begin_play(game, tables, n)


@inner
def _pass(game: Game, tables: State, n: int) -> None:
    offset = offset_of(game, tables.deal_no[n])
    for seat in range(game.num_players):
        got = tables.picks[n, (seat - offset) % game.num_players]
        hand = (tables.hands[n, seat] & ~tables.picks[n, seat]) | got
        tables.hands[n, seat] = hand
        tables.start[n, seat] = hand


@inner
def _begin_play(game: Game, tables: State, n: int) -> None:
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
