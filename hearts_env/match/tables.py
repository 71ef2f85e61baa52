"""The one driver of episodes: N tables, each played deal after deal by agents and by a caller.

An episode is one deal, or a game of deals to the target.  `start` begins one at some tables, `step` carries out the
caller's actions, and `play_on` lets the agents act until every table waits for the caller or its deal is over.  The
lineup names an agent for each seat, or CALLER.  Whatever is known of an episode stands here alone: the ids and numbers
of its deals, hands as dealt, totals, rewards, how it ends.  A match, the environments, a rollout of training and a
person's game are loops over these verbs; they differ in who is the caller, and in when `next_deal` is called.  An
environment of a single table (`envs.table.Table`) is the one-row case, whose actions are carried out by Python instead
of arrays of one.  Take the rows that wait, choose, step, put back: that stands in `turn` alone.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hearts_env.cards import Bools, Ints, Sets, lowest
from hearts_env.game.compiled_rules import CompiledRules
from hearts_env.game.engine import deal, legal, mix, shuffle, single_deal_no, step
from hearts_env.game.rewards import Episode, Reward, Rewards, points_so_far, step_rewards
from hearts_env.game.state import GAME_OVER, State
from hearts_env.game.view import view
from hearts_env.match.agent import Agent, Kernel, Told, ask, kernel_of, run_kernel

NO_DEAL_ID = -1
"""The deal id of hands that were given and not shuffled."""
MAX_DEALS = 1000
"""A game is given up after so many deals (moons that subtract can keep scores low for ever)."""
CALLER = -1
"""In a lineup: a seat whose actions the caller chooses."""

Keys = Callable[[Ints, NDArray[np.integer]], Ints]
"""From deal ids, int64 [K], and the lineup there, [K, P], to what agents draw their random numbers from, int64 [K]."""
Some = TypeVar("Some", bound="Tables")


@dataclass(frozen=True)
class Deals:
    """Deals that have just been played: one row each."""

    table: Ints  # int64 [K]  the row of the match's `deal_ids`
    deal_ids: Ints  # int64 [K]  the id of this very deal, or NO_DEAL_ID
    hands: Sets  # int64 [K, P]  hands as dealt
    totals: Ints  # int64 [K, P]  scores before
    state: State  # K tables, the deal over


@dataclass(frozen=True)
class Start:
    """Where episodes start; None leaves it to the deal id, or the deal id to the caller."""

    deal_id: int | None = None
    deal_no: int | None = None
    scores: Ints | None = None  # int64 [1, P] or [K, P]
    hands: Sets | None = None  # int64 [1, P] or [K, P]  as dealt


FROM_DEAL_ID = Start()


class Tables:
    """N tables and the episodes that are played at them."""

    def __init__(
        self,
        rules: CompiledRules,
        size: int,
        *,
        agents: Sequence[Agent] = (),
        lineup: ArrayLike = CALLER,
        episode: Episode = "deal",
        reward: Reward | None = None,
        max_deals: int = MAX_DEALS,
        keys: Keys | None = None,
        ask_forced: bool = False,
        on_asked: Told | None = None,
    ) -> None:
        """Tables at which nothing is dealt yet.

        lineup: [P] or [N, P], an index into `agents` for each seat, or CALLER.  reward: what is paid to the seats, if
        anything is.  max_deals: a game that is not over after so many deals is truncated.  keys: for the agents'
        random numbers; the deal ids if None.  ask_forced: agents are asked also where one action alone is legal, so
        that all decisions are counted.  on_asked: is told of all that agents decide.
        """
        shape = (size, rules.num_players)
        self.rules, self.episode, self.reward, self.max_deals = rules, episode, reward, max_deals
        self.state = State.empty(rules, size)
        self.deal_id = np.full(size, NO_DEAL_ID, np.int64)  # [N]  of the deal that is played
        self.hands: Sets = np.zeros(shape, np.int64)  # [N, P]  as dealt
        self.totals: Ints = np.zeros(shape, np.int64)  # [N, P]  scores before the deal
        self.deals = np.zeros(size, np.int64)  # [N]  finished in this episode
        self.terminated = np.zeros(size, np.bool_)  # [N]
        self.truncated = np.zeros(size, np.bool_)  # [N]
        self.paid: Rewards = np.zeros(shape)  # [N, P]  since the caller last set it to 0
        self._first_id = np.zeros(size, np.int64)  # [N]
        self._paid_points = np.zeros(shape, np.int64)  # [N, P]  points of the deal that "tricks" has paid for
        self._keys, self._ask_forced, self._on_asked = keys, ask_forced, on_asked
        self.seat_agents(agents, np.array(np.broadcast_to(lineup, shape), np.int16))

    def __len__(self) -> int:
        return len(self.state)

    def seat_agents(self, agents: Sequence[Agent], lineup: NDArray[np.int16]) -> None:
        """Let `agents` sit where `lineup` says, int16 [N, P]: an index into `agents`, or CALLER."""
        self.agents, self.lineup = agents, lineup
        self._has_caller = bool((lineup == CALLER).any())
        found = enumerate(map(kernel_of, agents))
        sit = [(index, kernel, lineup == index) for index, kernel in found if kernel is not None]
        self._kernels: list[tuple[int, Kernel, Bools]] = [each for each in sit if each[2].any()]

    @property
    def over(self) -> Bools:
        """bool [N]: the episode is over."""
        return self.terminated | self.truncated

    @property
    def points(self) -> Ints:
        """int64 [N, P]: points so far in this deal; what it has added once it is over."""
        return points_so_far(self.rules, self.state)

    # -- verbs -------------------------------------------------------------------------------------------------------

    def start(self, rows: Ints, deal_ids: Ints, start: Start = FROM_DEAL_ID) -> None:
        """Begin an episode at tables `rows` (int64 [K]) with deals `deal_ids` (int64 [K]), or as `start` says.

        A single deal has the number that `single_deal_no` gives its id, which decides pass offset and dealer.  A game
        begins with deal 0, and its later deals have ids hashed from the first.  Given hands are deal 0.
        """
        rules, given = self.rules, start.hands is not None
        ids = deal_ids if start.deal_id is None else np.full(len(rows), start.deal_id)
        number: ArrayLike | None = start.deal_no
        if number is None:
            number = single_deal_no(rules, ids) if self.episode == "deal" and not given else 0
        hands = shuffle(rules, ids) if start.hands is None else start.hands + np.zeros((len(rows), 1), np.int64)
        for array in (self.deals, self.terminated, self.truncated, self.paid):
            array[rows] = 0
        self._first_id[rows] = ids
        self._deal(rows, ids, hands, number, 0 if start.scores is None else start.scores)
        if given:
            self.deal_id[rows] = NO_DEAL_ID

    def step(self, rows: Ints, actions: Ints) -> None:
        """Carry out legal actions (int64 [K]) at tables `rows` (int64 [K]), where no deal is over."""
        turn(self.rules, self.state, rows, lambda _: actions)
        self.settle(rows)

    def choose(self, rows: Ints, decide: Callable[[Ints, State], Ints]) -> None:
        """Carry out the caller's next action at tables `rows` (int64 [K]): one that is forced, or what `decide` says.

        decide: from those of `rows` where there is a choice, int64 [k], and their State to legal actions, int64 [k].
        """

        rules = self.rules
        turn(rules, self.state, rows, lambda part: forced_or(rules, part, lambda at, some: decide(rows[at], some)))
        self.settle(rows)

    def play_on(self, rows: Ints | None = None) -> None:
        """Let agents act at tables `rows`, or at all, until each waits for the caller or its deal is over.

        The agents must not be to act at any other table.  Raises IllegalActionError.
        """
        rows = self.not_callers(np.arange(len(self)) if rows is None else rows)
        while len(rows):
            if not self._run_kernels():
                turn(self.rules, self.state, rows, partial(self._ask, rows))
            ended = self.settle(rows)
            # Where the caller has no seat and no deal has ended, the same tables go on.
            if self._has_caller or len(ended):
                rows = self.not_callers(rows)

    def next_deal(self, rows: Ints) -> None:
        """Deal the next deal of the games at tables `rows` (int64 [K])."""
        if len(rows):
            ids = next_deal_id(self._first_id[rows], self.deals[rows])
            self._deal(rows, ids, shuffle(self.rules, ids))

    def abandon(self, rows: Ints) -> None:
        """End the episodes at tables `rows` (int64 [K]) as they are."""
        self.terminated[rows] = True

    # -- what there is to know ---------------------------------------------------------------------------------------

    def going(self, rows: Ints) -> Ints:
        """Those of `rows` (int64 [K]) whose deal goes on."""
        return self._among(rows, ~(self.state.over | self.over))

    def not_callers(self, rows: Ints) -> Ints:
        """Those of `rows` (int64 [K]) whose next action is not for the caller to choose."""
        rows = self.going(rows)
        theirs: Ints = rows[self.lineup[rows, self.state.turn[rows]] != CALLER] if self._has_caller else rows
        return theirs

    def finished(self, names: Ints) -> Deals:
        """The deals that are over at all tables, as arrays that stay as they are.  names: int64 [N], `Deals.table`."""
        return Deals(names, self.deal_id.copy(), self.hands.copy(), self.totals.copy(), self.state.copy())

    def take(self: Some, rows: Ints | Bools) -> Some:
        """A copy of some tables."""
        other = self._with_arrays(lambda arrays: arrays[rows], lambda state: state.take(rows))
        other.seat_agents(self.agents, other.lineup)
        return other

    def copy(self: Some) -> Some:
        """A copy of the tables that shares no mutable state with them."""
        return self._with_arrays(np.copy, State.copy)

    def _with_arrays(
        self: Some, arrays: Callable[[NDArray[Any]], NDArray[Any]], state: Callable[[State], State]
    ) -> Some:
        other = copy.copy(self)
        for name, value in self.__dict__.items():
            if isinstance(value, np.ndarray):
                setattr(other, name, arrays(value))
            elif isinstance(value, State):
                setattr(other, name, state(value))
        return other

    # -- within ------------------------------------------------------------------------------------------------------

    def settle(self, rows: Ints) -> Ints:
        """Count and pay the deals of `rows` that have just ended, and end their episodes; those rows, int64 [K]."""
        rows = self._among(rows, self.state.over)
        if len(rows):
            if self.reward:
                part, before = self._part(rows), self._paid_points[rows]
                self.paid[rows] += step_rewards(self.rules, part, before, reward=self.reward, episode=self.episode)
                self._paid_points[rows] = 0
            self.deals[rows] += 1
            done = (self.state.phase[rows] == GAME_OVER) | (self.episode == "deal")
            self.terminated[rows] = done
            self.truncated[rows] = ~done & (self.deals[rows] >= self.max_deals)
        return rows

    def pay_tricks(self, rows: Ints) -> None:
        """Pay for the tricks taken so far at tables `rows` (int64 [K]), whose deals go on."""
        now = points_so_far(self.rules, self._part(rows))
        self.paid[rows] += self._paid_points[rows] - now
        self._paid_points[rows] = now

    def _among(self, rows: Ints, holds: Bools) -> Ints:
        """Those of `rows` (int64 [K]) for which `holds`, bool [N], is true."""
        if len(rows) == len(self):
            return np.flatnonzero(holds)
        some: Ints = rows[holds[rows]]
        return some

    def _part(self, rows: Ints) -> State:
        """The State of these tables, to be read alone."""
        return self.state if len(rows) == len(self) else self.state.take(rows)

    def _deal(
        self, rows: Ints, ids: Ints, hands: Sets, deal_no: ArrayLike | None = None, scores: ArrayLike | None = None
    ) -> None:
        key = ids if self._keys is None else self._keys(ids, self.lineup[rows])
        deal(self.rules, self.state, hands, rows=rows, deal_no=deal_no, scores=scores, key=key)
        self.deal_id[rows], self.hands[rows] = ids, hands
        self.totals[rows] = self.state.scores[rows]
        self._paid_points[rows] = 0

    def _run_kernels(self) -> bool:
        """Let agents that have a kernel play as far as they can; was there anything to do?"""
        made = 0
        while True:
            before = made
            for index, kernel, seats in self._kernels:
                begin = time.perf_counter()
                actions = run_kernel(kernel, self.rules, self.state, seats)
                made += actions
                if self._on_asked:
                    self._on_asked(index, actions, time.perf_counter() - begin, 0)
            # One alone has played all that it can; several go round until none has an action left.
            if made == before or len(self._kernels) == 1:
                return made > 0

    def _ask(self, rows: Ints, part: State) -> Ints:
        """The actions of the agents to act at tables `rows` (int64 [K]), whose State is `part`; int64 [K]."""
        seen = view(self.rules, part)
        agent_of = self.lineup[rows, seen.seat]
        free = rows if self._ask_forced else several(seen.legal)
        if len(free) == len(seen):
            return ask(self.agents, agent_of, seen, self._on_asked)
        actions: Ints = lowest(seen.legal)
        if len(free):
            actions[free] = ask(self.agents, agent_of[free], seen.take(free), self._on_asked)
        return actions


def turn(rules: CompiledRules, state: State, rows: Ints, choose: Callable[[State], Ints]) -> None:
    """Carry out one action at each of the tables `rows` (int64 [K]), where no deal is over.  Changes `state`.

    choose: from the State of these tables to a legal action for each, int64 [K].
    """
    everywhere = len(rows) == len(state)
    part = state if everywhere else state.take(rows)
    step(rules, part, choose(part))
    if not everywhere:
        state.put(rows, part)


def forced_or(rules: CompiledRules, state: State, decide: Callable[[Ints, State], Ints]) -> Ints:
    """An action for each table, int64 [N]: the only legal one, or where there is a choice what `decide` says.

    decide: from the numbers of the tables with a choice, int64 [K], and their State to legal actions, int64 [K].
    """
    allowed = legal(rules, state)
    actions: Ints = lowest(allowed)
    free = several(allowed)
    if len(free):
        actions[free] = decide(free, state if len(free) == len(state) else state.take(free))
    return actions


def several(legal: Sets) -> Ints:
    """The tables where there is a choice, int64 [K].  legal: the legal actions at each, int64 [N]."""
    # A set without its lowest member is empty where that was the only one.
    tables: Ints = np.flatnonzero(legal & (legal - 1))
    return tables


def next_deal_id(first: Ints, deal_no: NDArray[np.integer]) -> Ints:
    """The id of deal number `deal_no` in the game that begins with deal id `first`; int64 [N]."""
    hashed = mix(mix(first.astype(np.uint64)) + deal_no.astype(np.uint64))
    later = (hashed >> np.uint64(1)).astype(np.int64)
    return np.where(deal_no == 0, first, later)
