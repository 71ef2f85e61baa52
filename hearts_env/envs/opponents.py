"""Agents for the seats that a learner does not play, as objects or by name."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import cast

from hearts_env.envs.table import EnvError
from hearts_env.match.agent import Agent

Opponents = Agent | str | Sequence[Agent | str]
"""One agent for all other seats, or a pool from which one is drawn for each seat at the start of each episode."""
_REGISTRY = "hearts_agents"


def opponent_pool(opponents: Opponents) -> tuple[Agent, ...]:
    """The agents to draw from.  Raises EnvError for anything else, and what `hearts_agents.make` raises for a name."""
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
    """The agent of that name.

    The names belong to `hearts_agents`, which is built on this package: it is looked up here, when a name is used, and
    not imported.
    """
    try:
        registry = importlib.import_module(_REGISTRY)
    except ModuleNotFoundError as error:
        if error.name != _REGISTRY:
            raise
        raise EnvError(
            f"opponents={name!r:.60}: names need the package {_REGISTRY}; give an agent in its place"
        ) from None
    return cast(Agent, registry.make(name))
