"""Self-play PPO: one network in all seats, learning from whole deals."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from hearts_agents.net import HeartsNet, NetAgent, NetSpec, draw
from hearts_env import Rules
from hearts_env.cards import Bytes, Ints
from hearts_env.lookup import lookup
from hearts_train.checkpoint import (
    CHECKPOINT_NAME,
    CONFIG_NAME,
    Progress,
    load_checkpoint,
    save_checkpoint,
    write_whole,
)
from hearts_train.crew import Crew
from hearts_train.league import OPPONENTS, duplicate_payoffs, mean_and_error
from hearts_train.report import Metrics, Report
from hearts_train.returns import Floats, explained_variance
from hearts_train.rollout import Rollout
from hearts_train.stop import stop_requests

DEFAULT_MINUTES = 10.0
"""The budget of a run that names none."""
TRAINING_IDS = 1 << 62
"""Deal ids of training start here, far from those that people and evaluations use."""
_IDS_PER_SEED = 1 << 40
_EVALUATION_SHARE = 0.1


class TrainError(ValueError):
    """A configuration that cannot be trained."""


@dataclass(frozen=True)
class TrainConfig:
    """Everything that a run depends on; `hearts train` makes its options from this."""

    rules: str = "standard"
    """The rules to play: a preset, `field=value` pairs, or both."""
    minutes: float | None = None
    """Stop after so much time, evaluations included; with neither this nor decisions after ten minutes."""
    decisions: int | None = None
    """Stop after learning from so many decisions (forced ones are not counted)."""
    out: Path | None = None
    """The run directory; runs/DATE-TIME if not given."""
    resume: Path | None = None
    """Go on with the run in this directory; options not given here are the run's own."""
    seed: int = 0
    """Of the first weights, the deals and the choices, from 0 to 1,000,000."""
    workers: int = 2
    """Processes of one thread each; best one for each core."""
    tables: int = 512
    """Deals that each worker plays between updates."""
    width: int = 256
    """Units of each layer."""
    blocks: int = 3
    """Residual blocks."""
    pad: bool = False
    """Encode for up to seven seats, so that the network can be used with any number of players."""
    lr: float = 1e-3
    """Adam's learning rate at the start."""
    lr_final: float = 5e-5
    """The learning rate at the end; it falls exponentially."""
    entropy: float = 0.02
    """Weight of the entropy bonus at the start."""
    entropy_final: float = 0.002
    """Its weight at the end; it falls exponentially."""
    clip: float = 0.2
    """How far from 1 the ratio of new to old probability still pays."""
    minibatch: int = 512
    """Decisions in a gradient step of a worker, about."""
    epochs: int = 1
    """Passes over the decisions of an iteration."""
    gae_lambda: float = 0.95
    """Of the advantage estimates: 1 trusts the deal's outcome alone, 0 the value of the next decision alone."""
    value_weight: float = 0.5
    """Weight of the value's squared error in the loss."""
    max_grad_norm: float = 0.5
    """Gradients longer than this are cut to it."""
    reward_scale: float = 0.1
    """Reward per point of payoff, paid at the end of the deal."""
    eval_every_minutes: float = 0.5
    """How often to play against agents that never change; less often where it would take over a tenth of the time."""
    eval_ids: int = 200
    """Deal ids of an evaluation, from 0 on; each is played in every rotation."""
    save_every_minutes: float = 1.0
    """How often to save; also at the end and at Ctrl-C."""
    device: str = "cpu"
    """Where the network lives, in torch's words."""

    def __post_init__(self) -> None:
        for name in ("workers", "tables", "width", "minibatch", "epochs", "eval_ids"):
            _require(getattr(self, name) >= 1, name, getattr(self, name), "must be at least 1")
        for name in ("lr", "lr_final", "entropy", "entropy_final"):
            _require(getattr(self, name) > 0, name, getattr(self, name), "must be above 0")
        for name in ("minutes", "decisions"):
            _require((getattr(self, name) or 1) > 0, name, getattr(self, name), "must be above 0")
        _require(0 <= self.seed <= 1_000_000, "seed", self.seed, "must lie between 0 and 1,000,000")
        _require(0 <= self.gae_lambda <= 1, "gae_lambda", self.gae_lambda, "must lie between 0 and 1")

    @property
    def spec(self) -> NetSpec:
        """The network that is trained.  Raises RulesError for rules that do not parse."""
        return NetSpec(rules=Rules.parse(self.rules), pad=self.pad, width=self.width, blocks=self.blocks)

    def falling(self, first: float, last: float, fraction: float) -> float:
        """Exponentially from `first` to `last`, where `fraction` of the budget is used."""
        return float(first * (last / first) ** fraction)

    def used(self, progress: Progress) -> float:
        """The fraction of the budget that is used, 1 when the run is complete."""
        by_time = progress.seconds / 60 / self.minutes if self.minutes else 0.0
        by_decisions = progress.decisions / self.decisions if self.decisions else 0.0
        return min(1.0, max(by_time, by_decisions))


