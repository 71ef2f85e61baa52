"""Duplicate tournaments: agents meet on the same deals in every seating, so that luck of the cards cancels."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hearts_agents.external.agent import Limits
from hearts_agents.registry import AGENTS, make
from hearts_arena import formats
from hearts_arena.finished_deals import FinishedDeals
from hearts_arena.formats import Format, Seatings
from hearts_arena.stats import control_variate
from hearts_env.cards import Ints
from hearts_env.game.engine import mix
from hearts_env.game.rules import Rules
from hearts_env.match.agent import Agent
from hearts_env.match.play_match import play
from hearts_env.match.tables import Deals
from hearts_env.text.record import records_of

MAX_TABLES = 4096
"""Tables that are played at once at most: more are no faster, and the results do not depend on it."""
ROUNDS = 8
"""Default rounds of a Swiss tournament: enough to order 2**8 agents."""
_IDS_SALT = np.uint64(0x746F75726E616D65)
"""Keeps a tournament's deal ids apart from other ids hashed from small numbers."""
_PILOT_SALT = 0x70696C6F74
_LAST_ID = 2**63 - 1


class TournamentError(ValueError):
    """A tournament that cannot be held."""


@dataclass(frozen=True)
class Tournament:
    """Agents, and the deals on which they meet.  Raises TournamentError and DesignError (ValueErrors).

    Each deal id is played in every seating of its round.  The ids depend on nothing but seed (or first id) and number:
    the first 100 of a longer tournament are those of a tournament of 100.
    """

    rules: Rules
    agents: tuple[Agent, ...]
    """The entrants; after them the agents of a ladder's field."""
    deals: int
    """Deal ids; with `games`, each begins a game that is played to the target."""
    seed: int = 0
    games: bool = False
    format: Format = "auto"
    splits: bool = False
    """Pairs share the seats in every way, not only by halves."""
    orders: bool = False
    """At tables of different agents, seat them in every order too."""
    field: tuple[int, ...] = ()
    """In a ladder, the place in `agents` of those who fill the other seats: one, or one for each."""
    rounds: int = 0
    """Rounds of a Swiss tournament; 0 for ROUNDS."""
    first_id: int | None = None
    """Play the deal ids from this one on, instead of ids hashed from the seed."""
    control: str = ""
    """The agent whose play of the same deals is the control variate."""
    limits: Limits = Limits()  # noqa: RUF009
    """For agents in other processes."""

    def __post_init__(self) -> None:
        if self.entrants < (1 if self.format == "ladder" else 2):
            raise TournamentError(
                f"a tournament needs two agents or more, not {self.entrants}; "
                "the same name may be given twice, as in: rule rule"
            )
        if self.deals < 1:
            raise TournamentError(f"deals={self.deals}: a tournament needs at least one deal")
        if not 0 <= self.seed <= _LAST_ID:
            raise TournamentError(f"seed={self.seed}: must be a whole number from 0 to 2**63 - 1")
        if self.first_id is not None and not 0 <= self.first_id <= _LAST_ID - self.deals:
            raise TournamentError(f"first_id={self.first_id}: the deal ids must lie from 0 to 2**63 - 1")
        if (self.format == "ladder") != bool(self.field):
            raise TournamentError("a ladder needs a field, and no other format has one: --format ladder --field rule")
        if self.format == "swiss":
            if self.rounds < 0 or len(self.stages) > self.deals:
                raise TournamentError(f"rounds={self.rounds}: needed is at least one deal id for each round")
        elif self.rounds:
            raise TournamentError("only --format swiss has rounds")
        else:
            _ = self.seatings

    @property
    def entrants(self) -> int:
        """The number of agents that compete; those in `agents` beyond are a ladder's field."""
        return min(self.field) if self.field else len(self.agents)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The label of each agent in standings: its name, the second of that name `NAME#2`."""
        seen: Counter[str] = Counter()
        labels = []
        for agent in self.agents:
            seen[agent.name] += 1
            labels.append(agent.name if seen[agent.name] == 1 else f"{agent.name}#{seen[agent.name]}")
        return tuple(labels)

    @property
    def design(self) -> Format:
        """The format, `auto` resolved."""
        return formats.resolved(self.rules, self.entrants, self.format)

    @cached_property
    def stages(self) -> list[tuple[int, int]]:
        """The rounds, as the numbers of their deal ids: from, until before.  Only a Swiss has more than one."""
        rounds = (self.rounds or min(ROUNDS, self.deals)) if self.format == "swiss" else 1
        marks = [self.deals * index // rounds for index in range(rounds + 1)]
        return list(pairwise(marks))

    @cached_property
    def seatings(self) -> Seatings:
        """int16 [S, P]: the agent in each seat, for every seating in which each deal id (of the first round) is played.

        Raises DesignError.
        """
        if self.design == "table":
            return formats.tables(self.rules, self.entrants, orders=self.orders)
        if self.design == "ladder":
            return formats.ladder(self.rules, self.entrants, self.field)
        if self.design == "swiss":
            return formats.swiss(self.rules, range(self.entrants), set())
        return formats.roundrobin(self.rules, self.entrants, splits=self.splits)

    def ids(self, first: int, end: int) -> Ints:
        """The deal ids number `first` to `end - 1`, int64 [end - first]."""
        if self.first_id is None:
            return deal_ids(self.seed, first, end)
        return np.arange(self.first_id + first, self.first_id + end, dtype=np.int64)

    def play(
        self, first: int, end: int, seatings: Seatings, *, keep_deals: bool = False, records: bool = False
    ) -> FinishedDeals:
        """Play these deal ids in these seatings.

        keep_deals: give out the deals themselves too; records: and as records.  Raises what `match.play` raises.
        """
        start = time.perf_counter()
        kept: list[Deals] = []
        ids = self.ids(first, end)
        shape = (end - first, len(seatings))
        result = play(
            self.rules,
            self.agents,
            np.tile(seatings, (end - first, 1)),
            np.repeat(ids, len(seatings)),
            games=self.games,
            seed=self.seed,
            tables=MAX_TABLES,
            on_deals=kept.append if keep_deals or records else None,
        )
        return FinishedDeals(
            first=first,
            seatings=seatings,
            points=result.points.astype(np.int32).reshape(*shape, -1),
            winners=result.winners.reshape(*shape, -1),
            moons=result.moons.reshape(*shape, -1),
            deals=result.deals.astype(np.int32).reshape(shape),
            decisions=result.decisions,
            seconds=result.seconds,
            failures=result.failures,
            control=self._features(ids),
            wall=time.perf_counter() - start,
            columns=_columns(first, len(seatings), result.lineup, kept) if keep_deals else {},
            records=self._records(result.lineup, kept) if records else "",
        )

    def to_json(self) -> dict[str, Any]:
        """The settings that decide the results, in plain JSON values: two tournaments with equal ones are the same."""
        return {
            "agents": [agent.name for agent in self.agents],
            "rules": self.rules.changes(),
            "deals_asked": self.deals,
            "seed": self.seed,
            "first_id": self.first_id,
            "games": self.games,
            "format": self.design,
            "splits": self.splits,
            "orders": self.orders,
            "field": list(self.field),
            "rounds": len(self.stages),
            "control": self.control,
            "on_failure": self.limits.on_failure,
        }

    @cached_property
    def _baseline(self) -> Agent:
        return make(self.control)

    def _features(self, ids: Ints) -> Ints:
        if not self.control:
            return np.zeros((len(ids), 0), np.int64)
        return control_variate.features(self.rules, self._baseline, ids, self.seed)

    def _records(self, lineup: NDArray[np.int16], kept: list[Deals]) -> str:
        lines: list[str] = []
        for deals in kept:
            names = [[self.labels[agent] for agent in row] for row in lineup[deals.table]]
            lines += [record.to_json() + "\n" for record in records_of(self.rules, deals, names)]
        return "".join(lines[row] for row in _in_order(kept))


def plan_tournament(
    rules: Rules, names: Sequence[str], deals: int, *, field: Sequence[str] = (), **options: Any
) -> Tournament:
    """The tournament of the agents of these names; a path stands for the network there.

    field: the names of a ladder's field.  options: further fields of Tournament.  Raises AgentError and
    TournamentError (ValueErrors).
    """
    entrants = [make(named(name)) for name in names]
    distinct = list(dict.fromkeys(map(named, field)))
    places = tuple(len(entrants) + distinct.index(named(name)) for name in field)
    agents = (*entrants, *(make(name) for name in distinct))
    if options.get("control"):
        make(options["control"])
    return Tournament(rules, agents, deals, field=places, **options)


def named(name: str) -> str:
    """The agent's name for what was given: `net:PATH` for a path that exists, else the same."""
    return f"net:{name}" if name.partition(":")[0] not in AGENTS and Path(name).exists() else name


