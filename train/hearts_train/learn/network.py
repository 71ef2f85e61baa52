"""The network as torch learns it, and how its weights are written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save
from torch import Tensor, nn
from torch.nn import functional as F

from hearts_agents.net.agent import ILLEGAL
from hearts_agents.net.weights import NetSpec, read_net
from hearts_env.cards import NUM_ACTIONS

_UNSEEN_BLOCKS = ("scores", "rules")


class HeartsNet(nn.Module):
    """A residual network from encodings to the logits of 54 actions and a value.

    One linear layer, `blocks` residual blocks `h + relu(W h)`, and two linear heads, which share all before them
    (detail 13 of the 37, see `ppo`).
    """

    def __init__(self, spec: NetSpec) -> None:
        super().__init__()
        self.spec = spec
        self.stem = nn.Linear(spec.layout.size, spec.width)
        self.blocks = nn.ModuleList(nn.Linear(spec.width, spec.width) for _ in range(spec.blocks))
        self.policy = nn.Linear(spec.width, NUM_ACTIONS)
        self.value = nn.Linear(spec.width, 1)
        self._legal = spec.layout["legal"]

    @staticmethod
    def fresh(spec: NetSpec, seed: int) -> HeartsNet:
        """Return a network with random weights, the same for the same seed."""
        with torch.device("meta"):
            net = HeartsNet(spec)
        net.to_empty(device="cpu")
        net._reset(torch.Generator().manual_seed(seed))
        return net

    @staticmethod
    def load(path: Path) -> HeartsNet:
        """Return the network of a weights file, or the last saved one of a run directory.  Raises NetError."""
        spec, tensors = read_net(path)
        with torch.device("meta"):
            net = HeartsNet(spec)
        net.load_state_dict({name: torch.from_numpy(tensor) for name, tensor in tensors.items()}, assign=True)
        return net.eval()

    @torch.no_grad()
    def _reset(self, generator: torch.Generator) -> None:
        """Make layers orthogonal (detail 2) and the policy close to uniform (arXiv 2006.05990, section 3.2)."""
        hidden = [self.stem, *self.blocks]
        gains = [*((layer, 2**0.5) for layer in hidden), (self.policy, 0.01), (self.value, 1.0)]
        for layer, gain in gains:
            nn.init.orthogonal_(layer.weight, gain, generator=generator)
            nn.init.zeros_(layer.bias)
        # Bits that training never turns on get no gradient. At 0 they stay without effect where they do turn on:
        # in a game with scores, or under other rules.
        for name in _UNSEEN_BLOCKS:
            self.stem.weight[:, self.spec.layout[name]] = 0

    def forward(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits float32 [n, A] and values float32 [n] of encodings uint8 [n, F].

        Illegal actions have logits of ILLEGAL.
        """
        hidden = self.body(rows)
        # An illegal action gets probability 0 and no gradient: Huang and Ontañón, arXiv 2006.14171.
        logits = self.policy(hidden).masked_fill(rows[:, self._legal] == 0, ILLEGAL)
        return logits, self.value(hidden)[:, 0]

    def body(self, rows: Tensor) -> Tensor:
        """Return the activations that both heads read, float32 [n, C], of encodings uint8 [n, F]."""
        hidden: Tensor = F.relu(self.stem(rows.float()))
        for block in self.blocks:
            hidden = hidden + F.relu(block(hidden))
        return hidden


def packed(net: HeartsNet) -> bytes:
    """Return the contents of a weights file: safetensors with the NetSpec in its header."""
    return packed_weights(net.spec, net.state_dict())


def packed_weights(spec: NetSpec, weights: Mapping[str, Tensor], **more: Any) -> bytes:
    """Return the contents of a weights file from tensors by their names in HeartsNet.

    more: for the header, plain JSON values.
    """
    return save(copies(weights), {"hearts": json.dumps({**spec.to_json(), **more})})


def copies(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return tensors as safetensors takes them: on the CPU, contiguous, and none sharing memory with another."""
    form = torch.contiguous_format
    return {name: tensor.detach().cpu().clone(memory_format=form) for name, tensor in tensors.items()}
