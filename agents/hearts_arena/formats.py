"""Formats of tournaments: the lineups in which each deal id is played."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hearts_env.cards import Ints
from hearts_env.game.rules import Rules

Format = Literal["auto", "roundrobin", "table", "ladder", "swiss"]
Seatings = NDArray[np.int16]  # [S, P]  the agent in each seat of S seatings


class DesignError(ValueError):
    """A format that does not fit the agents or the rules."""


def resolved(rules: Rules, entrants: int, asked: Format) -> Format:
    """The format that `auto` stands for: a table where there are as many agents as seats, otherwise every pair."""
    if asked == "auto":
        return "table" if entrants == rules.num_players and rules.teams is None else "roundrobin"
    return asked


def duel(rules: Rules, a: int, b: int, *, splits: bool = False) -> list[list[int]]:
    """Every distinct way for two agents to share the seats of a table, each given half of them.

    At an odd table one has a seat more, each in turn; with teams each is a side.  splits: give out the seats in every
    other way too (at four seats 1 v 3, 2 v 2 and 3 v 1).
    """
    seats = range(rules.num_players)
    if rules.teams is not None:
        return [[a if seat % 2 == side else b for seat in seats] for side in (0, 1)]
    half = {rules.num_players // 2, (rules.num_players + 1) // 2}
    sizes = range(1, rules.num_players) if splits else sorted(half)
    return [[a if s in chosen else b for s in seats] for size in sizes for chosen in combinations(seats, size)]


def roundrobin(rules: Rules, entrants: int, *, splits: bool = False) -> Seatings:
    """Every pair of agents, in every `duel`."""
    pairs = combinations(range(entrants), 2)
    return np.array([row for a, b in pairs for row in duel(rules, a, b, splits=splits)], np.int16)


def tables(rules: Rules, entrants: int, *, orders: bool = False) -> Seatings:
    """Every table of different agents, turned through all its rotations.

    orders: seat them in every order round the table too, since who sits on one's left may matter.  Raises DesignError.
    """
    if rules.teams is not None:
        raise DesignError("--format table seats everyone for themselves; with teams use --format roundrobin")
    if entrants < rules.num_players:
        raise DesignError(
            f"--format table needs {rules.num_players} agents or more at these rules, not {entrants}; "
            "name one of them again, or use --format roundrobin"
        )
    groups = combinations(range(entrants), rules.num_players)
    return np.array([row for group in groups for row in _turned(group, orders)], np.int16)


def ladder(rules: Rules, entrants: int, field: Sequence[int]) -> Seatings:
    """Each entrant in every seat, once against each lineup of the rest of the table.

    field: the agents that fill the other seats, from left to right: one for all of them, or one for each.
    Raises DesignError.
    """
    others = rules.num_players - 1
    if rules.teams is not None:
        raise DesignError("--format ladder seats everyone for themselves; with teams use --format roundrobin")
    if len(field) not in (1, others):
        raise DesignError(f"--field takes one agent for all other seats or {others}, one for each; not {len(field)}")
    rest = list(field) * (others if len(field) == 1 else 1)
    return np.array([row for entrant in range(entrants) for row in _turned((entrant, *rest), False)], np.int16)


def swiss(rules: Rules, order: Sequence[int], met: set[frozenset[int]]) -> Seatings:
    """One round: neighbours in the standings meet in a `duel`, as far as possible those who have not met yet.

    order: the agents from the first to the last.  met: the pairs of earlier rounds; with an odd number the last of
    those who have not yet sat out does so, which `met` shows as a pair of an agent with itself.
    """
    waiting = list(order)
    if len(waiting) % 2:
        rested = [agent for agent in reversed(waiting) if frozenset([agent]) not in met]
        waiting.remove(rested[0] if rested else waiting[-1])
    pairs = _pairing(waiting, met) or [(waiting[i], waiting[i + 1]) for i in range(0, len(waiting), 2)]
    return np.array([row for a, b in pairs for row in duel(rules, a, b)], np.int16)


def compositions(seatings: Seatings, entrants: int) -> dict[tuple[tuple[int, int], ...], list[int]]:
    """Which seatings are of the same company: ((agent, seats), ...) to the rows of `seatings`."""
    found: dict[tuple[tuple[int, int], ...], list[int]] = {}
    for index, row in enumerate(seatings):
        seats = np.bincount(row, minlength=entrants)
        company = tuple((int(agent), int(seats[agent])) for agent in np.flatnonzero(seats))
        found.setdefault(company, []).append(index)
    return found


def _turned(group: Sequence[int], orders: bool) -> Iterator[tuple[int, ...]]:
    """The distinct rotations of a lineup; with `orders`, of every order of it."""
    first, rest = group[0], group[1:]
    circles = [(first, *others) for others in permutations(rest)] if orders else [tuple(group)]
    turned = [tuple(np.roll(circle, turn).tolist()) for circle in circles for turn in range(len(group))]
    return iter(dict.fromkeys(turned))


def _pairing(waiting: list[int], met: set[frozenset[int]], budget: int = 10_000) -> list[tuple[int, int]] | None:
    """Pairs of neighbours who have not met: the first takes the nearest with whom the others still work out."""
    tries = 0

    def pair(left: list[int]) -> list[tuple[int, int]] | None:
        nonlocal tries
        tries += 1
        if not left:
            return []
        for index in range(1, len(left)):
            if tries < budget and frozenset((left[0], left[index])) not in met:
                rest = pair(left[1:index] + left[index + 1 :])
                if rest is not None:
                    return [(left[0], left[index]), *rest]
        return None

    return pair(waiting)


def lineups(num_players: int, seats: int | None = None) -> Ints:
    """Two agents at a table, spread evenly, and every different rotation of that; int64 [R, P] of 0 and 1.

    seats: how many the first one has; by default half of them, and one more where they are odd.
    """
    mine = -(-num_players // 2) if seats is None else seats
    first = np.ones(num_players, np.int64)
    first[np.arange(mine) * num_players // mine] = 0
    return np.unique([np.roll(first, shift) for shift in range(num_players)], axis=0)
