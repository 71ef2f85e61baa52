"""Racing: candidates are evaluated in the same worlds, batch after batch, and dropped once they fall behind."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hearts_agents.search.candidates import CandidateActions
from hearts_agents.search.rollouts import ROWS, RolloutPolicies, outcomes
from hearts_env.cards import Bools, Ints, Numbers
from hearts_env.executor import in_threads
from hearts_env.game.state import State
from hearts_env.game.view import View
from hearts_env.game.worlds import worlds

FIRST_BATCH = 16
"""Worlds of the first batch; each later one doubles their number."""
DROP_ERRORS = 1.0
"""A candidate is dropped when its gain and so many standard errors don't reach the best."""
ACCEPT_ERRORS = 1.5
"""The acceptance threshold: the search deviates from the base policy for a gain of so many standard errors."""

Evaluate = Callable[[State, Ints, Ints], Numbers]
"""Given a State, rows of it and candidates, both int64 [L]: the viewers' payoffs of these there, float64 [L]."""


@dataclass
class RaceStats:
    """The estimates of K candidates so far."""

    candidates: CandidateActions
    tried: Ints  # int64 [K]  worlds
    value: Numbers  # float64 [K]  sum of the viewer's payoffs
    gain: Numbers  # float64 [K]  sum of their differences to the payoffs of the view's first candidate
    square: Numbers  # float64 [K]  sum of the squares of these differences
    alive: Bools  # bool [K]  not dropped

    @staticmethod
    def of(candidates: CandidateActions) -> RaceStats:
        """Before the first world."""
        size = len(candidates)
        value, gain, square = np.zeros((3, size))
        return RaceStats(candidates, np.zeros(size, np.int64), value, gain, square, ~candidates.extra)

    @property
    def mean_gain(self) -> Numbers:
        """float64 [K]: the mean gain over the view's first candidate."""
        gains: Numbers = self.gain / np.maximum(self.tried, 1)
        return gains

    @property
    def error(self) -> Numbers:
        """float64 [K]: the standard error of the mean gain, paired over the worlds."""
        tried = np.maximum(self.tried, 2)
        variance = np.maximum(self.square - self.gain**2 / tried, 0.0) / (tried - 1)
        errors: Numbers = np.sqrt(variance / tried)
        return errors

    @property
    def leads(self) -> Bools:
        """bool [K]: the first candidates."""
        lead: Bools = np.arange(len(self.candidates)) == self.candidates.first
        return lead

    def open(self) -> Bools:
        """bool [K]: those to evaluate on: candidates left in views that still have a choice, and the first of these."""
        left = np.bincount(self.candidates.owner, self.alive)
        still: Bools = (self.alive | self.leads | self.candidates.extra) & (left > 1)[self.candidates.owner]
        return still

    def add(self, rows: Ints, values: Numbers) -> None:
        """Count payoffs of candidates `rows` in further worlds, float64 [rows, W]; the views' first are among them."""
        place = np.zeros(len(self.candidates), np.int64)
        place[rows] = np.arange(len(rows))
        gains = values - values[place[self.candidates.first[rows]]]
        self.tried[rows] += values.shape[1]
        self.value[rows] += values.sum(axis=1)
        self.gain[rows] += gains.sum(axis=1)
        self.square[rows] += (gains**2).sum(axis=1)

    def drop(self) -> None:
        """Drop the candidates that are unlikely to become the best.  Changes `alive`."""
        gain, slack = self.mean_gain, DROP_ERRORS * self.error
        sure = np.maximum.reduceat(np.where(self.alive, gain - slack, 0.0), self.candidates.starts)
        bar = np.maximum(sure, 0.0)[self.candidates.owner]
        likely = gain + slack
        # The gain of a first candidate over itself is 0: it stays until another is surely better.
        self.alive &= np.where(self.leads, bar == 0, (likely >= bar) & (likely > 0))

    def best(self) -> Ints:
        """The candidate to choose in each view, int64 [N]: the first unless another passes the acceptance threshold."""
        gain = self.mean_gain
        accepted = self.alive & (gain > 0) & (gain >= ACCEPT_ERRORS * self.error)
        score = np.where(accepted, gain, np.where(self.leads, 0.0, -np.inf))
        order = np.lexsort((-score, self.candidates.owner))  # stable: the first of equals
        chosen: Ints = order[self.candidates.starts]
        return chosen


def race(
    view: View, candidates: CandidateActions, evaluate: Evaluate, number: int, seconds: float | None = None
) -> RaceStats:
    """The estimates of the candidates of N views after a race in up to `number` worlds.

    All candidates of a view are evaluated in the same worlds (common random numbers).

    Args:
        evaluate: gives their payoffs there, such as `by_roll_outs`.
        number: of worlds (determinizations) for each view.
        seconds: no batch is begun that would not be done by then, as far as one can tell from the last.
    """
    known = RaceStats.of(candidates)
    begin = last = time.perf_counter()
    done, batch = 0, min(FIRST_BATCH, number)
    while done < number and len(rows := np.flatnonzero(known.open())):
        owners, local = np.unique(candidates.owner[rows], return_inverse=True)
        drawn = worlds(view.take(owners), batch, salt=done)
        world = (local[:, None] * batch + np.arange(batch)).reshape(-1)
        known.add(rows, evaluate(drawn, world, np.repeat(rows, batch)).reshape(len(rows), batch))
        known.drop()
        done += batch
        now = time.perf_counter()
        if seconds is not None and now + (now - last) * min(1, number / done - 1) > begin + seconds:
            break
        last, batch = now, min(done, number - done)
    return known


def by_roll_outs(view: View, candidates: CandidateActions, policies: RolloutPolicies) -> Evaluate:
    """An evaluation of candidates by roll-outs with these policies."""
    return lambda drawn, world, which: _payoffs(drawn, world, which, candidates, view, policies)


def _payoffs(
    drawn: State, world: Ints, which: Ints, candidates: CandidateActions, view: View, policies: RolloutPolicies
) -> Numbers:
    """The viewers' payoffs of roll-outs, float64 [L], each of one of the candidates in its world."""
    result = np.empty(len(world))

    def some(part: slice) -> None:
        for begin in range(part.start, part.stop, ROWS):
            here = slice(begin, min(begin + ROWS, part.stop))
            seat = view.seat[candidates.owner[which[here]]]
            result[here] = outcomes(view.rules, policies, drawn, world[here], seat, candidates, which[here])

    if policies.weights is not None:
        in_threads(len(world), some)
    else:
        some(slice(0, len(world)))
    return result
