"""All weights of a network in one vector, with the optimiser's moments behind them."""

from __future__ import annotations

import torch
from torch import Tensor

from hearts_agents.net.weights import NetSpec
from hearts_env.cards import NUM_ACTIONS
from hearts_train.learn.network import HeartsNet

_MOMENTS = ("exp_avg", "exp_avg_sq")
"""Adam's vectors, by its own names for them."""
_HEADS = ("policy", "value")


class FlatParameters:
    """A network whose weights, gradients and moments are views of a few vectors.

    What is averaged over workers is then one row, and clipping and Adam each are one pass over one vector.  The first
    layer lies input by input, so that the weights of an input bit are adjacent; the two heads lie one behind the
    other, as one layer.  Neither shows in the tensors that the network or its files have.
    """

    def __init__(self, net: HeartsNet) -> None:
        """net: stays the network that it is, but its parameters become views of `weights`."""
        self.net = net
        parameters = dict(net.named_parameters())
        device = net.stem.weight.device
        self.size = sum(parameter.numel() for parameter in parameters.values())
        self.state = torch.zeros(3 * self.size + 1, device=device)
        """float32 [3 S + 1]: S weights, Adam's two moments of each, and the number of its steps."""
        self.weights = self.state[: self.size].requires_grad_()
        self.grad = torch.zeros(self.size, device=device)
        self.weights.grad = self.grad
        body = [name for name in parameters if not name.startswith(_HEADS)]
        heads = [f"{head}.{part}" for part in ("weight", "bias") for head in _HEADS]
        self._places: dict[str, tuple[int, torch.Size]] = {}
        begin = 0
        for name in (*body, *heads):
            self._places[name] = (begin, parameters[name].shape)
            begin += parameters[name].numel()
        for name, parameter in parameters.items():
            place = self.named(self.state)[name]
            place.copy_(parameter.detach())
            parameter.data = place
            parameter.grad = self.named(self.grad)[name]

    def named(self, vector: Tensor) -> dict[str, Tensor]:
        """Return the parts of a vector [S or more] by the names that the network gives to its parameters."""
        parts = {}
        for name, (begin, shape) in self._places.items():
            part = vector.detach()[begin : begin + shape.numel()]
            parts[name] = part.view(shape[::-1]).t() if name.endswith("stem.weight") else part.view(shape)
        return parts

    def heads(self, vector: Tensor) -> tuple[Tensor, Tensor]:
        """Return policy and value as one layer, from a vector [S or more]: weights [A + 1, C] and biases [A + 1]."""
        begin, end = self._places["policy.weight"][0], self._places["policy.bias"][0]
        weights = vector.detach()[begin:end].view(NUM_ACTIONS + 1, -1)
        return weights, vector.detach()[end : end + NUM_ACTIONS + 1]

    def adam(self) -> torch.optim.Adam:
        """Return an optimiser of `weights` whose moments lie in `state`; eps is detail 3 of the 37, see `ppo`."""
        optimizer = torch.optim.Adam([self.weights], eps=1e-5, fused=True)
        optimizer.state[self.weights] = {"step": self.state[-1], **self._vectors()}
        return optimizer

    def moments(self) -> dict[str, Tensor]:
        """Return Adam's tensors by the name of the parameter; the number of its steps stands at each."""
        tensors = {f"{name}.step": self.state[-1] for name in self._places}
        for moment, vector in self._vectors().items():
            tensors |= {f"{name}.{moment}": part for name, part in self.named(vector).items()}
        return tensors

    def _vectors(self) -> dict[str, Tensor]:
        return {name: self.state[i * self.size : (i + 1) * self.size] for i, name in enumerate(_MOMENTS, 1)}


def state_size(spec: NetSpec) -> int:
    """Return how many numbers the `state` of such a network has."""
    with torch.device("meta"):
        return 3 * sum(parameter.numel() for parameter in HeartsNet(spec).parameters()) + 1
