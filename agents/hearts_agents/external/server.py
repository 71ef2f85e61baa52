"""The other end of `hearts-agent/1`: one of our agents answers the requests of any program."""

from __future__ import annotations

import select
from collections.abc import Mapping
from typing import Any

import numpy as np

from hearts_agents.external.messages import parse_request, view_of
from hearts_agents.external.pipes import ByteWriter, LineReader
from hearts_agents.external.protocol import ProtocolError, answer_line, loaded, parse_hello, welcome_line
from hearts_env.game.compiled_rules import CompiledRules, compiled_rules
from hearts_env.match.agent import Agent, ask

MAX_BATCH = 4096
"""Requests that are answered together at most."""


class Answerer:
    """Reads lines of the protocol, and tells what to write: answers are made for many requests at once."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._info: CompiledRules | None = None
        self.over = False
        """A bye was read, or a hello refused."""

    def answers(self, lines: list[bytes]) -> bytes:
        """The lines that answer these.

        Raises ProtocolError for a line that is no message, and what the agent raises.
        """
        said: list[bytes] = []
        asked: list[Mapping[str, Any]] = []
        for line in lines:
            if self.over or not line.strip():
                continue
            message = loaded(line)
            if "id" in message:
                asked.append(message)
                continue
            said += self._act(asked)
            asked = []
            said += self._other(message)
        return b"".join([*said, *self._act(asked)])

    def _other(self, message: Mapping[str, Any]) -> list[bytes]:
        """The answer to what is no request."""
        if "hello" in message:
            try:
                self._info = compiled_rules(parse_hello(message))
            except ProtocolError as error:
                self.over = True
                return [welcome_line(self._agent.name, str(error))]
            return [welcome_line(self._agent.name)]
        if "bye" not in message:
            raise ProtocolError(f"{dict(message)!r:.100} is neither hello nor request nor bye")
        self.over = True
        return []

    def _act(self, asked: list[Mapping[str, Any]]) -> list[bytes]:
        if not asked:
            return []
        if self._info is None:
            raise ProtocolError("there was a request before the hello, so the rules are not known")
        found: list[bytes] = []
        for begin in range(0, len(asked), MAX_BATCH):
            requests = [parse_request(self._info, message) for message in asked[begin : begin + MAX_BATCH]]
            seen = view_of(self._info, requests)
            actions = ask([self._agent], np.zeros(len(seen), np.int64), seen)
            found += map(answer_line, [request.id for request in requests], actions.tolist())
        return found


def converse(agent: Agent, source: int, sink: int) -> None:
    """Answer what comes from the file descriptor `source` on `sink`, until a bye or the end of the input.

    Neither is made non-blocking, for they may be shared with other processes; still it goes on reading while nobody
    reads what it has written.  Raises ProtocolError, and what the agent raises.
    """
    answerer, reader, writer = Answerer(agent), LineReader(source), ByteWriter(sink, select.PIPE_BUF)
    while not (answerer.over or reader.ended):
        readable, writable, _ = select.select([source], [sink] if writer.pending else [], [])
        if writable:
            writer.write()
        if readable:
            writer.add(answerer.answers(_all_there_is(reader)))
    while writer.pending:
        select.select([], [sink], [])
        writer.write()


def _all_there_is(reader: LineReader) -> list[bytes]:
    """The lines that can be read without waiting, at least those of one read; at the end also one without an end."""
    lines = reader.read()
    while not reader.ended and len(lines) < MAX_BATCH and select.select([reader.fd], [], [], 0)[0]:
        lines += reader.read()
    return [*lines, reader.rest] if reader.ended else lines
