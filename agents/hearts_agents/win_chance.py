"""The chance to win a game from the scores between two deals, fitted to games of the rule agent."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from hearts_env.cards import Ints, Numbers
from hearts_env.game.compiled_rules import PARTNER, CompiledRules
from hearts_env.game.rewards import payoff
from hearts_env.game.scoring import is_over, lowest_seats, reset_exact, side_scores

FITS = Path(__file__).with_suffix(".json")
"""The fitted curves, as `benchmarks/win_chance.py` has written them."""


@dataclass(frozen=True)
class Curve:
    """The parameters of `chances`: how leads and the distance to the target make a chance to win.

    Scores and distances are in packs, that is in what all penalty cards are worth together (26 points): so rules with
    other points for the cards, and another target, share a curve.
    """

    base: float
    """A lead of so many packs makes a chance e times as large when the target is reached all but in name."""
    growth: float
    """The further lead that it takes, times the square root of the distance."""
    step: float
    """Log odds that the smaller score adds, however small the lead, with no distance left."""
    reach: float
    """The lead at which the most of that has been gained."""
    fade: float
    """The distance at which e times less of that is left."""


def chances(curve: Curve, scores: Numbers, distance: Numbers) -> Numbers:
    """The chance of each competitor to win, float64 [N, C]; a row sums to 1.

    scores: float64 [N, C], and distance: float64 [N], from the largest of them to the target, in packs.  The lower a
    score is, the better are one's odds: exponentially so in the lead, at a rate that falls as more deals are to come.
    With few to come a small lead counts for more than that, as it takes one queen of spades to turn it.
    """
    still = np.sqrt(distance)[:, None]
    leads = np.tanh((scores[:, None, :] - scores[:, :, None]) / curve.reach).sum(axis=2)
    odds = curve.step * np.exp(-(still**2) / curve.fade) * leads - scores / (curve.base + curve.growth * still)
    grown = np.exp(odds - odds.max(axis=1, keepdims=True))
    found: Numbers = grown / grown.sum(axis=1, keepdims=True)
    return found


def win_chance(rules: CompiledRules, scores: Ints) -> Numbers:
    """The chance of each seat to win the game, float64 [N, P], ties counted as shares.

    scores: int64 [N, P], with no deal under way.  Where the game is over the winners have equal shares of 1.  With
    teams a seat's chance is that of its side.
    """
    sides = competitors(rules)
    found = chances(curve_of(rules), *in_packs(rules, scores))
    over = np.flatnonzero(is_over(rules, scores))
    if len(over):
        won = lowest_seats(rules, scores[over])[:, :sides]
        found[over] = won / won.sum(axis=1, keepdims=True)
    return found[:, np.arange(rules.num_players) % sides]


def game_payoff(rules: CompiledRules, scores: Ints, points: Ints) -> Numbers:
    """The gain of each seat's chance to win the game by a deal, in points of a deal, float64 [N, P].

    scores: int64 [N, P] before the deal.  points: int64 [N, P], what it adds.  A point is what one more would cost a
    seat if all were level, as far from the target; far from it that is the `payoff`, as long as few points are made.
    """
    gains = win_chance(rules, reset_exact(rules, scores + points)) - win_chance(rules, scores)
    return gains / worth_of_a_point(rules, scores)[:, None]


def payoff_at(rules: CompiledRules, scores: Ints, points: Ints) -> Numbers:
    """The worth of a deal to each seat at these scores, float64 [N, P]: the `payoff` where nobody has points yet.

    Otherwise the `game_payoff`; before the first point a game is not to be told from a deal, and there the two are
    much the same.  scores, points: int64 [N, P], as there.
    """
    paid: Numbers = payoff(rules, points)
    rows = np.flatnonzero(scores.any(axis=1))
    if len(rows):
        paid[rows] = game_payoff(rules, scores[rows], points[rows])
    return paid


def competitors(rules: CompiledRules) -> int:
    """The number of competitors: the seats, or with teams the sides."""
    return PARTNER if rules.teams else rules.num_players


@cache
def curve_of(rules: CompiledRules) -> Curve:
    """The curve for as many seats, or for teams."""
    return Curve(**json.loads(FITS.read_text(encoding="utf-8"))[kind_of(rules)])


def kind_of(rules: CompiledRules) -> str:
    """The name of the curve: the number of seats, or "teams"."""
    return "teams" if rules.teams else str(rules.num_players)


def in_packs(rules: CompiledRules, scores: Ints) -> tuple[Numbers, Numbers]:
    """The scores that compete, float64 [N, C], and the distance to the target, float64 [N], 0 if it is passed."""
    sides = side_scores(rules, scores)[:, : competitors(rules)]
    ends = sides if rules.score.sides_end or not rules.teams else scores
    pack = rules.penalty_points or 1
    return sides / pack, np.maximum(rules.score.end - ends.max(axis=1), 0) / pack


def worth_of_a_point(rules: CompiledRules, scores: Ints) -> Numbers:
    """By how much a point changes a chance where all are level, as far from the target; float64 [N].

    But for what a smaller score counts on top, however small: with that the end of a game would seem worth little.
    """
    curve, sides, (_, distance) = curve_of(rules), competitors(rules), in_packs(rules, scores)
    lead = 1 / (curve.base + curve.growth * np.sqrt(distance))
    worth: Numbers = (sides - 1) / sides**2 * lead / (rules.penalty_points or 1)
    return worth
