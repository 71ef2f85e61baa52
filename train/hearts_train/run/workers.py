"""One worker of a run: a learner, its row of the weights that all workers share, and the tasks it is given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hearts_agents.net.agent import Net, NetAgent
from hearts_arena.duplicate_evaluation import duplicate_payoffs
from hearts_env.game.rules import Rules
from hearts_train.learn.parameters import state_size
from hearts_train.ppo import Learner
from hearts_train.run.config import Scheduled, TrainConfig
from hearts_train.run.evaluation import BEST, SLOW_IDS
from hearts_train.run.log import Metrics


class SharedStates(NamedTuple):
    """Memory that all workers of a process see: vectors laid out as `FlatParameters.state`, S numbers each."""

    workers: Tensor  # float32 [W, S]  what each worker has learned
    mean: Tensor  # float32 [S]  their mean, from which all go on
    published: Tensor  # float32 [S]  the weights that are evaluated and written for players
    best: Tensor  # float32 [S]  the best of these so far

    @staticmethod
    def create(config: TrainConfig) -> SharedStates:
        """Return zeros for the workers of one process."""
        size = state_size(config.spec)
        rows: Tensor = torch.zeros(config.machine.workers + 3, size).share_memory_()  # type: ignore[no-untyped-call]
        return SharedStates(rows[:-3], rows[-3], rows[-2], rows[-1])


class Ranks(NamedTuple):
    """Where the workers of this process stand among those of all processes of the run."""

    first: int
    """The rank of this process's first worker."""
    total: int


class Worker:
    """A learner that reads and writes shared states; its methods are the tasks of a ProcessPool."""

    def __init__(self, row: int, config: TrainConfig, shared: SharedStates, ranks: Ranks) -> None:
        """row: of `shared.workers`, that is this worker's."""
        self.config = config
        self.shared = shared
        self._own = shared.workers[row]
        self._rank, self._total = ranks.first + row, ranks.total
        self.learner = Learner(config, self._rank)

    def synchronise(self) -> None:
        """Go on from the mean of all workers."""
        self.learner.parameters.state.copy_(self.shared.mean)

    def warm_up(self) -> None:
        """Compile what is compiled at first use, by playing and learning a little for nothing."""
        self.learner.warm_up()
        for opponent in self.config.evaluation.eval_against:
            duplicate_payoffs(self.config.spec.rules, self._player(self.shared.published), opponent, np.arange(2))

    def iterate(self, iteration: int, deals: int, now: Scheduled, opponents: Sequence[str]) -> Metrics:
        """Make one iteration of PPO, leave what was learned in this worker's row, and return metrics."""
        metrics = self.learner.iterate(iteration, deals, now, opponents)
        self._own.copy_(self.learner.parameters.state)
        return metrics

    def evaluate(self, opponent: str, rules: Rules) -> NDArray[np.float64]:
        """Return the payoffs of the published weights' most probable actions, float64 [deal ids of this worker].

        opponent: an agent by name, or BEST.  rules: among the run's.  Each worker takes its share of the fixed deal
        ids of evaluations.
        """
        config = self.config
        count = SLOW_IDS if opponent in config.evaluation.eval_slow else config.evaluation.eval_ids
        ids = np.arange(self._rank, count, self._total)
        other = self._player(self.shared.best) if opponent == BEST else opponent
        return duplicate_payoffs(rules, self._player(self.shared.published), other, ids, config.eval_seats(rules))

    def _player(self, state: Tensor) -> NetAgent:
        """Return the agent that plays with the weights of a shared vector."""
        weights = self.learner.parameters.named(state).items()
        return NetAgent(Net(self.config.spec, {name: tensor.numpy() for name, tensor in weights}))
