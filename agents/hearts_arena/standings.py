"""Standings: what a tournament says of its agents, with errors and intervals over deal ids."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from hearts_arena.finished_deals import FinishedDeals
from hearts_arena.formats import compositions
from hearts_arena.stats.estimates import Estimate, Sums, holm
from hearts_arena.tournament_plan import Tournament
from hearts_env.cards import Ints, Numbers
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.rewards import payoff

WIN = math.lcm(*range(1, 8))
"""A win as a whole number that any number of winners can share."""
MEASURES = ("payoff", "points", "win_share", "moon_rate")
"""All are means per seat and deal (with games: per seat and game)."""
Company = tuple[tuple[int, int], ...]
"""The agents that share a table: (agent, seats) of each."""
Key = tuple[str, Company, int, int]
"""A column: what it counts, in which company, of which agent, compared with which."""


@dataclass(frozen=True)
class Standing:
    """One agent's line."""

    agent: str
    payoff: Estimate
    """Mean of the others' points minus own (with teams, of the other side's sum)."""
    points: Estimate
    win_share: Estimate
    """Share of the wins (fewest points), ties split."""
    moon_rate: Estimate
    """Moons per seat and deal; with games, per seat and game."""
    moons: int
    seat_deals: int
    """Deals times seats that the agent had in them."""
    seconds_per_decision: float
    failures: int
    """Decisions that were made for it, because it failed and the tournament was to go on."""


@dataclass(frozen=True)
class Difference:
    """The payoff of `agent` less that of `other`, over the deal ids that both played."""

    agent: str
    other: str
    payoff: Estimate
    p_corrected: float | None
    """The p-value after Holm's correction for the number of pairs."""
    controlled: tuple[float, float] | None
    """Mean and standard error with the control variate."""


@dataclass(frozen=True)
class Meeting:
    """The payoff of each agent in one company, such as `rule` in one seat and `random` in three."""

    seats: tuple[tuple[str, int], ...]
    payoffs: tuple[Estimate, ...]


