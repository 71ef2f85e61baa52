"""How good an agent is: duplicate matches on fixed deal ids against agents that never change."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hearts_agents import AGENTS, make
from hearts_env.agent import Agent
from hearts_env.cards import Ints
from hearts_env.lookup import lookup
from hearts_env.match import play
from hearts_env.rewards import payoff
from hearts_env.rules import Rules

OPPONENTS = tuple(name for name in ("rule", "random") if name in AGENTS)
"""Whom a learner is measured against."""


def lineups(num_players: int) -> Ints:
    """Two agents in alternating seats, and every different rotation of that; int64 [R, P]."""
    first = np.arange(num_players) % 2
    return np.unique([np.roll(first, shift) for shift in range(num_players)], axis=0)


def duplicate_payoffs(rules: Rules, agent: Agent, opponent: str, deal_ids: Ints) -> NDArray[np.float64]:
    """The payoff of `agent` for each deal id, float64 [K]: mean of its seats, over all lineups with the opponent.

    opponent: as `hearts_agents.make` takes it.  One id is one sample: it is played once in every lineup.
    """
    seats = lineups(rules.num_players)
    ids = np.repeat(deal_ids, len(seats))
    lineup = np.tile(seats, (len(deal_ids), 1))
    result = play(rules, [agent, make(opponent)], lineup, ids)
    mine = lineup == 0
    of_agent = np.where(mine, payoff(lookup(rules), result.points), 0).sum(axis=1) / mine.sum(axis=1)
    by_id: NDArray[np.float64] = of_agent.reshape(len(deal_ids), len(seats)).mean(axis=1)
    return by_id


def mean_and_error(samples: NDArray[np.float64]) -> tuple[float, float]:
    """The mean and its standard error; the error is 0 for a single sample."""
    size = len(samples)
    error = float(np.std(samples, ddof=1)) / size**0.5 if size > 1 else 0.0
    return float(np.mean(samples)), error
