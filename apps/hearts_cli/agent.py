"""`hearts agent`: an agent served to another program."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import tyro


@dataclass(frozen=True)
class ServeAgent:
    """Serve an agent to another program: the protocol hearts-agent/1 on standard input and output."""

    agent: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="AGENT")]
    """The agent's name, as `hearts agents` lists them."""

    def run(self) -> int:
        """Answer requests until a bye, or the end of the input."""
        from hearts_agents import make
        from hearts_agents.external.server import converse
        from hearts_agents.human import HumanAgent

        agent = make(self.agent)
        if isinstance(agent, HumanAgent):
            raise ValueError("agent 'human' reads what a person types, and here a program is at the other end")
        with _answers_alone() as sink:
            converse(agent, sys.stdin.fileno(), sink)
        return 0


@contextlib.contextmanager
def _answers_alone() -> Iterator[int]:
    """A file descriptor for the answers; whatever is printed meanwhile goes to standard error."""
    sys.stdout.flush()
    sink = os.dup(1)
    os.dup2(2, 1)
    try:
        yield sink
    finally:
        sys.stdout.flush()
        os.dup2(sink, 1)
        os.close(sink)
