"""How good an agent is: duplicate matches against another one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hearts_agents import make
from hearts_env.agent import Agent
from hearts_env.cards import Ints
from hearts_env.lookup import lookup
from hearts_env.match import play
from hearts_env.rewards import payoff
from hearts_env.rules import Rules
from hearts_train.others import lineups

TRAINING_IDS = 1 << 62
"""Deal ids of training start here: those below, of people and evaluations, are fresh to every network."""


def duplicate_payoffs(
    rules: Rules, agent: Agent, opponent: Agent | str, deal_ids: Ints, seats: int | None = None
) -> NDArray[np.float64]:
    """The payoff of `agent` for each deal id, float64 [K]: mean of its seats, over all lineups with the opponent.

    opponent: if a name, as `hearts_agents.make` takes it.  seats: see `others.lineups`.  One id is one sample: it is
    played once in every lineup.
    """
    turns = lineups(rules.num_players, seats)
    ids = np.repeat(deal_ids, len(turns))
    lineup = np.tile(turns, (len(deal_ids), 1))
    result = play(rules, [agent, make(opponent) if isinstance(opponent, str) else opponent], lineup, ids)
    mine = lineup == 0
    of_agent = np.where(mine, payoff(lookup(rules), result.points), 0).sum(axis=1) / mine.sum(axis=1)
    by_id: NDArray[np.float64] = of_agent.reshape(len(deal_ids), len(turns)).mean(axis=1)
    return by_id


def mean_and_error(samples: NDArray[np.float64]) -> tuple[float, float]:
    """The mean and its standard error; the error is 0 for a single sample."""
    size = len(samples)
    error = float(np.std(samples, ddof=1)) / size**0.5 if size > 1 else 0.0
    return float(np.mean(samples)), error
