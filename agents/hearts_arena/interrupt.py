"""Ctrl-C without loss: an exception that waits for what is being written, or a request that a loop looks at."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType


class Interrupt:
    """Ctrl-C raises KeyboardInterrupt once: at once, or after the `with` of this object that it comes in."""

    def __init__(self) -> None:
        self.held = False
        self._asked = False

    def __enter__(self) -> None:
        self.held = True

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.held = self._asked
        if self._asked and kind is None:
            raise KeyboardInterrupt

    def listening(self) -> AbstractContextManager[None]:
        """Hear of Ctrl-C until this is left; only the main thread of a process can."""
        return _handling(self._handle, signal.SIGINT)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._asked = True
        if not self.held:
            self.held = True
            raise KeyboardInterrupt


@contextmanager
def stop_requests() -> Iterator[threading.Event]:
    """An event that is set once Ctrl-C or SIGTERM asks for an end; a second Ctrl-C is an ordinary KeyboardInterrupt."""
    stop = threading.Event()

    def ask(number: int, _: FrameType | None) -> None:
        if stop.is_set() and number == signal.SIGINT:
            raise KeyboardInterrupt
        stop.set()

    with _handling(ask, signal.SIGINT, signal.SIGTERM):
        yield stop


@contextmanager
def _handling(handler: Callable[[int, FrameType | None], None], *numbers: int) -> Iterator[None]:
    """Let `handler` answer these signals until this is left; in any but the main thread it does nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, handler_before in before.items():
            signal.signal(number, handler_before)
