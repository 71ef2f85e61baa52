"""A run under way: where its weights lie, how it begins, its rounds and evaluations, and what they leave."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from hearts_agents.net.agent import weights_of
from hearts_agents.net.weights import NetSpec, read_net, read_tensors, weights_file
from hearts_arena.duplicate import mean_and_error
from hearts_env.cards import Ints
from hearts_env.observe.encode import MAX_SEATS
from hearts_train.learn.opponents import opponents_now, past_file
from hearts_train.learn.parameters import FlatNet, state_size
from hearts_train.run.checkpoint import (
    BEST_NAME,
    CHECKPOINT_NAME,
    PAST_NAME,
    Progress,
    load_checkpoint,
    save_checkpoint,
    save_weights,
)
from hearts_train.run.config import TrainConfig
from hearts_train.run.distributed import Team
from hearts_train.run.evaluation import BEST, Clocks
from hearts_train.run.log import Metrics, Report
from hearts_train.run.process_pool import Crew

if TYPE_CHECKING:
    from hearts_train.ppo import Learner

MEAN, SHOWN, BEST_ROW = -3, -2, -1
"""Rows behind those of the workers: the mean of their states, the weights for players and evaluations, the best of
these so far."""
_FAINT = 0.01
"""What the first weights of added blocks are multiplied by."""


def shared_state(config: TrainConfig) -> Tensor:
    """Memory of a crew: a row for what each worker has learned, then MEAN, from which all go on, SHOWN and BEST_ROW."""
    return torch.zeros(config.workers + 3, state_size(config.spec, config.extras)).share_memory_()  # type: ignore[no-untyped-call, no-any-return]


def begun(config: TrainConfig, folder: Path, learner: Learner, shared: Tensor) -> Progress:
    """Fill the rows behind those of the workers: from the run's checkpoint, or with the first weights."""
    flat, progress = learner.flat, Progress()
    if (folder / CHECKPOINT_NAME).exists():
        progress = load_checkpoint(folder, learner.net, flat.moments(), flat.named(shared[SHOWN]))
    else:
        if config.start:
            weights = weights_of(config.start)
            _fill(config, flat, flat.state, weights)
            progress.start = read_tensors(weights_file(weights))[1].get("trained")
        shared[SHOWN, : flat.size] = flat.weights.detach()
    shared[MEAN] = flat.state
    shared[BEST_ROW] = shared[SHOWN]
    if (folder / BEST_NAME).exists():
        _fill(config, flat, shared[BEST_ROW], folder / BEST_NAME)
    return progress


def _fill(config: TrainConfig, flat: FlatNet, vector: Tensor, weights: Path) -> None:
    """Put the weights of a file, of at most the run's size, into a vector [S or more].  Raises NetError.

    A narrower network takes the first units of each layer.  The others keep their weights, and nothing listens to
    them yet: the network is at first the same function (Chen et al., Net2Net, arXiv 1511.05641).  One with fewer blocks
    takes the first ones; the others add next to nothing to what goes through them (with weights of 0 they would not
    learn).  The inputs may be laid out for other seats, see `same_inputs`.
    """
    spec, tensors = read_net(weights)
    tensors["stem.weight"] = tensors["stem.weight"][:, same_inputs(spec, config.spec)]
    places = flat.named(vector)
    for name, tensor in tensors.items():
        units, *inputs = tensor.shape
        place = places[name][:units]
        if inputs:
            place[:, inputs[0] :] = 0
            place = place[:, : inputs[0]]
        place.copy_(torch.from_numpy(tensor))
    for added in range(spec.blocks, config.blocks):
        places[f"blocks.{added}.weight"] *= _FAINT


def same_inputs(old: NetSpec, new: NetSpec) -> Ints:
    """For each input of one network the input of another that means the same, int64 [F of `new`].

    At a table like the old one's they are the same bits.  A seat that the old one has not is taken for its last one,
    and a number of players that it was not made for is taken for its own.
    """
    found = np.arange(new.layout.size)
    if new.layout == old.layout:
        return found
    for block, before in zip(new.layout.blocks, old.layout.blocks, strict=True):
        place = np.arange(block.size)
        if block.per_seat:
            seat, bit = np.divmod(place, block.per_seat)
            place = np.minimum(seat, old.layout.seats - 1) * block.per_seat + bit
        elif block.name == "rules" and not old.pad:
            place[: MAX_SEATS - 1] = old.rules.num_players - 2  # the block begins with the numbers of players, 2 to 7
        found[block.offset : block.offset + block.size] = before.offset + place
    return found