def train(config: TrainConfig) -> Path:
    """Train until the budget is used or Ctrl-C, and return the run directory.

    The directory then holds config.json, metrics.jsonl, TensorBoard's files, checkpoint.safetensors to resume from,
    and net.safetensors, which is the agent `net:DIR`.  Raises TrainError, RulesError, CheckpointError or CrewError
    (all ValueErrors).  With more than one worker a script must call this under `if __name__ == "__main__":`.
    """
    config, run = _opened(config)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    # One row for what each worker has learned, and a last one for the mean, from which all go on.
    shared = torch.zeros(config.workers + 1, _state_size(config.spec)).share_memory_()  # type: ignore[no-untyped-call]
    try:
        with stop_requests() as stop, Crew(config.workers, Learner, config, shared) as crew:
            _run(config, run, crew, shared, stop)
    finally:
        torch.set_num_threads(threads)
    return run


def _run(config: TrainConfig, run: Path, crew: Crew[Learner], shared: Tensor, stop: threading.Event) -> None:
    learner = crew.local
    progress = Progress()
    if (run / CHECKPOINT_NAME).exists():
        progress = load_checkpoint(run, learner.net, learner.moments())
    shared[-1] = learner.state()
    crew.each("adopt")
    # What is compiled at first use is compiled now, before the clock of training and evaluations runs.
    crew.each("warm_up")
    with contextlib.closing(Report(run, progress.decisions)) as report:
        started = time.perf_counter() - progress.seconds
        evaluated, saved = _evaluate(config, crew, progress, report), time.perf_counter()
        while config.used(progress) < 1 and not stop.is_set():
            _iterate(config, crew, shared, progress, report, started)
            if time.perf_counter() > evaluated:
                evaluated = _evaluate(config, crew, progress, report)
            if time.perf_counter() - saved > 60 * config.save_every_minutes:
                save_checkpoint(run, learner.net, learner.moments(), progress)
                saved = time.perf_counter()
        save_checkpoint(run, learner.net, learner.moments(), progress)
        if not stop.is_set():
            _evaluate(config, crew, progress, report)
        done = f"stopped at {config.used(progress):.0%}" if stop.is_set() else "done"
        report.say(f"{done}: {progress.decisions:,} decisions in {progress.deals:,} deals; saved in {run}")


