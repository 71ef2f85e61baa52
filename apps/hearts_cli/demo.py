"""`hearts demo`: train for two minutes, hold two tournaments, plot the curve, measure the speed."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from hearts_arena.report.screen import Screen, print_results
from hearts_cli.bench import Bench
from hearts_cli.exit_codes import INTERRUPTED

RUN = Path("runs") / "demo"
"""The folder for all files; those of an earlier demo in it are removed."""
OPPONENTS = ("random", "rule")
"""Whom the network meets, two seats each."""


@dataclass(frozen=True)
class Demo:
    """Train a network for two minutes, evaluate it in tournaments, plot its learning curve, and measure the speed."""

    minutes: float = 2.0
    """Training time."""
    deals: int = 500
    """Deal ids of each tournament."""
    seed: int = 0
    """Random seed of the training and of the tournaments."""

    def run(self) -> int:
        """Do one after the other; everything lands in runs/demo."""
        from hearts_train import TrainConfig, train
        from hearts_train.run import learning_curve

        print(
            f"1. A network plays itself for {self.minutes:g} minutes and learns (PPO).\n"
            f"2. It meets {' and '.join(OPPONENTS)}: the same deals in every seating, two seats each.\n"
            "3. A short benchmark of the library.\n"
            f"All files are in {RUN}; Ctrl-C ends a part early.\n"
        )
        shutil.rmtree(RUN, ignore_errors=True)
        train(TrainConfig(minutes=self.minutes, out=RUN, seed=self.seed))
        print(f"\nlearning curve: {learning_curve.plot(RUN)}\n")
        for opponent in OPPONENTS:
            if not self._meet(opponent):
                return INTERRUPTED
        return Bench(quick=True, json=RUN / "bench.json").run()

    def _meet(self, opponent: str) -> bool:
        """Hold and print a tournament of the network against one agent; was it finished?"""
        from hearts_arena.run import hold
        from hearts_arena.tournament_plan import plan_tournament
        from hearts_env import Rules

        planned = plan_tournament(Rules(), (f"net:{RUN}", opponent), self.deals, seed=self.seed)
        with Screen(planned) as screen:
            outcome = hold(planned, RUN / f"against_{opponent}", watch=screen.update)
        if outcome.content:
            print_results(outcome.content)
            print()
        if outcome.failure:
            raise outcome.failure
        return outcome.finished
