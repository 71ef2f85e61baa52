"""Checkpoints and weights of a run on disk, which neither a kill nor a full disk can damage."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save
from torch import Tensor

from hearts_agents.net.weights import WEIGHTS_NAME, NetError, NetSpec, read_tensors
from hearts_env.text.write_file import write_file
from hearts_train.learn.network import copies, packed_weights
from hearts_train.learn.parameters import FlatParameters

CHECKPOINT_NAME = "checkpoint.safetensors"
BEST_NAME = "best.safetensors"
PAST_NAME = "past"
"""The folder of earlier weights."""
CONFIG_NAME = "config.json"
METRICS_NAME = "metrics.jsonl"
CURVE_NAME = "learning_curve.png"


class CheckpointError(ValueError):
    """A checkpoint that cannot be written or read."""


@dataclass
class Progress:
    """Position of a run: all that continuing needs, besides weights and the optimiser's moments."""

    iteration: int = 0
    decisions: int = 0
    """Decisions learned from; forced ones are not counted."""
    deals: int = 0
    """Deals played, which is also the position in the run's sequence of deal ids."""
    seconds: float = 0.0
    """Time spent, evaluations and earlier sessions of the run included."""
    start: dict[str, Any] | None = None
    """Position that the weights which the run began with had reached, where these were trained."""


def write_whole(path: Path, content: bytes) -> None:
    """Write a file of a run whole.  Raises CheckpointError, and leaves the old file as it was."""
    try:
        write_file(path, content)
    except OSError as error:
        kept = "the one before is intact" if path.exists() else "there was none before"
        raise CheckpointError(f"cannot write {path}: {error.strerror or error}; {kept}") from None


def save_checkpoint(run: Path, parameters: FlatParameters, published: Tensor, progress: Progress) -> None:
    """Write the checkpoint, and the published weights alone for `net:RUN`.  Raises CheckpointError.

    published: float32 [S or more]  the weights for players.
    """
    spec, header = parameters.net.spec, {"progress": asdict(progress)}
    tensors = _tensors(parameters, published)
    write_whole(run / CHECKPOINT_NAME, save(copies(tensors), {"hearts": json.dumps({"net": spec.to_json(), **header})}))
    save_weights(run / WEIGHTS_NAME, spec, parameters.named(published), progress)


def _tensors(parameters: FlatParameters, published: Tensor) -> dict[str, Tensor]:
    """Return the tensors of a checkpoint by their names in the file, as views of the vectors they lie in."""
    tensors = {f"net.{name}": tensor for name, tensor in parameters.net.state_dict().items()}
    tensors |= {f"adam.{name}": tensor for name, tensor in parameters.moments().items()}
    return tensors | {f"shown.{name}": tensor for name, tensor in parameters.named(published).items()}


def save_weights(path: Path, spec: NetSpec, weights: Mapping[str, Tensor], progress: Progress) -> None:
    """Write weights for players, with how far they were trained, in a folder that is made if need be.

    Raises CheckpointError.
    """
    with contextlib.suppress(OSError):  # told when the file is written
        path.parent.mkdir(exist_ok=True)
    write_whole(path, packed_weights(spec, weights, trained=asdict(progress)))


def load_checkpoint(run: Path, parameters: FlatParameters, published: Tensor) -> Progress:
    """Fill parameters, moments and published weights from the run's checkpoint, and return how far the run is.

    Tensors of an auxiliary head or a critic, which earlier versions could learn, are not read.  Raises CheckpointError.
    """
    file = run / CHECKPOINT_NAME
    try:
        tensors, header = read_tensors(file)
    except NetError as error:
        raise CheckpointError(f"cannot resume from {run}: {error}") from None
    # The first checkpoints don't tell the scale.
    written = {"reward_scale": NetSpec.reward_scale, **header.get("net", {})}
    expected = parameters.net.spec.to_json()
    for name in expected.keys() - {"package_version", "games"}:  # what may change in a run
        if written.get(name) != expected[name]:
            raise CheckpointError(
                f"cannot resume from {run}: its checkpoint has {name}={written.get(name)!r:.60}, "
                f"the run needs {expected[name]!r:.60}; start a new run"
            )
    for name in parameters.named(published):
        # The first checkpoints have none: players then had the last weights.
        tensors.setdefault(f"shown.{name}", tensors.get(f"net.{name}", np.empty(0)))
    for name, target in _tensors(parameters, published).items():
        if name not in tensors or tensors[name].shape != target.shape:
            raise CheckpointError(f"cannot resume from {run}: tensor {name} of its checkpoint is missing or misshapen")
        target.copy_(torch.from_numpy(tensors[name]))
    return Progress(**header["progress"])
