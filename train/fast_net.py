"""The network of a learner on a CPU: matrix products into buffers of its own, and compiled loops between them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from hearts_agents import net_loops
from hearts_agents.net_file import Floats
from hearts_env.cards import NUM_ACTIONS, Ints, Sets
from hearts_train import fused
from hearts_train.flat import FlatNet
from hearts_train.fused import Weights
from hearts_train.network import GUESS
from hearts_train.rollout import Batch
from hearts_train.stopwatch import Stopwatch

ROWS = 512
"""Decisions at a time, however large the batch: so many activations stay in a core's cache."""


class _Layers(NamedTuple):
    """A network's weights, or their gradients, as arrays for loops and tensors for products."""

    stem: Floats  # float32 [F, C]
    stem_bias: Floats  # float32 [C]
    blocks: list[Tensor]  # float32 [C, C]
    block_biases: list[Floats]  # float32 [C]
    heads: Tensor  # float32 [A + 1, C]
    head_bias: Floats  # float32 [A + 1]
    guess: Tensor  # float32 [G, C]  G = 0 where nothing is guessed
    guess_bias: Floats  # float32 [G]


class FastNet:
    """Policy and gradient of a FlatNet without autograd.

    Agrees with `HeartsNet` and autograd up to the rounding of float32.
    """

    def __init__(self, flat: FlatNet, watch: Stopwatch) -> None:
        self._watch = watch
        spec = flat.net.spec
        self._weights, self._gradient = _layers(flat, flat.state), _layers(flat, flat.grad)
        self._hidden = [torch.empty(ROWS, spec.width) for _ in range(spec.blocks + 1)]
        self._products = [torch.empty(ROWS, spec.width) for _ in range(spec.blocks)]
        self._back, self._before = torch.empty(ROWS, spec.width), torch.empty(ROWS, spec.width)
        self._out = torch.empty(ROWS, NUM_ACTIONS + 1)
        self._guesses = torch.empty(ROWS, len(self._weights.guess_bias))
        self._places = np.empty(spec.layout.size, np.uint64)

    def policy(self, packed: Sets, legal: Sets, uniforms: Floats) -> tuple[Ints, Floats, Floats]:
        """Actions int64 [n] drawn for encodings, their log-probabilities float32 [n] and the values float32 [n].

        packed: int64 [n, words].  legal: int64 [n]  sets of actions.  uniforms: float32 [n] in [0, 1).
        """
        size = len(packed)
        actions, log_probs, values = np.empty(size, np.int64), np.empty(size, np.float32), np.empty(size, np.float32)
        for begin in range(0, size, ROWS):
            rows = slice(begin, begin + ROWS)
            out = self._forward(packed[rows]).numpy()
            self._watch.lap("rollout: network")
            fused.act(out, legal[rows], uniforms[rows], actions[rows], log_probs[rows], values[rows])
            self._watch.lap("rollout: sampling")
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
        sums, guessed = np.zeros(fused.SUMS), 0.0
        for begin in range(0, len(batch.actions), ROWS):
            part = batch.take(slice(begin, begin + ROWS))
            out = self._forward(part.packed)
            fused.loss(out.numpy(), part, weights, self._gradient.head_bias, sums)
            self._watch.lap("update: forward")
            self._heads_backward(out)
            if len(self._weights.guess):
                guessed += self._guess(part, guess_weight * weights.share)
            self._backward(part.packed)
            self._watch.lap("update: backward")
        terms: list[float] = (sums * weights.share).tolist()
        return [*terms, guessed * weights.share] if len(self._weights.guess) else terms

    def _forward(self, packed: Sets) -> Tensor:
        """Logits and value, float32 [n, A + 1]; the activations stay in the buffers."""
        size, layers = len(packed), self._weights
        hidden = self._hidden[0][:size]
        net_loops.stem(packed, layers.stem, layers.stem_bias, self._places, hidden.numpy())
        for place, (weights, bias) in enumerate(zip(layers.blocks, layers.block_biases, strict=True)):
            product, following = self._products[place][:size], self._hidden[place + 1][:size]
            torch.mm(hidden, weights.t(), out=product)
            net_loops.residual(product.numpy(), bias, hidden.numpy(), following.numpy())
            hidden = following
        out = self._out[:size]
        torch.mm(hidden, layers.heads.t(), out=out)
        net_loops.add_bias(out.numpy(), layers.head_bias)
        return out

    def _heads_backward(self, out: Tensor) -> None:
        """Add to the gradient.  out: float32 [n, A + 1]  gradient of the loss with respect to logits and value."""
        size = len(out)
        self._gradient.heads.addmm_(out.t(), self._hidden[-1][:size])
        torch.mm(out, self._weights.heads, out=self._back[:size])

    def _guess(self, part: Batch, weight: float) -> float:
        """Add to the gradient what the guesses add, times `weight`; the sum of their losses."""
        size, layers, gradient = len(part.actions), self._weights, self._gradient
        hidden, out = self._hidden[-1][:size], self._guesses[:size]
        torch.mm(hidden, layers.guess.t(), out=out)
        net_loops.add_bias(out.numpy(), layers.guess_bias)
        loss = fused.guess_loss(out.numpy(), part.unseen, part.endings, weight, gradient.guess_bias)
        gradient.guess.addmm_(out.t(), hidden)
        self._back[:size].addmm_(out, layers.guess)
        self._watch.lap("update: guesses")
        return float(loss)

    def _backward(self, packed: Sets) -> None:
        """Add to the gradient, from the last layer before the heads on."""
        size, layers, gradient = len(packed), self._weights, self._gradient
        back, before = self._back[:size], self._before[:size]
        for place in reversed(range(len(layers.blocks))):
            product, bias = self._products[place][:size], gradient.block_biases[place]
            fused.through_relu(back.numpy(), product.numpy(), before.numpy(), bias)
            gradient.blocks[place].addmm_(before.t(), self._hidden[place][:size])
            back.addmm_(before, layers.blocks[place])
        fused.through_relu(back.numpy(), self._hidden[0][:size].numpy(), before.numpy(), gradient.stem_bias)
        fused.stem_gradient(packed, before.numpy(), self._places, gradient.stem)


def _layers(flat: FlatNet, vector: Tensor) -> _Layers:
    parts = flat.named(vector)
    blocks = [f"blocks.{place}" for place in range(flat.net.spec.blocks)]
    heads, head_bias = flat.heads(vector)
    nothing = torch.empty(0, flat.net.spec.width)
    return _Layers(
        stem=parts["stem.weight"].t().numpy(),
        stem_bias=parts["stem.bias"].numpy(),
        blocks=[parts[f"{block}.weight"] for block in blocks],
        block_biases=[parts[f"{block}.bias"].numpy() for block in blocks],
        heads=heads,
        head_bias=head_bias.numpy(),
        guess=parts.get(f"{GUESS}.weight", nothing),
        guess_bias=parts.get(f"{GUESS}.bias", nothing[:, 0]).numpy(),
    )
