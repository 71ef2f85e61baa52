"""Self-play training: `TrainConfig` says what to train and how, `train` does it and returns the run's folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hearts_train.run.config import TrainConfig
    from hearts_train.run.session import train

__all__ = ["TrainConfig", "train"]


def __getattr__(name: str) -> object:
    """Import torch and the trainer when one of the public names is first asked for."""
    if name == "TrainConfig":
        from hearts_train.run.config import TrainConfig

        return TrainConfig
    if name == "train":
        from hearts_train.run.session import train

        return train
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
