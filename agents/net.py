"""The network that sees encodings, its weights files, and the agent `net:PATH` that plays by it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn
from torch.nn import functional as F

from hearts_env.agent import Policy, uniform
from hearts_env.cards import NUM_ACTIONS, Ints
from hearts_env.encode import ENCODING_VERSION, Layout, encode, layout
from hearts_env.lookup import lookup
from hearts_env.rules import Rules
from hearts_env.view import View

FORMAT = "hearts-net/1"
WEIGHTS_NAME = "net.safetensors"
"""The weights file in a run directory."""
SAMPLE = "?sample"
"""Written after a path, the agent draws its actions from the policy."""
ILLEGAL = -1e9
"""Logit of an illegal action: its probability is exactly 0, and unlike -inf it keeps the entropy finite."""
_UNSEEN_BLOCKS = ("scores", "rules")
_ROWS = 8192
_BELOW_ONE = 1 - 2.0**-20


class NetError(ValueError):
    """Weights that cannot be read, or that do not fit this package or these rules."""


@dataclass(frozen=True, kw_only=True)
class NetSpec:
    """What a network was made for, and its size; stands in the header of its weights file."""

    rules: Rules
    """The rules it was trained on."""
    pad: bool = False
    """Its encoding has room for seven seats, so that it can play every number of players."""
    order: bool = False
    """Its encoding holds the order of play."""
    width: int = 256
    blocks: int = 3

    @property
    def layout(self) -> Layout:
        """The layout of its encodings."""
        return layout(lookup(self.rules), pad=self.pad, order=self.order)

    def to_json(self) -> dict[str, Any]:
        """All that a reader must know, as plain JSON values."""
        return {
            "format": FORMAT,
            "rules": self.rules.changes(),
            "pad": self.pad,
            "order": self.order,
            "inputs": self.layout.size,
            "encoding_version": ENCODING_VERSION,
            "width": self.width,
            "blocks": self.blocks,
            "package_version": package_version(),
        }


class HeartsNet(nn.Module):
    """A residual network from encodings to the logits of 54 actions and a value.

    One linear layer, `blocks` residual blocks `h + relu(W h)`, and two linear heads.
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
        """A network with random weights: the same for the same seed."""
        with torch.device("meta"):
            net = HeartsNet(spec)
        net.to_empty(device="cpu")
        net._reset(torch.Generator().manual_seed(seed))
        return net

    @torch.no_grad()
    def _reset(self, generator: torch.Generator) -> None:
        """Orthogonal layers and a policy close to uniform (Andrychowicz et al., arXiv 2006.05990, 3.2)."""
        gains = [(self.policy, 0.01), (self.value, 1.0)]
        for layer, gain in [(self.stem, 2**0.5), *((block, 2**0.5) for block in self.blocks), *gains]:
            nn.init.orthogonal_(layer.weight, gain, generator=generator)  # type: ignore[arg-type]
            nn.init.zeros_(layer.bias)  # type: ignore[arg-type]
        # Bits that training never turns on get no gradient. At 0 they stay without effect where they do turn on:
        # in a game with scores, or under other rules.
        for name in _UNSEEN_BLOCKS:
            self.stem.weight[:, self.spec.layout[name]] = 0

    def forward(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Logits float32 [n, A], illegal actions at ILLEGAL, and values float32 [n], of encodings uint8 [n, F]."""
        hidden = F.relu(self.stem(rows.float()))
        for block in self.blocks:
            hidden = hidden + F.relu(block(hidden))
        logits = self.policy(hidden).masked_fill(rows[:, self._legal] == 0, ILLEGAL)
        return logits, self.value(hidden)[:, 0]


def draw(logits: Tensor, uniforms: Tensor) -> Tensor:
    """Actions drawn from a policy, int64 [n].  logits: [n, A].  uniforms: float32 [n] in [0, 1)."""
    heap = logits.softmax(1).cumsum(1)
    mark = (uniforms * _BELOW_ONE)[:, None] * heap[:, -1:]
    # The first action whose heap passes the mark: an illegal one adds nothing to the heap, so it is never first.
    return (heap <= mark).sum(1)


class NetAgent:
    """Plays the most probable action of a network, or draws from its policy.

    Sums of floats depend a little on the size of the batch: between two actions that are equally good to the last
    bits, the choice may differ from batch to batch.
    """

    def __init__(self, net: HeartsNet, name: str = "net", *, sample: bool = False) -> None:
        """sample: draw actions from the policy."""
        self.name = name
        self._net = net
        self._sample = sample

    def act(self, view: View) -> Ints:
        """A legal action for each view, int64 [N].  Raises NetError where the rules have another player count."""
        logits = self._logits(view)
        if self._sample:
            result: Ints = draw(logits, torch.from_numpy(uniform(view).astype(np.float32))).numpy()
        else:
            result = logits.argmax(1).numpy()
        return result

    def probabilities(self, view: View) -> Policy:
        """What actions are drawn from, float64 [N, A]; without `sample` all of it on the most probable action."""
        logits = self._logits(view)
        table = logits.double().softmax(1) if self._sample else F.one_hot(logits.argmax(1), NUM_ACTIONS).double()
        result: Policy = table.numpy()
        return result

    @torch.inference_mode()
    def _logits(self, view: View) -> Tensor:
        """The logits of each view, float32 [N, A], on the CPU."""
        spec = self._net.spec
        if not spec.pad and view.lookup.num_players != spec.rules.num_players:
            raise NetError(
                f"agent {self.name!r} was trained for {spec.rules.num_players} players without padding and cannot "
                f"play with {view.lookup.num_players}: train one with pad=True, or for {view.lookup.num_players}"
            )
        rows = encode(layout(view.lookup, pad=spec.pad, order=spec.order), view)
        device = self._net.stem.weight.device
        logits = torch.empty(len(view), NUM_ACTIONS)
        for begin in range(0, len(view), _ROWS):
            part = slice(begin, begin + _ROWS)
            logits[part] = self._net(torch.from_numpy(rows[part]).to(device))[0]
        return logits


def net_agent(name: str, detail: str) -> NetAgent:
    """The agent for `net:PATH` or `net:PATH?sample`.  Raises NetError."""
    path = detail.removesuffix(SAMPLE)
    return NetAgent(load_net(Path(path)), name, sample=detail.endswith(SAMPLE))


def packed(net: HeartsNet) -> bytes:
    """The contents of a weights file: safetensors with the NetSpec in its header."""
    return packed_weights(net.spec, net.state_dict())


def packed_weights(spec: NetSpec, weights: Mapping[str, Tensor]) -> bytes:
    """The same of the weights of such a network, by their names in it."""
    return save(copies(weights), {"hearts": json.dumps(spec.to_json())})


def copies(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The same tensors as safetensors takes them: on the CPU, contiguous, and none sharing memory with another."""
    form = torch.contiguous_format
    return {name: tensor.detach().cpu().clone(memory_format=form) for name, tensor in tensors.items()}


def load_net(path: Path) -> HeartsNet:
    """The network in a weights file, or in a run directory its last saved one.

    Raises NetError for a file that is missing, damaged, foreign, or of another encoding or shape.
    """
    file = path / WEIGHTS_NAME if path.is_dir() else path
    tensors, header = read_tensors(file)
    spec = _parsed_spec(file, header)
    with torch.device("meta"):
        net = HeartsNet(spec)
    expected = {name: tuple(tensor.shape) for name, tensor in net.state_dict().items()}
    found = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    if found != expected:
        odd = sorted(name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name))
        raise NetError(
            f"{file}: the tensors do not match its header, first {odd[0]}: {found.get(odd[0])} instead of "
            f"{expected.get(odd[0])}; the file is damaged, take another copy"
        )
    if not all(bool(tensor.isfinite().all()) for tensor in tensors.values()):
        raise NetError(f"{file}: some weights are not finite numbers; take an earlier copy")
    net.load_state_dict({name: tensor.float() for name, tensor in tensors.items()}, assign=True)
    return net.eval()


