"""Evaluations in the course of a run: against whom, and when."""

from __future__ import annotations

import time
from collections.abc import Callable

from hearts_train.run.config import TrainConfig

BEST = "best"
"""As an opponent's name: the best weights of the run so far."""
MOST_SHARE = 0.1
"""Fraction of the time that evaluations take at most, all opponents together."""
SLOW_IDS = 60
"""Deal ids of an evaluation against a slow opponent."""


class EvaluationSchedule:
    """When each opponent is met next: none more often than asked, and none for more than its part of the time."""

    def __init__(self, config: TrainConfig, now: Callable[[], float] = time.perf_counter) -> None:
        self._now = now
        begin = now()
        wanted, selves = config.evaluation, (BEST,) if config.evaluates_best else ()
        self._every = dict.fromkeys((*wanted.eval_against, *selves), 60 * wanted.eval_every_minutes)
        self._every |= dict.fromkeys(wanted.eval_slow, 60 * wanted.eval_slow_every_minutes)
        # The best weights are at first the first ones, and a slow match pays only in a long run.
        self._due = {name: begin + (0 if name in wanted.eval_against else every) for name, every in self._every.items()}
        self._slow = dict.fromkeys(wanted.eval_slow, begin + 60 * wanted.eval_slow_every_minutes)

    def due(self) -> list[str]:
        """Return the opponents to meet now."""
        return [name for name, due in self._due.items() if self._now() >= due]

    def at_end(self) -> list[str]:
        """Return the opponents to meet at the end: all, but slow ones only if the run has been long enough for them."""
        return [name for name in self._due if self._now() >= self._slow.get(name, 0)]

    def met(self, name: str, seconds: float) -> None:
        """Note that an evaluation against this opponent has taken so long, and set when the next is due."""
        self._due[name] = self._now() + max(self._every[name], seconds * len(self._due) / MOST_SHARE)
