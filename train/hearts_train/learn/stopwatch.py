"""A stopwatch that adds up seconds by name: where the time of an update goes."""

from __future__ import annotations

import time


class Stopwatch:
    """Adds up seconds by name."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._since = time.perf_counter()

    def start(self) -> None:
        """Measure what follows, and not what came before."""
        self._since = time.perf_counter()

    def lap(self, name: str) -> None:
        """Add the time since the last lap, or start, to `name`."""
        now = time.perf_counter()
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self._since
        self._since = now

    def total(self, prefix: str) -> float:
        """Return the seconds of all names that begin so."""
        return sum(seconds for name, seconds in self.seconds.items() if name.startswith(prefix))