def read_tensors(file: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors of a file that `hearts train` has written, and its header.  Raises NetError."""
    try:
        with safe_open(file, framework="pt") as opened:
            text = (opened.metadata() or {}).get("hearts")
            tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise NetError(f"no weights at {file}: give a run directory, or a .safetensors file from one") from None
    except (SafetensorError, OSError) as error:
        raise NetError(f"{file} cannot be read as safetensors, it may be cut off or damaged: {error}") from None
    if text is None:
        raise NetError(f"{file} was not written by `hearts train`: its header has no 'hearts' entry")
    try:
        header = json.loads(text)
    except ValueError as error:
        raise NetError(f"{file}: its header is damaged: {error}") from None
    if not isinstance(header, dict):
        raise NetError(f"{file}: its header is damaged: {text:.60}")
    return tensors, header


def _parsed_spec(file: Path, header: dict[str, Any]) -> NetSpec:
    if header.get("format") != FORMAT:
        raise NetError(f"{file} has format {header.get('format')!r:.40}, this package reads {FORMAT!r}")
    writer = f"it was written by hearts_env {header.get('package_version')}"
    if header.get("encoding_version") != ENCODING_VERSION:
        raise NetError(
            f"{file} reads encodings of version {header.get('encoding_version')!r:.20}, this package writes "
            f"{ENCODING_VERSION}: train again, or install the version that fits ({writer})"
        )
    try:
        spec = NetSpec(
            rules=Rules.from_dict(header["rules"]),
            pad=header["pad"] is True,
            order=header["order"] is True,
            width=int(header["width"]),
            blocks=int(header["blocks"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise NetError(f"{file}: its header is damaged ({error!r:.80}); {writer}") from None
    if header.get("inputs") != spec.layout.size:
        raise NetError(
            f"{file} reads {header.get('inputs')!r:.20} bytes, this package encodes its rules in "
            f"{spec.layout.size}: train again, or install the version that fits ({writer})"
        )
    return spec


def package_version() -> str:
    """The version of hearts_env, "unknown" where it is not installed."""
    try:
        return version("hearts_env")
    except PackageNotFoundError:
        return "unknown"
