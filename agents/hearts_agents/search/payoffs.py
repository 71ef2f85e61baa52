"""The payoff of a roll-out to the seat that searches, and the cards that it can depend on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hearts_agents.win_chance import payoff_at
from hearts_env.cards import Ints, Numbers
from hearts_env.game.compiled_rules import ALL_ONES, CompiledRules
from hearts_env.game.rewards import payoff

Counts = NDArray[np.integer]


def payoffs(rules: CompiledRules, to_win: bool, scores: Counts, points: Counts, seat: Ints) -> Numbers:
    """The payoff of each of L finished deals to one seat, float64 [L].

    Args:
        to_win: in the middle of a game a deal is worth what it adds to the chance to win it, in points.
        scores: [L, P], before the deal.
        points: [L, P], of the deal.
        seat: int64 [L], whose payoff it is.
    """
    paid = payoff_at(rules, scores.astype(np.int64), points.astype(np.int64)) if to_win else payoff(rules, points)
    own: Numbers = paid[np.arange(len(seat)), seat]
    return own


def cards_that_count(rules: CompiledRules) -> int:
    """The cards that the points of a deal depend on: once no hand holds one, the rest of the play changes nothing."""
    if rules.rules.sun_value or rules.rules.no_tricks_bonus:
        return ALL_ONES
    cards = 0
    for each, _ in rules.point_sets:
        cards |= each
    return cards
