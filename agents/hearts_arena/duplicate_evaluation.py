"""Duplicate evaluation: the payoff of an agent against another on the same deals, with its standard error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hearts_agents import make
from hearts_arena.formats import Seatings, lineups
from hearts_env.cards import Ints, Numbers
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.rewards import payoff
from hearts_env.game.rules import Rules
from hearts_env.match.agent import Agent
from hearts_env.match.play_match import Result, play

TRAINING_IDS = 1 << 62
"""Deal ids of training start here: those below, of people and evaluations, are fresh to every network."""


def fresh_ids(size: int, *seed: int) -> Ints:
    """Deal ids that no training has seen, int64 [size]."""
    return np.random.default_rng(seed).integers(TRAINING_IDS, size=size, dtype=np.int64)


@dataclass(frozen=True)
class Payoff:
    """The payoff of one agent among others, in points a deal."""

    agent: str
    other: str
    deals: int
    payoff: float
    """The mean of the others' points minus its own, a deal."""
    error: float
    """The standard error of that over deal ids."""

    def __str__(self) -> str:
        return (
            f"{self.agent} against {self.other}: payoff {self.payoff:+.2f} ± {self.error:.2f} points a deal "
            f"({self.deals} deals, each in every seat)"
        )


def duplicate(
    agent: Agent | str,
    other: Agent | str = "random",
    deals: int = 500,
    *,
    rules: Rules = Rules(),
    seed: int = 0,
    seats: int = 1,
) -> Payoff:
    """The payoff of one agent among others, each deal played once in every lineup, so that luck of the cards cancels.

    Args:
        agent: an agent, or its name.
        other: who sits in the other seats.
        deals: how many deal ids are played.
        rules: which game is played.
        seed: of the deal ids.
        seats: how many seats `agent` has.

    Raises:
        AgentError: for a name that is none; IllegalActionError for what an agent may not do (both ValueErrors).
    """
    one, opponent = (make(each) if isinstance(each, str) else each for each in (agent, other))
    ids = np.random.default_rng(seed).integers(2**63, size=deals, dtype=np.int64)
    mean, error = mean_and_error(duplicate_payoffs(rules, one, opponent, ids, seats))
    return Payoff(one.name, opponent.name, deals, mean, error)


def duplicate_payoffs(
    rules: Rules, agent: Agent, opponent: Agent | str, deal_ids: Ints, seats: int | None = None
) -> Numbers:
    """The payoff of `agent` for each deal id, float64 [K]: mean of its seats, over all lineups with the opponent.

    opponent: if a name, as `hearts_agents.make` takes it.  seats: as in `hearts_arena.formats.lineups`.  One id
    is one sample: it is played once in every lineup.
    """
    return payoffs_in(lineups(rules.num_players, seats), rules, agent, opponent, deal_ids)


def payoffs_in(turns: Ints | Seatings, rules: Rules, agent: Agent, opponent: Agent | str, deal_ids: Ints) -> Numbers:
    """The payoff of `agent` for each deal id, float64 [K]: mean of its seats, over the lineups `turns`.

    turns: integers [S, P], 0 where `agent` sits and 1 where the opponent does.
    """
    result = _met(turns, rules, agent, opponent, deal_ids)
    mine = result.lineup == 0
    of_agent = np.where(mine, payoff(compiled_rules(rules), result.points), 0).sum(axis=1) / mine.sum(axis=1)
    return _by_id(of_agent, deal_ids)


def duplicate_wins(
    rules: Rules, agent: Agent, opponent: Agent | str, deal_ids: Ints, seats: int | None = None
) -> Numbers:
    """The share of the wins that go to seats of `agent` in games from each deal id, float64 [K]; ties are split.

    Otherwise as `duplicate_payoffs`.
    """
    result = _met(lineups(rules.num_players, seats), rules, agent, opponent, deal_ids, games=True)
    share = (result.winners & (result.lineup == 0)).sum(axis=1) / result.winners.sum(axis=1)
    return _by_id(share, deal_ids)


def _met(
    turns: Ints | Seatings,
    rules: Rules,
    agent: Agent,
    opponent: Agent | str,
    deal_ids: Ints,
    games: bool = False,
) -> Result:
    """Both agents on every deal id in every lineup."""
    lineup = np.tile(turns, (len(deal_ids), 1))
    both = [agent, make(opponent) if isinstance(opponent, str) else opponent]
    return play(rules, both, lineup, np.repeat(deal_ids, len(turns)), games=games)


def _by_id(of_tables: Numbers, deal_ids: Ints) -> Numbers:
    means: Numbers = of_tables.reshape(len(deal_ids), -1).mean(axis=1)
    return means


def mean_and_error(samples: Numbers) -> tuple[float, float]:
    """The mean and its standard error; the error is 0 for a single sample."""
    size = len(samples)
    error = float(np.std(samples, ddof=1)) / size**0.5 if size > 1 else 0.0
    return float(np.mean(samples)), error
