"""Lines of play tried out in the same worlds, batch after batch, until it is clear which is best."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hearts_agents.search.candidates import Lines
from hearts_agents.search.payoffs import Numbers
from hearts_agents.search.rollouts import ROWS, Policies, outcomes
from hearts_env.cards import Bools, Ints
from hearts_env.executor import in_threads
from hearts_env.game.state import State
from hearts_env.game.view import View
from hearts_env.game.worlds import worlds

FIRST_BATCH = 16
"""Worlds in the first batch; each later one doubles how many there were."""
MARGIN = 1.0
"""A line is dropped when so many standard errors don't bring it up to the best."""
GATE = 1.5
"""The base policy is left for a gain of so many standard errors, and for no less."""

Bring = Callable[[State, Ints, Ints], Numbers]
"""The viewers' payoffs, float64 [L], of lines int64 [L] in rows int64 [L] of a State: given the State, rows, lines."""


@dataclass
class Race:
    """What is known of K lines."""

    lines: Lines
    tried: Ints  # int64 [K]  worlds
    value: Numbers  # float64 [K]  sum of the viewer's payoffs
    gain: Numbers  # float64 [K]  sum of how much better they were than the view's first line
    square: Numbers  # float64 [K]  sum of the squares of that
    alive: Bools  # bool [K]

    @staticmethod
    def of(lines: Lines) -> Race:
        """Before the first world."""
        size = len(lines)
        value, gain, square = np.zeros((3, size))
        return Race(lines, np.zeros(size, np.int64), value, gain, square, ~lines.extra)

    @property
    def mean_gain(self) -> Numbers:
        """float64 [K]: how much better than the view's first line."""
        gains: Numbers = self.gain / np.maximum(self.tried, 1)
        return gains

    @property
    def error(self) -> Numbers:
        """float64 [K]: the standard error of that."""
        tried = np.maximum(self.tried, 2)
        variance = np.maximum(self.square - self.gain**2 / tried, 0.0) / (tried - 1)
        errors: Numbers = np.sqrt(variance / tried)
        return errors

    @property
    def leads(self) -> Bools:
        """bool [K]: the first lines."""
        lead: Bools = np.arange(len(self.lines)) == self.lines.first
        return lead

    def open(self) -> Bools:
        """bool [K]: the lines left in views that still have a choice, and their first lines to compare with."""
        left = np.bincount(self.lines.owner, self.alive)
        still: Bools = (self.alive | self.leads | self.lines.extra) & (left > 1)[self.lines.owner]
        return still

    def add(self, rows: Ints, values: Numbers) -> None:
        """Count what lines `rows` have brought in further worlds, float64 [rows, W]; first lines are among them."""
        place = np.zeros(len(self.lines), np.int64)
        place[rows] = np.arange(len(rows))
        gains = values - values[place[self.lines.first[rows]]]
        self.tried[rows] += values.shape[1]
        self.value[rows] += values.sum(axis=1)
        self.gain[rows] += gains.sum(axis=1)
        self.square[rows] += (gains**2).sum(axis=1)

    def drop(self) -> None:
        """Take out the lines that are not going to be the best."""
        gain, slack = self.mean_gain, MARGIN * self.error
        sure = np.maximum.reduceat(np.where(self.alive, gain - slack, 0.0), self.lines.starts)
        bar = np.maximum(sure, 0.0)[self.lines.owner]
        likely = gain + slack
        # The first line is level with itself: it stays until another is surely better.
        self.alive &= np.where(self.leads, bar == 0, (likely >= bar) & (likely > 0))

    def best(self) -> Ints:
        """The line to take in each view, int64 [N]: the first unless another has passed the gate."""
        gain = self.mean_gain
        passed = self.alive & (gain > 0) & (gain >= GATE * self.error)
        score = np.where(passed, gain, np.where(self.leads, 0.0, -np.inf))
        order = np.lexsort((-score, self.lines.owner))  # stable: the first of equals
        chosen: Ints = order[self.lines.starts]
        return chosen


def race(view: View, lines: Lines, bring: Bring, times: int, seconds: float | None = None) -> Race:
    """Try the lines of N views out in up to `times` worlds, all lines of a view in the same ones.

    bring: what they bring there, such as `played_out`.  seconds: no batch is begun that would not be done by then, as
    far as one can tell from the last.
    """
    known = Race.of(lines)
    begin = last = time.perf_counter()
    done, batch = 0, min(FIRST_BATCH, times)
    while done < times and len(rows := np.flatnonzero(known.open())):
        owners, local = np.unique(lines.owner[rows], return_inverse=True)
        drawn = worlds(view.take(owners), batch, salt=done)
        world = (local[:, None] * batch + np.arange(batch)).reshape(-1)
        known.add(rows, bring(drawn, world, np.repeat(rows, batch)).reshape(len(rows), batch))
        known.drop()
        done += batch
        now = time.perf_counter()
        if seconds is not None and now + (now - last) * min(1, times / done - 1) > begin + seconds:
            break
        last, batch = now, min(done, times - done)
    return known


def played_out(view: View, lines: Lines, policies: Policies) -> Bring:
    """What lines bring when they are played out by these policies."""
    return lambda drawn, world, line: _values(drawn, world, line, lines, view, policies)


def _values(drawn: State, world: Ints, line: Ints, lines: Lines, view: View, policies: Policies) -> Numbers:
    """The viewer's payoff of each line, float64 [L], played out in its world."""
    result = np.empty(len(world))

    def some(part: slice) -> None:
        for begin in range(part.start, part.stop, ROWS):
            here = slice(begin, min(begin + ROWS, part.stop))
            seat = view.seat[lines.owner[line[here]]]
            result[here] = outcomes(view.lookup, policies, drawn, world[here], seat, lines, line[here])

    if policies.compiled:
        in_threads(len(world), some)
    else:
        some(slice(0, len(world)))
    return result
