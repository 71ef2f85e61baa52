"""Duplicate tournaments: agents meet on the same deals in every seating, so that luck of the cards cancels."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from hearts_agents.registry import make
from hearts_env.agent import Agent
from hearts_env.cards import Ints
from hearts_env.engine import mix
from hearts_env.match import Deals, Result, play
from hearts_env.rules import Rules

FIRST_TABLES = 64
"""Tables of the first chunk, about."""
MAX_TABLES = 4096
"""Tables of a chunk at most: more are no faster, and the results do not depend on it."""
CHUNK_SECONDS = 1.0
"""Chunks grow while they take less, or while larger ones are faster: an interruption may lose one chunk."""
_FASTER = 1.3
"""What counts as faster, in deal ids a second, when a chunk has twice the size."""
_IDS_SALT = np.uint64(0x746F75726E616D65)
"""Keeps a tournament's deal ids apart from other ids hashed from small numbers."""


class TournamentError(ValueError):
    """A tournament that cannot be held."""


@dataclass(frozen=True)
class Chunk:
    """Some finished deal ids of a tournament, each played in all its seatings."""

    first: int
    """Number of the first of these deal ids in the tournament."""
    result: Result
    """One row a table: the first id in all S seatings, then the next."""
    deals: tuple[Deals, ...]
    """The deals themselves, if they were asked for; `Deals.table` is the row of `result`."""


@dataclass(frozen=True)
class Tournament:
    """Agents, and the deals on which they meet.  Raises TournamentError (a ValueError).

    Each deal id is played in every seating of `seatings`.  The ids depend on nothing but seed and number: the
    first 100 of a longer tournament are those of a tournament of 100.
    """

    rules: Rules
    agents: tuple[Agent, ...]
    deals: int
    """Deal ids; with `games`, each begins a game that is played to the target."""
    seed: int = 0
    games: bool = False

    def __post_init__(self) -> None:
        if len(self.agents) < 2:
            raise TournamentError(
                f"a tournament needs two agents or more, not {len(self.agents)}; "
                "the same name may be given twice, as in: rule rule"
            )
        if self.deals < 1:
            raise TournamentError(f"deals={self.deals}: a tournament needs at least one deal")
        if not 0 <= self.seed < 1 << 63:
            raise TournamentError(f"seed={self.seed}: must be a whole number from 0 to 2**63 - 1")

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """What each agent is called in standings: its name, the second of that name `NAME#2`."""
        seen: Counter[str] = Counter()
        labels = []
        for agent in self.agents:
            seen[agent.name] += 1
            labels.append(agent.name if seen[agent.name] == 1 else f"{agent.name}#{seen[agent.name]}")
        return tuple(labels)

    @cached_property
    def seatings(self) -> NDArray[np.int16]:
        """int16 [S, P]: the agent in each seat, for every seating in which each deal id is played."""
        return seatings(self.rules, len(self.agents))

    def chunks(self, *, keep_deals: bool = False) -> Iterator[Chunk]:
        """Play the tournament; what is finished comes out piece by piece, in order.

        keep_deals: give out the deals themselves too.  Raises what `match.play` raises.
        """
        first, rate = 0, 0.0
        size = max(1, FIRST_TABLES // len(self.seatings))
        while first < self.deals:
            end = min(first + size, self.deals)
            start = time.perf_counter()
            chunk = self._chunk(first, end, keep_deals)
            seconds = time.perf_counter() - start
            yield chunk
            last, rate = rate, (end - first) / seconds
            if (seconds < CHUNK_SECONDS / 2 or rate > _FASTER * last) and 2 * size * len(self.seatings) <= MAX_TABLES:
                size *= 2
            first = end

    def _chunk(self, first: int, end: int, keep_deals: bool) -> Chunk:
        kept: list[Deals] = []
        result = play(
            self.rules,
            self.agents,
            np.tile(self.seatings, (end - first, 1)),
            np.repeat(deal_ids(self.seed, first, end), len(self.seatings)),
            games=self.games,
            seed=self.seed,
            tables=MAX_TABLES,
            on_deals=kept.append if keep_deals else None,
        )
        return Chunk(first, result, tuple(kept))


def tournament(rules: Rules, names: Sequence[str], deals: int, *, seed: int = 0, games: bool = False) -> Tournament:
    """The tournament of the agents of these names.  Raises AgentError and TournamentError (ValueErrors)."""
    return Tournament(rules, tuple(make(name) for name in names), deals, seed, games)


def deal_ids(seed: int, begin: int, end: int) -> Ints:
    """The deal ids number `begin` to `end - 1` of a tournament, int64 [end - begin]: a hash of seed and number."""
    start = mix(np.array([seed], np.uint64) ^ _IDS_SALT)
    numbers = np.arange(begin, end).astype(np.uint64)
    return (mix(start + numbers) >> np.uint64(1)).astype(np.int64)


def seatings(rules: Rules, num_agents: int) -> NDArray[np.int16]:
    """Who sits where: int16 [S, P], an index of an agent for each seat of each of S seatings.

    As many agents as seats: all at one table, which is turned through its P rotations.  Otherwise (and always
    with teams) every pair of agents meets: each has half of the seats, in every way to halve them; at an odd table
    one has a seat more, each in turn; with teams each is a side.
    """
    seats = rules.num_players
    if num_agents == seats and rules.teams is None:
        return np.array([np.roll(np.arange(seats), turn) for turn in range(seats)], np.int16)
    pairs = combinations(range(num_agents), 2)
    return np.array([np.where(half, a, b) for a, b in pairs for half in _halves(rules)], np.int16)


def _halves(rules: Rules) -> list[list[bool]]:
    """Every way to give half of the seats away, a truth value a seat."""
    seats = range(rules.num_players)
    if rules.teams is not None:
        return [[seat % 2 == side for seat in seats] for side in (0, 1)]
    sizes = sorted({rules.num_players // 2, (rules.num_players + 1) // 2})
    return [[seat in chosen for seat in seats] for size in sizes for chosen in combinations(seats, size)]