class Standings:
    """The standings of a tournament as far as it has been added; memory does not grow with the deals."""

    def __init__(self, tournament: Tournament) -> None:
        agents, seats = len(tournament.agents), tournament.rules.num_players
        self.tournament = tournament
        self.deals = 0  # deal ids added
        self.sums = Sums(tournament.seed)
        self.companies: dict[Company, int] = {}  # to its number of seatings
        self.points: list[Counter[int]] = [Counter() for _ in range(agents)]
        self.seat_payoff = np.zeros((3, agents, seats), np.int64)  # deal ids, sum, sum of squares of each agent's seats
        self.seat_count = np.zeros((agents, seats), np.int64)  # seatings that were played of it
        self._rounds: list[tuple[int, set[Company]]] = []  # deal ids, and who met
        self._columns: dict[Key, int] = {}
        self._mirrors: dict[tuple[int, int], bool] = {}
        self._seat_deals = np.zeros(agents, np.int64)
        self._decisions = np.zeros(agents, np.int64)
        self._seconds = np.zeros(agents)
        self._failures = np.zeros(agents, np.int64)

    def add(self, finished: FinishedDeals) -> None:
        """Count finished deals.  Changes the standings."""
        rows, columns = self._rows(finished)
        self.sums.add(finished.first, rows, columns)
        self._add_by_agent(finished)
        self._add_mirrors(finished)
        self._decisions += finished.decisions
        self._seconds += finished.seconds
        self._failures += finished.failures
        companies = set(compositions(finished.seatings, len(self.tournament.agents)))
        if self._rounds and self._rounds[-1][1] == companies:
            self._rounds[-1] = (self._rounds[-1][0] + len(finished), companies)
        else:
            self._rounds.append((len(finished), companies))
        self.deals += len(finished)

    @property
    def standings(self) -> list[Standing]:
        """One line an agent, the highest payoff first, a ladder's field at the end.  Needs at least one deal."""
        there = [agent for agent in range(len(self.tournament.agents)) if self.companies_of(agent)]
        lines = [(agent >= self.tournament.entrants, self._standing(agent)) for agent in there]
        return [line for _, line in sorted(lines, key=lambda line: (line[0], -line[1].payoff.mean))]

    @property
    def differences(self) -> list[Difference]:
        """One line for each two agents that can be compared, in the order of the standings.  Needs a deal."""
        labels = self.tournament.labels
        place = {line.agent: index for index, line in enumerate(self.standings)}
        pairs = []
        for a, b in combinations(range(len(labels)), 2):
            if self._comparable(a, b):
                first, second = (a, b) if place[labels[a]] < place[labels[b]] else (b, a)
                pairs.append((first, second, self.difference(first, second)))
        pairs.sort(key=lambda pair: (place[labels[pair[0]]], place[labels[pair[1]]]))
        p_values = [estimate.p for _, _, estimate in pairs]
        known = [p for p in p_values if p is not None]
        corrected: list[float | None] = [*holm(known)] if len(known) == len(pairs) else [None] * len(pairs)
        return [
            Difference(labels[a], labels[b], estimate, p, self._controlled(a, b))
            for (a, b, estimate), p in zip(pairs, corrected, strict=True)
        ]

    @property
    def meetings(self) -> list[Meeting]:
        """One line for each company that has met."""
        labels = self.tournament.labels
        return [
            Meeting(
                tuple((labels[agent], seats) for agent, seats in company),
                tuple(self.measure(agent, "payoff", [company]) for agent, _ in company),
            )
            for company in self.companies
        ]

    @property
    def twins(self) -> list[tuple[str, str]]:
        """Agents that came to the same points in each other's seats, on every deal that shows it."""
        labels = self.tournament.labels
        return [(labels[a], labels[b]) for (a, b), same in self._mirrors.items() if same]

    def companies_of(self, *agents: int) -> list[Company]:
        """The companies in which all of these agents have met."""
        return [company for company in self.companies if all(agent in dict(company) for agent in agents)]

    def measure(self, agent: int, name: str, companies: list[Company] | None = None) -> Estimate:
        """One of MEASURES of an agent, in all its companies or in these."""
        where = self.companies_of(agent) if companies is None else companies
        above = self.vector({(name, company, agent, 0): 1.0 for company in where})
        below = self.vector(
            {("count", company, 0, 0): self._unit(name) * self._seats(company, agent) for company in where}
        )
        return self.sums.estimate(above, below, self._ids(where))

    def difference(self, a: int, b: int) -> Estimate:
        """The payoff of `a` less that of `b`."""
        above, below, count = self.difference_weights(a, b)
        return self.sums.estimate(above, below, count)

    def difference_weights(self, a: int, b: int) -> tuple[Numbers, Numbers, int]:
        """The difference as a ratio of sums over deal ids: weights [C] above and below, and the number of deal ids."""
        met = self.companies_of(a, b)
        mine, theirs = (met, met) if met else (self.companies_of(a), self.companies_of(b))
        seats_a = sum(self._seats(company, a) for company in mine)
        seats_b = sum(self._seats(company, b) for company in theirs)
        above = self.vector({("payoff", company, a, 0): float(seats_b) for company in mine})
        above -= self.vector({("payoff", company, b, 0): float(seats_a) for company in theirs})
        unit = float(self._unit("payoff"))
        weights = {("count", company, 0, 0): unit * self._seats(company, a) * seats_b for company in mine}
        return above, self.vector(weights), self._ids(mine)

    def differences_by_id(self, finished: FinishedDeals, a: int, b: int) -> Numbers:
        """The difference on each of some deal ids, float64 [K], whether or not they have been added."""
        rows, columns = self._rows(finished)
        above, below, _ = self.difference_weights(a, b)
        values: Numbers = (rows @ above[columns]) / (rows @ below[columns])
        return values

    def vector(self, weights: Mapping[Key, float]) -> Numbers:
        """Weights of columns by their keys as an array [C]."""
        result = np.zeros(len(self._columns))
        for key, weight in weights.items():
            result[self._columns[key]] = weight
        return result

    def _standing(self, agent: int) -> Standing:
        companies = self.companies_of(agent)
        moons = self.vector({("moon_rate", company, agent, 0): 1.0 for company in companies})
        return Standing(
            self.tournament.labels[agent],
            **{name: self.measure(agent, name) for name in MEASURES},
            moons=int(self.sums.total @ moons),
            seat_deals=int(self._seat_deals[agent]),
            seconds_per_decision=float(self._seconds[agent] / max(1, self._decisions[agent])),
            failures=int(self._failures[agent]),
        )

    def _controlled(self, a: int, b: int) -> tuple[float, float] | None:
        if not self.tournament.control or len(self._rounds) > 1 or self.deals < 8:
            return None
        above, below, _ = self.difference_weights(a, b)
        controls = [column for key, column in self._columns.items() if key[0] == "control"]
        return self.sums.controlled(above, below, controls)

    def _comparable(self, a: int, b: int) -> bool:
        if self.companies_of(a, b):
            return True
        return self.tournament.design == "ladder" and max(a, b) < self.tournament.entrants

    def _seats(self, company: Company, agent: int) -> int:
        """Seats that an agent has over all seatings of a company."""
        return dict(company)[agent] * self.companies[company]

    def _ids(self, companies: list[Company]) -> int:
        """Deal ids on which any of these companies met."""
        return sum(count for count, met in self._rounds if met & set(companies))

    def _unit(self, name: str) -> int:
        """The number that stands for 1 in the columns of a measure."""
        return {"payoff": self.tournament.rules.num_players - 1, "win_share": WIN}.get(name, 1)

    def _column(self, kind: str, company: Company, agent: int = 0, other: int = 0) -> int:
        return self._columns.setdefault((kind, company, agent, other), len(self._columns))

    def _rows(self, finished: FinishedDeals) -> tuple[Ints, list[int]]:
        """The rows of whole numbers that each deal id adds to the sums, int64 [K, n], and their columns."""
        sharing = np.maximum(finished.winners.sum(axis=2, keepdims=True), 1)
        values = {
            "payoff": self._whole_payoff(finished.points),
            "points": finished.points.astype(np.int64),
            "win_share": finished.winners * (WIN // sharing),
            "moon_rate": finished.moons.astype(np.int64),
        }
        columns: list[int] = []
        rows: list[Ints] = []
        for company, where in compositions(finished.seatings, len(self.tournament.agents)).items():
            self.companies[company] = len(where)
            columns.append(self._column("count", company))
            rows.append(np.ones(len(finished), np.int64))
            mine = {agent: finished.seatings[where] == agent for agent, _ in company}
            for name, value in values.items():
                for agent, sits in mine.items():
                    columns.append(self._column(name, company, agent))
                    rows.append(value[:, where][:, sits].sum(axis=1))
            for (a, seats_a), (b, seats_b) in combinations(company, 2):
                points = finished.points[:, where]
                lead = (points * mine[b]).sum(axis=2) * seats_a - (points * mine[a]).sum(axis=2) * seats_b
                columns.append(self._column("ahead", company, a, b))
                rows.append((np.sign(lead) + 1).sum(axis=1))
        for index, feature in enumerate(finished.control.T):
            columns.append(self._column("control", (), index))
            rows.append(feature)
        return np.stack(rows, axis=1), columns

    def _whole_payoff(self, points: NDArray[np.int32]) -> Ints:
        flat = points.reshape(-1, points.shape[2]).astype(np.int64)
        exact = payoff(compiled_rules(self.tournament.rules), flat) * self._unit("payoff")
        return np.rint(exact).astype(np.int64).reshape(points.shape)

    def _add_by_agent(self, finished: FinishedDeals) -> None:
        payoffs = self._whole_payoff(finished.points)
        for agent in range(len(self.tournament.agents)):
            sits = finished.seatings == agent
            values, counts = np.unique(finished.points[:, sits], return_counts=True)
            self.points[agent].update(dict(zip(values.tolist(), counts.tolist(), strict=True)))
            self._seat_deals[agent] += int((finished.deals * sits.sum(axis=1)).sum())
            by_seat = (payoffs * sits).sum(axis=1)
            there = sits.any(axis=0) * len(finished)
            self.seat_payoff[:, agent] += np.stack([there, by_seat.sum(axis=0), (by_seat**2).sum(axis=0)])
            self.seat_count[agent] += sits.sum(axis=0) * len(finished)

    def _add_mirrors(self, finished: FinishedDeals) -> None:
        """Do two agents come to the same points when they change places?"""
        rows = {tuple(row): index for index, row in enumerate(finished.seatings.tolist())}
        for a, b in combinations(range(len(self.tournament.agents)), 2):
            if self._mirrors.get((a, b), True):
                pairs = _mirrored(rows, a, b)
                if pairs:
                    here, there = np.array(pairs).T
                    self._mirrors[a, b] = bool((finished.points[:, here] == finished.points[:, there]).all())


def _mirrored(rows: dict[tuple[int, ...], int], a: int, b: int) -> list[tuple[int, int]]:
    """The seatings with both of these agents, each with the one in which they have changed places."""
    swap = {a: b, b: a}
    pairs = [
        (index, rows.get(tuple(swap.get(agent, agent) for agent in row)))
        for row, index in rows.items()
        if a in row and b in row
    ]
    return [(here, there) for here, there in pairs if there is not None and here < there]
