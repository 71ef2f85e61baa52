"""The loops of the compiled update that `hearts_agents.net.kernels` has not: the policy, its loss, the way back."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hearts_agents.net.kernels import ZERO, Places, members_of
from hearts_agents.net.weights import Floats
from hearts_env.cards import NUM_CARDS, Ints, Sets
from hearts_env.fast.jit import Number, inner, kernel, zeros_below
from hearts_train.learn.auxiliary_targets import SEAT_GUESSES
from hearts_train.learn.rollout import Batch

_BELOW_ONE = np.float32(1 - 2.0**-20)
SUMS = 5
"""Policy loss, value loss, entropy, KL, share of cut ratios."""


Doubles = NDArray[np.float64]


class Weights(NamedTuple):
    """What the loss depends on besides the data."""

    clip: float
    value: float
    entropy: float
    share: float
    """Of one decision in the mean over the minibatch."""
    imitates: bool
    """The policy follows a teacher's."""


# -- the layers --------------------------------------------------------------------------------------------------------


@kernel
def stem_gradient(packed: Sets, back: Floats, places: Places, gradient: Floats) -> None:
    """Add to `gradient`, float32 [F, C], what `back`, float32 [n, C], says."""
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
    """Put e^(logit - highest) in place of the legal logits; the highest, and the sum."""
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
def loss(heads: Floats, batch: Batch, weights: Weights, bias: Floats, sums: Doubles) -> None:
    """Put the gradient of the loss in place of `heads`, float32 [n, A + 1], and add it to that of the bias, [A + 1].

    The same loss as in `ppo.Learner`, of the logits and the value in `heads`.  sums: float64 [SUMS], to which the terms
    of these decisions are added.
    """
    for n in range(len(heads)):
        row = heads[n]
        last = len(row) - 1
        logit = row[batch.actions[n]]
        wanted = 0.0
        for action in range(batch.taught.shape[1]):
            wanted += batch.taught[n, action] * row[action]
        highest, total = _exponentials(row, batch.legal[n])
        advantage = batch.advantages[n]
        log_ratio = logit - highest - math.log(total) - batch.log_probs[n]
        ratio = math.exp(log_ratio)
        cut = abs(ratio - 1) > weights.clip
        # Where the cut ratio pays less, it is the objective, and a constant.
        constant = cut and (ratio > 1) == (advantage > 0)
        pull = 0.0 if constant else -ratio * advantage
        if weights.imitates:
            pull = -1.0
        error = row[last] - batch.returns[n]
        entropy = _policy_gradient(row, batch.legal[n], total, pull * weights.share, weights)
        if weights.imitates:
            for action in range(last):
                row[action] -= batch.taught[n, action] * weights.share
        else:
            row[batch.actions[n]] += pull * weights.share
        row[last] = 2 * weights.value * weights.share * error
        sums[1] += error * error
        sums[2] += entropy
        if weights.imitates:
            sums[0] -= wanted - highest - math.log(total)
        else:
            sums[0] -= (1 + math.copysign(weights.clip, ratio - 1)) * advantage if constant else ratio * advantage
            sums[3] += ratio - 1 - log_ratio
            sums[4] += cut
        for action in range(last + 1):
            bias[action] += row[action]


@inner
def _policy_gradient(row: Floats, legal: Number, total: Number, pull: Number, weights: Weights) -> Number:
    """Turn exponentials into the gradient of the logits, but for what is added at actions; the policy's entropy.

    pull: the gradient of the log-probability of the action that was played, or of all together.
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


# -- the guesses -------------------------------------------------------------------------------------------------------


@kernel
def guess_loss(guesses: Floats, unseen: Sets, endings: Sets, weight: Number, bias: Floats) -> Number:
    """Put the gradient of `weight` times the loss in place of `guesses`, and add it to that of the bias.

    guesses: float32 [n, G].  unseen, endings: int64 [n, P].  bias: float32 [G].  The loss, which is returned, is the
    sum of the cross-entropies of all that is asked (see `truth`).
    """
    total = 0.0
    for n in range(len(guesses)):
        row = guesses[n]
        # One logarithm of a product for all: no factor is above 2, and there are far fewer than 1,024.
        product = 1.0
        for seat in range(unseen.shape[1]):
            for guess in range(NUM_CARDS if seat == 0 else 0, SEAT_GUESSES):
                ending = guess - NUM_CARDS
                asked = unseen[n, 0] >> guess & 1 if ending < 0 else 1
                true = unseen[n, seat] >> guess & 1 if ending < 0 else endings[n, seat] >> ending & 1
                linear, factor = _guessed(row, seat * SEAT_GUESSES + ending, asked, true, weight)
                total += linear
                product *= factor
        total += math.log(product)
        row[unseen.shape[1] * SEAT_GUESSES - NUM_CARDS :] = 0
        for place in range(len(row)):
            bias[place] += row[place]
    return total


@inner
def _guessed(row: Floats, place: Number, asked: Number, true: Number, weight: Number) -> tuple[Number, Number]:
    """Turn a logit into its gradient; the cross-entropy is the first number and the logarithm of the second."""
    logit = row[place]
    small = math.exp(-abs(logit))
    chance = (1 if logit > 0 else small) / (1 + small)
    row[place] = asked * weight * (chance - true)
    return asked * (max(logit, ZERO) - true * logit), 1 + asked * small
