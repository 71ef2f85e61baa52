"""Self-play PPO: one network in all seats, learning from whole deals."""

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
from hearts_env.game.compiled_rules import lookup
from hearts_env.game.rules import Rules
from hearts_train.learn.auxiliary_targets import asked_and_true, seen_by_critic
from hearts_train.learn.deals import drawn_ids, drawn_scores
from hearts_train.learn.network import HeartsNet
from hearts_train.learn.opponents import LEARNS, Others, Pool
from hearts_train.learn.parameters import FlatNet
from hearts_train.learn.returns import explained_variance
from hearts_train.learn.rollout import Batch, Policy, Rollout
from hearts_train.learn.stopwatch import Stopwatch
from hearts_train.run.config import Pace, TrainConfig
from hearts_train.run.log import Metrics

if TYPE_CHECKING:
    from hearts_train.learn.compiled_update import FastNet


class Learner:
    """One worker: plays deals with the network in all seats, and learns from them."""

    def __init__(self, config: TrainConfig, rank: int = 0) -> None:
        """rank: of this worker among all of the run, which picks its deals and random numbers."""
        self.rank = rank
        self.config = config
        spec = config.spec
        self.net = HeartsNet.fresh(spec, config.seed, config.extras).to(config.device)
        self.flat = FlatNet(self.net)
        self.optimizer = self.flat.adam()
        self.watch = Stopwatch()
        self.games = [self._game(rules) for rules in config.all_rules]
        self.pool, self.rollout = self.games[0]
        self.teacher = make(config.imitate) if config.imitate else None
        self.fast: FastNet | None = None
        if chosen() == "compiled" and config.device == "cpu" and config.precision == "float32":
            from hearts_train.learn.compiled_update import FastNet  # here, because it needs numba

            self.fast = FastNet(self.flat, self.watch)

    def _game(self, rules: Rules) -> tuple[Pool, Rollout]:
        """What it takes to play by these rules."""
        config = self.config
        rollout = Rollout(lookup(rules), config.spec.layout, config.most_tables, self.watch, any(config.extras))
        return Pool(rules.num_players, config.seats_that_learn(rules)), rollout

    def warm_up(self) -> None:
        """Compile what is compiled at first use, by playing and learning a little for nothing."""
        rollout = dataclasses.replace(self.rollout, tables=2)
        rollout.collect(np.arange(2), self._policy(np.random.default_rng(0)))
        self._gradient(rollout.batch(1.0, 1.0), 0.0)

    def iterate(self, iteration: int, deals: int, pace: Pace, opponents: Sequence[str] = ()) -> Metrics:
        """Play this worker's deals, some of them with one of the opponents, and learn; what came of it, by metric."""
        config = self.config
        # By turns, and each worker at another place: an average is then over several rules.
        self.pool, self.rollout = self.games[(iteration + self.rank) % len(self.games)]
        rng = np.random.default_rng([config.seed, self.rank, iteration])
        begin = time.perf_counter()
        self.watch.start()
        others = self._others(opponents, pace.tables, rng)
        teacher = self.teacher if pace.imitates else None
        game, before = self.rollout.lookup, deals + self.rank * pace.tables
        ids = drawn_ids(game, config.seed, before, pace.tables, config.same_deal, config.moon_share)
        scores = drawn_scores(game, pace.tables, config.game_share, rng) if config.game_share else None
        self.rollout.collect(ids, self._policy(rng), others, teacher, scores)
        played = time.perf_counter()
        metrics = self._update(rng, pace)
        return {
            "decisions": self.rollout.size,
            "rollout_seconds": played - begin,
            "update_seconds": time.perf_counter() - played,
            "moon_rate": float(self.rollout.moons[: pace.tables].mean()),
            **metrics,
            **self._met(others),
        }

    def _others(self, opponents: Sequence[str], tables: int, rng: np.random.Generator) -> Others | None:
        met = round(self.config.opponent_share * tables)
        if not opponents or not met:
            return None
        return self.pool.others(opponents[int(rng.integers(len(opponents)))], tables, met)

    def _met(self, others: Others | None) -> Metrics:
        """How the policy did at tables with an opponent."""
        if others is None:
            return {}
        mixed = (others.lineup != LEARNS).any(axis=1)
        payoffs, learns = self.rollout.payoffs[: len(mixed)][mixed], others.lineup[mixed] == LEARNS
        return {"payoff_opponents": float(payoffs[learns].mean())}

    # -- playing -----------------------------------------------------------------------------------------------------

    def _policy(self, rng: np.random.Generator) -> Policy:
        play = self.fast.policy if self.fast else self._torch_policy
        return lambda packed, legal, unseen: play(packed, legal, unseen, rng.random(len(packed), np.float32))

    @torch.inference_mode()
    def _torch_policy(self, packed: Sets, legal: Sets, unseen: Sets, uniforms: Floats) -> tuple[Ints, Floats, Floats]:
        with self._autocast():
            logits, values = self.net(self._rows(torch.from_numpy(packed)))
            if self.net.critic:
                values = self.net.critic(self._seen_by_critic(packed, unseen))
        log_policy = logits.float().log_softmax(1).cpu().numpy()
        actions = draw(np.exp(log_policy), uniforms)
        self.watch.lap("rollout: network")
        return actions, log_policy[np.arange(len(actions)), actions], values.float().cpu().numpy()

    def _autocast(self) -> torch.autocast:
        """Matrix products in the run's precision; the weights stay in float32."""
        config = self.config
        return torch.autocast(torch.device(config.device).type, torch.bfloat16, config.precision == "bfloat16")

    def _rows(self, packed: Tensor) -> Tensor:
        """Packed encodings int64 [n, words] as HeartsNet takes them, uint8 [n, F], on its device."""
        return self._bits(packed)[:, : self.rollout.layout.size]

    def _seen_by_critic(self, packed: Sets, unseen: Sets) -> Tensor:
        """The same for its critic, uint8 [n, 64 W]."""
        return self._bits(torch.from_numpy(seen_by_critic(self.rollout.layout, packed, unseen)))

    def _bits(self, words: Tensor) -> Tensor:
        """The bits of numbers int64 [n, W], uint8 [n, 64 W], on the network's device."""
        eights = words.to(self.config.device).view(torch.uint8)[:, :, None]
        bits = eights >> torch.arange(8, dtype=torch.uint8, device=eights.device) & 1
        return bits.flatten(1)

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
        if config.same_deal > 1:
            freed = rollout.without_luck(whole.advantages, config.reward_scale)
            metrics["luck"] = explained_variance(whole.advantages - freed, whole.advantages)
            whole = whole._replace(advantages=freed)
        # Over the worker's whole batch, so that a step does not depend on the luck of a small minibatch.
        normal = (whole.advantages - whole.advantages.mean()) / (whole.advantages.std() + 1e-8)
        whole = whole._replace(advantages=normal)
        self.watch.lap("update: returns")
        self.optimizer.param_groups[0]["lr"] = pace.lr
        steps = max(1, round(rollout.size / pace.minibatch))
        seen = [
            self._gradient_step(whole.take(rows), pace)
            for _ in range(config.epochs)
            for rows in np.array_split(rng.permutation(rollout.size), steps)
        ]
        return metrics | dict(zip(_loss_metrics(config), np.mean(seen, axis=0).tolist(), strict=True))

    def _gradient_step(self, batch: Batch, pace: Pace) -> list[float]:
        """One step of Adam on the clipped loss; see `_loss_metrics`."""
        self.watch.lap("update: gather")
        self.flat.grad.zero_()
        terms = self._gradient(batch, pace.entropy_weight, pace.imitates)
        norm = torch.nn.utils.clip_grad_norm_([self.flat.weights], self.config.max_grad_norm)
        self.optimizer.step()
        self.watch.lap("update: optimiser")
        return [*terms, float(norm)]

    def _gradient(self, batch: Batch, entropy_weight: float, imitates: bool = False) -> list[float]:
        """Add the gradient of the clipped loss (Schulman et al., arXiv 1707.06347), and of those of guesses and critic.

        The terms of the loss: see `_loss_metrics`; all but the norm.  imitates: the cross-entropy of a teacher's
        policy stands in place of the clipped loss.
        """
        config = self.config
        if self.fast:
            return self.fast.gradient(batch, config.clip, config.value_weight, entropy_weight, config.aux, imitates)
        packed, _, actions, old, advantages, returns = (torch.from_numpy(c).to(config.device) for c in batch[:6])
        rows = self._rows(packed)
        with self._autocast():
            hidden = self.net.body(rows)
            logits, values = self.net.heads(hidden, rows)
            guesses = self.net.guess(hidden) if self.net.guess else None
            judged = self.net.critic(self._seen_by_critic(batch.packed, batch.unseen)) if self.net.critic else None
        log_policy, values = logits.float().log_softmax(1), values.float()
        log_probs = log_policy.gather(1, actions[:, None])[:, 0]
        log_ratio = torch.zeros_like(log_probs) if imitates else log_probs - old
        ratio = log_ratio.exp()
        clipped = ratio.clamp(1 - config.clip, 1 + config.clip)
        clipped_loss = -torch.minimum(ratio * advantages, clipped * advantages).mean()
        policy_loss = self._taught_loss(log_policy, batch) if imitates else clipped_loss
        value_loss = F.mse_loss(values, returns)
        entropy = -(log_policy.exp() * log_policy).sum(1).mean()
        extras: list[Tensor] = []
        loss = policy_loss + config.value_weight * value_loss - entropy_weight * entropy
        if guesses is not None:
            extras.append(self._guess_loss(guesses.float(), batch))
            loss = loss + config.aux * extras[-1]
        if judged is not None:
            extras.append(F.mse_loss(judged.float(), returns))
            loss = loss + config.value_weight * extras[-1]
        self.watch.lap("update: forward")
        loss.backward()  # type: ignore[no-untyped-call]
        self.watch.lap("update: backward")
        kl = (ratio - 1 - log_ratio).mean()  # Schulman, "Approximating KL Divergence", 2020: the estimator k3
        cut = ((ratio - 1).abs() > config.clip).float().mean()
        terms: list[float] = torch.stack([policy_loss, value_loss, entropy, kl, cut, *extras]).tolist()
        return terms

    def _taught_loss(self, log_policy: Tensor, batch: Batch) -> Tensor:
        """The cross-entropy of the teacher's policy, mean over the batch."""
        taught = torch.from_numpy(batch.taught).to(log_policy)
        # An illegal action has no chance, and a logarithm of almost minus infinity.
        return -(taught * log_policy).sum(1).mean()

    def _guess_loss(self, guesses: Tensor, batch: Batch) -> Tensor:
        """The sum of the cross-entropies of what is asked at a decision, mean over the batch."""
        asked, true = asked_and_true(batch.unseen, batch.endings, self.rollout.layout.seats)
        target, weight = (torch.from_numpy(bits).to(guesses) for bits in (true, asked))
        loss = F.binary_cross_entropy_with_logits(guesses, target, weight, reduction="sum")
        return loss / len(batch.actions)


def _loss_metrics(config: TrainConfig) -> list[str]:
    """The terms of the loss and the norm of its gradient, by name."""
    terms = ["policy_loss", "value_loss", "entropy", "kl", "clip_fraction"]
    extras = ["guess_loss"] * config.extras.guess + ["critic_loss"] * config.extras.critic
    return [*terms, *extras, "grad_norm"]
