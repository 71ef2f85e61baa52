"""Lines over pipes for those who must never wait for one pipe alone."""

from __future__ import annotations

import os

from hearts_agents.external.protocol import MAX_LINE, ProtocolError

_READ = 1 << 16


class LineReader:
    """Collects the lines that arrive at a file descriptor."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.ended = False
        """The other end has closed the pipe."""
        self.rest = b""
        """The beginning of a line that is not complete yet."""

    def read(self) -> list[bytes]:
        """The lines completed by what has arrived, without their ends; call it when there is something to read.

        Raises ProtocolError once a line is longer than MAX_LINE.
        """
        try:
            data = os.read(self.fd, _READ)
        except BlockingIOError:
            return []
        if not data:
            self.ended = True
            return []
        *lines, self.rest = (self.rest + data).split(b"\n")
        if len(self.rest) > MAX_LINE:
            raise ProtocolError(f"a line is longer than {MAX_LINE} bytes")
        return lines


class ByteWriter:
    """Holds what is to be written to a file descriptor until there is room for it."""

    def __init__(self, fd: int, at_once: int) -> None:
        """at_once: bytes of one write; up to select.PIPE_BUF, a pipe that is ready does not make a write wait."""
        self.fd = fd
        self._at_once = at_once
        self._data = memoryview(b"")
        self._next: list[bytes] = []

    @property
    def pending(self) -> bool:
        """Something is still to be written."""
        return bool(self._data or self._next)

    def add(self, data: bytes) -> None:
        """Write this too, when there is room."""
        self._next.append(data)

    def write(self) -> None:
        """Write as much as there is room for; call it when there is some.  Raises BrokenPipeError."""
        if not self._data:
            self._data = memoryview(b"".join(self._next))
            self._next.clear()
        try:
            written = os.write(self.fd, self._data[: self._at_once])
        except BlockingIOError:
            return
        self._data = self._data[written:]

    def drop(self) -> None:
        """Forget what is still to be written: nobody reads it any more."""
        self._data = memoryview(b"")
        self._next.clear()
