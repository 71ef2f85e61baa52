"""Kernels of the compiled update: drawing actions, the PPO loss with its gradient, and the backward pass of layers."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hearts_agents.net.kernels import ZERO, Places, members_of
from hearts_agents.net.weights import Floats
from hearts_env.cards import Ints, Sets
from hearts_env.fast.jit import Number, inner, kernel, zeros_below
from hearts_train.learn.rollout import Batch

_BELOW_ONE = np.float32(1 - 2.0**-20)
SUMS = 5
"""Policy loss, value loss, entropy, KL, share of clipped ratios."""

Doubles = NDArray[np.float64]


class LossWeights(NamedTuple):
    """Coefficients of the loss."""

    clip: float
    value: float
    entropy: float
    share: float
    """Weight of one decision in the mean over the minibatch."""
    imitates: bool
    """Behaviour cloning: the cross-entropy of the teacher's action stands in place of the clipped objective."""


# -- the layers --------------------------------------------------------------------------------------------------------


@kernel
def stem_gradient(packed: Sets, back: Floats, places: Places, gradient: Floats) -> None:
    """Add the gradient of the first layer's weights to `gradient`, float32 [F, C].

    back: float32 [n, C]  gradient of the layer's output.  Only the rows of bits that are set change.
    """
    units = gradient.shape[1]
    for n in range(len(packed)):
        row = back[n]
        for j in range(members_of(packed[n], places)):
            one = gradient[places[j]]
            for c in range(units):
                one[c] += row[c]


@kernel
def through_relu(back: Floats, before: Floats, out: Floats, bias: Floats) -> None:
    """Fill `out` with `back` where `before` is above 0, else 0, and add its columns to `bias`.

    All float32 [n, C] but the gradient of the bias [C].
    """
    for n in range(len(back)):
        for c in range(len(bias)):
            out[n, c] = back[n, c] if before[n, c] > ZERO else ZERO
        for c in range(len(bias)):
            bias[c] += out[n, c]


# -- the policy and its loss -------------------------------------------------------------------------------------------


@kernel
def act(heads: Floats, legal: Sets, uniforms: Floats, actions: Ints, log_probs: Floats, values: Floats) -> None:
    """Draw actions [n] from logits, and keep their log-probabilities and the values.

    heads: float32 [n, A + 1]  logits, of which only the legal ones are read and changed, and the value.
    legal: int64 [n]  sets of actions.  uniforms: float32 [n] in [0, 1).
    """
    for n in range(len(heads)):
        row = heads[n]
        _, total = _exponentials(row, legal[n])
        # Below the total, which the heap reaches: it is added up in the same order.
        mark = uniforms[n] * _BELOW_ONE * total
        heap: Number = np.float32(0)
        chosen = 0
        rest = legal[n]
        while rest != 0:
            chosen = zeros_below(rest)
            heap += row[chosen]
            rest = 0 if heap > mark else rest & (rest - 1)
        actions[n] = chosen
        log_probs[n] = math.log(row[chosen] / total)
        values[n] = row[len(row) - 1]


@inner
def _exponentials(row: Floats, legal: Number) -> tuple[Number, Number]:
    """Put e^(logit - highest) in place of the legal logits, and return the highest and the sum."""
    highest: Number = np.float32(-np.inf)
    rest = legal
    while rest != 0:
        highest = max(highest, row[zeros_below(rest)])
        rest &= rest - 1
    total: Number = np.float32(0)
    rest = legal
    while rest != 0:
        action = zeros_below(rest)
        row[action] = math.exp(row[action] - highest)
        total += row[action]
        rest &= rest - 1
    return highest, total


@kernel
def loss(heads: Floats, batch: Batch, weights: LossWeights, bias: Floats, sums: Doubles) -> None:
    """Put the gradient of the loss in place of `heads`, float32 [n, A + 1], and add it to that of the bias, [A + 1].

    The loss of `ppo.Learner.loss`, of the logits and the value in `heads`.  sums: float64 [SUMS], to which the terms of
    these decisions are added.
    """
    for n in range(len(heads)):
        row = heads[n]
        last = len(row) - 1
        action = batch.taught[n] if weights.imitates else batch.actions[n]
        logit = row[action]
        highest, total = _exponentials(row, batch.legal[n])
        log_prob = logit - highest - math.log(total)
        advantage = batch.advantages[n]
        log_ratio = log_prob - batch.log_probs[n]
        ratio = math.exp(log_ratio)
        cut = abs(ratio - 1) > weights.clip
        # Where the clipped ratio pays less, it is the objective, and a constant.
        constant = cut and (ratio > 1) == (advantage > 0)
        pull = 0.0 if constant else -ratio * advantage
        if weights.imitates:
            pull = -1.0
        error = row[last] - batch.returns[n]
        entropy = _policy_gradient(row, batch.legal[n], total, pull * weights.share, weights)
        row[action] += pull * weights.share
        row[last] = 2 * weights.value * weights.share * error
        sums[1] += error * error
        sums[2] += entropy
        if weights.imitates:
            sums[0] -= log_prob
        else:
            sums[0] -= (1 + math.copysign(weights.clip, ratio - 1)) * advantage if constant else ratio * advantage
            sums[3] += ratio - 1 - log_ratio
            sums[4] += cut
        for place in range(last + 1):
            bias[place] += row[place]


@inner
def _policy_gradient(row: Floats, legal: Number, total: Number, pull: Number, weights: LossWeights) -> Number:
    """Turn exponentials into the gradient of the logits, but for what is added at the action; return the entropy.

    pull: the gradient of the action's log-probability.
    """
    entropy = 0.0
    rest = legal
    while rest != 0:
        chance = row[zeros_below(rest)] / total
        if chance > 0:
            entropy -= chance * math.log(chance)
        rest &= rest - 1
    for other in range(len(row) - 1):
        if legal >> other & 1:
            chance = row[other] / total
            log_chance = math.log(chance) if chance > 0 else 0.0
            row[other] = chance * (weights.entropy * weights.share * (log_chance + entropy) - pull)
        else:
            row[other] = 0
    return entropy
