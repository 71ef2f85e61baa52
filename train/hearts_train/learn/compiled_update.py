"""The network of a learner on a CPU: matrix products into buffers of its own, and compiled loops between them."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from hearts_agents.net import kernels as net_loops
from hearts_agents.net.weights import Floats
from hearts_env.cards import Ints, Sets
from hearts_train.learn import loss_kernels as fused
from hearts_train.learn.auxiliary_targets import seen_by_critic
from hearts_train.learn.loss_kernels import Weights
from hearts_train.learn.network import CRITIC, GUESS
from hearts_train.learn.parameters import FlatNet
from hearts_train.learn.rollout import Batch
from hearts_train.learn.stopwatch import Stopwatch

ROWS = 512
"""Decisions at a time, however large the batch: so many activations stay in a core's cache."""


class _Tower:
    """The first layer and the blocks of a network, which end in the activations that its heads read."""

    def __init__(self, flat: FlatNet, prefix: str) -> None:
        """prefix: of the names of its parameters."""
        spec = flat.net.spec
        weights, gradient = flat.named(flat.state), flat.named(flat.grad)
        blocks = [f"{prefix}blocks.{place}" for place in range(spec.blocks)]
        # Input by input in memory, see FlatNet.
        self._stem, self._stem_gradient = (each[f"{prefix}stem.weight"].t().numpy() for each in (weights, gradient))
        self._stem_bias, self._stem_bias_gradient = (each[f"{prefix}stem.bias"].numpy() for each in (weights, gradient))
        self._blocks, self._block_gradients = ([each[f"{b}.weight"] for b in blocks] for each in (weights, gradient))
        self._biases, self._bias_gradients = (
            [each[f"{b}.bias"].numpy() for b in blocks] for each in (weights, gradient)
        )
        self._hidden = [torch.empty(ROWS, spec.width) for _ in range(spec.blocks + 1)]
        self._products = [torch.empty(ROWS, spec.width) for _ in range(spec.blocks)]
        self._before = torch.empty(ROWS, spec.width)
        self._places = np.empty(len(self._stem), np.uint64)
        self.back = torch.empty(ROWS, spec.width)
        """float32 [ROWS, C]: the gradient with respect to the activations that it ends in, see `backward`."""

    def forward(self, packed: Sets) -> Tensor:
        """Activations float32 [n, C] of inputs int64 [n, words]; all of them stay in the buffers."""
        size = len(packed)
        hidden = self._hidden[0][:size]
        net_loops.stem(packed, self._stem, self._stem_bias, self._places, hidden.numpy())
        for place, (weights, bias) in enumerate(zip(self._blocks, self._biases, strict=True)):
            product, following = self._products[place][:size], self._hidden[place + 1][:size]
            torch.mm(hidden, weights.t(), out=product)
            net_loops.residual(product.numpy(), bias, hidden.numpy(), following.numpy())
            hidden = following
        return hidden

    def backward(self, packed: Sets) -> None:
        """Add to the gradient what `back` says to the inputs of the last `forward`."""
        size = len(packed)
        back, before = self.back[:size], self._before[:size]
        for place in reversed(range(len(self._blocks))):
            product, bias = self._products[place][:size], self._bias_gradients[place]
            fused.through_relu(back.numpy(), product.numpy(), before.numpy(), bias)
            self._block_gradients[place].addmm_(before.t(), self._hidden[place][:size])
            back.addmm_(before, self._blocks[place])
        bias = self._stem_bias_gradient
        fused.through_relu(back.numpy(), self._hidden[0][:size].numpy(), before.numpy(), bias)
        fused.stem_gradient(packed, before.numpy(), self._places, self._stem_gradient)


class _Head:
    """A linear layer behind a tower."""

    def __init__(self, tower: _Tower, weights: tuple[Tensor, Tensor], gradient: tuple[Tensor, Tensor]) -> None:
        """weights, gradient: float32 [O, C], and of the bias [O]."""
        self.tower = tower
        self._weights, self._gradient = weights[0], gradient[0]
        self._bias, self.bias_gradient = weights[1].numpy(), gradient[1].numpy()
        self._out = torch.empty(ROWS, len(self._bias))

    def forward(self, hidden: Tensor) -> Tensor:
        """float32 [n, O]."""
        out = self._out[: len(hidden)]
        torch.mm(hidden, self._weights.t(), out=out)
        net_loops.add_bias(out.numpy(), self._bias)
        return out

    def backward(self, out: Tensor, hidden: Tensor, first: bool = True) -> None:
        """Add to the gradient, but for the bias's, and fill the tower's `back`, or add to it if not `first`.

        out: float32 [n, O]  gradient with respect to what `forward` returned.
        """
        self._gradient.addmm_(out.t(), hidden)
        back = self.tower.back[: len(out)]
        if first:
            torch.mm(out, self._weights, out=back)
        else:
            back.addmm_(out, self._weights)


