"""The loops of the compiled executor: shuffle, legal, step, choose, one table after the other.

What may be played and what breaks hearts is the rulebook's; the end of a deal is the numpy engine's.  A kernel reads a
State as a tuple of its arrays with the same names, and the rules as a `Game`.
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
    CLUBS,
    MOON_CHOICES,
    NO_CARD,
    NO_SEAT,
    NO_SUIT,
    NUM_ACTIONS,
    NUM_CARDS,
    NUM_SUITS,
    Bools,
    Ints,
    Sets,
    bit,
    count,
)
from hearts_env.engine import CARD_BITS, GOLDEN, mix
from hearts_env.kernel import Number, inner, kernel, zeros_below
from hearts_env.lookup import ALL_ONES, Lookup, PlayMasks
from hearts_env.rulebook import breaks, legal_follow, legal_lead
from hearts_env.state import DEAL_OVER, MOON, PASS, PLAY, State

_ARRAYS = [field.name for field in fields(State)]
Tables: Any = namedtuple("Tables", _ARRAYS)  # type: ignore[misc]
_arrays_of = attrgetter(*_ARRAYS)
_BUCKETS = 64
ROOM = _BUCKETS + 1
_BUCKET_SHIFT = np.uint64(58)


class Game(NamedTuple):
    """A Lookup as kernels take it: see there."""

    play: PlayMasks
    num_players: int
    hand_size: int
    num_plays: int
    pass_count: int
    opening_limit: int
    lowest_club_leads: bool
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
        num_players=lookup.num_players,
        hand_size=lookup.hand_size,
        num_plays=lookup.num_plays,
        pass_count=lookup.pass_count,
        opening_limit=lookup.opening_limit,
        lowest_club_leads=lookup.rules.first_leader == "lowest_club",
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
        rest: Number = sets[n]
        if rest == 0:
            chosen[n] = NO_CARD
            continue
        for _ in range(int(uniform[n] * count(rest))):
            rest &= rest - 1
        chosen[n] = zeros_below(rest)


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
        first = -np.int64(tables.count[n] < game.num_players)
        return legal_follow(game.play, hand, game.suit_sets[led], first)
    opening: Number = np.int64(0)
    if tables.count[n] == 0:
        opening = opening_card(tables, n) if game.opening_limit == ALL_ONES else game.opening_limit
    return legal_lead(game.play, hand, -np.int64(tables.broken[n]), opening)


@inner
def opening_card(tables: State, n: int) -> Number:
    """The lowest club that any seat of table n holds, as a set."""
    clubs: Number = np.int64(0)
    for hand in tables.hands[n]:
        clubs |= hand & CLUBS
    return clubs & -clubs


# -- step --------------------------------------------------------------------------------------------------------------

NONE_BAD = -1


@kernel
def step(game: Game, tables: State, actions: Ints, ended: Ints) -> tuple[int, int, int]:
    """Step all tables up to what the end of a deal needs.

    ended: int64 [N] filled with rows: from the front on those whose last card has been played, from the back on those
    where the moon choice is made.  Returns how many there are of each, and the row of an action out of range, at which
    it stops, or NONE_BAD.
    """
    finished, moons = 0, 0
    for n in range(len(actions)):
        phase, action = tables.phase[n], actions[n]
        if phase >= DEAL_OVER:
            continue
        if not 0 <= action < (NUM_ACTIONS if phase == MOON else NUM_CARDS):
            return finished, moons, n
        if phase == PLAY:
            if _play(game, tables, n, action):
                ended[finished] = n
                finished += 1
        elif phase == PASS:
            _pick(game, tables, n, action)
        else:
            moons += 1
            ended[len(ended) - moons] = n
    return finished, moons, NONE_BAD


@inner
def _play(game: Game, tables: State, n: int, action: Number) -> bool:
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
def _pick(game: Game, tables: State, n: int, action: Number) -> None:
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
        opening = opening_card(tables, n)
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
