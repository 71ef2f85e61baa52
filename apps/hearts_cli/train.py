"""`hearts train`: self-play training from the command line."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import tyro


@dataclass(frozen=True)
class Train:
    """Train a network by self-play (PPO); `hearts train --help` lists its settings."""

    def run(self) -> int:
        """Train with every setting at its default."""
        return train([])


def train(arguments: list[str]) -> int:
    """Train as `hearts train` with these arguments says; the exit code."""
    from hearts_train.run import session
    from hearts_train.run.config import TrainConfig
    from hearts_train.run.config_file import resumed
    from hearts_train.run.distributed import is_first_process

    # Under torchrun the first process tells the others what its run directory says: they may not have it.
    run = _resume_of(arguments) if is_first_process() else None
    config = tyro.cli(
        TrainConfig,
        # What is not given is then as it was in the run, and what is given counts, even where it is a default.
        default=TrainConfig() if run is None else resumed(run),
        prog="hearts train",
        description=Train.__doc__,
        args=arguments,
        config=(tyro.conf.FlagCreatePairsOff, tyro.conf.OmitArgPrefixes),
    )
    session.train(config)
    return 0


def _resume_of(arguments: list[str]) -> Path | None:
    """The run that `--resume` names."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--resume", type=Path, nargs="?")
    run: Path | None = parser.parse_known_args(arguments)[0].resume
    return run
