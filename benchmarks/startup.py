"""CPU seconds of a new process that plays one deal of a single gymnasium table: `python benchmarks/startup.py`.

Of user and system together, the median of some processes after one that fills the cache of machine code.  "default" is
what runs where no executor is named, as most programs leave it.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
from dataclasses import dataclass

import tyro

from hearts_env.executor import VARIABLE, available

OPPONENTS = ("random", "rule")
DEAL = """
import sys
import gymnasium
import numpy as np
import hearts_env

env = gymnasium.make("hearts_env/Hearts-v0", opponents=sys.argv[1])
random = np.random.default_rng(0)
_, info = env.reset(seed=0)
while "summary" not in info:
    _, _, _, _, info = env.step(int(random.choice(np.flatnonzero(info["action_mask"]))))
assert info["summary"]["deals"] == 1
"""


def cpu_seconds(opponents: str, executor: str) -> float:
    """User and system time of one process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, VARIABLE: executor}
    subprocess.run([sys.executable, "-c", DEAL, opponents], check=True, env=environment, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@dataclass(frozen=True)
class Startup:
    """Measure the CPU seconds of a new process that plays one deal, under every executor by turns."""

    runs: int = 7
    """Processes of each kind, of which the median is printed."""

    def run(self) -> None:
        """Measure and print a line for each kind."""
        kinds = [(opponents, executor) for opponents in OPPONENTS for executor in ("", *available())]
        for kind in kinds:
            cpu_seconds(*kind)
        runs = [[cpu_seconds(*kind) for kind in kinds] for _ in range(self.runs)]
        for (opponents, executor), seconds in zip(kinds, zip(*runs, strict=True), strict=True):
            print(f"opponents={opponents}, {executor or 'default'}: {statistics.median(seconds):.2f} s of CPU")


if __name__ == "__main__":
    tyro.cli(Startup).run()
