"""A training run from start to end: it drives the workers, averages what they learn, evaluates, and saves."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import numpy as np
import torch
from torch import Tensor

from hearts_agents.net.agent import weights_of
from hearts_agents.net.weights import read_tensors, weights_file
from hearts_arena.duplicate_evaluation import mean_and_error
from hearts_arena.interrupt import stop_requests
from hearts_arena.provenance import commit, machine, versions
from hearts_train.learn.opponents import opponents_now, past_file
from hearts_train.learn.weight_transfer import transfer
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
from hearts_train.run.config_file import opened
from hearts_train.run.distributed import ProcessGroup
from hearts_train.run.evaluation import BEST, EvaluationSchedule
from hearts_train.run.log import Metrics, RunLog, SilentLog
from hearts_train.run.process_pool import ProcessPool
from hearts_train.run.workers import Ranks, SharedStates, Worker

T = TypeVar("T")
P = ParamSpec("P")


def train(config: TrainConfig) -> Path:
    """Train until the budget is used or Ctrl-C, and return the run directory.

    The directory then holds config.json, metrics.jsonl, TensorBoard's files, checkpoint.safetensors to resume from,
    and net.safetensors, which is the agent `net:DIR`.  Raises TrainError, RulesError, CheckpointError or WorkerError
    (all ValueErrors).  With more than one worker a script must call this under `if __name__ == "__main__":`.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with stop_requests() as stop, ProcessGroup() as group:
            config, folder = group.from_first(lambda: opened(config))
            shared = SharedStates.create(config)
            ranks = Ranks(group.rank * config.machine.workers, group.size * config.machine.workers)
            with ProcessPool(config.machine.workers, Worker, config, shared, ranks) as pool:
                progress = _prepared(config, folder, group, pool)
                with contextlib.closing(_log(folder, group, progress)) as log:
                    session = Session(config, folder, group, pool, shared, progress, log)
                    session.run(stop.is_set)
    finally:
        torch.set_num_threads(threads)
    return folder


def _prepared(config: TrainConfig, folder: Path, group: ProcessGroup, pool: ProcessPool[Worker]) -> Progress:
    """Give all workers of all processes the weights to go on from, and return how far the run is."""
    progress = group.from_first(lambda: first_state(config, folder, pool.local))
    _, *states = pool.local.shared
    for state in states:
        group.broadcast(state)
    pool.each(Worker.synchronise)
    # What is compiled at first use is compiled now, before the clock of training and evaluations runs.
    pool.each(Worker.warm_up)
    return progress


def first_state(config: TrainConfig, folder: Path, worker: Worker) -> Progress:
    """Fill mean, published and best weights: from the run's checkpoint, or with the first weights of a new run."""
    parameters, shared, progress = worker.learner.parameters, worker.shared, Progress()
    if (folder / CHECKPOINT_NAME).exists():
        progress = load_checkpoint(folder, parameters, shared.published)
    else:
        if config.start:
            weights = weights_of(config.start)
            transfer(weights, parameters, parameters.state)
            progress.start = read_tensors(weights_file(weights))[1].get("trained")
        shared.published[: parameters.size] = parameters.weights.detach()
    shared.mean.copy_(parameters.state)
    shared.best.copy_(shared.published)
    if (folder / BEST_NAME).exists():
        transfer(folder / BEST_NAME, parameters, shared.best)
    return progress


def _log(folder: Path, group: ProcessGroup, progress: Progress) -> RunLog:
    """Return the log of the run, which only the first process writes."""
    log = RunLog(folder, progress.decisions) if group.rank == 0 else SilentLog()
    origin = {"commit": commit(), "machine": machine(), "versions": versions(), "processes": group.size}
    log.session({**position(progress), **origin})
    return log


