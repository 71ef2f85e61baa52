"""The rule agent's value of passing a card: its danger against the needs of the rest of the hand.

The formulas work on arrays and, unchanged, on the single numbers of a compiled loop.  A card is a set of one.
"""

from __future__ import annotations

from typing import NamedTuple

from hearts_agents.rule.features import BITS, STEP, Number, at, choice, count, some, with_partner
from hearts_agents.rule.tables import ABOVE_QUEEN, BELOW_QUEEN, COUNTS, PLACES, RuleTables
from hearts_env.cards import QS_SET


class SuitToPass(NamedTuple):
    """Features of a suit of the hand before the next card to pass is picked."""

    own: Number
    rest: Number
    """Its cards in other hands."""
    kind: Number
    """The index at which the dangers of its cards begin."""
    guard: Number
    """The part of these dangers that each lower card takes off."""
    size: Number
    """Worth of passing a card of it by how many there are."""


def suit_to_pass(lut: RuleTables, hand: Number, out: Number, left: Number, suit: Number) -> SuitToPass:
    """The features of a suit of the hand.

    hand: the cards not yet picked.  out: cards that others hold.  left: cards still to pick, this one counted.
    """
    cards = at(lut.suit_sets, suit)
    own, rest = hand & cards, out & cards
    size = at(lut.pass_size, count(own) * COUNTS + left)
    return SuitToPass(own, rest, at(lut.pass_row, suit) + count(rest), at(lut.pass_guard, suit), size)


def pass_worth(lut: RuleTables, held: SuitToPass, card: Number) -> Number:
    """The value of passing a card, without the part special to spades; held: of its suit."""
    danger = at(lut.pass_rank, held.kind + count(held.rest & -(card << 1)) * STEP)
    extra = at(lut.pass_card, count(card - 1))
    return danger + extra + held.size - count(held.own & (card - 1)) * held.guard


def pass_spade(lut: RuleTables, hand: Number, card: Number) -> Number:
    """The part of the value of passing a spade that is special to spades."""
    guards = count(hand & BELOW_QUEEN) * COUNTS + count(hand & ABOVE_QUEEN)
    kind = (some(card & QS_SET) & PLACES) | (some(card & ABOVE_QUEEN) & 2 * PLACES)
    return at(lut.pass_spade, kind + guards)


def to_partner(lut: RuleTables, score: Number, offset: Number, card: Number) -> Number:
    """The value of passing a card where there are teams."""
    hurts = with_partner(offset) & some(card & (lut.penalty | ABOVE_QUEEN | QS_SET))
    return choice(hurts, (score * lut.pass_partner) >> BITS, score)
