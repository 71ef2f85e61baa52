"""The loops of the compiled executor that are random: shuffle, choose, and random play to the end of the deal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hearts_env.cards import MOON_CHOICES, NO_CARD, NUM_CARDS, Bools, Ints, Sets
from hearts_env.fast.jit import Number, at, bit, count, inner, kernel, nth, wide, zeros_below
from hearts_env.fast.step import (
    Game,
    collect,
    course_at,
    end_pass,
    follow,
    follow_cards,
    lead,
    lead_cards,
    pick_at,
    put_course,
)
from hearts_env.game.engine import CARD_BITS, GOLDEN, mix
from hearts_env.game.random_play import FRACTION_BITS, decision_key, fraction
from hearts_env.game.rulebook import legal_picks
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


# -- random play -------------------------------------------------------------------------------------------------------


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
    made, last = 0, False
    while not last and seats[at(tables.turn[n])]:
        turn = wide(tables.turn[n])
        actions = legal_picks(game.play, tables.hands[n, at(turn)], tables.picks[n, at(turn)])
        last = pick_at(game, tables, n, _random_member(actions, key, salt, PASS, tables.count[n], turn))
        made += 1
    if last:
        end_pass(game, tables, n)
    return made


@inner
def _play_on(game: Game, tables: State, n: int, seats: Bools, key: Number, salt: Number) -> int:
    """Play random cards at table n for as long as one of `seats`, bool [P], is to play; return how many.

    Trick by trick, so that it is known of each card whether it leads and whether it may end the trick.
    """
    hands, course = tables.hands[n], course_at(game, tables, n)
    begin, trick_no = course.count, course.count // game.num_players
    while course.count < game.num_plays and seats[at(course.turn)]:
        end = (trick_no + 1) * game.num_players
        if course.suit == 0:
            actions = lead_cards(game, hands[at(course.turn)], course.broken, course.count)
            action = _random_member(actions, key, salt, PLAY, course.count, course.turn)
            course = lead(game, tables, n, course, action)
        while course.count < end and seats[at(course.turn)]:
            actions = follow_cards(game, hands[at(course.turn)], course.suit, trick_no == 0)
            action = _random_member(actions, key, salt, PLAY, course.count, course.turn)
            course = follow(game, tables, n, course, action)
        if course.count == end:
            course = collect(game, tables, n, course)
            trick_no += 1
    put_course(tables, n, course)
    made: int = course.count - begin
    return made
