"""The agent `exec:COMMAND`: another program at the table, over the protocol `hearts-agent/1`."""

from __future__ import annotations

import contextlib
import logging
import math
import os
import shlex
import shutil
import time
import weakref
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from hearts_agents.external.messages import request_lines
from hearts_agents.external.process import Process
from hearts_agents.external.protocol import ProtocolError, hello_line, parse_answer, parse_welcome
from hearts_env.cards import Ints, choose
from hearts_env.game.rules import Rules
from hearts_env.game.view import View
from hearts_env.match.agent import uniform

RESTARTS = 10
"""How often a program is started again that has failed, under `on_failure="random"` ..."""
ANSWERS_A_RESTART = 1000
"""... and once more for so many answers."""
_SALT = 0x65786563
_SHOWN = 300
_LOG = logging.getLogger("hearts_agents")


class ExecError(ValueError):
    """A command that cannot be run, or a program that does not keep the protocol."""


@dataclass(frozen=True)
class Limits:
    """The time that a program has to answer, and the consequence of a failure."""

    time_limit: float = 60.0
    """Seconds of silence while it owes answers: each answer gives it that long for the next one."""
    on_failure: Literal["error", "random"] = "error"
    """"error" ends the match; "random" plays a random legal action in its place and counts it."""

    def __post_init__(self) -> None:
        if not (self.time_limit > 0 and math.isfinite(self.time_limit)):
            raise ExecError(f"time_limit={self.time_limit!r}: must be a number of seconds above 0")
        if self.on_failure not in ("error", "random"):
            raise ExecError(f"on_failure={self.on_failure!r:.60}: must be 'error' or 'random'")


class _Failure(Exception):  # noqa: N818
    """The program can no longer be relied upon.  What is wrong, and the answer that shows it if there is one."""

    def __init__(
        self, what: str, answer: bytes = b"", *, number: int | None = None, hello: bytes = b"", hopeless: bool = False
    ) -> None:
        """number: the request that it is about; None for the one that waits longest.  hello: the line that was not
        answered.  hopeless: a new process would do no better.
        """
        super().__init__(what)
        self.answer = answer
        self.number = number
        self.hello = hello
        self.hopeless = hopeless


