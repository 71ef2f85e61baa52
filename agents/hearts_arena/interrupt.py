"""Ctrl-C while something is played: at once, but never in the middle of what is written down."""

from __future__ import annotations

import signal
from contextlib import ExitStack, suppress
from types import FrameType


class Interrupt:
    """Ctrl-C raises KeyboardInterrupt once: at once, or when what is kept or counted (within it) is done."""

    def __init__(self) -> None:
        self.held = False
        self._asked = False

    def __enter__(self) -> None:
        self.held = True

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.held = self._asked
        if self._asked and kind is None:
            raise KeyboardInterrupt

    def listening(self) -> ExitStack:
        """Hear of Ctrl-C until this is left; only the main thread of a process can."""
        stack = ExitStack()
        with suppress(ValueError):
            stack.callback(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, self._handle))
        return stack

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._asked = True
        if not self.held:
            self.held = True
            raise KeyboardInterrupt
