"""The rule agent's plan to shoot the moon: whether a hand may take every penalty card, and its play.

The formulas work on arrays and, unchanged, on the single numbers of a compiled loop.
"""

from __future__ import annotations

from hearts_agents.rule.features import BITS, NEVER, HandFeatures, Number, at, choice, count, some
from hearts_agents.rule.tables import ABOVE_QUEEN, COUNTS, HEART, PLACES, SPADE, UNIT, RuleTables
from hearts_env.cards import HEARTS, QS_SET

SURE = 100 * UNIT
"""Comes before everything that may be lost."""


def losers(lut: RuleTables, hand: Number, out: Number, suit: Number) -> Number:
    """Tricks that the hand expects to lose in a suit if it leads from the top.  out: cards that others may hold."""
    cards = at(lut.suit_sets, suit)
    own, rest = hand & cards, out & cards
    sure = count(own & ~down(rest))
    return at(lut.losers, (count(own) - sure) * PLACES + count(rest) * COUNTS + sure)


def heart_losses(lut: RuleTables, hand: Number, out: Number) -> Number:
    """Tricks that the hand expects to lose in hearts, weighted, with the queen that another hand may keep."""
    hearts = losers(lut, hand, out, HEART)
    queen = some(out & QS_SET) & ~some(hand & ABOVE_QUEEN & ~down(out & ABOVE_QUEEN))
    return hearts + ((hearts * lut.moon_heart) >> BITS) + (queen & lut.moon_queen)


def other_losses(lut: RuleTables, hand: Number, out: Number) -> Number:
    """Tricks that the hand expects to lose in the other suits; never less than 0."""
    return losers(lut, hand, out, 0) + losers(lut, hand, out, 1) + losers(lut, hand, out, SPADE)


def limit_to_try(lut: RuleTables, points: Number, played: Number) -> Number:
    """Losers up to which the moon is worth a try.  points: taken by all so far.  played: cards played by all."""
    return lut.moon_limit + points * lut.moon_more + at(lut.moon_late, at(lut.tricks, played))


def limit_to_pass(lut: RuleTables, left: Number) -> Number:
    """Losers up to which the hand is worth keeping for a moon.  left: cards still to pass."""
    return lut.moon_pass + (left << BITS)


def lead_order(lut: RuleTables, s: HandFeatures, suit: Number) -> Number:
    """The value of leading the highest card of a suit towards a moon; NEVER without one."""
    cards = s.legal & at(lut.suit_sets, suit)
    sure = some(cards & ~down(s.out & at(lut.suit_sets, suit)))
    order = (count(cards) << BITS) + (sure & SURE) - (some(cards & HEARTS) & lut.moon_lead_heart)
    return choice(some(cards), order, NEVER | order & 0)


def spare(lut: RuleTables, s: HandFeatures, suit: Number) -> Number:
    """The cards of a suit that a trick which can't be won may take: no penalty card, if there is another."""
    cards = s.legal & at(lut.suit_sets, suit)
    plain = cards & ~lut.penalty
    return choice(some(plain), plain, cards)


def drop_order(lut: RuleTables, s: HandFeatures, suit: Number) -> Number:
    """The value of throwing away a card of a suit: most where the suit has most losers; NEVER without one."""
    cards = spare(lut, s, suit)
    order = losers(lut, s.hand, s.out, suit) - (~some(cards & ~lut.penalty) & SURE >> 2)
    return choice(some(cards), order, NEVER | order & 0)


def pass_order(lut: RuleTables, hand: Number, out: Number, suit: Number, is_heart: Number) -> Number:
    """The value of passing the lowest card of a suit from a hand kept for a moon; NEVER without one.

    is_heart: a mask.
    """
    lost = losers(lut, hand, out, suit)
    lost = lost + (is_heart & (lost * lut.moon_heart) >> BITS)
    return choice(some(hand & at(lut.suit_sets, suit)), lost, NEVER | lost & 0)


def down(sets: Number) -> Number:
    """Each set with every lower bit below its members filled in, as far as a suit reaches."""
    filled = sets | sets >> 1
    filled = filled | filled >> 2
    filled = filled | filled >> 4
    return filled | filled >> 8