def _iterate(
    config: TrainConfig, crew: Crew[Learner], shared: Tensor, progress: Progress, report: Report, started: float
) -> None:
    """One round: every worker plays and learns, then all weights and moments are averaged.  Changes `progress`."""
    begin, used = time.perf_counter(), config.used(progress)
    lr = config.falling(config.lr, config.lr_final, used)
    entropy_weight = config.falling(config.entropy, config.entropy_final, used)
    parts = crew.each("iterate", progress.iteration, progress.deals, lr, entropy_weight)
    torch.mean(shared[:-1], 0, out=shared[-1])
    crew.each("adopt")
    decisions = sum(part.pop("decisions") for part in parts)
    progress.iteration += 1
    progress.decisions += decisions
    progress.deals += config.workers * config.tables
    now = time.perf_counter()
    progress.seconds = now - started
    metrics: Metrics = {**_position(progress), "decisions_per_s": decisions / (now - begin), "lr": lr}
    metrics["entropy_weight"] = entropy_weight
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
        """shared: float32 [workers + 1, S]  learned states by rank, and the mean to go on from."""
        self.rank = rank
        self.config = config
        self.shared = shared
        spec = config.spec
        self.net = HeartsNet.fresh(spec, config.seed).to(config.device)
        self.optimizer = torch.optim.Adam(self.net.parameters(), eps=1e-5, fused=True)
        for parameter in self.net.parameters():
            zeros = [torch.zeros_like(parameter) for _ in range(2)]
            step = torch.zeros((), device=parameter.device)
            self.optimizer.state[parameter] = {"step": step, "exp_avg": zeros[0], "exp_avg_sq": zeros[1]}
        self.rollout = Rollout(lookup(spec.rules), spec.layout, config.tables)

    # -- what is averaged over the workers ---------------------------------------------------------------------------

    def moments(self) -> dict[str, Tensor]:
        """Adam's tensors by name."""
        return {
            f"{name}.{key}": tensor
            for name, parameter in self.net.named_parameters()
            for key, tensor in self.optimizer.state[parameter].items()
        }

    def state(self) -> Tensor:
        """Weights and moments in a row, float32 [S]."""
        return torch.cat([tensor.detach().reshape(-1).cpu() for tensor in self._tensors()])

    @torch.no_grad()
    def adopt(self) -> None:
        """Go on from the mean of all workers."""
        begin = 0
        for tensor in self._tensors():
            tensor.copy_(self.shared[-1, begin : begin + tensor.numel()].view_as(tensor))
            begin += tensor.numel()

    def _tensors(self) -> list[Tensor]:
        return [*self.net.parameters(), *self.moments().values()]

    # -- what the crew is asked to do --------------------------------------------------------------------------------

    def iterate(self, iteration: int, deals: int, lr: float, entropy_weight: float) -> Metrics:
        """Play this worker's deals and learn from them; what came of it, by metric."""
        config = self.config
        rng = np.random.default_rng([config.seed, self.rank, iteration])
        first = TRAINING_IDS + config.seed * _IDS_PER_SEED + deals + self.rank * config.tables
        begin = time.perf_counter()
        self.rollout.collect(first + np.arange(config.tables), lambda rows: self._policy(rows, rng))
        played = time.perf_counter()
        metrics = self._update(rng, lr, entropy_weight)
        self.shared[self.rank] = self.state()
        return {
            "decisions": self.rollout.size,
            "rollout_seconds": played - begin,
            "update_seconds": time.perf_counter() - played,
            "moon_rate": float(self.rollout.moons.mean()),
            **metrics,
        }

    def warm_up(self) -> None:
        """Play two deals against each opponent, for nothing."""
        for opponent in OPPONENTS:
            duplicate_payoffs(self.config.spec.rules, NetAgent(self.net), opponent, np.arange(2))

    def evaluate(self, opponent: str) -> NDArray[np.float64]:
        """Payoffs of the most probable actions against `opponent`, on this worker's share of the fixed deal ids."""
        ids = np.arange(self.rank, self.config.eval_ids, self.config.workers)
        return duplicate_payoffs(self.config.spec.rules, NetAgent(self.net), opponent, ids)

    @torch.inference_mode()
    def _policy(self, rows: Bytes, rng: np.random.Generator) -> tuple[Ints, Floats, Floats]:
        logits, values = self.net(torch.from_numpy(rows).to(self.config.device))
        uniforms = torch.from_numpy(rng.random(len(rows), np.float32)).to(logits.device)
        actions = draw(logits, uniforms)
        log_probs = logits.log_softmax(1).gather(1, actions[:, None])[:, 0]
        return actions.cpu().numpy(), log_probs.cpu().numpy(), values.cpu().numpy()

    def _update(self, rng: np.random.Generator, lr: float, entropy_weight: float) -> Metrics:
        config, rollout, held = self.config, self.rollout, slice(self.rollout.size)
        advantage = rollout.advantages(config.gae_lambda, config.reward_scale)
        returns = advantage + rollout.values[held]
        outcome = config.reward_scale * rollout.payoffs.reshape(-1)[rollout.chain[held]].astype(np.float32)
        metrics: Metrics = {
            "explained_variance": explained_variance(rollout.values[held], returns),
            "explained_outcome": explained_variance(rollout.values[held], outcome),
        }
        # Over the worker's whole batch, so that a step does not depend on the luck of a small minibatch.
        normal = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        inputs = torch.from_numpy(rollout.inputs[held])
        arrays = (rollout.actions[held], rollout.log_probs[held], normal, returns)
        columns = [torch.from_numpy(array).to(config.device) for array in arrays]
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        seen = []
        for _ in range(config.epochs):
            order = torch.from_numpy(rng.permutation(rollout.size))
            for rows in order.tensor_split(max(1, round(rollout.size / config.minibatch))):
                batch = [inputs[rows].to(config.device), *(column[rows.to(config.device)] for column in columns)]
                seen.append(self._gradient_step(batch, entropy_weight))
        means = torch.stack(seen).mean(0).tolist()
        return metrics | dict(zip(_LOSS_METRICS, means, strict=True))

    def _gradient_step(self, batch: list[Tensor], entropy_weight: float) -> Tensor:
        """One step of Adam on the clipped loss (Schulman et al., arXiv 1707.06347); float32 [metrics]."""
        config = self.config
        inputs, actions, old_log_probs, advantage, returns = batch
        logits, values = self.net(inputs)
        log_policy = logits.log_softmax(1)
        log_ratio = log_policy.gather(1, actions[:, None])[:, 0] - old_log_probs
        ratio = log_ratio.exp()
        clipped = ratio.clamp(1 - config.clip, 1 + config.clip)
        policy_loss = -torch.minimum(ratio * advantage, clipped * advantage).mean()
        value_loss = F.mse_loss(values, returns)
        entropy = -(log_policy.exp() * log_policy).sum(1).mean()
        loss = policy_loss + config.value_weight * value_loss - entropy_weight * entropy
        self.optimizer.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.net.parameters(), config.max_grad_norm)
        self.optimizer.step()
        with torch.no_grad():
            kl = (ratio - 1 - log_ratio).mean()  # Schulman, "Approximating KL Divergence", 2020: the estimator k3
            cut = ((ratio - 1).abs() > config.clip).float().mean()
            return torch.stack([policy_loss, value_loss, entropy, kl, cut, norm]).cpu()