@dataclass
class Session:
    """A run under way, from its start or resume on.  Each process of a group has one, and all take the same steps."""

    config: TrainConfig
    folder: Path
    group: ProcessGroup
    pool: ProcessPool[Worker]
    shared: SharedStates
    progress: Progress
    log: RunLog

    def __post_init__(self) -> None:
        self.schedule = EvaluationSchedule(self.config)
        self.started = time.perf_counter() - self.progress.seconds

    def run(self, stop_asked: Callable[[], bool]) -> None:
        """Iterate until the budget is used, or until any process is asked to stop; then save."""
        config, progress = self.config, self.progress
        self.evaluate(self.schedule.due)
        saved = time.perf_counter()
        # Whichever process is asked to stop, all do.
        while not (stopped := any(self.group.gather([stop_asked()]))) and config.used(progress) < 1:
            self.keep_past()
            self.iterate()
            self.evaluate(self.schedule.due)
            if time.perf_counter() - saved > 60 * config.machine.save_every_minutes:
                self.save()
                saved = time.perf_counter()
        self.save()
        if not stopped:
            self.evaluate(self.schedule.at_end)
        done = f"stopped at {config.used(progress):.0%}" if stopped else "done"
        self.log.say(f"{done}: {progress.decisions:,} decisions in {progress.deals:,} deals; saved in {self.folder}")

    def each(self, task: Callable[Concatenate[Worker, P], T], *args: P.args, **kwargs: P.kwargs) -> list[T]:
        """Return `task(worker, *args)` of every worker of all processes, by rank."""
        return self.group.gather(self.pool.each(task, *args, **kwargs))

    def iterate(self) -> None:
        """Let every worker make one iteration of PPO, and average all weights and moments (local SGD)."""
        begin, config, progress, shared = time.perf_counter(), self.config, self.progress, self.shared
        now = config.scheduled(progress)
        opponents = self.group.from_first(
            lambda: opponents_now(config.opponents.names, self.folder / PAST_NAME, progress.decisions)
        )
        parts = self.each(Worker.iterate, progress.iteration, progress.deals, now, opponents)
        torch.mean(shared.workers, 0, out=shared.mean)
        self.group.average(shared.mean)
        self.pool.each(Worker.synchronise)
        decisions = sum(part.pop("decisions") for part in parts)
        self._publish(decisions)
        progress.iteration += 1
        progress.decisions += decisions
        progress.deals += len(parts) * config.tables
        end = time.perf_counter()
        progress.seconds = self.group.from_first(lambda: end - self.started)  # which the schedules follow
        metrics: Metrics = {**position(progress), "decisions_per_s": decisions / (end - begin), **now._asdict()}
        for key in parts[0]:
            metrics[key] = float(np.mean([part[key] for part in parts]))
        self.log.iteration(metrics, config.used(progress))

    def _publish(self, decisions: int) -> None:
        """Move the published weights towards the mean: Polyak averaging, by the decisions learned from since then.

        By decisions, so that the average does not depend on the number of tables.
        """
        average = self.config.schedule.ema_decisions
        fresh = -math.expm1(-decisions / average) if average else 1.0
        published = self.shared.published[: self.pool.local.learner.parameters.size]
        published.lerp_(self.shared.mean[: len(published)], fresh)

    def evaluate(self, opponents_to_meet: Callable[[], Sequence[str]]) -> None:
        """Play the fixed deals against some opponents, and keep the weights if they beat the best before them."""
        begin = time.perf_counter()
        metrics: Metrics = position(self.progress)
        opponents = self.group.from_first(opponents_to_meet)
        for opponent in opponents:
            met = time.perf_counter()
            total = squares = 0.0
            for place, rules in enumerate(dict.fromkeys(self.config.all_rules)):
                mean, error = mean_and_error(np.concatenate(self.each(Worker.evaluate, opponent, rules)))
                name = f"{opponent} {rules.show()}" if place else opponent
                metrics[f"payoff/{name}"], metrics[f"payoff_se/{name}"] = mean, error
                total, squares = total + mean, squares + error**2
            # By more than a standard error, over all rules: what is kept should not be the luckiest of many.
            if opponent == BEST and total > squares**0.5:
                self.shared.best.copy_(self.shared.published)
                self._save_weights(self.folder / BEST_NAME, self.shared.best)
            self.schedule.met(opponent, time.perf_counter() - met)
        if opponents:
            self.log.evaluation({**metrics, "seconds": time.perf_counter() - begin})

    def keep_past(self) -> None:
        """Keep the published weights, every so many decisions, for opponents or to look back."""
        every = self.config.keeps_past_every
        if every is not None:
            path = past_file(self.folder / PAST_NAME, self.progress.decisions // every * every)
            if not path.exists():
                self._save_weights(path, self.shared.published)

    def save(self) -> None:
        """Write what it takes to go on, and the published weights."""
        if self.group.rank == 0:
            save_checkpoint(self.folder, self.pool.local.learner.parameters, self.shared.published, self.progress)

    def _save_weights(self, path: Path, state: Tensor) -> None:
        if self.group.rank == 0:
            save_weights(path, self.config.spec, self.pool.local.learner.parameters.named(state), self.progress)


def position(progress: Progress) -> Metrics:
    """Return where a run stands, by metric."""
    return {
        "iteration": progress.iteration,
        "decisions": progress.decisions,
        "deals": progress.deals,
        "minutes": progress.seconds / 60,
    }
