"""`hearts train`: self-play training from the command line."""

from __future__ import annotations

from dataclasses import dataclass

import tyro


@dataclass(frozen=True)
class Train:
    """Train a network by self-play (PPO); `hearts train --help` lists its settings."""

    def run(self) -> int:
        """Train with every setting at its default."""
        return train([])


def train(arguments: list[str]) -> int:
    """Train as `hearts train` with these arguments says; the exit code."""
    import hearts_train.ppo as ppo

    config = tyro.cli(
        ppo.TrainConfig,
        prog="hearts train",
        description=Train.__doc__,
        args=arguments,
        config=(tyro.conf.FlagCreatePairsOff,),
    )
    ppo.train(config)
    return 0