class ExecAgent:
    """Asks a program for its actions: one process, all requests of a batch at once, answers in any order.

    The process is started at the first batch, and again for other rules and in a forked child: it hears one hello in
    its life.  It ends with this object, with `close`, and with this process.
    """

    def __init__(self, command: str, name: str = "", limits: Limits = Limits()) -> None:
        """command: split into words as a shell does, without a shell.  Raises ExecError if it cannot be run."""
        self.name = name or f"exec:{command}"
        self.command = command
        self.limits = limits
        self.failures = 0
        """Actions that were played at random in its place."""
        self._arguments = _words(command)
        self._process: Process | None = None
        self._finalizer: weakref.finalize[Any, Any] | None = None
        self._rules: Rules | None = None
        self._next_id = 0
        self._answers = 0
        self._restarts = 0

    def act(self, view: View) -> Ints:
        """The program's action for each view, int64 [N].

        Raises ExecError that names the command, the request and the answer, unless `limits` say that such a request
        is played at random.
        """
        actions = np.full(len(view), -1, np.int64)
        lines = request_lines(view, self._next_id)
        waiting = dict(enumerate(lines, self._next_id))
        self._next_id += len(lines)
        batch = _Batch(view, actions, waiting, first=self._next_id - len(lines))
        try:
            while waiting:
                try:
                    self._converse(batch)
                except _Failure as failure:
                    self._recover(batch, failure)
        except BaseException:
            # Also Ctrl-C: answers are on their way that nobody would wait for.
            self._stop()
            raise
        return actions

    def close(self) -> None:
        """Say bye, and end the process.  Another batch would start it again."""
        self._stop(polite=True)

    def __enter__(self) -> ExecAgent:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return ExecAgent, (self.command, self.name, self.limits)

    def _converse(self, batch: _Batch) -> None:
        """Ask all that is still to be asked, and take the answers.  Raises _Failure."""
        process = self._ready(batch.view.rules.rules)
        process.send(b"".join(batch.waiting.values()))
        until = time.monotonic() + self.limits.time_limit
        while batch.waiting:
            for line in self._received(process, until):
                self._take(batch, line)
                until = time.monotonic() + self.limits.time_limit

    def _take(self, batch: _Batch, line: bytes) -> None:
        try:
            number, action = parse_answer(line)
        except ProtocolError as error:
            raise _Failure(str(error), line) from None
        if number not in batch.waiting:
            raise _Failure(f"no request of id {number} waits for an answer", line)
        row = number - batch.first
        if not int(batch.view.legal[row]) >> action & 1:
            if self.limits.on_failure == "error":
                raise _Failure("the action is illegal", line, number=number)
            self._play_at_random(batch, [number])
            return
        self._answers += 1
        del batch.waiting[number]
        batch.actions[row] = action

    def _received(self, process: Process, until: float) -> list[bytes]:
        """At least one line.  Raises _Failure when the process has ended, or is silent until that time."""
        while True:
            try:
                lines = process.receive(until)
            except ProtocolError as error:
                raise _Failure(str(error), process.rest) from None
            if lines:
                return lines
            if process.ended:
                raise _Failure("it has ended, or closed its standard output", process.rest)
            if time.monotonic() >= until:
                raise _Failure(f"it was silent for {self.limits.time_limit:g} s", process.rest)

    def _ready(self, rules: Rules) -> Process:
        """The process, greeted under these rules.  Raises _Failure."""
        process = self._process
        if process is not None and process.owned and rules == self._rules:
            return process
        self._stop(polite=True)
        try:
            process = Process(self._arguments)
        except OSError as error:
            raise ExecError(f"{self.name}: {error.strerror}: {self._arguments[0]}") from None
        self._process, self._rules = process, rules
        self._finalizer = weakref.finalize(self, process.stop, True)
        hello = hello_line(rules)
        process.send(hello)
        try:
            line, *more = self._received(process, time.monotonic() + self.limits.time_limit)
            parse_welcome(line)
        except ProtocolError as error:
            raise _Failure(f"no hello: {error}", line, hello=hello, hopeless=True) from None
        except _Failure as failure:
            hopeless = self._answers == 0
            raise _Failure(f"no hello: {failure}", failure.answer, hello=hello, hopeless=hopeless) from None
        if more:
            raise _Failure("it said more before it was asked", more[0], hello=hello)
        return process

    def _recover(self, batch: _Batch, failure: _Failure) -> None:
        """End the match, or play the request at fault at random and start the process again for the others."""
        number = next(iter(batch.waiting), None) if failure.number is None else failure.number
        complaints = self._process.complaints() if self._process else ""
        self._stop()
        said = f"; standard error ends: {complaints}" if complaints else ""
        if self.limits.on_failure == "error" or failure.hopeless:
            answer = f"; its answer: {_shown(failure.answer)}" if failure.answer else ""
            request = "all were answered" if number is None else _shown(failure.hello or batch.waiting[number])
            raise ExecError(f"{self.name}: {failure}{answer}; the request: {request}{said}")
        self._restarts += 1
        if self._restarts <= RESTARTS + self._answers // ANSWERS_A_RESTART:
            self._play_at_random(batch, [] if number is None else [number])
            return
        if self._restarts == RESTARTS + self._answers // ANSWERS_A_RESTART + 1:
            _LOG.warning("%s has failed too often and plays at random for now: %s%s", self.name, failure, said)
        self._play_at_random(batch, list(batch.waiting))

    def _play_at_random(self, batch: _Batch, numbers: Iterable[int]) -> None:
        rows = np.array([number - batch.first for number in numbers], np.int64)
        part = batch.view.take(rows)
        batch.actions[rows] = choose(part.legal, uniform(part, _SALT))
        self.failures += len(rows)
        for row in rows.tolist():
            del batch.waiting[batch.first + row]

    def _stop(self, polite: bool = False) -> None:
        if self._finalizer:
            self._finalizer.detach()
        if self._process:
            self._process.stop(polite)
        self._process = self._finalizer = self._rules = None


@dataclass
class _Batch:
    """The requests of one call of `act`, and the answers so far."""

    view: View
    actions: Ints
    waiting: dict[int, bytes]
    """The requests without an answer by id, the oldest first."""
    first: int
    """The id of the first row."""


@contextlib.contextmanager
def limited(agents: Iterable[object], limits: Limits) -> Iterator[None]:
    """Within it, those of the agents that are programs have these limits; after it they have ended."""
    programs = [agent for agent in agents if isinstance(agent, ExecAgent)]
    for agent in programs:
        agent.limits = limits
    try:
        yield
    finally:
        for agent in programs:
            agent.close()


def _words(command: str) -> list[str]:
    if os.name != "posix":
        raise ExecError("exec: needs a system with POSIX pipes and process groups, such as Linux or macOS")
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ExecError(f"exec:{command!r:.100} is no command: {error}") from None
    if not words:
        raise ExecError("exec: needs a command, as in 'exec:python3 my_agent.py'")
    if shutil.which(words[0]) is None:
        raise ExecError(f"exec: there is no program {words[0]!r:.100} that can be run")
    return words


def _shown(line: bytes) -> str:
    text = line.decode("utf-8", "replace").strip()
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
