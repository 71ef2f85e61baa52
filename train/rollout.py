"""Deals played by one policy in all seats, with every decision it had kept for the update."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hearts_env.cards import NO_SEAT, Bools, Bytes, Ints, lowest
from hearts_env.encode import Layout, encode
from hearts_env.engine import deal, legal, pass_offset, shuffle, single_deal_no, step
from hearts_env.lookup import Lookup
from hearts_env.rewards import payoff
from hearts_env.state import State
from hearts_env.view import view
from hearts_train.returns import Floats, advantages

Policy = Callable[[Bytes], tuple[Ints, Floats, Floats]]
"""From encodings uint8 [n, F] to actions int64 [n], their log-probabilities float32 [n] and values float32 [n]."""


@dataclass
class Rollout:
    """The buffer: a flat list of the decisions of K = tables * P chains, each chain one seat in one deal.

    Only decisions with a choice are kept.  A chain's decisions lie in their order, among those of other chains.
    """

    lookup: Lookup
    layout: Layout
    tables: int
    size: int = 0
    """Decisions held; rows beyond are not read."""
    inputs: Bytes = field(init=False)  # uint8 [capacity, F]
    actions: Ints = field(init=False)  # int64 [capacity]
    log_probs: Floats = field(init=False)  # float32 [capacity]
    values: Floats = field(init=False)  # float32 [capacity]
    chain: Ints = field(init=False)  # int64 [capacity]  table * P + seat
    place: Ints = field(init=False)  # int64 [capacity]  number of the decision in its chain
    counts: Ints = field(init=False)  # int64 [K]  decisions of each chain
    payoffs: NDArray[np.float64] = field(init=False)  # float64 [tables, P]  in points
    moons: Bools = field(init=False)  # bool [tables]

    def __post_init__(self) -> None:
        seats, most = self.lookup.num_players, most_decisions(self.lookup)
        capacity = self.tables * seats * most
        # The system gives memory to rows when they are first written, so room for the worst case costs nothing.
        self.inputs = np.empty((capacity, self.layout.size), np.uint8)
        self.actions = np.empty(capacity, np.int64)
        self.log_probs = np.empty(capacity, np.float32)
        self.values = np.empty(capacity, np.float32)
        self.chain = np.empty(capacity, np.int64)
        self.place = np.empty(capacity, np.int64)
        self.counts = np.zeros(self.tables * seats, np.int64)
        self.payoffs = np.zeros((self.tables, seats))
        self.moons = np.zeros(self.tables, np.bool_)

    def collect(self, deal_ids: Ints, policy: Policy) -> None:
        """Replace what is held by the decisions in fresh deals, int64 [tables]: whole deals, from pass to moon choice.

        As in a match, the id also tells the number of the deal in its game, and so the pass offset.
        """
        self.size = 0
        self.counts[:] = 0
        numbers = single_deal_no(self.lookup, deal_ids)
        holds = pass_offset(self.lookup, numbers) == 0
        # Apart, so that all tables of a batch are always in the same phase, which is the engine's fast case.
        for tables in (np.flatnonzero(holds), np.flatnonzero(~holds)):
            if len(tables):
                state = State.empty(self.lookup, len(tables))
                deal(self.lookup, state, shuffle(self.lookup, deal_ids[tables]), deal_no=numbers[tables])
                self._play(state, tables, policy)
                self.payoffs[tables] = payoff(self.lookup, state.points)
                self.moons[tables] = state.shooter != NO_SEAT

    def _play(self, state: State, tables: Ints, policy: Policy) -> None:
        while not state.over.all():
            allowed = legal(self.lookup, state)
            actions = lowest(allowed)
            free = np.flatnonzero(allowed & (allowed - 1))
            if len(free):
                actions[free] = self._decide(state.take(free), tables[free], policy)
            step(self.lookup, state, actions)

    def _decide(self, state: State, tables: Ints, policy: Policy) -> Ints:
        """Encode straight into the buffer, ask the policy, and keep what it says."""
        rows = slice(self.size, self.size + len(state))
        self.size = rows.stop
        encode(self.layout, view(self.lookup, state), self.inputs[rows])
        self.actions[rows], self.log_probs[rows], self.values[rows] = policy(self.inputs[rows])
        chain = tables * self.lookup.num_players + state.turn
        self.chain[rows] = chain
        self.place[rows] = self.counts[chain]
        self.counts[chain] += 1
        return self.actions[rows]

    def advantages(self, gae_lambda: float, scale: float) -> Floats:
        """Advantage of each decision, float32 [size], where a deal pays `scale` times the payoff."""
        held = slice(self.size)
        rectangle = np.zeros((len(self.counts), int(self.counts.max(initial=0))), np.float32)
        at = (self.chain[held], self.place[held])
        rectangle[at] = self.values[held]
        result: Floats = advantages(rectangle, self.counts, scale * self.payoffs.reshape(-1), gae_lambda)[at]
        return result


def most_decisions(lookup: Lookup) -> int:
    """The most decisions a seat can have in a deal: its picks, its plays, the moon choice."""
    return lookup.pass_count + lookup.hand_size + 1
