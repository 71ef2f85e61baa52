"""Proximal policy optimisation by self-play, in the order of the code: rollout, returns, minibatches, loss, step.

PPO is from Schulman et al., arXiv 1707.06347.  "Detail N" is the N-th core detail of Huang et al., "The 37
Implementation Details of Proximal Policy Optimization", ICLR blog track 2022.  One network plays all seats, and a
trajectory is what one seat decides in one deal.  A `Learner` is one worker; `run.session` drives many of them.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from hearts_agents import make
from hearts_agents.net.agent import draw
from hearts_agents.net.weights import Floats
from hearts_env.cards import Ints, Sets
from hearts_env.executor import chosen
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.rules import Rules
from hearts_train.learn.deals import drawn_ids, drawn_scores
from hearts_train.learn.network import HeartsNet
from hearts_train.learn.opponents import LEARNS, OpponentPool, Opponents
from hearts_train.learn.parameters import FlatParameters
from hearts_train.learn.returns import explained_variance
from hearts_train.learn.rollout import Actor, Batch, Rollout
from hearts_train.learn.stopwatch import Stopwatch
from hearts_train.run.config import Scheduled, TrainConfig
from hearts_train.run.log import Metrics

if TYPE_CHECKING:
    from hearts_train.learn.compiled_update import CompiledUpdate

VALUE_WEIGHT = 0.5
"""Weight of the value's squared error in the loss (detail 10)."""
MAX_GRAD_NORM = 0.5
"""Gradient-norm clipping: a longer gradient is scaled down to this length (detail 11)."""
LOSS_METRICS = ("policy_loss", "value_loss", "entropy", "kl", "clip_fraction", "grad_norm")
"""Names of the metrics of a gradient step (detail 12); docs/training.md says what each is."""


