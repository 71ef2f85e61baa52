"""Explanations of the rule agent: the value of each card, and the parts that it is the sum of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hearts_agents.explain import Candidate
from hearts_agents.rule.batch import choose_card, moon_attempt, values
from hearts_agents.rule.tables import UNIT, rule_tables
from hearts_agents.rule.weights import Weights
from hearts_env.cards import bit, cards_in
from hearts_env.game.compiled_rules import CompiledRules
from hearts_env.game.view import View

PARTS = {
    "rid of it": ("shed", "shed_heart", "shed_spade", "short"),
    "spades": (
        "spade_high",
        "queen_cover",
        "queen_shed",
        "flush",
        "flush_bare",
        "flush_known",
        "expose",
        "catch",
    ),
    "their moon": ("stop", "feed", "spread", "keep_high", "keep_top", "keep_heart"),
    "bonus": ("hunt", "bonus_keep"),
}
"""The parts of a card's value with the weights behind each; the rest is the trick's."""
TRICK = "the trick"
LITTLE = 0.005
"""Points that are not worth a word."""


def explain_play(rules: CompiledRules, weights: Weights, view: View) -> list[Candidate]:
    """Every legal card of one view of the play phase, the chosen one first."""
    lut = rule_tables(rules, weights)
    chosen = int(choose_card(lut, view)[0])
    trial = moon_attempt(lut, view)
    if trial:
        expected, limit = (number / UNIT for number in trial)
        reasons = (("expects to lose", expected), ("tries up to", limit))
        return [Candidate((chosen,), chosen=True, moon=True, reasons=reasons)]
    cards = cards_in(int(view.legal[0]))
    sets = bit(np.array(cards))
    total = values(lut, view, sets) / UNIT
    parts = {
        name: total - values(rule_tables(rules, replace(weights, **dict.fromkeys(fields, 0.0))), view, sets) / UNIT
        for name, fields in PARTS.items()
    }
    parts[TRICK] = total - sum(parts.values())
    best = cards.index(chosen)
    return [
        Candidate(
            (cards[at],),
            chosen=at == best,
            gain=float(total[at] - total[best]),
            reasons=tuple((name, float(part[at])) for name, part in parts.items() if abs(part[at]) > LITTLE),
        )
        for at in sorted(range(len(cards)), key=lambda at: (at != best, -total[at]))
    ]