_LOSS_METRICS = ("policy_loss", "value_loss", "entropy", "kl", "clip_fraction", "grad_norm")


# -- opening a run, and stopping it ----------------------------------------------------------------------------------

_FIXED = ("rules", "seed", "width", "blocks", "pad")
_NOT_SAVED = ("out", "resume")


def _opened(config: TrainConfig) -> tuple[TrainConfig, Path]:
    """The complete configuration and the directory of a new run, or of the one to resume."""
    if config.resume is not None:
        return _resumed(config, config.resume), config.resume
    if config.minutes is None and config.decisions is None:
        config = dataclasses.replace(config, minutes=DEFAULT_MINUTES)
    run = config.out or Path("runs") / time.strftime("%Y-%m-%d-%H%M%S")
    if (run / CONFIG_NAME).exists():
        raise TrainError(f"{run} holds a run already: resume it, or take another directory")
    saved = {key: value for key, value in dataclasses.asdict(config).items() if key not in _NOT_SAVED}
    assert config.spec  # bad rules are told before anything is written
    try:
        run.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TrainError(f"cannot make the run directory {run}: {error.strerror or error}") from None
    write_whole(run / CONFIG_NAME, (json.dumps(saved, indent=2) + "\n").encode())
    return config, run


def _resumed(config: TrainConfig, run: Path) -> TrainConfig:
    path = run / CONFIG_NAME
    try:
        saved = TrainConfig(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, TypeError, ValueError) as error:
        raise TrainError(f"cannot resume {run}: its {CONFIG_NAME} is missing or damaged: {error}") from None
    given: dict[str, Any] = {
        field.name: getattr(config, field.name)
        for field in dataclasses.fields(config)
        if field.name not in _NOT_SAVED and getattr(config, field.name) != field.default
    }
    for name in _FIXED:
        same = given.get(name, getattr(saved, name)) == getattr(saved, name)
        _require(same, name, given.get(name), f"the run in {run} has {getattr(saved, name)!r}, which cannot change")
    return dataclasses.replace(saved, **given)


def _state_size(spec: NetSpec) -> int:
    """Numbers in `Learner.state`: each weight, its two moments, and a step count a tensor."""
    with torch.device("meta"):
        return sum(3 * parameter.numel() + 1 for parameter in HeartsNet(spec).parameters())


def _require(holds: bool, name: str, value: object, reason: str) -> None:
    if not holds:
        raise TrainError(f"{name}={value!r}: {reason}")
