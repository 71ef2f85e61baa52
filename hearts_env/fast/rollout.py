"""The loops of the compiled executor that are random: shuffle, choose, and random play to the end of the deal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hearts_env.cards import MOON_CHOICES, NO_CARD, NUM_CARDS, Bools, Ints, Sets
from hearts_env.fast.jit import Number, at, bit, count, inner, kernel, nth, wide, zeros_below
from hearts_env.fast.step import (
    NO_TRICK,
    Game,
    begin_play,
    follow,
    follow_cards,
    lead,
    next_seat,
    opening_limit,
    pass_cards,
    put_trick,
    shown_void,
    trick_at,
)
from hearts_env.game.engine import CARD_BITS, GOLDEN, mix
from hearts_env.game.random_play import FRACTION_BITS, decision_key, fraction
from hearts_env.game.rulebook import breaks, legal_lead
from hearts_env.game.state import MOON, PASS, PLAY, State

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
            keys[card] = mix(seed + _STEPS[card]) & ~CARD_BITS | np.uint64(card)
        for card in range(NUM_CARDS):
            buckets[np.int64(keys[card] >> _BUCKET_SHIFT)] |= np.uint64(deck & bit(card))
        seat, end = 0, hand_size
        dealt, hand = np.int64(0), np.int64(0)
        for bucket in range(_BUCKETS):
            # A bucket has lower keys than the next one: only one that does not fit into the hand has to be sorted.
            cards = np.int64(buckets[bucket])
            hand |= cards
            dealt += count(cards)
            while dealt >= end and seat < hands.shape[1]:
                cards = _last(keys, cards, dealt - end)
                hands[n, seat] = hand ^ cards
                hand = cards
                seat += 1
                end += hand_size


_STEPS = np.arange(NUM_CARDS, dtype=np.uint64) * GOLDEN


@inner
def _last(keys: NDArray[np.uint64], cards: Number, size: Number) -> Number:
    """So many cards of a set: those with the highest keys."""
    rest, chosen = cards, np.int64(0)
    for _ in range(size):
        best = zeros_below(rest)
        others = rest & (rest - 1)
        while others != 0:
            card = zeros_below(others)
            best = card if keys[card] > keys[best] else best
            others &= others - 1
        chosen |= bit(best)
        rest ^= bit(best)
    return chosen


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
    number = fraction(decision_key(key, np.uint64(phase), np.uint64(count), np.uint64(turn)), salt)
    return choose_whole(cards, np.int64(number))


@inner
def choose_whole(cards: Number, number: Number) -> Number:
    """The member that `choose_at` gives for `number` of 2**FRACTION_BITS, without its slow way through float64."""
    return nth(cards, number * count(cards) >> FRACTION_BITS)


@inner
def _pick_on(game: Game, tables: State, n: int, seats: Bools, key: Number, salt: Number) -> int:
    """Pick random cards at table n for as long as one of `seats`, bool [P], is to pick; return how many."""
    hands, picks = tables.hands[n], tables.picks[n]
    begin, turn = wide(tables.count[n]), wide(tables.turn[n])
    place, end = begin, game.num_players * game.pass_count
    while place < end and seats[at(turn)]:
        picked = picks[at(turn)]
        picks[at(turn)] = picked | bit(_random_member(hands[at(turn)] & ~picked, key, salt, PASS, place, turn))
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
    hands, plays = tables.hands[n], tables.plays[n]
    begin, turn = wide(tables.count[n]), wide(tables.turn[n])
    voids, broken = wide(tables.voids[n]), -wide(tables.broken[n])
    trick = trick_at(game, tables, n)
    place, trick_no = begin, begin // game.num_players
    opening = opening_limit(game, tables, n) if place == 0 else wide(0)
    while place < game.num_plays and seats[at(turn)]:
        end = (trick_no + 1) * game.num_players
        if trick.suit == 0:
            hand = hands[at(turn)]
            action = _random_member(legal_lead(game.play, hand, broken, opening), key, salt, PLAY, place, turn)
            hands[at(turn)] = hand ^ bit(action)
            plays[at(place)] = action
            trick = lead(game, turn, action)
            broken |= breaks(game.play, bit(action), 0)
            opening = wide(0)
            place += 1
            turn = next_seat(game, turn)
        while place < end and seats[at(turn)]:
            hand = hands[at(turn)]
            actions = follow_cards(game, hand, trick.suit, trick_no == 0)
            action = _random_member(actions, key, salt, PLAY, place, turn)
            hands[at(turn)] = hand ^ bit(action)
            plays[at(place)] = action
            trick = follow(game, trick, turn, action)
            voids |= shown_void(trick, turn, action)
            if broken == 0:
                broken = breaks(game.play, bit(action), trick.suit)
            place += 1
            turn = next_seat(game, turn)
        if place == end:
            turn = trick.best_seat
            tables.taken[n, at(turn)] |= trick.cards
            trick = NO_TRICK
            trick_no += 1
            if place != game.num_plays:
                tables.leaders[n, at(trick_no)] = turn
    tables.count[n], tables.turn[n], tables.voids[n], tables.broken[n] = place, turn, voids, broken != 0
    put_trick(tables, n, trick)
    made: int = place - begin
    return made