class Learner:
    """One worker's PPO: it plays deals with the network in all seats, and learns from their decisions."""

    def __init__(self, config: TrainConfig, rank: int = 0) -> None:
        """rank: of this worker among all of the run, which picks its deals and random numbers."""
        self.config = config
        self.rank = rank
        self.net = HeartsNet.fresh(config.spec, config.seed).to(config.machine.device)
        self.parameters = FlatParameters(self.net)
        self.optimizer = self.parameters.adam()
        self.watch = Stopwatch()
        self.games = [self._game(rules) for rules in config.all_rules]
        self.pool, self.rollout = self.games[0]
        self.teacher = make(config.schedule.imitate) if config.schedule.imitate else None
        self.compiled: CompiledUpdate | None = None
        if chosen() == "compiled" and config.machine.device == "cpu" and config.machine.precision == "float32":
            from hearts_train.learn.compiled_update import CompiledUpdate  # here, because it needs numba

            self.compiled = CompiledUpdate(self.parameters, self.watch)

    def _game(self, rules: Rules) -> tuple[OpponentPool, Rollout]:
        """Return the opponent pool and the rollout buffer for one rule set."""
        config = self.config
        rollout = Rollout(compiled_rules(rules), config.spec.layout, config.tables, self.watch)
        return OpponentPool(rules.num_players, config.seats_that_learn(rules)), rollout

    def iterate(self, iteration: int, deals: int, now: Scheduled, opponent_names: Sequence[str] = ()) -> Metrics:
        """Play this worker's deals of an iteration, learn from them, and return metrics by name.

        deals: of the run so far.  now: the scheduled hyperparameters.  opponent_names: agents, of which one is met.
        """
        # The random numbers depend on this alone, so that a resumed run needs no state of a generator.
        rng = np.random.default_rng([self.config.seed, self.rank, iteration])
        # Rule sets by turns, and each worker at another place: an average of weights is then over several.
        self.pool, self.rollout = self.games[(iteration + self.rank) % len(self.games)]
        begin = time.perf_counter()
        self.watch.start()
        opponents = self._play(deals, now, opponent_names, rng)
        played = time.perf_counter()
        learned = self.update(rng, now)
        return {
            "decisions": self.rollout.size,
            "rollout_seconds": played - begin,
            "update_seconds": time.perf_counter() - played,
            "moon_rate": float(self.rollout.moons[: self.config.tables].mean()),
            **learned,
            **self._payoff_against(opponents),
        }

    def warm_up(self) -> None:
        """Compile what is compiled at first use, by playing and learning a little for nothing."""
        rollout = dataclasses.replace(self.rollout, tables=2)
        rollout.collect(np.arange(2), self.actor(np.random.default_rng(0)))
        self.gradient(rollout.batch(1.0, 1.0), 0.0)

    # -- rollout: whole deals on fresh cards at many tables at once (detail 1) ---------------------------------------

    def _play(
        self, deals: int, now: Scheduled, opponent_names: Sequence[str], rng: np.random.Generator
    ) -> Opponents | None:
        """Fill the rollout buffer, and return who sat at the tables with an opponent."""
        config, game, game_share = self.config, self.rollout.rules, self.config.opponents.game_share
        opponents = self._opponents(opponent_names, rng)
        teacher = self.teacher if now.imitates else None
        ids = drawn_ids(config.seed, deals + self.rank * config.tables, config.tables)
        scores = drawn_scores(game, config.tables, game_share, rng) if game_share else None
        self.rollout.collect(ids, self.actor(rng), opponents, teacher, scores)
        return opponents

    def _opponents(self, names: Sequence[str], rng: np.random.Generator) -> Opponents | None:
        """Draw the opponent of this iteration, and seat it at its share of the tables."""
        tables = self.config.tables
        met = round(self.config.opponents.opponent_share * tables)
        if not names or not met:
            return None
        return self.pool.seat(names[int(rng.integers(len(names)))], tables, met)

    def _payoff_against(self, opponents: Opponents | None) -> Metrics:
        """Return the mean payoff of the seats that learn, at tables with an opponent."""
        if opponents is None:
            return {}
        mixed = (opponents.lineup != LEARNS).any(axis=1)
        payoffs, learns = self.rollout.payoffs[: len(mixed)][mixed], opponents.lineup[mixed] == LEARNS
        return {"payoff_opponents": float(payoffs[learns].mean())}

    def actor(self, rng: np.random.Generator) -> Actor:
        """Return what draws the network's actions, with their log-probabilities and the values."""
        act = self.compiled.act if self.compiled else self.act
        return lambda packed, legal: act(packed, legal, rng.random(len(packed), np.float32))

    @torch.inference_mode()
    def act(self, packed: Sets, legal: Sets, uniforms: Floats) -> tuple[Ints, Floats, Floats]:
        """Draw actions int64 [n], and return them with their log-probabilities and the values, float32 [n] each.

        packed: int64 [n, words]  encodings.  legal: int64 [n], which the encodings tell too.  uniforms: float32 [n] in
        [0, 1).  `CompiledUpdate.act` does the same in compiled loops.
        """
        with self._autocast():
            logits, values = self.net(self._rows(packed))
        log_policy = logits.float().log_softmax(1).cpu().numpy()
        actions = draw(np.exp(log_policy), uniforms)
        self.watch.lap("rollout: network")
        return actions, log_policy[np.arange(len(actions)), actions], values.float().cpu().numpy()

    # -- returns, minibatches ----------------------------------------------------------------------------------------

    def update(self, rng: np.random.Generator, now: Scheduled) -> Metrics:
        """Learn from the decisions in the rollout buffer, and return metrics: means over the gradient steps."""
        config, rollout = self.config, self.rollout
        scale = config.spec.reward_scale
        # Generalised advantage estimates (detail 5); nothing is bootstrapped, since every deal is played to its end.
        batch = rollout.batch(config.ppo.gae_lambda, scale)
        outcomes = scale * rollout.payoffs.reshape(-1)[rollout.trajectory[: rollout.size]]
        metrics = {
            "explained_variance": explained_variance(rollout.values[: rollout.size], batch.returns),
            "explained_outcome": explained_variance(rollout.values[: rollout.size], outcomes.astype(np.float32)),
        }
        # Detail 7, but over the worker's whole batch: a step does not depend on the luck of a small minibatch.
        normal = (batch.advantages - batch.advantages.mean()) / (batch.advantages.std() + 1e-8)
        batch = batch._replace(advantages=normal)
        self.watch.lap("update: returns")
        self.optimizer.param_groups[0]["lr"] = now.lr  # annealed (detail 4)
        minibatches = max(1, round(rollout.size / config.ppo.minibatch))
        # Every decision once an epoch, in another order each time (detail 6).
        terms = [
            self.gradient_step(batch.take(rows), now)
            for _ in range(config.ppo.epochs)
            for rows in np.array_split(rng.permutation(rollout.size), minibatches)
        ]
        return metrics | dict(zip(LOSS_METRICS, np.mean(terms, axis=0).tolist(), strict=True))

    # -- loss --------------------------------------------------------------------------------------------------------

    def gradient(self, batch: Batch, entropy_weight: float, imitates: bool = False) -> list[float]:
        """Add the gradient of the loss on a minibatch to `parameters.grad`; return LOSS_METRICS but the norm.

        `CompiledUpdate.gradient` does the same in compiled loops, without autograd.
        """
        if self.compiled:
            return self.compiled.gradient(batch, self.config.ppo.clip, VALUE_WEIGHT, entropy_weight, imitates)
        loss, terms = self.loss(batch, entropy_weight, imitates)
        self.watch.lap("update: forward")
        loss.backward()  # type: ignore[no-untyped-call]
        self.watch.lap("update: backward")
        numbers: list[float] = torch.stack(terms).tolist()
        return numbers

    def loss(self, batch: Batch, entropy_weight: float, imitates: bool = False) -> tuple[Tensor, list[Tensor]]:
        """Return the loss of a minibatch, and its terms: LOSS_METRICS but the norm.

        imitates: behaviour cloning, the cross-entropy of a teacher's action in place of the clipped objective.
        """
        clip = self.config.ppo.clip
        packed, _, actions, old, advantages, returns, taught = self._on_device(batch)
        with self._autocast():
            logits, values = self.net(self._rows(packed))
        log_policy, values = logits.float().log_softmax(1), values.float()
        log_probs = log_policy.gather(1, (taught if imitates else actions)[:, None])[:, 0]
        # The clipped surrogate objective (detail 8); without a ratio where the action is not the one that was played.
        log_ratio = torch.zeros_like(log_probs) if imitates else log_probs - old
        ratio = log_ratio.exp()
        clipped = ratio.clamp(1 - clip, 1 + clip)
        surrogate = torch.minimum(ratio * advantages, clipped * advantages)
        policy_loss = -(log_probs if imitates else surrogate).mean()
        # The value is not clipped, against detail 9: Andrychowicz et al., arXiv 2006.05990, find that it hurts.
        value_loss = F.mse_loss(values, returns)
        entropy = -(log_policy.exp() * log_policy).sum(1).mean()
        loss = policy_loss + VALUE_WEIGHT * value_loss - entropy_weight * entropy  # detail 10
        kl = (ratio - 1 - log_ratio).mean()  # Schulman, "Approximating KL Divergence", 2020: the estimator k3
        clip_fraction = ((ratio - 1).abs() > clip).float().mean()
        return loss, [policy_loss, value_loss, entropy, kl, clip_fraction]

    # -- step --------------------------------------------------------------------------------------------------------

    def gradient_step(self, batch: Batch, now: Scheduled) -> list[float]:
        """Make one step of Adam on a minibatch, and return LOSS_METRICS."""
        self.watch.lap("update: gather")
        self.parameters.grad.zero_()
        terms = self.gradient(batch, now.entropy_weight, now.imitates)
        norm = torch.nn.utils.clip_grad_norm_([self.parameters.weights], MAX_GRAD_NORM)
        self.optimizer.step()
        self.watch.lap("update: optimiser")
        return [*terms, float(norm)]

    # -- arrays as torch takes them ----------------------------------------------------------------------------------

    def _autocast(self) -> torch.autocast:
        """Return a context in which matrix products have the run's precision; weights stay in float32."""
        machine = self.config.machine
        return torch.autocast(torch.device(machine.device).type, torch.bfloat16, machine.precision == "bfloat16")

    def _on_device(self, batch: Batch) -> list[Tensor]:
        """Return the columns of a batch as tensors on the network's device."""
        return [torch.from_numpy(column).to(self.config.machine.device) for column in batch]

    def _rows(self, packed: Sets | Tensor) -> Tensor:
        """Return packed encodings int64 [n, words] as HeartsNet takes them, uint8 [n, F], on its device."""
        words = torch.as_tensor(packed).to(self.config.machine.device)
        # Eight bytes to a word and eight bits to a byte, the lowest first; what fills up the last word is cut off.
        octets = words.view(torch.uint8)[:, :, None]
        bits = octets >> torch.arange(8, dtype=torch.uint8, device=octets.device) & 1
        return bits.flatten(1)[:, : self.rollout.layout.size]
