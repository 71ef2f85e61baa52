"""The network as torch learns it, and how its weights are written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors.torch import save
from torch import Tensor, nn
from torch.nn import functional as F

from hearts_agents.net.agent import ILLEGAL
from hearts_agents.net.weights import NetSpec, read_net
from hearts_env.cards import NUM_ACTIONS
from hearts_env.observe.encode import WORD_BITS
from hearts_train.learn.auxiliary_targets import critic_words, num_guesses

GUESS, CRITIC = "guess", "critic"
"""What is there for learning only: no file for players has it."""
_UNSEEN_BLOCKS = ("scores", "rules")


class Extras(NamedTuple):
    """What a network has for learning only."""

    guess: bool = False
    critic: bool = False


NO_EXTRAS = Extras()


class Critic(nn.Module):
    """Says what a decision is worth to one who sees all hands: a network like HeartsNet, with the value as its head."""

    def __init__(self, spec: NetSpec) -> None:
        super().__init__()
        self.stem = nn.Linear(WORD_BITS * critic_words(spec.layout), spec.width)
        self.blocks = nn.ModuleList(nn.Linear(spec.width, spec.width) for _ in range(spec.blocks))
        self.value = nn.Linear(spec.width, 1)

    def forward(self, rows: Tensor) -> Tensor:
        """Values float32 [n] of the bits uint8 [n, 64 W] of what `truth.seen_by_critic` makes."""
        return self.value(_through(self.stem, self.blocks, rows))[:, 0]  # type: ignore[no-any-return]


class HeartsNet(nn.Module):
    """A residual network from encodings to the logits of 54 actions and a value.

    One linear layer, `blocks` residual blocks `h + relu(W h)`, and two linear heads.  For learning there may be a third
    one, `guess`, for the logits of what `truth` lists, from which the layers before it learn, and a `critic` apart.
    """

    def __init__(self, spec: NetSpec, extras: Extras = NO_EXTRAS) -> None:
        super().__init__()
        self.spec = spec
        self.stem = nn.Linear(spec.layout.size, spec.width)
        self.blocks = nn.ModuleList(nn.Linear(spec.width, spec.width) for _ in range(spec.blocks))
        self.policy = nn.Linear(spec.width, NUM_ACTIONS)
        self.value = nn.Linear(spec.width, 1)
        self.guess = nn.Linear(spec.width, num_guesses(spec.layout.seats)) if extras.guess else None
        self.critic = Critic(spec) if extras.critic else None
        self._legal = spec.layout["legal"]

    @staticmethod
    def fresh(spec: NetSpec, seed: int, extras: Extras = NO_EXTRAS) -> HeartsNet:
        """A network with random weights: the same for the same seed."""
        with torch.device("meta"):
            net = HeartsNet(spec, extras)
        net.to_empty(device="cpu")
        net._reset(torch.Generator().manual_seed(seed))
        return net

    @staticmethod
    def load(path: Path) -> HeartsNet:
        """The network in a weights file, or in a run directory its last saved one.  Raises NetError."""
        spec, tensors = read_net(path)
        with torch.device("meta"):
            net = HeartsNet(spec)
        net.load_state_dict({name: torch.from_numpy(tensor) for name, tensor in tensors.items()}, assign=True)
        return net.eval()

    @torch.no_grad()
    def _reset(self, generator: torch.Generator) -> None:
        """Orthogonal layers and a policy close to uniform (Andrychowicz et al., arXiv 2006.05990, 3.2)."""
        hidden, value = 2**0.5, 1.0
        gains = [
            (self.stem, hidden),
            *((block, hidden) for block in self.blocks),
            (self.policy, 0.01),
            (self.value, value),
        ]
        if self.critic:
            gains += [(self.critic.stem, hidden), *((block, hidden) for block in self.critic.blocks)]
            gains += [(self.critic.value, value)]
        for layer, gain in gains:
            nn.init.orthogonal_(layer.weight, gain, generator=generator)  # type: ignore[arg-type]
            nn.init.zeros_(layer.bias)  # type: ignore[arg-type]
        if self.guess:
            nn.init.zeros_(self.guess.weight)
            nn.init.zeros_(self.guess.bias)
        # Bits that training never turns on get no gradient. At 0 they stay without effect where they do turn on:
        # in a game with scores, or under other rules.
        for name in _UNSEEN_BLOCKS:
            self.stem.weight[:, self.spec.layout[name]] = 0

    def forward(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Logits float32 [n, A], illegal actions at ILLEGAL, and values float32 [n], of encodings uint8 [n, F]."""
        return self.heads(self.body(rows), rows)

    def body(self, rows: Tensor) -> Tensor:
        """What all heads read, float32 [n, C]."""
        return _through(self.stem, self.blocks, rows)

    def heads(self, hidden: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
        """The rest of `forward`.  hidden: float32 [n, C]  from `body`."""
        logits = self.policy(hidden).masked_fill(rows[:, self._legal] == 0, ILLEGAL)
        return logits, self.value(hidden)[:, 0]


def _through(stem: nn.Module, blocks: nn.ModuleList, rows: Tensor) -> Tensor:
    hidden: Tensor = F.relu(stem(rows.float()))
    for block in blocks:
        hidden = hidden + F.relu(block(hidden))
    return hidden


def packed(net: HeartsNet) -> bytes:
    """The contents of a weights file: safetensors with the NetSpec in its header."""
    return packed_weights(net.spec, net.state_dict())


def packed_weights(spec: NetSpec, weights: Mapping[str, Tensor], **more: Any) -> bytes:
    """The same of the weights of such a network, by their names in it.  more: for the header, plain JSON values."""
    return save(
        copies({name: tensor for name, tensor in weights.items() if not name.startswith((GUESS, CRITIC))}),
        {"hearts": json.dumps({**spec.to_json(), **more})},
    )


def copies(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The same tensors as safetensors takes them: on the CPU, contiguous, and none sharing memory with another."""
    form = torch.contiguous_format
    return {name: tensor.detach().cpu().clone(memory_format=form) for name, tensor in tensors.items()}
