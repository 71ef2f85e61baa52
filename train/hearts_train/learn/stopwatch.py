"""Where the time goes."""

from __future__ import annotations

import time


class Stopwatch:
    """Adds up seconds by name."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._since = time.perf_counter()

    def start(self) -> None:
        """What follows is measured, what came before is not."""
        self._since = time.perf_counter()

    def lap(self, name: str) -> None:
        """The time since the last lap, or start, went into `name`."""
        now = time.perf_counter()
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self._since
        self._since = now

    def total(self, prefix: str) -> float:
        """Seconds in all names that begin so."""
        return sum(seconds for name, seconds in self.seconds.items() if name.startswith(prefix))
