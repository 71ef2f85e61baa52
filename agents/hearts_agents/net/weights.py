"""Weights files of networks, read and checked without torch."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from hearts_env.cards import NUM_ACTIONS
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.rules import Rules
from hearts_env.observe.encode import ENCODING_VERSION, Layout, layout

FORMAT = "hearts-net/1"
WEIGHTS_NAME = "net.safetensors"
"""The weights file in a run directory, and of the network in this package."""
Floats = NDArray[np.float32]


class NetError(ValueError):
    """Weights that cannot be read, or that do not fit this package or these rules."""


@dataclass(frozen=True, kw_only=True)
class NetSpec:
    """The rules and the size of a network; stands in the header of its weights file."""

    rules: Rules
    """The rules it was trained on."""
    pad: bool = False
    """Its encoding has room for seven seats, so that it can play every number of players."""
    width: int = 256
    blocks: int = 3
    reward_scale: float = 0.1
    """Reward per point of payoff in what its values foretell; files that don't say have this one."""
    games: bool = False
    """True if it was trained on deals within games too: its values there estimate `win_chance.payoff_at`."""

    @property
    def layout(self) -> Layout:
        """The layout of its encodings."""
        return layout(compiled_rules(self.rules), pad=self.pad)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of each of its tensors, by name: weights are [outputs, inputs]."""
        sizes = {
            "stem": (self.width, self.layout.size),
            **{f"blocks.{place}": (self.width, self.width) for place in range(self.blocks)},
            "policy": (NUM_ACTIONS, self.width),
            "value": (1, self.width),
        }
        weights = {f"{name}.weight": shape for name, shape in sizes.items()}
        return {**weights, **{f"{name}.bias": shape[:1] for name, shape in sizes.items()}}

    def to_json(self) -> dict[str, Any]:
        """All that a reader must know, as plain JSON values."""
        return {
            "format": FORMAT,
            "rules": self.rules.changes(),
            "pad": self.pad,
            "inputs": self.layout.size,
            "encoding_version": ENCODING_VERSION,
            "width": self.width,
            "blocks": self.blocks,
            "reward_scale": self.reward_scale,
            "games": self.games,
            "package_version": package_version(),
        }


def weights_file(path: Path) -> Path:
    """The file itself, or the one with the last weights in a run directory."""
    return path / WEIGHTS_NAME if path.is_dir() else path


def read_net(path: Path) -> tuple[NetSpec, dict[str, Floats]]:
    """The spec and the tensors (float32, by name) of a weights file, or of the last one in a run directory.

    Raises NetError for a file that is missing, damaged, foreign, or of another encoding or shape.
    """
    file = weights_file(path)
    tensors, header = read_tensors(file)
    spec = _parsed_spec(file, header)
    expected = spec.shapes
    found = {name: tensor.shape for name, tensor in tensors.items()}
    if found != expected:
        odd = sorted(name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name))
        raise NetError(
            f"{file}: the tensors do not match its header, first {odd[0]}: {found.get(odd[0])} instead of "
            f"{expected.get(odd[0])}; the file is damaged, take another copy"
        )
    if not all(bool(np.isfinite(tensor).all()) for tensor in tensors.values()):
        raise NetError(f"{file}: some weights are not finite numbers; take an earlier copy")
    return spec, {name: tensor.astype(np.float32) for name, tensor in tensors.items()}


def read_tensors(file: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The tensors of a file that `hearts train` has written, and its header.  Raises NetError."""
    try:
        with safe_open(file, framework="np") as opened:
            text = (opened.metadata() or {}).get("hearts")
            tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise NetError(f"no weights at {file}: give a run directory, or a .safetensors file from one") from None
    except (SafetensorError, OSError, TypeError) as error:  # TypeError: numbers of a kind that numpy has not
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
            width=int(header["width"]),
            blocks=int(header["blocks"]),
            reward_scale=float(header.get("reward_scale", NetSpec.reward_scale)),
            games=header.get("games") is True,
        )
        if not 0 < spec.reward_scale < math.inf:
            raise ValueError(f"reward_scale {spec.reward_scale}")
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
