"""How fast one worker learns, and where the time goes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from hearts_bench.layers import BenchError
from hearts_env.cards import NUM_ACTIONS
from hearts_env.executor import Executor, using
from hearts_train.ppo import Learner
from hearts_train.run.checkpoint import Progress
from hearts_train.run.config import TrainConfig

RUNS = 5
CHUNK = 512
"""Rows of the matrix products of `products`."""
_MICRO = 1e6


@dataclass(frozen=True)
class Learning:
    """The speed of one worker, in seconds that one core worked for it: medians of several rounds."""

    executor: Executor
    tables: int
    minibatch: int
    decisions_per_s: float
    """Decisions played and learned from; forced ones are not counted."""
    deals_per_s: float
    microseconds: dict[str, float]
    """Of these, for each decision, by what they went into."""
    products: float
    """Microseconds a decision of the matrix products alone, but for the first layer: what no loop can save."""


def learning(config: TrainConfig, executors: Sequence[Executor]) -> list[Learning]:
    """Measure workers of this configuration by turns, RUNS iterations each.

    The compiled executor brings the compiled update, numpy the plain one.  Raises BenchError where the payoffs of a
    deal do not add up to nothing: a broken learner is not timed.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        workers = [_Worker(config, executor) for executor in executors]
        rounds = [[worker.round(number) for worker in workers] for number in range(RUNS + 1)][1:]
        floor = statistics.median(products(config) for _ in range(RUNS))
    finally:
        torch.set_num_threads(threads)
    results = []
    for executor, seen in zip(executors, zip(*rounds, strict=True), strict=True):
        parts = {name: round(statistics.median(split[name] for split in seen), 2) for name in seen[0]}
        speed = round(statistics.median(_MICRO / sum(split.values()) for split in seen))
        deals = round(speed / statistics.median(worker.decisions_a_deal for worker in workers), 1)
        results.append(Learning(executor, config.tables, config.ppo.minibatch, speed, deals, parts, round(floor, 2)))
    return results


class _Worker:
    """A learner under one executor."""

    def __init__(self, config: TrainConfig, executor: Executor) -> None:
        self._executor = executor
        self._config = config
        self.decisions_a_deal = 0.0
        with using(executor):
            self._learner = Learner(config)

    def round(self, number: int) -> dict[str, float]:
        """One iteration: microseconds a decision by what they went into."""
        watch = self._learner.watch
        watch.seconds.clear()
        with using(self._executor):
            began = time.process_time()
            done = self._learner.iterate(number, number * self._config.tables, self._config.scheduled(Progress()))
            worked = time.process_time() - began
        total = float(abs(self._learner.rollout.payoffs.sum(axis=1)).max())
        if total > 1e-6:
            raise BenchError(f"the payoffs of a deal add up to {total}: must be 0")
        self.decisions_a_deal = done["decisions"] / self._config.tables
        # On a busy machine the watch also counts the turns of others, in every part alike.
        share = _MICRO * worked / watch.total("") / done["decisions"]
        return {name: seconds * share for name, seconds in watch.seconds.items()}


def products(config: TrainConfig) -> float:
    """Microseconds a decision of the matrix products that it takes to play and learn, but for the first layer's."""
    width = config.network.width
    rows, square = torch.rand(CHUNK, width), torch.rand(width, width)
    heads, out = torch.rand(NUM_ACTIONS + 1, width), torch.rand(CHUNK, NUM_ACTIONS + 1)
    into = torch.empty_like(rows)
    repeats = 20
    began = time.process_time()
    for _ in range(repeats):
        for _ in range(config.network.blocks):
            # To play, to learn: forward twice, then the gradients of the weights and of the activations.
            torch.mm(rows, square.t(), out=into)
            torch.mm(rows, square.t(), out=into)
            square.addmm_(into.t(), rows, beta=0)
            torch.mm(rows, square, out=into)
        for _ in range(2):
            torch.mm(rows, heads.t(), out=out)
        torch.mm(out.t(), rows)
        torch.mm(out, heads, out=into)
    return _MICRO * (time.process_time() - began) / repeats / CHUNK
