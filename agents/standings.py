"""Standings: what a tournament says of its agents, with standard errors over deal ids."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hearts_agents.tournament import Chunk, Tournament
from hearts_env.cards import Ints
from hearts_env.lookup import lookup
from hearts_env.match import Result
from hearts_env.rewards import payoff

_WIN = math.lcm(*range(1, 8))
"""A win as a whole number that any number of winners can share."""


@dataclass(frozen=True)
class Standing:
    """One agent's line.  All means are per seat and deal (with games: per seat and game)."""

    agent: str
    points: float
    points_se: float | None
    """Standard error over deal ids, of which each is one sample; None for a single one."""
    payoff: float
    """Mean of the others' points minus own (with teams, of the other side's sum)."""
    payoff_se: float | None
    win_share: float
    """Share of the wins (fewest points), ties split."""
    moons: int
    seat_deals: int
    """Deals times seats that the agent had in them."""
    seconds_per_decision: float
    failures: int
    """Decisions that were made for it, because it failed and the tournament was to go on."""


@dataclass(frozen=True)
class Difference:
    """How much more payoff `agent` has than `other`, over the deals in which they met."""

    agent: str
    other: str
    payoff: float
    payoff_se: float | None


@dataclass
class Moments:
    """Sums over deal ids in whole numbers: exact, so that the order and size of chunks cannot matter."""

    count: int = 0
    total: int = 0
    squares: int = 0

    def add(self, values: Ints) -> None:
        """Count one value for each deal id, int64 [K].  Changes this object."""
        self.count += len(values)
        self.total += int(values.sum())
        self.squares += int((values * values).sum())

    def mean(self, unit: int) -> float:
        """The mean; `unit` is what counts as 1."""
        return self.total / (self.count * unit)

    def standard_error(self, unit: int) -> float | None:
        """The standard deviation of the values over the square root of their number; None for a single value."""
        if self.count < 2:
            return None
        spread = self.count * self.squares - self.total**2
        return math.sqrt(spread / (self.count**2 * (self.count - 1))) / unit


class Standings:
    """The standings of a tournament as far as it has been added; memory does not grow with the deals."""

    def __init__(self, tournament: Tournament) -> None:
        agents = len(tournament.agents)
        self.tournament = tournament
        self.deals = 0  # deal ids added
        self._sits = (tournament.seatings[:, :, None] == np.arange(agents)).astype(np.int64)  # int64 [S, P, agents]
        self._seats = self._sits.sum(axis=1)  # int64 [S, agents]  seats of each agent in each seating
        self._points = [Moments() for _ in range(agents)]
        self._payoff = [Moments() for _ in range(agents)]
        self._differences = {(a, b): Moments() for a, b in combinations(range(agents), 2) if self._meetings(a, b).any()}
        self._wins = np.zeros(agents, np.int64)
        self._moons = np.zeros(agents, np.int64)
        self._seat_deals = np.zeros(agents, np.int64)
        self._decisions = np.zeros(agents, np.int64)
        self._seconds = np.zeros(agents)
        self._failures = np.zeros(agents, np.int64)

    def add(self, chunk: Chunk) -> None:
        """Count a finished chunk.  Changes the standings."""
        result = chunk.result
        points = self._by_agent(result.points)
        payoffs = self._by_agent(self._whole_payoff(result))
        for agent in range(len(self.tournament.agents)):
            self._points[agent].add(points[:, :, agent].sum(axis=1))
            self._payoff[agent].add(payoffs[:, :, agent].sum(axis=1))
        for (a, b), moments in self._differences.items():
            moments.add(self._difference(payoffs, a, b))
        sharing = np.maximum(result.winners.sum(axis=1, keepdims=True), 1)
        self._wins += self._by_agent(result.winners * (_WIN // sharing)).sum(axis=(0, 1))
        self._moons += self._by_agent(result.moons).sum(axis=(0, 1))
        self._seat_deals += self._by_agent(np.broadcast_to(result.deals[:, None], result.points.shape)).sum(axis=(0, 1))
        self._decisions += result.decisions
        self._seconds += result.seconds
        self._failures += result.failures
        self.deals += len(points)

    @property
    def standings(self) -> list[Standing]:
        """One line an agent, the highest payoff first.  Needs at least one deal."""
        lines = [self._standing(agent) for agent in range(len(self.tournament.agents))]
        return sorted(lines, key=lambda line: -line.payoff)

    @property
    def differences(self) -> list[Difference]:
        """One line for each two agents that met, in the order of the standings.  Needs at least one deal."""
        labels = self.tournament.labels
        place = {line.agent: index for index, line in enumerate(self.standings)}
        lines = []
        for (a, b), moments in self._differences.items():
            unit = self._unit * self._met(a, b) * self._met(b, a)
            mean, error = moments.mean(unit), moments.standard_error(unit)
            if place[labels[a]] < place[labels[b]]:
                lines.append(Difference(labels[a], labels[b], mean, error))
            else:
                lines.append(Difference(labels[b], labels[a], -mean, error))
        return sorted(lines, key=lambda line: (place[line.agent], place[line.other]))

    def to_json(self) -> dict[str, Any]:
        """The content of `standings.json`, in plain JSON values."""
        tournament = self.tournament
        return {
            "deals": self.deals,
            "deals_asked": tournament.deals,
            "seed": tournament.seed,
            "games": tournament.games,
            "rules": tournament.rules.changes(),
            "agents": [asdict(line) for line in self.standings],
            "differences": [asdict(line) for line in self.differences],
        }

    def _standing(self, agent: int) -> Standing:
        seats = int(self._seats[:, agent].sum())
        return Standing(
            agent=self.tournament.labels[agent],
            points=self._points[agent].mean(seats),
            points_se=self._points[agent].standard_error(seats),
            payoff=self._payoff[agent].mean(seats * self._unit),
            payoff_se=self._payoff[agent].standard_error(seats * self._unit),
            win_share=int(self._wins[agent]) / (_WIN * seats * self.deals),
            moons=int(self._moons[agent]),
            seat_deals=int(self._seat_deals[agent]),
            seconds_per_decision=float(self._seconds[agent] / max(1, self._decisions[agent])),
            failures=int(self._failures[agent]),
        )

    @property
    def _unit(self) -> int:
        """The payoff is a multiple of one part in so many."""
        return self.tournament.rules.num_players - 1

    def _whole_payoff(self, result: Result) -> NDArray[np.int64]:
        exact = payoff(lookup(self.tournament.rules), result.points.astype(np.int64)) * self._unit
        return np.rint(exact).astype(np.int64)

    def _by_agent(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Sums of [M, P] over each agent's seats: int64 [deal ids, S, agents]."""
        by_table = values.reshape(-1, *self._sits.shape[:2]).astype(np.int64)
        sums: NDArray[np.int64] = np.einsum("ksp,spa->ksa", by_table, self._sits)
        return sums

    def _meetings(self, a: int, b: int) -> NDArray[np.bool_]:
        """bool [S]: the seatings in which both sit at the table."""
        both: NDArray[np.bool_] = (self._seats[:, a] > 0) & (self._seats[:, b] > 0)
        return both

    def _met(self, a: int, b: int) -> int:
        """Seats that `a` has over all seatings with `b`."""
        return int(self._seats[self._meetings(a, b), a].sum())

    def _difference(self, payoffs: NDArray[np.int64], a: int, b: int) -> Ints:
        met = payoffs[:, self._meetings(a, b)].sum(axis=1)
        difference: Ints = met[:, a] * self._met(b, a) - met[:, b] * self._met(a, b)
        return difference
