"""Self-play PPO: one network in all seats, learning from whole deals."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from hearts_agents.net import Net, NetAgent, draw
from hearts_agents.net_file import Floats
from hearts_env.cards import Ints, Sets
from hearts_env.executor import chosen
from hearts_env.lookup import lookup
from hearts_train.checkpoint import CHECKPOINT_NAME, Progress, load_checkpoint, save_checkpoint
from hearts_train.config import Pace, TrainConfig, TrainError, opened
from hearts_train.crew import Crew
from hearts_train.flat import FlatNet, state_size
from hearts_train.league import OPPONENTS, duplicate_payoffs, mean_and_error
from hearts_train.machine import commit, machine, versions
from hearts_train.network import HeartsNet
from hearts_train.report import Metrics, Report
from hearts_train.returns import explained_variance
from hearts_train.rollout import Batch, Policy, Rollout
from hearts_train.stop import stop_requests
from hearts_train.stopwatch import Stopwatch

if TYPE_CHECKING:
    from hearts_train.fast_net import FastNet

__all__ = ["Learner", "TrainConfig", "TrainError", "train"]

TRAINING_IDS = 1 << 62
"""Deal ids of training start here, far from those that people and evaluations use."""
_IDS_PER_SEED = 1 << 40
_EVALUATION_SHARE = 0.1
MEAN, SHOWN = -2, -1
"""Rows behind those of the workers: the mean of their states, and the weights for players and evaluations."""


def train(config: TrainConfig) -> Path:
    """Train until the budget is used or Ctrl-C, and return the run directory.

    The directory then holds config.json, metrics.jsonl, TensorBoard's files, checkpoint.safetensors to resume from,
    and net.safetensors, which is the agent `net:DIR`.  Raises TrainError, RulesError, CheckpointError or CrewError
    (all ValueErrors).  With more than one worker a script must call this under `if __name__ == "__main__":`.
    """
    config, run = opened(config)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    # One row for what each worker has learned, then the mean, from which all go on, and the weights for players.
    shared = torch.zeros(config.workers + 2, state_size(config.spec)).share_memory_()  # type: ignore[no-untyped-call]
    try:
        with stop_requests() as stop, Crew(config.workers, Learner, config, shared) as crew:
            _run(config, run, crew, shared, stop)
    finally:
        torch.set_num_threads(threads)
    return run


def _run(config: TrainConfig, run: Path, crew: Crew[Learner], shared: Tensor, stop: threading.Event) -> None:
    learner, progress = crew.local, Progress()
    shown = shared[SHOWN, : learner.flat.size]
    if (run / CHECKPOINT_NAME).exists():
        progress = load_checkpoint(run, learner.net, learner.flat.moments(), learner.flat.named(shown))
    else:
        shown.copy_(learner.flat.weights.detach())
    shared[MEAN] = learner.flat.state
    crew.each("adopt")
    # What is compiled at first use is compiled now, before the clock of training and evaluations runs.
    crew.each("warm_up")

    def save() -> float:
        save_checkpoint(run, learner.net, learner.flat.moments(), learner.flat.named(shown), progress)
        return time.perf_counter()

    with contextlib.closing(Report(run, progress.decisions)) as report:
        report.session({**_position(progress), "commit": commit(), "machine": machine(), "versions": versions()})
        started = time.perf_counter() - progress.seconds
        evaluated, saved = _evaluate(config, crew, progress, report), time.perf_counter()
        while config.used(progress) < 1 and not stop.is_set():
            _iterate(config, crew, shared, progress, report, started)
            if time.perf_counter() > evaluated:
                evaluated = _evaluate(config, crew, progress, report)
            if time.perf_counter() - saved > 60 * config.save_every_minutes:
                saved = save()
        save()
        if not stop.is_set():
            _evaluate(config, crew, progress, report)
        done = f"stopped at {config.used(progress):.0%}" if stop.is_set() else "done"
        report.say(f"{done}: {progress.decisions:,} decisions in {progress.deals:,} deals; saved in {run}")


def _iterate(
    config: TrainConfig, crew: Crew[Learner], shared: Tensor, progress: Progress, report: Report, started: float
) -> None:
    """One round: every worker plays and learns, then all weights and moments are averaged.  Changes `progress`."""
    begin, pace = time.perf_counter(), config.pace(progress)
    parts = crew.each("iterate", progress.iteration, progress.deals, pace)
    torch.mean(shared[:MEAN], 0, out=shared[MEAN])
    crew.each("adopt")
    decisions = sum(part.pop("decisions") for part in parts)
    # Polyak averaging of what is shown, by decisions, so that it does not depend on the number of tables.
    fresh = -math.expm1(-decisions / config.ema_decisions) if config.ema_decisions else 1.0
    shown = shared[SHOWN, : crew.local.flat.size]
    shown.lerp_(shared[MEAN, : len(shown)], fresh)
    progress.iteration += 1
    progress.decisions += decisions
    progress.deals += config.workers * pace.tables
    now = time.perf_counter()
    progress.seconds = now - started
    metrics: Metrics = {**_position(progress), "decisions_per_s": decisions / (now - begin), **pace._asdict()}
    for key in parts[0]:
        metrics[key] = float(np.mean([part[key] for part in parts]))
    report.iteration(metrics, config.used(progress))


def _evaluate(config: TrainConfig, crew: Crew[Learner], progress: Progress, report: Report) -> float:
    """Play the fixed deals against each opponent; when to do it next, on the clock of time.perf_counter."""
    begin = time.perf_counter()
    metrics: Metrics = _position(progress)
    for opponent in OPPONENTS:
        payoffs = np.concatenate(crew.each("evaluate", opponent))
        metrics[f"payoff/{opponent}"], metrics[f"payoff_se/{opponent}"] = mean_and_error(payoffs)
    cost = time.perf_counter() - begin
    report.evaluation({**metrics, "seconds": cost})
    return time.perf_counter() + max(60 * config.eval_every_minutes, cost / _EVALUATION_SHARE)


def _position(progress: Progress) -> Metrics:
    position: Metrics = dataclasses.asdict(progress)
    position["minutes"] = position.pop("seconds") / 60
    return position


class Learner:
    """One worker: plays deals with the network in all seats, and learns from them."""

    def __init__(self, rank: int, config: TrainConfig, shared: Tensor) -> None:
        """shared: float32 [workers + 2, state]  what each worker has learned; the mean; weights for players."""
        self.rank = rank
        self.config = config
        self.shared = shared
        spec = config.spec
        self.net = HeartsNet.fresh(spec, config.seed).to(config.device)
        self.flat = FlatNet(self.net)
        self.optimizer = self.flat.adam()
        self.watch = Stopwatch()
        self.rollout = Rollout(lookup(spec.rules), spec.layout, config.most_tables, self.watch)
        self.fast: FastNet | None = None
        if chosen() == "compiled" and config.device == "cpu":
            from hearts_train.fast_net import FastNet  # here, because it needs numba

            self.fast = FastNet(self.flat, self.watch)

    # -- what the crew is asked to do --------------------------------------------------------------------------------

    def adopt(self) -> None:
        """Go on from the mean of all workers."""
        self.flat.state.copy_(self.shared[MEAN])

    def warm_up(self) -> None:
        """Play and learn a little, for nothing."""
        rollout = Rollout(self.rollout.lookup, self.rollout.layout, 2, self.watch)
        rollout.collect(np.arange(2), self._policy(np.random.default_rng(0)))
        self._gradient(rollout.batch(1.0, 1.0), 0.0)
        for opponent in OPPONENTS:
            duplicate_payoffs(self.config.spec.rules, self._player(), opponent, np.arange(2))

    def evaluate(self, opponent: str) -> NDArray[np.float64]:
        """Payoffs of the most probable actions against `opponent`, on this worker's share of the fixed deal ids.

        Of the weights for players.
        """
        ids = np.arange(self.rank, self.config.eval_ids, self.config.workers)
        return duplicate_payoffs(self.config.spec.rules, self._player(), opponent, ids)

    def _player(self) -> NetAgent:
        """The agent of the weights for players."""
        weights = self.flat.named(self.shared[SHOWN]).items()
        return NetAgent(Net(self.config.spec, {name: tensor.numpy() for name, tensor in weights}))

    def iterate(self, iteration: int, deals: int, pace: Pace) -> Metrics:
        """Play this worker's deals and learn from them; what came of it, by metric."""
        config = self.config
        rng = np.random.default_rng([config.seed, self.rank, iteration])
        first = TRAINING_IDS + config.seed * _IDS_PER_SEED + deals + self.rank * pace.tables
        begin = time.perf_counter()
        self.watch.start()
        self.rollout.collect(first + np.arange(pace.tables), self._policy(rng))
        played = time.perf_counter()
        metrics = self._update(rng, pace)
        self.shared[self.rank] = self.flat.state
        return {
            "decisions": self.rollout.size,
            "rollout_seconds": played - begin,
            "update_seconds": time.perf_counter() - played,
            "moon_rate": float(self.rollout.moons[: pace.tables].mean()),
            **metrics,
        }

    # -- playing -----------------------------------------------------------------------------------------------------

    def _policy(self, rng: np.random.Generator) -> Policy:
        play = self.fast.policy if self.fast else self._torch_policy
        return lambda packed, legal: play(packed, legal, rng.random(len(packed), np.float32))

    @torch.inference_mode()
    def _torch_policy(self, packed: Sets, legal: Sets, uniforms: Floats) -> tuple[Ints, Floats, Floats]:
        logits, values = self.net(self._rows(torch.from_numpy(packed)))
        log_policy = logits.log_softmax(1).cpu().numpy()
        actions = draw(np.exp(log_policy), uniforms)
        self.watch.lap("rollout: network")
        return actions, log_policy[np.arange(len(actions)), actions], values.cpu().numpy()

    def _rows(self, packed: Tensor) -> Tensor:
        """Packed encodings int64 [n, words] as HeartsNet takes them, uint8 [n, F], on its device."""
        eights = packed.to(self.config.device).view(torch.uint8)[:, :, None]
        bits = eights >> torch.arange(8, dtype=torch.uint8, device=eights.device) & 1
        return bits.flatten(1)[:, : self.rollout.layout.size]

    # -- learning ----------------------------------------------------------------------------------------------------

    def _update(self, rng: np.random.Generator, pace: Pace) -> Metrics:
        config, rollout = self.config, self.rollout
        whole = rollout.batch(config.gae_lambda, config.reward_scale)
        guesses = rollout.values[: rollout.size]
        outcomes = config.reward_scale * rollout.payoffs.reshape(-1)[rollout.chain[: rollout.size]]
        metrics: Metrics = {
            "explained_variance": explained_variance(guesses, whole.returns),
            "explained_outcome": explained_variance(guesses, outcomes.astype(np.float32)),
        }
        # Over the worker's whole batch, so that a step does not depend on the luck of a small minibatch.
        normal = (whole.advantages - whole.advantages.mean()) / (whole.advantages.std() + 1e-8)
        whole = whole._replace(advantages=normal)
        self.watch.lap("update: returns")
        self.optimizer.param_groups[0]["lr"] = pace.lr
        steps = max(1, round(rollout.size / pace.minibatch))
        seen = [
            self._gradient_step(whole.take(rows), pace.entropy_weight)
            for _ in range(config.epochs)
            for rows in np.array_split(rng.permutation(rollout.size), steps)
        ]
        return metrics | dict(zip(_LOSS_METRICS, np.mean(seen, axis=0).tolist(), strict=True))

    def _gradient_step(self, batch: Batch, entropy_weight: float) -> list[float]:
        """One step of Adam on the clipped loss; _LOSS_METRICS."""
        self.watch.lap("update: gather")
        self.flat.grad.zero_()
        terms = self._gradient(batch, entropy_weight)
        norm = torch.nn.utils.clip_grad_norm_([self.flat.weights], self.config.max_grad_norm)
        self.optimizer.step()
        self.watch.lap("update: optimiser")
        return [*terms, float(norm)]

    def _gradient(self, batch: Batch, entropy_weight: float) -> list[float]:
        """Add the gradient of the clipped loss (Schulman et al., arXiv 1707.06347); _LOSS_METRICS but for the norm."""
        config = self.config
        if self.fast:
            return self.fast.gradient(batch, config.clip, config.value_weight, entropy_weight)
        packed, _, actions, old, advantages, returns = (torch.from_numpy(c).to(config.device) for c in batch)
        logits, values = self.net(self._rows(packed))
        log_policy = logits.log_softmax(1)
        log_ratio = log_policy.gather(1, actions[:, None])[:, 0] - old
        ratio = log_ratio.exp()
        clipped = ratio.clamp(1 - config.clip, 1 + config.clip)
        policy_loss = -torch.minimum(ratio * advantages, clipped * advantages).mean()
        value_loss = F.mse_loss(values, returns)
        entropy = -(log_policy.exp() * log_policy).sum(1).mean()
        loss = policy_loss + config.value_weight * value_loss - entropy_weight * entropy
        self.watch.lap("update: forward")
        loss.backward()
        self.watch.lap("update: backward")
        kl = (ratio - 1 - log_ratio).mean()  # Schulman, "Approximating KL Divergence", 2020: the estimator k3
        cut = ((ratio - 1).abs() > config.clip).float().mean()
        terms: list[float] = torch.stack([policy_loss, value_loss, entropy, kl, cut]).tolist()
        return terms


_LOSS_METRICS = ("policy_loss", "value_loss", "entropy", "kl", "clip_fraction", "grad_norm")
