"""Another program as a process of ours: talked to in lines, never waited for without a limit, never left behind."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence

from hearts_agents.external.pipes import ByteWriter, LineReader
from hearts_agents.external.protocol import BYE, ProtocolError

GRACE = 1.0
"""Seconds that a program has to end after a bye."""
KEPT_LINES = 5
"""Lines of its standard error that are kept."""
_LOOK = 0.2
"""Seconds between two looks whether it still lives: what it has started may keep its pipes open."""
_WRITE = 1 << 16
_PIPE_SIZE = 1 << 20
_WITH_ITS_PARENT = """
import os, signal, sys
try:
    import ctypes
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
except (ImportError, AttributeError, OSError):
    pass
if os.getppid() != int(sys.argv[1]):
    sys.exit(1)
for number in (signal.SIGPIPE, signal.SIGXFSZ):
    signal.signal(number, signal.SIG_DFL)
try:
    os.execvp(sys.argv[2], sys.argv[2:])
except OSError as error:
    sys.exit(f"{sys.argv[2]}: {error.strerror}")
"""
"""Asks Linux to kill this process when its parent ends in whatever way (PR_SET_PDEATHSIG), and becomes the program.

Python ignores two signals, which the program would inherit."""


class Process:
    """A running program, the first of a process group of its own: Ctrl-C in the terminal does not reach it."""

    def __init__(self, arguments: Sequence[str]) -> None:
        """Start the program.  Raises OSError."""
        self._owner = os.getpid()
        self._popen = subprocess.Popen(
            [*_prefix(), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        stdin, stdout, stderr = self._popen.stdin, self._popen.stdout, self._popen.stderr
        assert stdin is not None
        assert stdout is not None
        assert stderr is not None
        self._pipes = (stdin, stdout, stderr)
        for pipe in self._pipes:
            os.set_blocking(pipe.fileno(), False)
        _widen(stdin.fileno())
        self._writer = ByteWriter(stdin.fileno(), _WRITE)
        self._reader = LineReader(stdout.fileno())
        self._complaints = LineReader(stderr.fileno())
        self._dead = False
        self._last: deque[bytes] = deque(maxlen=KEPT_LINES)
        self._watched = selectors.DefaultSelector()
        self._watched.register(stdout, selectors.EVENT_READ)
        self._watched.register(stderr, selectors.EVENT_READ)

    @property
    def owned(self) -> bool:
        """This very process has started it, and not one that it was forked from."""
        return os.getpid() == self._owner

    @property
    def ended(self) -> bool:
        """It has ended or closed its standard output, and all that it has written was received."""
        return self._reader.ended or self._dead

    @property
    def rest(self) -> bytes:
        """The line that it has begun."""
        return self._reader.rest

    def send(self, data: bytes) -> None:
        """Write to its standard input as it reads, within `receive`."""
        self._writer.add(data)
        self._watch_input()

    def receive(self, until: float) -> list[bytes]:
        """Move what can be moved; the lines that it has written, or none.

        Waits a moment for something to happen, until that time (of time.monotonic) at most.  Raises ProtocolError for a
        line that is too long.
        """
        lines: list[bytes] = []
        happened = self._watched.select(min(_LOOK, max(0.0, until - time.monotonic())))
        if not happened:
            self._dead = self._has_died()
        for key, _ in happened:
            if key.fd == self._reader.fd:
                lines = self._reader.read()
                if self._reader.ended:
                    self._watched.unregister(key.fileobj)
            elif key.fd == self._writer.fd:
                try:
                    self._writer.write()
                except BrokenPipeError:
                    # It reads no more; whether it has ended, its output tells.
                    self._writer.drop()
                self._watch_input()
            else:
                self._hear()
        return lines

    def complaints(self) -> str:
        """The last lines that it has written to its standard error; "" for none."""
        with contextlib.suppress(ValueError, OSError):
            self._hear()
        last = [*self._last, self._complaints.rest]
        return " / ".join(line.decode("utf-8", "replace").strip()[:200] for line in last if line.strip())

    def stop(self, polite: bool = False) -> None:
        """End it and all that it has started.  polite: say bye first, and give it the time to go by itself.

        Does nothing in a forked child of the process that has started it, or when it was stopped before.
        """
        if not self.owned or self._popen.returncode is not None:
            return
        try:
            if polite:
                self._say_bye()
        finally:
            # Before it is waited for: until then its number belongs to nobody else.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._popen.pid, signal.SIGKILL)
            self._popen.wait()
            self._watched.close()
            for pipe in self._pipes:
                pipe.close()

    def _has_died(self) -> bool:
        """Look without waiting for it, so that its number stays its own."""
        if not hasattr(os, "waitid"):
            return False
        return os.waitid(os.P_PID, self._popen.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def _say_bye(self) -> None:
        until = time.monotonic() + GRACE
        self.send(BYE)
        while not self.ended and time.monotonic() < until:
            with contextlib.suppress(ProtocolError):
                self.receive(until)
            if not self._writer.pending and not self._pipes[0].closed:
                self._pipes[0].close()

    def _watch_input(self) -> None:
        """Look whether there is room to write only while there is something to write."""
        stdin = self._pipes[0]
        watched = stdin in self._watched.get_map()
        if self._writer.pending and not watched:
            self._watched.register(stdin, selectors.EVENT_WRITE)
        elif watched and not self._writer.pending:
            self._watched.unregister(stdin)

    def _hear(self) -> None:
        try:
            self._last.extend(self._complaints.read())
        except ProtocolError:
            self._complaints.rest = b""
        if self._complaints.ended and self._pipes[2] in self._watched.get_map():
            self._watched.unregister(self._pipes[2])


def _prefix() -> list[str]:
    """The words before the arguments that make the program die with this process."""
    # Linux sends the signal when the *thread* ends that has started the program: only the main one lives long enough.
    main = threading.current_thread() is threading.main_thread()
    if not sys.platform.startswith("linux") or not sys.executable or not main:
        return []
    return [sys.executable, "-I", "-S", "-c", _WITH_ITS_PARENT, str(os.getpid())]


def _widen(fd: int) -> None:
    """Make room for a thousand requests in a pipe, where the system lets us: fewer turns from process to process."""
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, _PIPE_SIZE)