@dataclass
class Run:
    """A run under way, and what its steps share.  Each process of a team has one, and all take the same steps."""

    config: TrainConfig
    folder: Path
    team: Team
    crew: Crew[Learner]
    shared: Tensor
    progress: Progress
    report: Report
    clocks: Clocks

    def __post_init__(self) -> None:
        self.started = time.perf_counter() - self.progress.seconds

    def named(self, row: int) -> dict[str, Tensor]:
        """The weights in a row of the shared memory, by name."""
        return self.crew.local.flat.named(self.shared[row])

    def each(self, method: str, *args: Any) -> list[Any]:
        """What `method(*args)` returns at each worker of all processes."""
        return self.team.joined(self.crew.each(method, *args))

    def iterate(self) -> None:
        """One round: every worker plays and learns, then all weights and moments are averaged."""
        begin, config, progress, shared = time.perf_counter(), self.config, self.progress, self.shared
        pace = config.pace(progress)
        opponents = self.team.first(
            lambda: opponents_now(config.opponents, self.folder / PAST_NAME, progress.decisions)
        )
        parts = self.each("iterate", progress.iteration, progress.deals, pace, opponents)
        torch.mean(shared[:MEAN], 0, out=shared[MEAN])
        self.team.average(shared[MEAN])
        self.crew.each("adopt")
        decisions = sum(part.pop("decisions") for part in parts)
        # Polyak averaging of what is shown, by decisions, so that it does not depend on the number of tables.
        fresh = -math.expm1(-decisions / config.ema_decisions) if config.ema_decisions else 1.0
        shown = shared[SHOWN, : self.crew.local.flat.size]
        shown.lerp_(shared[MEAN, : len(shown)], fresh)
        progress.iteration += 1
        progress.decisions += decisions
        progress.deals += len(parts) * pace.tables
        now = time.perf_counter()
        progress.seconds = self.team.first(lambda: now - self.started)  # which the schedules follow
        metrics: Metrics = {**position(progress), "decisions_per_s": decisions / (now - begin), **pace._asdict()}
        for key in parts[0]:
            metrics[key] = float(np.mean([part[key] for part in parts]))
        self.report.iteration(metrics, config.used(progress))

    def evaluate(self, whom: Callable[[], Sequence[str]]) -> None:
        """Play the fixed deals against some opponents, and keep the weights if they beat the best before them."""
        begin = time.perf_counter()
        metrics: Metrics = position(self.progress)
        opponents = self.team.first(whom)
        for opponent in opponents:
            met = time.perf_counter()
            total = squares = 0.0
            for place, rules in enumerate(dict.fromkeys(self.config.all_rules)):
                mean, error = mean_and_error(np.concatenate(self.each("evaluate", opponent, rules)))
                name = f"{opponent} {rules.show()}" if place else opponent
                metrics[f"payoff/{name}"], metrics[f"payoff_se/{name}"] = mean, error
                total, squares = total + mean, squares + error**2
            # By more than a standard error, over all rules: what is kept should not be the luckiest of many.
            if opponent == BEST and total > squares**0.5:
                self.shared[BEST_ROW] = self.shared[SHOWN]
                self._save_weights(self.folder / BEST_NAME, BEST_ROW)
            self.clocks.took(opponent, time.perf_counter() - met)
        if opponents:
            self.report.evaluation({**metrics, "seconds": time.perf_counter() - begin})

    def keep_past(self) -> None:
        """Keep the weights for players, every so many decisions, for opponents or to look back."""
        every = self.config.keeps_past_every
        if every is not None:
            path = past_file(self.folder / PAST_NAME, self.progress.decisions // every * every)
            if not path.exists():
                self._save_weights(path, SHOWN)

    def save(self) -> None:
        """Write what it takes to go on, and the weights for players."""
        learner = self.crew.local
        if self.team.rank == 0:
            save_checkpoint(self.folder, learner.net, learner.flat.moments(), self.named(SHOWN), self.progress)

    def _save_weights(self, path: Path, row: int) -> None:
        if self.team.rank == 0:
            save_weights(path, self.config.spec, self.named(row), self.progress)


def position(progress: Progress) -> Metrics:
    """Where a run stands, by metric."""
    return {
        "iteration": progress.iteration,
        "decisions": progress.decisions,
        "deals": progress.deals,
        "minutes": progress.seconds / 60,
    }
