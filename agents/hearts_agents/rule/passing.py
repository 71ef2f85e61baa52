"""How the rule agent values a card to pass: its danger against what the rest of the hand needs.

The formulas work on arrays and, unchanged, on the single numbers of a compiled loop.  A card is a set of one.
"""

from __future__ import annotations

from typing import NamedTuple

from hearts_agents.rule.features import BITS, STEP, Number, at, choice, count, some, with_partner
from hearts_agents.rule.tables import ABOVE_QUEEN, BELOW_QUEEN, COUNTS, PLACES, Brain
from hearts_env.cards import QS_SET


class Held(NamedTuple):
    """What a hand has of a suit before the next card is picked."""

    own: Number
    rest: Number
    """Its cards in other hands."""
    kind: Number
    """Where the dangers of its cards begin."""
    guard: Number
    """What each lower card takes off them."""
    size: Number
    """Worth of passing a card of it by how many there are."""


def held_of(brain: Brain, hand: Number, out: Number, left: Number, suit: Number) -> Held:
    """What a hand has of a suit.

    hand: the cards not yet picked.  out: cards that others hold.  left: cards still to pick, this one counted.
    """
    cards = at(brain.suit_sets, suit)
    own, rest = hand & cards, out & cards
    size = at(brain.pass_size, count(own) * COUNTS + left)
    return Held(own, rest, at(brain.pass_row, suit) + count(rest), at(brain.pass_guard, suit), size)


def pass_worth(brain: Brain, held: Held, card: Number) -> Number:
    """What it is worth to pass a card, but for what is special to spades; held: of its suit."""
    danger = at(brain.pass_rank, held.kind + count(held.rest & -(card << 1)) * STEP)
    extra = at(brain.pass_card, count(card - 1))
    return danger + extra + held.size - count(held.own & (card - 1)) * held.guard


def pass_spade(brain: Brain, hand: Number, card: Number) -> Number:
    """What is special to spades."""
    guards = count(hand & BELOW_QUEEN) * COUNTS + count(hand & ABOVE_QUEEN)
    kind = (some(card & QS_SET) & PLACES) | (some(card & ABOVE_QUEEN) & 2 * PLACES)
    return at(brain.pass_spade, kind + guards)


def to_partner(brain: Brain, score: Number, offset: Number, card: Number) -> Number:
    """The worth of passing a card where there are teams."""
    hurts = with_partner(offset) & some(card & (brain.penalty | ABOVE_QUEEN | QS_SET))
    return choice(hurts, (score * brain.pass_partner) >> BITS, score)
