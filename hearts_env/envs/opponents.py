"""Agents for the seats that a learner does not play, as objects or by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import entry_points

from hearts_env.envs.options import EnvError
from hearts_env.match.agent import Agent

Opponents = Agent | str | Sequence[Agent | str]
"""One agent for all other seats, or a pool from which one is drawn for each seat at the start of each episode."""
AGENT_MAKERS = "hearts_env.agents"
"""The group of entry points under which packages offer a function from a name to an agent; ValueError if unknown."""


def opponent_pool(opponents: Opponents) -> tuple[Agent, ...]:
    """The agents to draw from.  Raises EnvError for anything else, and what the maker of agents raises for a name."""
    if isinstance(opponents, str) or not isinstance(opponents, Sequence):
        return (_agent(opponents),)
    if not opponents:
        raise EnvError(f"opponents={opponents!r}: must be an agent, its name, or a list of at least one of these")
    return tuple(map(_agent, opponents))


def _agent(opponent: Agent | str) -> Agent:
    if isinstance(opponent, str):
        return _named(opponent)
    if isinstance(opponent, type) or not isinstance(opponent, Agent):
        raise EnvError(f"opponents={opponent!r:.60}: an agent has a name and act(view); 'rule' or 'random' name one")
    return opponent


def _named(name: str) -> Agent:
    """The agent of that name, made by the first package with agents that knows it."""
    if not (makers := _makers()):
        raise EnvError(
            f"opponents={name!r:.60}: no package with agents by name is installed "
            f"(none has an entry point {AGENT_MAKERS}); give an agent in its place"
        )
    for maker in makers[:-1]:
        with suppress(ValueError):
            return maker(name)
    return makers[-1](name)


@cache
def _makers() -> tuple[Callable[[str], Agent], ...]:
    """The functions that installed packages offer under AGENT_MAKERS.

    The agents are built on this package, which therefore does not import them: they say themselves that they are there.
    """
    return tuple(maker.load() for maker in sorted(entry_points(group=AGENT_MAKERS), key=lambda maker: maker.name))
