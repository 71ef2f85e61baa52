"""Playing many tables to the end with any mix of agents: single deals or whole games."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hearts_env.cards import Bools, Ints
from hearts_env.game.compiled_rules import CompiledRules, compiled_rules
from hearts_env.game.engine import mix
from hearts_env.game.rules import Rules
from hearts_env.game.scoring import lowest_seats, winners
from hearts_env.match.agent import Agent
from hearts_env.match.tables import Deals, Tables


@dataclass(frozen=True)
class Result:
    """The results of a match: one row a table, one column a seat."""

    rules: Rules
    agents: tuple[str, ...]
    lineup: NDArray[np.int16]  # int16 [M, P]  which agent sat where
    deal_ids: Ints  # int64 [M]
    points: NDArray[np.int16]  # int16 [M, P] (int32 if need be)  what the deal added; in games the final score
    winners: Bools  # bool [M, P]  lowest score of the deal or game, ties shared
    moons: NDArray[np.int16]  # int16 [M, P]  moons shot
    deals: Ints  # int64 [M]  deals played
    decisions: Ints  # int64 [agents]
    seconds: NDArray[np.float64]  # float64 [agents]  time spent in `act`, or in `play_on`, where stepping is in it
    failures: Ints  # int64 [agents]  decisions that were made for an agent that failed, as its `failures` counts them

    def count(self, agent: int, decisions: int, seconds: float, failures: int = 0) -> None:
        """Add what an agent, by its index, has decided, how long that took, and how often it failed."""
        self.decisions[agent] += decisions
        self.seconds[agent] += seconds
        self.failures[agent] += failures


def play(
    rules: Rules,
    agents: Sequence[Agent],
    lineup: ArrayLike,
    deal_ids: ArrayLike,
    *,
    games: bool = False,
    seed: int = 0,
    tables: int = 4096,
    on_deals: Callable[[Deals], None] | None = None,
) -> Result:
    """Play one deal (or with `games` one game to the target) at each of M tables.

    lineup: [P] or [M, P], an index into `agents` for each seat.  deal_ids: [M]; a single deal has the number that
    `engine.single_deal_no` gives its id, which decides pass offset and dealer; later deals of a game have ids hashed
    from the first.  seed: for the agents' random numbers.  tables: how many are played at once; results do not
    depend on it.  on_deals: is given the deals as they are finished.

    Raises IllegalActionError (a ValueError) that names agent, action and hand, and ValueError for a bad lineup.
    """
    compiled = compiled_rules(rules)
    ids = np.atleast_1d(np.asarray(deal_ids, np.int64))
    seats = _checked_lineup(compiled, len(agents), lineup, len(ids))
    shape = (len(ids), compiled.num_players)
    result = Result(
        rules=rules,
        agents=tuple(agent.name for agent in agents),
        lineup=seats,
        deal_ids=ids,
        points=np.zeros(shape, np.int32),
        winners=np.zeros(shape, np.bool_),
        moons=np.zeros(shape, np.int16),
        deals=np.zeros(len(ids), np.int64),
        decisions=np.zeros(len(agents), np.int64),
        seconds=np.zeros(len(agents)),
        failures=np.zeros(len(agents), np.int64),
    )
    for begin in range(0, len(ids), tables):
        rows = np.arange(begin, min(begin + tables, len(ids)))
        some = Tables(
            compiled,
            len(rows),
            agents=agents,
            lineup=seats[rows],
            episode="game" if games else "deal",
            keys=partial(_table_keys, seed),
            ask_forced=True,
            on_asked=result.count,
        )
        _play_tables(some, result, rows, on_deals)
    fits = np.abs(result.points).max(initial=0) <= np.iinfo(np.int16).max
    return replace(result, points=result.points.astype(np.int16)) if fits else result


def _play_tables(tables: Tables, result: Result, rows: Ints, on_deals: Callable[[Deals], None] | None) -> None:
    """Play the tables `rows` of the match, int64 [K], to the end: deal by deal, so that all are in the same phase."""
    tables.start(np.arange(len(rows)), result.deal_ids[rows])
    while len(rows):
        tables.play_on()
        state = tables.state
        shot = np.flatnonzero(state.shooter >= 0)
        result.moons[rows[shot], state.shooter[shot]] += 1
        result.deals[rows] += 1
        if on_deals:
            on_deals(tables.finished(rows))
        over = tables.over
        _note(tables, over, result, rows[over])
        tables, rows = tables.take(~over), rows[~over]
        tables.next_deal(np.arange(len(rows)))


def _note(tables: Tables, over: Bools, result: Result, rows: Ints) -> None:
    """Write down how the episodes that are over (bool [K]) came out, as the tables `rows` of the match."""
    if len(rows):
        rules, state, games = tables.rules, tables.state, tables.episode == "game"
        final = (state.scores if games else state.points)[over].astype(np.int64)
        result.points[rows] = final
        result.winners[rows] = winners(rules, final) if games else lowest_seats(rules, final)


def _checked_lineup(rules: CompiledRules, agents: int, lineup: ArrayLike, tables: int) -> NDArray[np.int16]:
    seats = np.asarray(lineup)
    if seats.shape not in ((rules.num_players,), (tables, rules.num_players)):
        raise ValueError(
            f"lineup has shape {seats.shape}; needed is one agent for each of {rules.num_players} seats, "
            f"({rules.num_players},) or ({tables}, {rules.num_players})"
        )
    if seats.size and not (seats.min() >= 0 and seats.max() < agents):
        raise ValueError(f"lineup must hold indices of the {agents} agents, from 0 to {agents - 1}")
    return np.array(np.broadcast_to(seats, (tables, rules.num_players)), np.int16)


def _table_keys(seed: int, ids: Ints, lineup: NDArray[np.integer]) -> Ints:
    """A random number for each table that depends on nothing but the seed, the deal and who sits where."""
    key = mix(ids.astype(np.uint64) + mix(np.array([seed], np.int64).view(np.uint64)))
    for column in lineup.T:
        key = mix(key + column.astype(np.uint64))
    return key.view(np.int64)
