"""The rule agent's value of playing a card: its expected cost against its uses.

The formulas work on arrays and, unchanged, on the single numbers of a compiled loop.  A card is a set of one.
"""

from __future__ import annotations

from hearts_agents.rule.features import (
    BITS,
    STEP,
    HandFeatures,
    MoonThreat,
    Number,
    SuitFeatures,
    at,
    choice,
    count,
    less,
    some,
    with_partner,
)
from hearts_agents.rule.tables import ABOVE_QUEEN, BELOW_QUEEN, PLACES, UNIT, RuleTables
from hearts_env.cards import HEARTS, QS_SET


def higher(facts: SuitFeatures, card: Number) -> Number:
    """The number of cards of the others above a card; facts: of its suit."""
    return count(facts.rest & -(card << 1))


def ease(lut: RuleTables, stakes: Number, facts: SuitFeatures, card: Number, above: Number) -> Number:
    """The value of getting rid of a card, in 1/UNIT of 1/UNIT.

    stakes: how much danger is left.  above: the cards of the others above it.
    """
    guards = count(facts.own & (card - 1))
    danger = at(lut.danger, facts.kind + guards * PLACES + above * STEP)
    return (danger + facts.short) * stakes


def points_of(lut: RuleTables, card: Number) -> Number:
    """The points of a card."""
    return at(lut.points, count(card - 1))


def gain_of(lut: RuleTables, points: Number, best_seat: Number) -> Number:
    """The value of giving a card of so many points to the seat that is winning the trick."""
    gain = (points * lut.give) >> BITS
    if lut.teams:
        gain = choice(with_partner(best_seat), -gain, gain)
    return gain


def wins_with(lut: RuleTables, row: Number, above: Number) -> Number:
    """The chance that a card which wins for now wins the trick.  row: where these chances begin for its suit."""
    return at(lut.win, row + above * STEP)


def known_wins(lut: RuleTables, kept: Number, facts: SuitFeatures, card: Number, wins: Number) -> Number:
    """The chance to win the trick where the receiver of the pass plays later and holds known cards."""
    held = kept & facts.cards
    can_beat, can_duck = some(held & -(card << 1)), some(held & (card - 1))
    return (wins * at(lut.known, (can_beat & 1) | (can_duck & 2))) >> BITS


def spade_worth(lut: RuleTables, s: HandFeatures, card: Number, lead: Number) -> Number:
    """The part of a play's value that is special to spades.  lead: the value of leading one below the queen."""
    high, queen, low = some(card & ABOVE_QUEEN), some(card & QS_SET), some(card & BELOW_QUEEN)
    return (high & s.high_spade) + (queen & lut.queen_shed) + (low & (s.low_spade + lead))


def caught(lut: RuleTables, s: HandFeatures, share: Number, receiver: Number, card: Number, wins: Number) -> Number:
    """The expected cost of the queen of spades that may fall under a card; 0 for all but spades above her.

    share, receiver: see `SuitOutlook` and `TrickFeatures`.
    """
    catch = choice(some(s.kept & QS_SET), receiver & lut.catch, (share * lut.catch) >> BITS)
    return (some(card & ABOVE_QUEEN) & s.queen_out) & ((wins * catch) >> BITS)


def for_bonus(lut: RuleTables, s: HandFeatures, later: Number, card: Number, wins: Number) -> Number:
    """The part of a play's value that concerns the bonus card.  later: seats that play after this one."""
    over = some(card & lut.over_bonus)
    chance = some(s.out & lut.bonus) & (later * lut.hunt)
    alive = some((s.out | s.hand) & lut.bonus)
    return over & (((wins * chance) >> BITS) - (alive & lut.bonus_keep))


def resist(
    lut: RuleTables,
    t: MoonThreat,
    facts: SuitFeatures,
    falls: Number,
    bad: Number,
    card: Number,
    above: Number,
    wins: Number,
) -> Number:
    """The part of a play's value that works against the moon of another.

    falls: the points expected to fall after it.  bad: not 0 where there is a penalty card in the trick.
    """
    given, heart = some(card & lut.penalty), some(card & HEARTS)
    # The chance that the trick holds a penalty card, roughly the points that are to fall.
    falls = falls + ((UNIT - falls) & less(UNIT, falls))
    broken = choice(some(bad) | given, UNIT + 0 * falls, falls)
    change = ((wins * broken) >> BITS) * lut.stop + (UNIT - wins) * (given & t.feeds)
    keep = at(lut.inverse, above + 1) * (lut.keep_top + (heart & lut.keep_heart)) >> BITS
    change = (change >> BITS) - count(facts.cards & (card - 1)) * lut.keep_high
    return (change * t.chance - ((keep * (UNIT - wins)) >> BITS) * t.keep) >> BITS