class FastNet:
    """Policy and gradient of a FlatNet without autograd.

    Agrees with `HeartsNet` and autograd up to the rounding of float32.
    """

    def __init__(self, flat: FlatNet, watch: Stopwatch) -> None:
        self._watch = watch
        self._layout = flat.net.spec.layout
        self._body = _Tower(flat, "")
        self._heads = _Head(self._body, flat.heads(flat.state), flat.heads(flat.grad))
        self._guess = _Head(self._body, *_layer(flat, GUESS)) if flat.net.guess else None
        self._critic = _Head(_Tower(flat, f"{CRITIC}."), *_layer(flat, f"{CRITIC}.value")) if flat.net.critic else None

    def policy(self, packed: Sets, legal: Sets, unseen: Sets, uniforms: Floats) -> tuple[Ints, Floats, Floats]:
        """Actions int64 [n] drawn for encodings, their log-probabilities float32 [n] and the values float32 [n].

        packed: int64 [n, words].  legal: int64 [n]  sets of actions.  unseen: int64 [n, P], read by a critic alone.
        uniforms: float32 [n] in [0, 1).
        """
        size = len(packed)
        actions, log_probs, values = np.empty(size, np.int64), np.empty(size, np.float32), np.empty(size, np.float32)
        for begin in range(0, size, ROWS):
            rows = slice(begin, begin + ROWS)
            out = self._heads.forward(self._body.forward(packed[rows])).numpy()
            self._watch.lap("rollout: network")
            fused.act(out, legal[rows], uniforms[rows], actions[rows], log_probs[rows], values[rows])
            self._watch.lap("rollout: sampling")
            if self._critic:
                seen = seen_by_critic(self._layout, packed[rows], unseen[rows])
                values[rows] = self._critic.forward(self._critic.tower.forward(seen)).numpy()[:, 0]
                self._watch.lap("rollout: critic")
        return actions, log_probs, values

    def gradient(
        self,
        batch: Batch,
        clip: float,
        value_weight: float,
        entropy_weight: float,
        guess_weight: float,
        imitates: bool,
    ) -> list[float]:
        """Add the gradient of the loss in `ppo.Learner` to the FlatNet's; the terms of the loss."""
        weights = Weights(clip, value_weight, entropy_weight, share=1 / len(batch.actions), imitates=imitates)
        sums, extras = np.zeros(fused.SUMS), np.zeros(2)
        for begin in range(0, len(batch.actions), ROWS):
            part = batch.take(slice(begin, begin + ROWS))
            hidden = self._body.forward(part.packed)
            out = self._heads.forward(hidden)
            fused.loss(out.numpy(), part, weights, self._heads.bias_gradient, sums)
            self._watch.lap("update: forward")
            self._heads.backward(out, hidden)
            if self._guess:
                extras[0] += self._guess_backward(self._guess, part, hidden, guess_weight * weights.share)
            self._body.backward(part.packed)
            self._watch.lap("update: backward")
            if self._critic:
                extras[1] += self._critic_backward(self._critic, part, weights)
        terms = [*sums, *extras[[self._guess is not None, self._critic is not None]]]
        return [float(term * weights.share) for term in terms]

    def _guess_backward(self, head: _Head, part: Batch, hidden: Tensor, weight: float) -> float:
        """Add to the gradient what the guesses add, times `weight`; the sum of their losses."""
        out = head.forward(hidden)
        loss = fused.guess_loss(out.numpy(), part.unseen, part.endings, weight, head.bias_gradient)
        head.backward(out, hidden, first=False)
        self._watch.lap("update: guesses")
        return float(loss)

    def _critic_backward(self, head: _Head, part: Batch, weights: Weights) -> float:
        """Add to the gradient what the critic adds; the sum of its squared errors."""
        seen = seen_by_critic(self._layout, part.packed, part.unseen)
        hidden = head.tower.forward(seen)
        out = head.forward(hidden)
        error = out.numpy()[:, 0] - part.returns
        out.copy_(torch.from_numpy(2 * weights.value * weights.share * error)[:, None])
        head.bias_gradient += float(out.sum())
        head.backward(out, hidden)
        head.tower.backward(seen)
        self._watch.lap("update: critic")
        return float(np.square(error, dtype=np.float64).sum())


def _layer(flat: FlatNet, name: str) -> list[tuple[Tensor, Tensor]]:
    """Weights and bias of a layer, and their gradients."""
    return [(parts[f"{name}.weight"], parts[f"{name}.bias"]) for parts in map(flat.named, (flat.state, flat.grad))]
