"""Features of a decision for the rule agent: the sets, chances and threats that its choices are made from.

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
    RuleTables,
)
from hearts_env.cards import NUM_SUITS, QS_SET
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
    """The number of members of each set."""
    return np.bitwise_count(sets).astype(np.int32)


def some(sets: Number) -> Number:
    """Mask: the set has members (the number isn't 0)."""
    # By way of bytes, since numpy has no quick way from bool to int32 and on to its negative.
    return (-np.not_equal(sets, 0).view(np.int8)).astype(np.int32)


def top(sets: Number) -> Number:
    """The highest member of each set, as a set of one; of an empty set, the empty set."""
    # A float without its fraction is a power of two.
    return (np.asarray(sets, np.float64).view(np.int64) & _POWER).view(np.float64).astype(np.int64)


def bottom(sets: Number) -> Number:
    """The lowest member of each set, as a set of one; of an empty set, the empty set."""
    # A negative is the complement plus one: above the lowest member all bits differ, below it all are 0.
    return sets & -sets


def less(first: Number, second: Number) -> Number:
    """Mask: the first number is less than the second."""
    # The shift spreads the sign of the difference over all bits.
    return (first - second) >> SIGN


def choice(mask: Number, first: Number, second: Number) -> Number:
    """The first where the mask is all ones, else the second."""
    # x ^ (x ^ y) is y: the mask lets the difference through or not, without a branch.
    return second ^ ((first ^ second) & mask)


_POWER = 0x7FF << 52


# -- the decision ------------------------------------------------------------------------------------------------------


class Piles(NamedTuple):
    """The cards that the seats have taken; seats are counted from the viewer's, which is 0."""

    captured: Number
    """The cards in all piles."""
    holders: Number
    """Bit `seat`: this seat has penalty cards."""
    spoils: Number
    """The pile of the last seat that has some: of the only one, where just one has."""


def piles_of(lut: RuleTables, taken: Number, me: Number) -> Piles:
    """The piles as the viewer counts the seats.

    Args:
        taken: the pile of each seat, one after the other.
        me: the place of the viewer's among them.
    """
    captured = holders = spoils = taken[me] & 0
    for seat in range(lut.players):
        place = me + seat
        place = place - (lut.players & ~less(place, lut.players))  # modulo the seats, without a division
        pile = taken[place]
        has = some(pile & lut.penalty)
        captured, holders, spoils = captured | pile, holders | (has & 1 << seat), choice(has, pile, spoils)
    return Piles(captured, holders, spoils)


def packed_voids(lut: RuleTables, voids: Number) -> Number:
    """Bit 4 * seat + suit: the seat has failed to follow the suit.  voids: bit `suit`, for one seat after the other."""
    packed = voids[0] & 0
    for seat in range(lut.players):
        packed = packed | voids[seat] << NUM_SUITS * seat
    return packed


class Situation(NamedTuple):
    """A decision of the play as the agent sees it; seats are counted from the viewer's, which is 0."""

    hand: Number
    legal: Number
    kept: Number
    """Cards that the viewer has passed and that are still in the receiver's hand."""
    offset: Number
    """The receiver of the viewer's pass; 0 if nothing was passed."""
    voids: Number
    """As `packed_voids` says."""
    piles: Piles
    table: Number
    """The cards of the trick so far."""
    played: Number
    """Cards played by all seats."""
    led: Number
    """The suit led, or NO_SUIT."""
    best: Number
    """The card that wins the trick so far, or NO_CARD."""
    best_seat: Number
    """Who played it; -1 if nobody did."""


# -- the hand and the cards that are out -------------------------------------------------------------------------------


class HandFeatures(NamedTuple):
    """Features of a decision that do not depend on the trick on the table."""

    hand: Number
    legal: Number
    out: Number
    """Cards in other hands, or dead."""
    unknown: Number
    """Those of `out` that may be in any other hand."""
    kept: Number
    """Cards known to be in the receiver's hand."""
    small: Number
    """Points of those that are out but for the queen's."""
    queen_out: Number
    """Mask: another hand has the queen."""
    stakes: Number
    """The danger that is left, which every card's danger is multiplied by."""
    low_spade: Number
    """Worth of playing a spade below the queen."""
    high_spade: Number
    """Worth of playing a spade above her."""


def hand_features(lut: RuleTables, now: Situation) -> HandFeatures:
    """The features of a decision that do not depend on the trick on the table."""
    hand, kept = now.hand, now.kept
    out = lut.deck & ~(hand | now.piles.captured | now.table)
    queen_out, lows = some(out & QS_SET), count(hand & BELOW_QUEEN)
    small = small_points(lut, out)
    return HandFeatures(
        hand,
        now.legal,
        out,
        out & ~kept,
        kept,
        small,
        queen_out,
        lut.floor + (((small + (queen_out & lut.queen_points)) * lut.stakes) >> (2 * BITS)),
        -(some(hand & QS_SET) & at(lut.cover, lows)),
        queen_out & at(lut.spade_danger, lows),
    )


def small_points(lut: RuleTables, cards: Number) -> Number:
    """Points of the penalty cards in a set but for the queen of spades."""
    points = count(cards & lut.small_sets[0]) * lut.small_points[0]
    for k in range(1, lut.num_small):
        points = points + count(cards & lut.small_sets[k]) * lut.small_points[k]
    return points


def points_in(lut: RuleTables, cards: Number) -> Number:
    """Points of all cards in a set."""
    points = count(cards & lut.point_sets[0]) * lut.point_values[0]
    for k in range(1, lut.num_points):
        points = points + count(cards & lut.point_sets[k]) * lut.point_values[k]
    return points


def spade_lead(lut: RuleTables, s: HandFeatures) -> Number:
    """Worth of leading a spade below the queen: it may flush her out, or expose her."""
    flush = lut.flush + (some(s.kept & QS_SET) & lut.flush_known)
    flush = choice(some(s.hand & ABOVE_QUEEN), (flush & 0) - lut.flush_bare, flush)
    return (s.queen_out & flush) - (some(s.hand & QS_SET) & lut.expose)


class SuitFeatures(NamedTuple):
    """Features of a suit of the hand."""

    cards: Number
    own: Number
    rest: Number
    """Its cards that may be in any other hand."""
    number: Number
    """The number of cards in `rest`."""
    short: Number
    """Worth of playing a card since the suit is short."""
    kind: Number
    """The index at which the dangers of its cards begin."""


def suit_features(lut: RuleTables, s: HandFeatures, suit: Number) -> SuitFeatures:
    """The features of a suit of the hand; suit: 0 to 3."""
    cards = at(lut.suit_sets, suit)
    own, rest = s.hand & cards, s.unknown & cards
    number = count(rest)
    return SuitFeatures(cards, own, rest, number, at(lut.short, count(own)), at(lut.kind, suit) + number)


# -- the trick ---------------------------------------------------------------------------------------------------------


class TrickFeatures(NamedTuple):
    """Features of the trick on the table, for cards that may win it."""

    later: Number
    """Seats that play to it after this one."""
    later_voids: Number
    """Bit 4 * seat + suit: the seat, which is one of those, has failed to follow the suit."""
    voids: Number
    """Bit 4 * seat + suit: the seat has failed to follow the suit."""
    receiver: Number
    """Mask: the receiver of the pass is one of them."""
    receiver_voids: Number
    """Bit `suit`: it has failed to follow this suit."""
    row: Number
    """The index at which the chances to win begin."""
    cost: Number
    """Points on the table, with those for having to lead."""
    dump_small: Number
    """Points but for the queen expected from each void seat."""
    dump_queen: Number
    """Points of the queen expected from each void seat."""
    dump_known: Number
    """Points of the queen expected from the receiver if it is void."""


def trick_features(
    lut: RuleTables, s: HandFeatures, offset: Number, voids: Number, table: Number, played: Number, best_seat: Number
) -> TrickFeatures:
    """The trick on the table.  offset, voids and best_seat: relative to this seat.  played: cards played by all."""
    later = seats_later(lut, played)
    banned = lut.ban & less(played, lut.players)
    queen_known = some(s.kept & QS_SET)
    on_table = points_in(lut, table)
    if lut.teams:
        # The partner's trick costs the side as much as one's own.
        on_table = on_table & ~with_partner(best_seat)
    return TrickFeatures(
        later,
        voids & at(lut.later_bits, later),
        voids,
        less(0, offset) & less(offset, later + 1),
        voids >> (offset << 2),
        some(table & lut.penalty) & WIN_SEATS * WIN_SEATS * PLACES,
        on_table + lut.tempo,
        _dump_small(lut, s) & ~banned & ~lut.trump,
        s.queen_out & ~queen_known & ~banned & lut.dump_queen,
        queen_known & ~banned & lut.dump_known,
    )


def seats_later(lut: RuleTables, played: Number) -> Number:
    """The number of seats that play to the trick after the one to act.  played: cards played by all."""
    return lut.others - (played - at(lut.tricks, played) * lut.players)


def with_partner(seat: Number) -> Number:
    """Mask: the seat is the partner's."""
    return less(seat, PARTNER + 1) & ~less(seat, PARTNER)


def _dump_small(lut: RuleTables, s: HandFeatures) -> Number:
    """Points but for the queen's expected from each void seat."""
    number = count(s.out & lut.penalty & ~QS_SET)
    # Other hands hold them; when there are few, most void seats have none.
    spread = number + ((lut.players - number) & less(number, lut.players))
    return (((s.small * at(lut.inverse, spread)) >> BITS) * lut.dump_small) >> BITS


class SuitOutlook(NamedTuple):
    """The outlook of a card of a suit that wins the trick for now."""

    row: Number
    """The index at which the chances to win with it begin."""
    falls: Number
    """Points expected from the seats after this one, if it wins."""
    share: Number
    """Later hands with the suit among all others with it."""


def suit_outlook(lut: RuleTables, s: HandFeatures, t: TrickFeatures, facts: SuitFeatures, suit: Number) -> SuitOutlook:
    """The outlook of the cards of a suit; facts: of the same suit."""
    hands = lut.others - count((t.voids >> suit) & lut.seat_bits)
    void_later = count((t.later_voids >> suit) & lut.seat_bits)
    # The receiver follows where it is known to hold a card of the suit.
    follows = some(s.kept & facts.cards) & t.receiver
    later = t.later - void_later + follows
    missing = at(lut.void, hands * COUNTS + facts.number)
    void = later * missing
    points = (small_points(lut, facts.rest) * at(lut.inverse, facts.number)) >> BITS
    following = (later << BITS) - void
    void = void + (void_later << BITS)
    receiver_void = choice(-((t.receiver_voids >> suit) & 1), 1 << BITS | (missing & 0), missing & ~follows)
    falls = void * (t.dump_small + t.dump_queen) + (receiver_void & t.receiver) * t.dump_known + following * points
    place = later * WIN_SEATS + hands
    return SuitOutlook(t.row + place * PLACES + facts.number, falls >> BITS, at(lut.share, place))


# -- the moon of another -----------------------------------------------------------------------------------------------


class MoonThreat(NamedTuple):
    """A moon that another seat may shoot."""

    chance: Number
    keep: Number
    """The chance that counts for what to keep against it."""
    feeds: Number
    """Worth of a penalty card for the seat that is winning the trick, times the chance."""


def other_holder(lut: RuleTables, holders: Number) -> Number:
    """The only seat with penalty cards, if it is on the other side; else 0.  holders: bit `seat` of those with some."""
    alone = some(holders) & ~some(holders & (holders - 1))
    ours = some(holders & (1 | (lut.teams & 1 << PARTNER)))
    return count(holders - 1) & alone & ~ours & lut.moon


def moon_threat(lut: RuleTables, foe: Number, spoils: Number, played: Number, best_seat: Number) -> MoonThreat:
    """The moon of a seat that has all penalty cards which fell.  spoils: its pile.  played: cards played by all."""
    won, trick_no = at(lut.tricks, count(spoils)), at(lut.tricks, played)
    odds = lut.threat_base + ((small_points(lut, spoils) * lut.threat_heart) >> BITS)
    odds = odds + (some(spoils & QS_SET) & lut.threat_queen)
    odds = odds + won * lut.threat_won + (trick_no - won) * lut.threat_lost
    odds = odds + (~some(foe ^ (seats_later(lut, played) + 1)) & lut.threat_lead)
    feeds = choice(some(best_seat ^ foe), lut.spread + 0 * foe, -lut.feed + 0 * foe)
    return MoonThreat(
        at(lut.chance, _step(odds)), at(lut.chance, _step(odds + lut.keep_early)), feeds & ~less(best_seat, 0)
    )


def _step(odds: Number) -> Number:
    """The index of these log odds in the table of chances."""
    step = odds >> (BITS - ODDS_BITS)
    step = step & ~less(step, 0)
    return step + ((ODDS - 1 - step) & less(ODDS - 1, step))


def points_taken(lut: RuleTables, captured: Number) -> Number:
    """Points of the penalty cards taken by all, 0 to 26, as a whole number."""
    points = (small_points(lut, captured) + (some(captured & QS_SET) & lut.queen_points)) >> BITS
    return points + ((STANDARD_POINTS - points) & less(STANDARD_POINTS, points))
