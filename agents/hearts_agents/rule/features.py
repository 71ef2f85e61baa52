"""What the rule agent sees: the sets, chances and threats that its choices are made from.

Every formula works on arrays and, unchanged, on the single numbers of a compiled loop.  Sets are int64 arrays, and a
card to choose is a set of one; other numbers are int32 arrays, since the half is faster, and none is larger.  A
condition is a mask: all ones (-1) or 0.  Points and chances are in 1/UNIT.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from hearts_agents.rule.tables import (
    ABOVE_QUEEN,
    BELOW_QUEEN,
    COUNTS,
    ODDS,
    PLACES,
    STANDARD_POINTS,
    WIN_SEATS,
    Brain,
)
from hearts_env.cards import QS_SET
from hearts_env.game.scoring import PARTNER

Number: TypeAlias = Any
"""An array, or in a compiled loop one number."""

BITS = 10
"""UNIT is 1 << BITS."""
SIGN = 31
"""The bit that tells negative numbers."""
NEVER = -(1 << 30)
"""Less than any score."""
ODDS_BITS = 4
"""ODDS_STEPS is 1 << ODDS_BITS."""
LITTLE = 20
"""Moons of a smaller chance are no threat."""
STEP = COUNTS - 1
"""How far an index moves in the tables of `rule.tables` where a lower card of the others becomes a higher one."""


def at(table: Number, index: Number) -> Number:
    """The entries of a table.  An index from the end is negative."""
    return table.take(index, mode="wrap")


def count(sets: Number) -> Number:
    """How many members each set has."""
    return np.bitwise_count(sets).astype(np.int32)


def some(sets: Number) -> Number:
    """Mask: the set has members (the number isn't 0)."""
    # By way of bytes, since numpy has no quick way from bool to int32 and on to its negative.
    return (-(sets != 0).view(np.int8)).astype(np.int32)


def top(sets: Number) -> Number:
    """The highest member of each set, as a set of one; of an empty set, the empty set."""
    # A float without its fraction is a power of two.
    return (sets.astype(np.float64).view(np.int64) & _POWER).view(np.float64).astype(np.int64)


def bottom(sets: Number) -> Number:
    """The lowest member of each set, as a set of one; of an empty set, the empty set."""
    return sets & -sets


def less(first: Number, second: Number) -> Number:
    """Mask: the first number is less than the second."""
    return (first - second) >> SIGN


def choice(mask: Number, first: Number, second: Number) -> Number:
    """The first where the mask is all ones, else the second."""
    return second ^ ((first ^ second) & mask)


_POWER = 0x7FF << 52


# -- the hand and the cards that are out -------------------------------------------------------------------------------


class Sight(NamedTuple):
    """What there is to see whatever the trick."""

    hand: Number
    legal: Number
    out: Number
    """Cards in other hands, or dead."""
    unknown: Number
    """Those of them that may be in any hand."""
    kept: Number
    """Those known to be in the receiver's hand."""
    small: Number
    """Points of those that are out but for the queen's."""
    queen_out: Number
    """Mask: another hand has the queen."""
    stakes: Number
    """How much danger is left."""
    low_spade: Number
    """Worth of playing a spade below the queen."""
    high_spade: Number
    """Worth of playing a spade above her."""


def sight(brain: Brain, hand: Number, legal: Number, kept: Number, seen: Number) -> Sight:
    """What there is to see.  kept: cards known to be with the receiver of the pass.  seen: all that are in no hand."""
    out = brain.deck & ~(hand | seen)
    queen_out, lows = some(out & QS_SET), count(hand & BELOW_QUEEN)
    small = small_points(brain, out)
    return Sight(
        hand,
        legal,
        out,
        out & ~kept,
        kept,
        small,
        queen_out,
        brain.floor + (((small + (queen_out & brain.queen_points)) * brain.stakes) >> (2 * BITS)),
        -(some(hand & QS_SET) & at(brain.cover, lows)),
        queen_out & at(brain.spade_danger, lows),
    )


def small_points(brain: Brain, cards: Number) -> Number:
    """Points of the penalty cards in a set but for the queen of spades."""
    points = count(cards & brain.small_sets[0]) * brain.small_points[0]
    for k in range(1, brain.num_small):
        points = points + count(cards & brain.small_sets[k]) * brain.small_points[k]
    return points


def points_in(brain: Brain, cards: Number) -> Number:
    """Points of all cards in a set."""
    points = count(cards & brain.point_sets[0]) * brain.point_values[0]
    for k in range(1, brain.num_points):
        points = points + count(cards & brain.point_sets[k]) * brain.point_values[k]
    return points


def spade_lead(brain: Brain, s: Sight) -> Number:
    """Worth of leading a spade below the queen: it may flush her out, or expose her."""
    flush = brain.flush + (some(s.kept & QS_SET) & brain.flush_known)
    flush = choice(some(s.hand & ABOVE_QUEEN), (flush & 0) - brain.flush_bare, flush)
    return (s.queen_out & flush) - (some(s.hand & QS_SET) & brain.expose)


class Suit(NamedTuple):
    """What there is to know of a suit."""

    cards: Number
    own: Number
    rest: Number
    """Its cards that may be in any other hand."""
    number: Number
    """How many these are."""
    short: Number
    """Worth of playing a card since the suit is short."""
    kind: Number
    """Where the dangers of its cards begin."""


def suit_facts(brain: Brain, s: Sight, suit: Number) -> Suit:
    """What there is to know of a suit; suit: 0 to 3."""
    cards = at(brain.suit_sets, suit)
    own, rest = s.hand & cards, s.unknown & cards
    number = count(rest)
    return Suit(cards, own, rest, number, at(brain.short, count(own)), at(brain.kind, suit) + number)


# -- the trick ---------------------------------------------------------------------------------------------------------


class Trick(NamedTuple):
    """What there is to know of a trick that a card may win."""

    later: Number
    """Seats that play to it after this one."""
    later_voids: Number
    """Bit 4 * seat + suit: this seat, which is one of them, has failed to follow this suit."""
    voids: Number
    """The same for all seats."""
    receiver: Number
    """Mask: the receiver of the pass is one of them."""
    receiver_voids: Number
    """Bit `suit`: it has failed to follow this suit."""
    row: Number
    """Where the chances to win begin."""
    cost: Number
    """Points on the table, with those for having to lead."""
    dump_small: Number
    """Points but for the queen expected from each void seat."""
    dump_queen: Number
    """Points of the queen expected from each void seat."""
    dump_known: Number
    """Points of the queen expected from the receiver if it is void."""


def trick(
    brain: Brain, s: Sight, offset: Number, voids: Number, table: Number, played: Number, best_seat: Number
) -> Trick:
    """The trick on the table.  offset, voids and best_seat: relative to this seat.  played: cards played by all."""
    later = seats_later(brain, played)
    banned = brain.ban & less(played, brain.players)
    queen_known = some(s.kept & QS_SET)
    on_table = points_in(brain, table)
    if brain.teams:
        # The partner's trick costs the side as much as one's own.
        on_table = on_table & ~with_partner(best_seat)
    return Trick(
        later,
        voids & at(brain.later_bits, later),
        voids,
        less(0, offset) & less(offset, later + 1),
        voids >> (offset << 2),
        some(table & brain.penalty) & WIN_SEATS * WIN_SEATS * PLACES,
        on_table + brain.tempo,
        _dump_small(brain, s) & ~banned & ~brain.trump,
        s.queen_out & ~queen_known & ~banned & brain.dump_queen,
        queen_known & ~banned & brain.dump_known,
    )


def seats_later(brain: Brain, played: Number) -> Number:
    """How many seats play to the trick after the one to act.  played: cards played by all."""
    return brain.others - (played - at(brain.tricks, played) * brain.players)


def with_partner(seat: Number) -> Number:
    """Mask: the seat is the partner's."""
    return less(seat, PARTNER + 1) & ~less(seat, PARTNER)


def _dump_small(brain: Brain, s: Sight) -> Number:
    """Points but for the queen's expected from each void seat."""
    number = count(s.out & brain.penalty & ~QS_SET)
    # Other hands hold them; when there are few, most void seats have none.
    spread = number + ((brain.players - number) & less(number, brain.players))
    return (((s.small * at(brain.inverse, spread)) >> BITS) * brain.dump_small) >> BITS


class Chances(NamedTuple):
    """What may come of a card of a suit that wins for now."""

    row: Number
    """Where the chances to win with it begin."""
    falls: Number
    """Points expected from the seats after this one, if it wins."""
    share: Number
    """Later hands with the suit among all others with it."""


def chances(brain: Brain, s: Sight, t: Trick, facts: Suit, suit: Number) -> Chances:
    """What may come of a card of a suit; facts: of the same suit."""
    hands = brain.others - count((t.voids >> suit) & brain.seat_bits)
    void_later = count((t.later_voids >> suit) & brain.seat_bits)
    # The receiver follows where it is known to hold a card of the suit.
    follows = some(s.kept & facts.cards) & t.receiver
    later = t.later - void_later + follows
    missing = at(brain.void, hands * COUNTS + facts.number)
    void = later * missing
    points = (small_points(brain, facts.rest) * at(brain.inverse, facts.number)) >> BITS
    following = (later << BITS) - void
    void = void + (void_later << BITS)
    receiver_void = choice(-((t.receiver_voids >> suit) & 1), 1 << BITS | (missing & 0), missing & ~follows)
    falls = void * (t.dump_small + t.dump_queen) + (receiver_void & t.receiver) * t.dump_known + following * points
    place = later * WIN_SEATS + hands
    return Chances(t.row + place * PLACES + facts.number, falls >> BITS, at(brain.share, place))


# -- the moon of another -----------------------------------------------------------------------------------------------


class Threat(NamedTuple):
    """A moon that another seat may shoot."""

    chance: Number
    keep: Number
    """The chance that counts for what to keep against it."""
    feeds: Number
    """Worth of a penalty card for the seat that is winning the trick, times the chance."""


def other_holder(brain: Brain, holders: Number) -> Number:
    """The only seat with penalty cards, if it is on the other side; else 0.  holders: bit `seat` of those with some."""
    alone = some(holders) & ~some(holders & (holders - 1))
    ours = some(holders & (1 | (brain.teams & 1 << PARTNER)))
    return count(holders - 1) & alone & ~ours & brain.moon


def threat(brain: Brain, foe: Number, spoils: Number, played: Number, best_seat: Number) -> Threat:
    """The moon of a seat that has all penalty cards which fell.  spoils: its pile.  played: cards played by all."""
    won, trick_no = at(brain.tricks, count(spoils)), at(brain.tricks, played)
    odds = brain.threat_base + ((small_points(brain, spoils) * brain.threat_heart) >> BITS)
    odds = odds + (some(spoils & QS_SET) & brain.threat_queen)
    odds = odds + won * brain.threat_won + (trick_no - won) * brain.threat_lost
    odds = odds + (~some(foe ^ (seats_later(brain, played) + 1)) & brain.threat_lead)
    feeds = choice(some(best_seat ^ foe), brain.spread + 0 * foe, -brain.feed + 0 * foe)
    return Threat(
        at(brain.chance, _step(odds)), at(brain.chance, _step(odds + brain.keep_early)), feeds & ~less(best_seat, 0)
    )


def _step(odds: Number) -> Number:
    """Where these log odds stand in the table of chances."""
    step = odds >> (BITS - ODDS_BITS)
    step = step & ~less(step, 0)
    return step + ((ODDS - 1 - step) & less(ODDS - 1, step))


def points_taken(brain: Brain, captured: Number) -> Number:
    """Points of the penalty cards taken by all, 0 to 26, as a whole number."""
    points = (small_points(brain, captured) + (some(captured & QS_SET) & brain.queen_points)) >> BITS
    return points + ((STANDARD_POINTS - points) & less(STANDARD_POINTS, points))
