"""The rollout buffer: deals played by one policy in all seats or some, and every decision it had in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hearts_agents.net.weights import Floats
from hearts_agents.win_chance import payoff_at
from hearts_env.cards import NO_SEAT, Bools, Ints, Sets
from hearts_env.game.compiled_rules import CompiledRules
from hearts_env.game.engine import pass_offset, single_deal_no
from hearts_env.game.state import State
from hearts_env.game.view import view
from hearts_env.match.agent import Agent
from hearts_env.match.tables import Start, Tables
from hearts_env.observe.encode import Layout, encode_packed
from hearts_train.learn.opponents import Opponents
from hearts_train.learn.returns import advantages
from hearts_train.learn.stopwatch import Stopwatch

Actor = Callable[[Sets, Sets], tuple[Ints, Floats, Floats]]
"""From packed encodings int64 [n, words] and sets of legal actions int64 [n] to actions int64 [n], their
log-probabilities float32 [n] and values float32 [n]."""


class Batch(NamedTuple):
    """Decisions to learn from."""

    packed: Sets  # int64 [n, words]
    legal: Sets  # int64 [n]
    actions: Ints  # int64 [n]
    log_probs: Floats  # float32 [n]  of the action when it was played
    advantages: Floats  # float32 [n]
    returns: Floats  # float32 [n]
    taught: Ints  # int64 [n]  what a teacher would have done; without one the action that was played

    def take(self, rows: Ints | slice) -> Batch:
        """Return some rows, by their numbers int64 [k] or as a slice."""
        return Batch._make(column[rows] for column in self)


@dataclass
class Rollout:
    """The buffer: a flat list of the decisions of K = tables * P trajectories, each one seat in one deal.

    Only decisions with a choice are kept.  A trajectory's decisions lie in their order, among those of others.
    """

    rules: CompiledRules
    layout: Layout
    tables: int
    """The most that can be played at once."""
    watch: Stopwatch = field(default_factory=Stopwatch)
    size: int = 0
    """Decisions held; rows beyond are not read."""
    packed: Sets = field(init=False)  # int64 [capacity, words]  encodings, eight bytes to one
    legal: Sets = field(init=False)  # int64 [capacity]
    actions: Ints = field(init=False)  # int64 [capacity]
    log_probs: Floats = field(init=False)  # float32 [capacity]
    values: Floats = field(init=False)  # float32 [capacity]
    trajectory: Ints = field(init=False)  # int64 [capacity]  table * P + seat
    timestep: Ints = field(init=False)  # int64 [capacity]  number of the decision in its trajectory
    lengths: Ints = field(init=False)  # int64 [K]  decisions of each trajectory
    payoffs: NDArray[np.float64] = field(init=False)  # float64 [tables, P]  in points, see `win_chance.payoff_at`
    moons: Bools = field(init=False)  # bool [tables]
    taught: Ints = field(init=False)  # int64 [capacity]  a teacher's actions, or those that were played

    def __post_init__(self) -> None:
        self._teacher: Agent | None = None
        seats, most = self.rules.num_players, most_decisions(self.rules)
        capacity = self.tables * seats * most
        # The system gives memory to rows when they are first written, so room for the worst case costs nothing.
        self.packed = np.empty((capacity, self.layout.words), np.int64)
        self.legal = np.empty(capacity, np.int64)
        self.actions = np.empty(capacity, np.int64)
        self.log_probs = np.empty(capacity, np.float32)
        self.values = np.empty(capacity, np.float32)
        self.taught = np.empty(capacity, np.int64)
        self.trajectory = np.empty(capacity, np.int64)
        self.timestep = np.empty(capacity, np.int64)
        self.lengths = np.zeros(self.tables * seats, np.int64)
        self.payoffs = np.zeros((self.tables, seats))
        self.moons = np.zeros(self.tables, np.bool_)

    def collect(
        self,
        deal_ids: Ints,
        actor: Actor,
        opponents: Opponents | None = None,
        teacher: Agent | None = None,
        scores: Ints | None = None,
    ) -> None:
        """Replace what is held by the decisions in fresh deals, int64 [N]: whole deals, from pass to moon choice.

        N is at most `tables`; what is held by table and by trajectory stands in the first rows.  opponents: players of
        seats that don't learn, of which nothing is kept.  teacher: whose choices at these decisions are kept too.
        scores: of the games that the deals belong to, int64 [N, P]; where there are any points, a deal pays what it
        adds to the chance to win.
        As in a match, the id also tells the number of the deal in its game, and so the pass offset.
        """
        self.size = 0
        self._teacher = teacher
        self.lengths[:] = 0
        numbers = single_deal_no(self.rules, deal_ids)
        if scores is None:
            scores = np.zeros((len(deal_ids), self.rules.num_players), np.int64)
        holds = pass_offset(self.rules, numbers) == 0
        # Apart, so that all tables of a batch are always in the same phase, which is the engine's fast case.
        for tables in (np.flatnonzero(holds), np.flatnonzero(~holds)):
            if len(tables):
                played = self._play(deal_ids[tables], scores[tables], tables, actor, opponents)
                self.payoffs[tables] = payoff_at(self.rules, scores[tables], played.points.astype(np.int64))
                self.moons[tables] = played.shooter != NO_SEAT
        self.watch.lap("rollout: game")

    def _play(self, deal_ids: Ints, scores: Ints, numbers: Ints, actor: Actor, opponents: Opponents | None) -> State:
        """Play deals that are held as the tables `numbers`, int64 [K]; return how they end.  scores: int64 [K, P]."""
        size = len(numbers)
        if opponents:
            tables = Tables(self.rules, size, agents=opponents.agents, lineup=opponents.lineup[numbers])
        else:
            tables = Tables(self.rules, size)
        tables.start(np.arange(size), deal_ids, Start(scores=scores))
        while True:
            if opponents:
                self.watch.lap("rollout: game")
                tables.play_on()
                self.watch.lap("rollout: others")
            rows = tables.going(np.arange(size))
            if len(rows) == 0:
                return tables.state
            tables.choose(rows, lambda free, part: self._decide(part, numbers[free], actor))

    def _decide(self, state: State, tables: Ints, actor: Actor) -> Ints:
        """Keep what the seats see, and draw their actions."""
        self.watch.lap("rollout: game")
        rows = slice(self.size, self.size + len(state))
        self.size = rows.stop
        views = view(self.rules, state)
        self.packed[rows], self.legal[rows] = encode_packed(self.layout, views), views.legal
        self.watch.lap("rollout: encode")
        actions, self.log_probs[rows], self.values[rows] = actor(self.packed[rows], self.legal[rows])
        self.actions[rows] = self.taught[rows] = actions
        trajectory = tables * self.rules.num_players + state.turn
        self.trajectory[rows] = trajectory
        self.timestep[rows] = self.lengths[trajectory]
        self.lengths[trajectory] += 1
        if self._teacher:
            self.watch.lap("rollout: game")
            self.taught[rows] = self._teacher.act(views)
            self.watch.lap("rollout: teacher")
        return actions

    def batch(self, gae_lambda: float, scale: float) -> Batch:
        """Return all decisions held, where a deal pays `scale` times the payoff."""
        held = slice(self.size)
        advantages = self.advantages(gae_lambda, scale)
        return Batch(
            packed=self.packed[held],
            legal=self.legal[held],
            actions=self.actions[held],
            log_probs=self.log_probs[held],
            advantages=advantages,
            returns=advantages + self.values[held],
            taught=self.taught[held],
        )

    def advantages(self, gae_lambda: float, scale: float) -> Floats:
        """Return the advantage of each decision, float32 [size], where a deal pays `scale` times the payoff."""
        at = self.trajectory[: self.size], self.timestep[: self.size]
        values = np.zeros((len(self.lengths), max(1, int(self.lengths.max(initial=0)))), np.float32)
        values[at] = self.values[: self.size]
        result: Floats = advantages(values, self.lengths, scale * self.payoffs.reshape(-1), gae_lambda)[at]
        return result


def most_decisions(rules: CompiledRules) -> int:
    """Return the most decisions a seat can have in a deal: its picks, its plays, the moon choice."""
    return rules.pass_count + rules.hand_size + 1
