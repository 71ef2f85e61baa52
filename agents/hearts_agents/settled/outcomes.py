"""Bounds of the viewer's value of finished deals, and when one outcome is certainly better than another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hearts_agents.settled.last_seat import Numbers
from hearts_agents.win_chance import payoff_at, win_chance, worth_of_a_point
from hearts_env.cards import ADD, NO_SEAT, SUBTRACT, Bools, Ints, Sets
from hearts_env.game.compiled_rules import CompiledRules
from hearts_env.game.rewards import payoff
from hearts_env.game.scoring import automatic_choice, deal_points, is_over, reset_exact, shooter

ROUNDING = 1e-9
"""Payoffs that differ by less are equal."""


@dataclass(frozen=True)
class Outcomes:
    """Bounds of what can come of a choice, each an array of one shape.

    The value is that of `win_chance.payoff_at`: the payoff, or in a game with scores the gain in the chance to win,
    exact where the game is over, and an estimate where it goes on.
    """

    least: Numbers  # float64  the least value
    most: Numbers  # float64  the most
    low: Numbers  # float64  the least payoff in points of the deal
    high: Numbers  # float64  the most
    over: Bools  # bool  the game is over, whatever comes

    @staticmethod
    def of_points(least: Numbers, most: Numbers) -> Outcomes:
        """Bounds of deals that count by their points alone."""
        return Outcomes(least, most, least.copy(), most.copy(), np.zeros(least.shape, np.bool_))

    def at(self, places: Ints | Bools) -> Outcomes:
        """Some of them."""
        return Outcomes(self.least[places], self.most[places], self.low[places], self.high[places], self.over[places])

    def put(self, places: Ints, other: Outcomes) -> None:
        """Overwrite some of them with those of `other`, in order.  Changes the arrays."""
        for mine, theirs in zip(self._arrays(), other._arrays(), strict=True):
            mine[places] = theirs

    def over_all(self, shape: tuple[int, ...], axis: int, fits: Bools) -> Outcomes:
        """The bounds over one axis, of the entries for which `fits`; `shape` is that of all axes."""
        fit = fits.reshape(shape)
        least, low = (np.where(fit, each.reshape(shape), np.inf).min(axis=axis) for each in (self.least, self.low))
        most, high = (np.where(fit, each.reshape(shape), -np.inf).max(axis=axis) for each in (self.most, self.high))
        over = np.asarray((self.over.reshape(shape) | ~fit).all(axis=axis))
        return Outcomes(least, most, low, high, over)

    def _arrays(self) -> tuple[Numbers, Numbers, Numbers, Numbers, Bools]:
        return self.least, self.most, self.low, self.high, self.over


def surely_no_worse(better: Outcomes, other: Outcomes, lost: Numbers, won: Numbers) -> Bools:
    """Is the worst of `better` at least as good as the best of the other?  bool.

    Where the game may go on, by value and by points: an estimate alone proves nothing.  lost, won: the values of a
    game lost and won.
    """
    by_value = better.least >= other.most - ROUNDING
    by_points = better.low >= other.high - ROUNDING
    exact = (better.over & other.over) | (other.most <= lost + ROUNDING) | (better.least >= won - ROUNDING)
    return np.asarray(by_value & (by_points | exact))


def perhaps_better(better: Outcomes, other: Outcomes) -> Bools:
    """Is the best of `better` above the worst of the other?  bool."""
    return np.asarray(better.most > other.least + ROUNDING)


def worth(rules: CompiledRules, scores: Ints, taken: Sets) -> Outcomes:
    """The value to seat 0 of M deals in which the cards fell so; bounds where another seat has the moon choice.

    scores: int64 [M, P] before the deal.  taken: int64 [M, P], all cards captured.
    """
    shooters = shooter(rules, taken)
    if rules.rules.moon == "auto":
        choices = automatic_choice(rules, taken, np.maximum(shooters, 0), scores)
    else:
        choices = np.full(len(taken), SUBTRACT if rules.rules.moon == "subtract" else ADD)
    found = _paid(rules, scores, deal_points(rules, taken, shooters, choices))
    moons = np.flatnonzero(shooters != NO_SEAT) if rules.rules.moon == "choice" else np.zeros(0, np.int64)
    if len(moons):
        minus = np.full(len(moons), SUBTRACT)
        other = _paid(rules, scores[moons], deal_points(rules, taken[moons], shooters[moons], minus))
        found.put(moons, _either(found.at(moons), other, own=shooters[moons] == 0))
    return found


def _paid(rules: CompiledRules, scores: Ints, points: Ints) -> Outcomes:
    """Deals that have brought these points, int64 [M, P] each."""
    value, paid = payoff_at(rules, scores, points)[:, 0], payoff(rules, points)[:, 0]
    over = np.zeros(len(points), np.bool_)
    rows = np.flatnonzero(scores.any(axis=1))
    if len(rows):
        over[rows] = is_over(rules, reset_exact(rules, scores[rows] + points[rows]))
    return Outcomes(value, value.copy(), paid, paid.copy(), over)


def _either(add: Outcomes, subtract: Outcomes, own: Bools) -> Outcomes:
    """The outcome of a moon choice: the better one where it is the viewer's own, else bounds of both."""
    every = np.arange(len(own))
    add_first = add.least >= subtract.least
    rows = Outcomes(*(np.stack(pair) for pair in zip(add._arrays(), subtract._arrays(), strict=True)))
    both = rows.over_all(rows.least.shape, 0, np.ones(rows.least.shape, np.bool_))
    both.put(np.flatnonzero(own), add.at(own))
    both.put(every[own & ~add_first], subtract.at(own & ~add_first))
    return both


def game_bounds(rules: CompiledRules, scores: Ints) -> tuple[Numbers, Numbers]:
    """The value to seat 0 of a game lost, and of a game won with this deal, float64 [N] each.

    Infinite where no game is under way.
    """
    lost, won = np.full(len(scores), -np.inf), np.full(len(scores), np.inf)
    rows = np.flatnonzero(scores.any(axis=1))
    if len(rows):
        chance, point = win_chance(rules, scores[rows])[:, 0], worth_of_a_point(rules, scores[rows])
        lost[rows], won[rows] = -chance / point, (1 - chance) / point
    return lost, won


def after_moon(rules: CompiledRules, scores: Ints, taken: Sets, choice: int) -> Numbers:
    """The value of one moon choice to seat 0, who has shot, float64 [N]."""
    seats, choices = np.zeros(len(taken), np.int64), np.full(len(taken), choice)
    return payoff_at(rules, scores, deal_points(rules, taken, seats, choices))[:, 0]
