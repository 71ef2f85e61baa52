"""Agents by name: `make("rule")`, `make("net:runs/first")`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hearts_agents.uniform import RandomAgent
from hearts_env.agent import Agent


class AgentError(ValueError):
    """A name that stands for no agent, or an agent that cannot be made here."""


@dataclass(frozen=True)
class Entry:
    """One kind of agent: how it is written, what it is, what it needs, and how it is made."""

    form: str
    summary: str
    needs: str
    build: Callable[[str, str], Agent]
    """From the full name and what stands after the colon ('' if nothing)."""


def _random(name: str, detail: str) -> Agent:
    return RandomAgent(_number(name, detail, default=0), name)


AGENTS: dict[str, Entry] = {
    "random": Entry("random[:SEED]", "any legal action, all equally likely", "nothing", _random),
}
"""The kinds of agents by the first word of their name."""


def make(name: str) -> Agent:
    """The agent of that name: a kind, and after a colon what that kind takes.

    Raises AgentError (a ValueError) with the names there are.
    """
    kind, _, detail = name.partition(":")
    if kind not in AGENTS:
        forms = ", ".join(entry.form for entry in AGENTS.values())
        raise AgentError(f"unknown agent {name!r:.60}; there are {forms}")
    return AGENTS[kind].build(name, detail)


def _number(name: str, detail: str, default: int) -> int:
    if not detail:
        return default
    if not detail.isascii() or not detail.isdigit():
        raise AgentError(f"agent {name!r:.60}: {detail!r:.40} is no whole number")
    return int(detail)
