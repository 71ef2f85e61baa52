"""The loops of the compiled executor that are random: shuffle, choose, and random play to the end of the deal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hearts_env.cards import (
    ALL_CARDS,
    MOON_CHOICES,
    NO_CARD,
    NO_SEAT,
    NO_SUIT,
    NUM_CARDS,
    NUM_SUITS,
    Bools,
    Ints,
    Sets,
)
from hearts_env.engine import CARD_BITS, GOLDEN, mix
from hearts_env.kernel import Number, bit, count, inner, kernel, nth, zeros_below
from hearts_env.kernels import Game, begin_play, next_seat, opening_card, pass_cards
from hearts_env.lookup import ALL_ONES
from hearts_env.playout import decision_key, unit
from hearts_env.rulebook import breaks, empty, legal_follow, legal_lead, select
from hearts_env.state import MOON, PASS, PLAY, State

_BUCKETS = 32
_BUCKET_SHIFT = np.uint64(59)
ROOM = NUM_CARDS


# -- shuffle and choose ------------------------------------------------------------------------------------------------


@kernel
def shuffle(deck: int, hand_size: int, ids: NDArray[np.uint64], hands: Sets, room: NDArray[np.uint64]) -> None:
    """Fill `hands`, int64 [N, P].  room: uint64 [2, ROOM] to work in."""
    keys, buckets = room[0], room[1]
    for n in range(len(ids)):
        seed = mix(ids[n])
        buckets[:] = 0
        for card in range(NUM_CARDS):
            number: Number = np.uint64(card)
            keys[card] = mix(seed + number * GOLDEN) & ~CARD_BITS | number
        for card in range(NUM_CARDS):
            buckets[np.int64(keys[card] >> _BUCKET_SHIFT)] |= np.uint64(deck & bit(card))
        bucket = 0
        rest: Number = np.int64(buckets[0])
        for seat in range(hands.shape[1]):
            hand: Number = np.int64(0)
            needed = hand_size
            # A bucket has lower keys than the next one: only one that does not fit into the hand has to be sorted.
            while count(rest) <= needed and bucket < _BUCKETS - 1:
                hand |= rest
                needed -= count(rest)
                bucket += 1
                rest = np.int64(buckets[bucket])
            lowest = _lowest(keys, rest, needed)
            hands[n, seat] = hand | lowest
            rest ^= lowest


@inner
def _lowest(keys: NDArray[np.uint64], cards: Number, size: Number) -> Number:
    """So many cards of a set: those with the lowest keys."""
    kept = cards
    for _ in range(count(cards) - size):
        highest: Number = np.int64(0)
        rest = kept
        while rest != 0:
            card = zeros_below(rest)
            if keys[card] > keys[highest] or not kept & bit(highest):
                highest = card
            rest &= rest - 1
        kept &= ~bit(highest)
    return kept


@kernel
def choose(sets: Sets, uniform: NDArray[np.float64], chosen: Ints) -> None:
    """Fill `chosen`, int64 [N]."""
    for n in range(len(sets)):
        chosen[n] = NO_CARD if sets[n] == 0 else choose_at(sets[n], uniform[n])


@inner
def choose_at(rest: Number, uniform: Number) -> Number:
    """A member of a set that has some."""
    return nth(rest, np.int64(uniform * count(rest)))


# -- random play: the same play, with what changes from card to card in registers --------------------------------------


@kernel
def play_random(game: Game, tables: State, seats: Bools, salt: Number) -> int:
    """Play as `playout.play_random` does, as far as `finish`; return how many actions.  salt: uint64."""
    made = 0
    for n in range(len(seats)):
        number: Number = np.uint64(tables.key[n])
        key = mix(number)
        if tables.phase[n] == PASS:
            made += _pick_on(game, tables, n, seats[n], key, salt)
        if tables.phase[n] == PLAY:
            made += _play_on(game, tables, n, seats[n], key, salt)
        elif tables.phase[n] == MOON and seats[n, tables.turn[n]]:
            tables.choice[n] = _random_member(MOON_CHOICES, key, salt, MOON, tables.count[n], tables.turn[n])
            made += 1
    return made


@inner
def _random_member(cards: Number, key: Number, salt: Number, phase: Number, count: Number, turn: Number) -> Number:
    """A member of a set of legal actions."""
    chance = unit(decision_key(key, np.uint64(phase), np.uint64(count), np.uint64(turn)), salt)
    return choose_at(cards, chance)


@inner
def _pick_on(game: Game, tables: State, n: int, seats: Bools, key: Number, salt: Number) -> int:
    """Pick random cards at table n for as long as one of `seats`, bool [P], is to pick; return how many."""
    hands, picks = tables.hands[n], tables.picks[n]
    begin: Number = np.int64(tables.count[n])
    turn = np.int64(tables.turn[n])
    place, end = begin, game.num_players * game.pass_count
    while place < end and seats[turn]:
        picks[turn] |= bit(_random_member(hands[turn] & ~picks[turn], key, salt, PASS, place, turn))
        place += 1
        turn = next_seat(game, turn)
    tables.count[n], tables.turn[n] = place, turn
    if place == end:
        pass_cards(game, tables, n)
        begin_play(game, tables, n)
    made: int = place - begin
    return made


@inner
def _play_on(game: Game, tables: State, n: int, seats: Bools, key: Number, salt: Number) -> int:
    """Play random cards at table n for as long as one of `seats`, bool [P], is to play; return how many."""
    hands, taken, plays = tables.hands[n], tables.taken[n], tables.plays[n]
    begin: Number = np.int64(tables.count[n])
    turn, voids = np.int64(tables.turn[n]), np.int64(tables.voids[n])
    led, best, best_seat = np.int64(tables.led[n]), np.int64(tables.best[n]), np.int64(tables.best_seat[n])
    table, broken = tables.table[n], -np.int64(tables.broken[n])
    place, trick = begin, begin // game.num_players
    end = (trick + 1) * game.num_players
    suit, beaters = game.suit_sets[led], game.beats[best]
    opening: Number = np.int64(0)
    if place == 0:
        opening = opening_card(game, tables, n) if game.opening_limit == ALL_ONES else game.opening_limit
    while place < game.num_plays and seats[turn]:
        hand = hands[turn]
        if led == NO_SUIT:
            actions = legal_lead(game.play, hand, broken, opening)
        else:
            actions = legal_follow(game.play, hand, suit, -np.int64(trick == 0))
        action = _random_member(actions, key, salt, PLAY, place, turn)
        card = bit(action)
        hands[turn] = hand ^ card
        plays[place] = action
        table |= card
        broken |= breaks(game.play, card, suit)
        if led == NO_SUIT:
            led = np.int64(game.suit[action])
            suit = game.suit_sets[led]
            opening = np.int64(0)
        # By masks where a branch would be a guess.
        voids |= empty(card & suit) & bit(NUM_SUITS * turn + led)
        wins = ~empty(beaters & card)
        best, best_seat = select(wins, action, best), select(wins, turn, best_seat)
        beaters = select(wins, game.beats[action], beaters)
        place += 1
        turn = next_seat(game, turn)
        if place == end:
            taken[best_seat] |= table
            turn = best_seat
            table, led, best, best_seat = np.int64(0), np.int64(NO_SUIT), np.int64(NO_CARD), np.int64(NO_SEAT)
            suit, beaters = np.int64(0), np.int64(ALL_CARDS)
            trick += 1
            end += game.num_players
            if place != game.num_plays:
                tables.leaders[n, trick] = turn
    tables.count[n], tables.turn[n], tables.voids[n], tables.broken[n] = place, turn, voids, broken != 0
    tables.table[n], tables.led[n], tables.best[n], tables.best_seat[n] = table, led, best, best_seat
    made: int = place - begin
    return made
