"""Playing many tables to the end with any mix of agents: single deals or whole games."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hearts_env.cards import ACTION_NAMES, NUM_ACTIONS, Bools, Ints, Sets, bit, names_in
from hearts_env.executor import chosen
from hearts_env.game.compiled_rules import Lookup, lookup
from hearts_env.game.engine import deal, mix, shuffle, single_deal_no, step
from hearts_env.game.rules import Rules
from hearts_env.game.scoring import lowest_seats, winners
from hearts_env.game.state import GAME_OVER, State
from hearts_env.game.view import View, view
from hearts_env.match.agent import Agent, PlaysOn

NO_DEAL_ID = -1
"""The deal id of hands that were given and not shuffled."""
MAX_DEALS = 1000
"""A game is given up after so many deals (moons that subtract can keep scores low for ever)."""


class IllegalActionError(ValueError):
    """An agent chose an action that is not legal."""


@dataclass(frozen=True)
class Deals:
    """Deals that have just been played: one row each."""

    table: Ints  # int64 [K]  the row of the match's `deal_ids`
    deal_ids: Ints  # int64 [K]  the id of this very deal, or NO_DEAL_ID
    hands: Sets  # int64 [K, P]  hands as dealt
    totals: Ints  # int64 [K, P]  scores before
    state: State  # K tables, the deal over


@dataclass(frozen=True)
class Result:
    """What came out: one row a table, one column a seat."""

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
    info = lookup(rules)
    ids = np.atleast_1d(np.asarray(deal_ids, np.int64))
    seats = _checked_lineup(info, len(agents), lineup, len(ids))
    shape = (len(ids), info.num_players)
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
        _play_tables(info, agents, result, rows, games, seed, on_deals)
    fits = np.abs(result.points).max(initial=0) <= np.iinfo(np.int16).max
    return replace(result, points=result.points.astype(np.int16)) if fits else result


def next_deal_id(first: Ints, deal_no: NDArray[np.integer]) -> Ints:
    """The id of deal number `deal_no` in the game that begins with deal id `first`; int64 [N]."""
    hashed = mix(mix(first.astype(np.uint64)) + deal_no.astype(np.uint64))
    later = (hashed >> np.uint64(1)).astype(np.int64)
    return np.where(deal_no == 0, first, later)


def _play_tables(
    info: Lookup,
    agents: Sequence[Agent],
    result: Result,
    rows: Ints,
    games: bool,
    seed: int,
    on_deals: Callable[[Deals], None] | None,
) -> None:
    state = State.empty(info, len(rows))
    while len(rows):
        number = state.deal_no + 1 if games else single_deal_no(info, result.deal_ids[rows])
        ids = next_deal_id(result.deal_ids[rows], state.deal_no + 1) if games else result.deal_ids[rows]
        hands = shuffle(info, ids)
        totals = state.scores.astype(np.int64)
        deal(info, state, hands, deal_no=number, key=_table_key(seed, ids, result.lineup[rows]))
        _play_deal(info, agents, result, rows, state)
        shot = np.flatnonzero(state.shooter >= 0)
        result.moons[rows[shot], state.shooter[shot]] += 1
        result.deals[rows] += 1
        if on_deals:
            on_deals(Deals(rows, ids, hands, totals, state.copy()))
        done = (state.phase == GAME_OVER) | (result.deals[rows] >= MAX_DEALS) if games else np.ones(len(rows), bool)
        ended = rows[done]
        if len(ended):
            final = state.scores[done] if games else state.points[done]
            result.points[ended] = final
            result.winners[ended] = winners(info, final) if games else lowest_seats(info, final)
        state = state.take(~done)
        rows = rows[~done]


def _play_deal(info: Lookup, agents: Sequence[Agent], result: Result, rows: Ints, state: State) -> None:
    """Play all tables of `state` to the end of the deal."""
    loops = Loops(agents, result.lineup[rows])
    while True:
        loops.play_on(info, state, result.count)
        active = np.flatnonzero(~state.over)
        if len(active) == 0:
            return
        if len(active) == len(state):
            step(info, state, _actions(agents, result, rows, view(info, state)))
        else:
            part = state.take(active)
            step(info, part, _actions(agents, result, rows[active], view(info, part)))
            state.put(active, part)


class Loops:
    """The agents at some tables that play on by themselves, under an executor that makes it worth while."""

    def __init__(self, agents: Sequence[Agent], lineup: NDArray[np.integer]) -> None:
        """lineup: [N, P]  an index into `agents`; below 0 where none of them sits."""
        able = [(index, agent) for index, agent in enumerate(agents) if isinstance(agent, PlaysOn)]
        sit = [(index, agent, lineup == index) for index, agent in able if chosen() == "compiled"]
        self._loops = [(index, agent, seats) for index, agent, seats in sit if seats.any()]

    def play_on(self, lookup: Lookup, state: State, on_played: Callable[[int, int, float], None] | None = None) -> bool:
        """Let them play until every table waits for another, or is over; was there anything to do?  Changes `state`.

        state: of the N tables.  on_played: is told which agent has played, how many actions, and the seconds.
        """
        made = 0
        while True:
            before = made
            for index, agent, seats in self._loops:
                start = time.perf_counter()
                actions = agent.play_on(lookup, state, seats)
                made += actions
                if on_played:
                    on_played(index, actions, time.perf_counter() - start)
            # One alone has played all that it can.
            if made == before or len(self._loops) == 1:
                return made > 0


def _actions(agents: Sequence[Agent], result: Result, rows: Ints, seen: View) -> Ints:
    return ask(agents, result.lineup[rows, seen.seat], seen, result.count)


def ask(
    agents: Sequence[Agent],
    agent_of: NDArray[np.integer],
    seen: View,
    on_asked: Callable[[int, int, float, int], None] | None = None,
) -> Ints:
    """Ask each agent, once, for the actions of its own views, and check them; int64 [N].

    agent_of: [N], an index into `agents` for each view.  on_asked: is told which agent was asked, for how many views,
    the seconds that it took, and how often it failed.  Raises IllegalActionError.
    """
    actions = np.empty(len(seen), np.int64)
    for index in np.unique(agent_of):
        mine = np.flatnonzero(agent_of == index)
        part = seen if len(mine) == len(seen) else seen.take(mine)
        failures = getattr(agents[index], "failures", 0)
        start = time.perf_counter()
        given = np.asarray(agents[index].act(part))
        seconds = time.perf_counter() - start
        if on_asked:
            on_asked(index, len(mine), seconds, getattr(agents[index], "failures", 0) - failures)
        check_actions(part, given, agents[index].name)
        actions[mine] = given
    return actions


def check_actions(seen: View, actions: NDArray[np.integer], name: str) -> None:
    """Raise IllegalActionError unless there is one legal action for each view.  name: the agent's, for the message."""
    if actions.shape != seen.seat.shape or not np.issubdtype(actions.dtype, np.integer):
        raise IllegalActionError(
            f"agent {name!r} must return {len(seen)} whole numbers, not {actions.dtype} {actions.shape}"
        )
    within = (actions >= 0) & (actions < NUM_ACTIONS)
    fine = within & ((bit(np.where(within, actions, 0).astype(np.int64)) & seen.legal) != 0)
    if not fine.all():
        row = int(np.argmin(fine))
        action = int(actions[row])
        named = f" ({ACTION_NAMES[action]})" if within[row] else ""
        raise IllegalActionError(
            f"illegal action {action}{named} by agent {name!r} in seat {seen.seat[row]}: "
            f"legal are {' '.join(names_in(seen.legal[row]))}; its hand is {' '.join(names_in(seen.hand[row]))}"
        )


def _checked_lineup(info: Lookup, agents: int, lineup: ArrayLike, tables: int) -> NDArray[np.int16]:
    seats = np.asarray(lineup)
    if seats.shape not in ((info.num_players,), (tables, info.num_players)):
        raise ValueError(
            f"lineup has shape {seats.shape}; needed is one agent for each of {info.num_players} seats, "
            f"({info.num_players},) or ({tables}, {info.num_players})"
        )
    if seats.size and not (seats.min() >= 0 and seats.max() < agents):
        raise ValueError(f"lineup must hold indices of the {agents} agents, from 0 to {agents - 1}")
    return np.array(np.broadcast_to(seats, (tables, info.num_players)), np.int16)


def _table_key(seed: int, ids: Ints, lineup: NDArray[np.int16]) -> Ints:
    """A random number for each table that depends on nothing but the seed, the deal and who sits where."""
    key = mix(ids.astype(np.uint64) + mix(np.array([seed], np.int64).view(np.uint64)))
    for column in lineup.T:
        key = mix(key + column.astype(np.uint64))
    return key.view(np.int64)
