"""Several things timed by turns, so that whatever else the machine does hits all of them alike.

What runs on one core is timed by what the core did for this process: on an idle machine that is the time on the clock,
on a busy one it leaves out the turns of others.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

RUNS = 5
"""Rounds in which each has its turn."""
_TICK = 1e-7
"""Seconds: no run is taken to be shorter, whatever the resolution of the processor's clock."""
_ROUND_IDS = 1 << 32
"""Deal ids of a round: no round plays another's deals."""


@dataclass(frozen=True)
class Work:
    """The work of one turn."""

    deals: int
    decisions: int
    scored: int
    """Deals whose points are counted: those without a moon, where that is known."""
    points: int
    """Of all seats together in these, or of those that `seats` speaks of."""
    seats: int = 0
    """How many seats of a table decisions and points speak of; 0 for all."""

    def __add__(self, other: Work) -> Work:
        return Work(
            self.deals + other.deals,
            self.decisions + other.decisions,
            self.scored + other.scored,
            self.points + other.points,
            other.seats,
        )


NOTHING = Work(0, 0, 0, 0)


@dataclass(frozen=True)
class TimedRun:
    """The work of one turn, with its seconds on the clock and its seconds of one core."""

    work: Work
    clock: float
    core: float

    @property
    def core_share(self) -> float:
        """How much of a core the process got: 1 on a machine that has nothing else to do; more with threads."""
        return self.core / self.clock

    def deals_per_s(self, *, clock: bool = False) -> float:
        """Deals a second of one core; or on the clock, as it must be where there are threads."""
        return self.work.deals / (self.clock if clock else self.core)

    def decisions_per_s(self, *, clock: bool = False) -> float:
        """Decisions a second."""
        return self.work.decisions / (self.clock if clock else self.core)


Batch = Callable[[int], Work]
"""Plays deals with ids from the given one on."""


@dataclass(frozen=True)
class Contender:
    """One of those that are compared.  run: from this deal id on, for at least so many seconds, at least one batch."""

    name: str
    run: Callable[[int, float], TimedRun]


def repeat(batch: Batch, first: int, seconds: float) -> TimedRun:
    """Play batches until a core has worked for at least so long, and at least one batch."""
    done = NOTHING
    clock, core = time.perf_counter(), time.process_time()
    while True:
        done += batch(first + done.deals)
        worked = time.process_time() - core
        if worked >= seconds:
            return TimedRun(done, time.perf_counter() - clock, max(worked, _TICK))


def by_turns(
    contenders: Sequence[Contender],
    seconds: float,
    *,
    runs: int = RUNS,
    tell: Callable[[str], None] = lambda name: None,
) -> list[list[TimedRun]]:
    """Give each contender one run a round; the runs of each, round by round.

    Before the first round each plays once untimed, which compiles what has to be.  The order is turned round every
    other round, so that nobody is always the first after somebody else.  tell: is given the name of whoever has had
    a turn, runs + 1 times each.
    """
    results: list[list[TimedRun]] = [[] for _ in contenders]
    for contender in contenders:
        contender.run(0, 0.0)
        tell(contender.name)
    for number in range(1, runs + 1):
        for index in range(len(contenders))[:: 1 if number % 2 else -1]:
            results[index].append(contenders[index].run(number * _ROUND_IDS, seconds))
            tell(contenders[index].name)
    return results


def median_deals(runs: Sequence[TimedRun], *, clock: bool = False) -> float:
    """Deals a second: the median of the runs."""
    return statistics.median(run.deals_per_s(clock=clock) for run in runs)


def median_decisions(runs: Sequence[TimedRun], *, clock: bool = False) -> float:
    """Decisions a second: the median of the runs."""
    return statistics.median(run.decisions_per_s(clock=clock) for run in runs)


def median_ratio(speeds: Sequence[float], others: Sequence[float]) -> float:
    """How many times as fast: the median of the ratios of the same round, in which load hit both."""
    return statistics.median(one / other for one, other in zip(speeds, others, strict=True))
