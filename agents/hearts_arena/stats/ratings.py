"""One number for each agent's strength: payoff adjusted for opponents, and ratings by established libraries.

`adjusted` needs nothing but numpy.  Plackett-Luce strengths come from choix, by breaking each table's ranking into
pairs (consistent for this model: Azari Soufiani, Chen, Parkes and Xia 2013); ratings that follow the games one by one
come from openskill.  Both are in the extra `tournament`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hearts_arena.finished_deals import FinishedDeals
from hearts_arena.formats import Seatings, compositions, swiss
from hearts_arena.standings import Standings
from hearts_arena.tournament_plan import Tournament
from hearts_env.cards import Numbers

ELO = 400 / math.log(10)
"""Points on Elo's scale for one unit of a log-strength: 400 points are odds of ten to one."""
REPLICATES = 200
"""Replicates of the bootstrap, for intervals of ratings."""
_SHRINK = 0.1
"""The regularisation of choix, which otherwise has no answer where one agent has won everything."""
_LINK = 0.001
"""The regularisation between two agents who have not met."""
MISSING = "ratings need {}: pip install 'hearts_env[tournament]'"


@dataclass(frozen=True)
class Rating:
    """An agent's strength, with a 95 % interval."""

    agent: str
    rating: float
    low: float
    high: float


def adjusted(standings: Standings) -> dict[int, float]:
    """Payoff of each agent against an average field, by least squares over all pairs that met, agent by place."""
    fit, _ = _fitted(standings)
    return dict(zip(_compared(standings), fit.tolist(), strict=True))


def adjusted_ratings(standings: Standings) -> list[Rating]:
    """Payoffs adjusted for opponents with bootstrap intervals, the strongest agent first."""
    fit, replicates = _fitted(standings)
    return _listed(standings, fit, replicates)


def plackett_luce(standings: Standings) -> list[Rating]:
    """Log-strengths on Elo's scale, their mean at zero, from who finished ahead of whom at each table.

    Raises ModuleNotFoundError without choix.
    """
    import choix

    agents = _compared(standings)
    total, replicates = _wins(standings, agents)
    # Between any two, since there is no answer either where nothing links two groups, as in a Swiss's first round.
    shrink = np.where(total + total.T > 0, _SHRINK, _LINK) * (1 - np.eye(len(agents)))

    def fit(wins: Numbers) -> Numbers:
        strengths = choix.ilsr_pairwise_dense(wins + shrink, max_iter=10_000)
        return np.asarray((strengths - strengths.mean()) * ELO)

    return _listed(standings, fit(total), np.array([fit(wins) for wins in replicates]))


@dataclass
class Online:
    """Ratings by openskill that follow the deal ids in their order: one game for each company and deal id."""

    tournament: Tournament
    _model: Any = None
    _ratings: dict[int, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raises ModuleNotFoundError without openskill."""
        from openskill.models import PlackettLuce

        self._model = PlackettLuce()

    def add(self, finished: FinishedDeals) -> None:
        """Rate the deal ids of a finished.  Changes this object."""
        for company, where in compositions(finished.seatings, len(self.tournament.agents)).items():
            agents = [agent for agent, _ in company]
            if len(agents) < 2:
                continue
            sits = [finished.seatings[where] == agent for agent in agents]
            points = np.stack([finished.points[:, where][:, mine].mean(axis=1) for mine in sits], axis=1)
            for row in np.round(points, 6).tolist():
                teams = [[self._of(agent)] for agent in agents]
                for agent, (rating,) in zip(agents, self._model.rate(teams, ranks=row), strict=True):
                    self._ratings[agent] = rating

    def ratings(self) -> list[Rating]:
        """The strongest first: openskill's mu, plus and minus 1.96 of its sigma."""
        lines = [
            Rating(self.tournament.labels[agent], one.mu, one.mu - 1.96 * one.sigma, one.mu + 1.96 * one.sigma)
            for agent, one in self._ratings.items()
        ]
        return sorted(lines, key=lambda line: -line.rating)

    def _of(self, agent: int) -> Any:
        if agent not in self._ratings:
            self._ratings[agent] = self._model.rating()
        return self._ratings[agent]


def _compared(standings: Standings) -> list[int]:
    """Agents that have met anyone else."""
    agents = range(len(standings.tournament.agents))
    return [a for a in agents if any(len(company) > 1 for company in standings.companies_of(a))]


def _fitted(standings: Standings) -> tuple[Numbers, Numbers]:
    """Adjusted payoffs [n], and in each replicate [REPLICATES, n]."""
    agents = _compared(standings)
    at = {agent: index for index, agent in enumerate(agents)}
    rows, plain, replicates = [], [], []
    for a in agents:
        for b in agents:
            if a < b and standings.companies_of(a, b):
                above, below, count = standings.difference_weights(a, b)
                row = np.zeros(len(agents))
                row[at[a]], row[at[b]] = math.sqrt(count), -math.sqrt(count)
                rows.append(row)
                mean = float(standings.sums.total @ above / (standings.sums.total @ below))
                plain.append(mean * math.sqrt(count))
                ratios = standings.sums.ratios(above, below)[:REPLICATES]
                replicates.append(np.nan_to_num(ratios, nan=mean) * math.sqrt(count))
    solve = np.linalg.pinv(np.array(rows))  # of least norm: the mean is zero
    # The mean payoff against the others: a difference to the mean of all, which oneself is a part of.
    return solve @ np.array(plain), (solve @ np.array(replicates)).T


def _wins(standings: Standings, agents: list[int]) -> tuple[Numbers, Numbers]:
    """The number of times one finished ahead of another at a table, ties half: [n, n]; and in replicates [B, n, n]."""
    size = len(agents)
    total, replicates = np.zeros((size, size)), np.zeros((REPLICATES, size, size))
    for i, a in enumerate(agents):
        for j, b in enumerate(agents):
            where = standings.companies_of(a, b)
            if a < b and where:
                ahead = standings.vector({("ahead", company, a, b): 0.5 for company in where})
                games = standings.vector(
                    {("count", company, 0, 0): float(standings.companies[company]) for company in where}
                )
                for first, second, weights in ((i, j, ahead), (j, i, games - ahead)):
                    total[first, second] = standings.sums.total @ weights
                    replicates[:, first, second] = standings.sums.replicates[:REPLICATES] @ weights
    return total, replicates


def _listed(standings: Standings, fit: Numbers, replicates: Numbers) -> list[Rating]:
    low, high = np.percentile(replicates, [2.5, 97.5], axis=0)
    labels = [standings.tournament.labels[agent] for agent in _compared(standings)]
    lines = [Rating(*line) for line in zip(labels, fit.tolist(), low.tolist(), high.tolist(), strict=True)]
    return sorted(lines, key=lambda line: -line.rating)


def round_seatings(standings: Standings, stage: int, met: set[frozenset[int]]) -> Seatings:
    """The seatings of a round: those of the design, or in a Swiss what the standings so far say.

    met: the pairs of earlier rounds; this one's are added.
    """
    planned = standings.tournament
    if planned.design != "swiss":
        return planned.seatings
    agents = range(planned.entrants)
    strength = adjusted(standings) if stage else {}
    order = sorted(agents, key=lambda agent: -strength.get(agent, 0.0))
    chosen = swiss(planned.rules, order, met)
    met.update(frozenset(agent for agent, _ in company) for company in compositions(chosen, planned.entrants))
    met.update(frozenset([agent]) for agent in agents if not (chosen == agent).any())
    return chosen
