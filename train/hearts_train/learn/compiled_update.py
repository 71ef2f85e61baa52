"""Policy and gradient of the network on a CPU: matrix products into buffers of its own, with kernels between them."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from hearts_agents.net import kernels as net_kernels
from hearts_agents.net.weights import Floats
from hearts_env.cards import Ints, Sets
from hearts_train.learn import loss_kernels
from hearts_train.learn.loss_kernels import LossWeights
from hearts_train.learn.parameters import FlatParameters
from hearts_train.learn.rollout import Batch
from hearts_train.learn.stopwatch import Stopwatch

ROWS = 512
"""Decisions at a time, however large the batch: so many activations stay in a core's cache."""


class _Body:
    """First layer and residual blocks, which end in the activations that the heads read."""

    def __init__(self, parameters: FlatParameters) -> None:
        spec = parameters.net.spec
        weights, gradient = parameters.named(parameters.state), parameters.named(parameters.grad)
        blocks = [f"blocks.{place}" for place in range(spec.blocks)]
        # Input by input in memory, see FlatParameters.
        self._stem, self._stem_gradient = (each["stem.weight"].t().numpy() for each in (weights, gradient))
        self._stem_bias, self._stem_bias_gradient = (each["stem.bias"].numpy() for each in (weights, gradient))
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
        """Return activations float32 [n, C] of inputs int64 [n, words]; all of them stay in the buffers."""
        size = len(packed)
        hidden = self._hidden[0][:size]
        net_kernels.stem(packed, self._stem, self._stem_bias, self._places, hidden.numpy())
        for place, (weights, bias) in enumerate(zip(self._blocks, self._biases, strict=True)):
            product, following = self._products[place][:size], self._hidden[place + 1][:size]
            torch.mm(hidden, weights.t(), out=product)
            net_kernels.residual(product.numpy(), bias, hidden.numpy(), following.numpy())
            hidden = following
        return hidden

    def backward(self, packed: Sets) -> None:
        """Add the gradient of the inputs of the last `forward`, given that of its activations in `back`."""
        size = len(packed)
        back, before = self.back[:size], self._before[:size]
        for place in reversed(range(len(self._blocks))):
            product, bias = self._products[place][:size], self._bias_gradients[place]
            loss_kernels.through_relu(back.numpy(), product.numpy(), before.numpy(), bias)
            self._block_gradients[place].addmm_(before.t(), self._hidden[place][:size])
            back.addmm_(before, self._blocks[place])
        bias = self._stem_bias_gradient
        loss_kernels.through_relu(back.numpy(), self._hidden[0][:size].numpy(), before.numpy(), bias)
        loss_kernels.stem_gradient(packed, before.numpy(), self._places, self._stem_gradient)


class _Heads:
    """Policy and value as one linear layer behind the body."""

    def __init__(self, body: _Body, parameters: FlatParameters) -> None:
        self._body = body
        self._weights, bias = parameters.heads(parameters.state)
        self._gradient, bias_gradient = parameters.heads(parameters.grad)
        self._bias, self.bias_gradient = bias.numpy(), bias_gradient.numpy()
        self._out = torch.empty(ROWS, len(self._bias))

    def forward(self, hidden: Tensor) -> Tensor:
        """Return logits and value, float32 [n, A + 1], of activations float32 [n, C]."""
        out = self._out[: len(hidden)]
        torch.mm(hidden, self._weights.t(), out=out)
        net_kernels.add_bias(out.numpy(), self._bias)
        return out

    def backward(self, out: Tensor, hidden: Tensor) -> None:
        """Add to the gradient, but for the bias's, and fill the body's `back`.

        out: float32 [n, A + 1]  gradient with respect to what `forward` returned.
        """
        self._gradient.addmm_(out.t(), hidden)
        torch.mm(out, self._weights, out=self._body.back[: len(out)])


class CompiledUpdate:
    """Policy and gradient of FlatParameters without autograd.

    Agrees with `HeartsNet` and autograd up to the rounding of float32.
    """

    def __init__(self, parameters: FlatParameters, watch: Stopwatch) -> None:
        self._watch = watch
        self._body = _Body(parameters)
        self._heads = _Heads(self._body, parameters)

    def act(self, packed: Sets, legal: Sets, uniforms: Floats) -> tuple[Ints, Floats, Floats]:
        """Draw actions int64 [n], and return them with their log-probabilities and the values, float32 [n] each.

        packed: int64 [n, words].  legal: int64 [n]  sets of actions.  uniforms: float32 [n] in [0, 1).
        """
        size = len(packed)
        actions, log_probs, values = np.empty(size, np.int64), np.empty(size, np.float32), np.empty(size, np.float32)
        for begin in range(0, size, ROWS):
            rows = slice(begin, begin + ROWS)
            out = self._heads.forward(self._body.forward(packed[rows])).numpy()
            self._watch.lap("rollout: network")
            loss_kernels.act(out, legal[rows], uniforms[rows], actions[rows], log_probs[rows], values[rows])
            self._watch.lap("rollout: sampling")
        return actions, log_probs, values

    def gradient(
        self, batch: Batch, clip: float, value_weight: float, entropy_weight: float, imitates: bool
    ) -> list[float]:
        """Add the gradient of the loss in `ppo.Learner.loss`, and return the terms of that loss."""
        weights = LossWeights(clip, value_weight, entropy_weight, share=1 / len(batch.actions), imitates=imitates)
        sums = np.zeros(loss_kernels.SUMS)
        for begin in range(0, len(batch.actions), ROWS):
            part = batch.take(slice(begin, begin + ROWS))
            hidden = self._body.forward(part.packed)
            out = self._heads.forward(hidden)
            loss_kernels.loss(out.numpy(), part, weights, self._heads.bias_gradient, sums)
            self._watch.lap("update: forward")
            self._heads.backward(out, hidden)
            self._body.backward(part.packed)
            self._watch.lap("update: backward")
        return [float(term * weights.share) for term in sums]