def pilot_seed(seed: int) -> int:
    """The seed of a pilot, whose deal ids are others than those of the tournament itself."""
    return int(deal_ids(seed ^ _PILOT_SALT, 0, 1)[0])


def deal_ids(seed: int, begin: int, end: int) -> Ints:
    """The deal ids number `begin` to `end - 1` of a tournament, int64 [end - begin]: a hash of seed and number."""
    start = mix(np.array([seed], np.uint64) ^ _IDS_SALT)
    numbers = np.arange(begin, end).astype(np.uint64)
    return (mix(start + numbers) >> np.uint64(1)).astype(np.int64)


def _columns(first: int, seatings: int, lineup: NDArray[np.int16], kept: list[Deals]) -> dict[str, NDArray[Any]]:
    parts = [
        {
            "number": first + deals.table // seatings,
            "deal_id": deals.deal_ids,
            "lineup": lineup[deals.table],
            "deal_no": deals.state.deal_no,
            "totals": deals.totals.astype(np.int32),
            "points": deals.state.points,
            "picks": deals.state.picks,
            "plays": deals.state.plays,
            "moon": deals.state.choice,
            "shooter": deals.state.shooter,
        }
        for deals in kept
    ]
    order = _in_order(kept)
    return {name: np.concatenate([part[name] for part in parts])[order] for name in parts[0]}


def _in_order(kept: list[Deals]) -> Ints:
    """The rows of all these deals, table by table, each game from its first deal on: whatever was played at once."""
    order: Ints = np.lexsort([np.concatenate([deals.state.deal_no for deals in kept]), _tables(kept)])
    return order


def _tables(kept: list[Deals]) -> Ints:
    return np.concatenate([deals.table for deals in kept])
