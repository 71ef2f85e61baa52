"""Every layer for two to seven players under both executors, 1 to 65,536 tables, one thread and more, by turns."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import tyro

from hearts_bench.layers import DEFAULT_LAYERS, ONE_TABLE, describe, memory, origin
from hearts_bench.plan import Plan, contender, measure, threads_matter
from hearts_cli.bench import QUICK_SECONDS, print_results, turns, write
from hearts_env.executor import available
from hearts_env.game.rules import Rules

RESULTS = Path(__file__).parent / "results" / "deals_per_second.json"
PLAYERS = (2, 3, 4, 5, 6, 7)
TABLES = 4096
"""For the player counts."""
SCALED = ("engine", "view", "encode")
SIZES = (1, 16, 256, 1024, 4096, 16384, 65536)
QUICK_SIZES = (1, 256)
SECONDS = 0.3
THREADED = (4096, 65536)
"""Tables with which the numbers of threads are compared."""


def every_layer(tables: int) -> list[Plan]:
    """All layers and player counts, with this many tables where there are many; a note on layers that are missing."""
    plans = []
    for layer in DEFAULT_LAYERS:
        made = [
            Plan(layer, Rules(num_players=players), executor, 1 if layer in ONE_TABLE else tables)
            for players, executor in itertools.product(PLAYERS, available())
        ]
        try:
            contender(made[0])
        except ImportError as error:
            print(f"deals_per_second.py: {layer} left out: {error}", file=sys.stderr)
            continue
        plans += made
    return plans


def every_size(sizes: Sequence[int]) -> list[Plan]:
    """Four players at each of these numbers of tables."""
    return [Plan(layer, Rules(), executor, tables) for layer in SCALED for executor in available() for tables in sizes]


def every_thread_count(most: int, sizes: Sequence[int]) -> list[Plan]:
    """The compiled executor with one thread, two, and so on; a note where the library has no threads."""
    if "compiled" not in available() or not threads_matter():
        print("deals_per_second.py: threads left out: no executor here takes a number of threads", file=sys.stderr)
        return []
    counts = range(1, most + 1)
    return [Plan(layer, Rules(), "compiled", tables, n) for layer in SCALED for tables in sizes for n in counts]


@dataclass(frozen=True)
class DealsPerSecond:
    """Measure every layer: players, tables, threads and memory."""

    quick: bool = False
    """Runs of a tenth of a second, and few sizes."""
    threads: int = min(2, os.cpu_count() or 1)
    """The most threads."""
    json: Path = RESULTS
    """Write the results there."""

    def run(self) -> int:
        """Measure, print, write."""
        begun = origin()
        sizes = QUICK_SIZES if self.quick else SIZES
        parts = (
            every_layer(QUICK_SIZES[-1] if self.quick else TABLES),
            every_size(sizes),
            every_thread_count(self.threads, sizes[-1:] if self.quick else THREADED),
        )
        plans = list(dict.fromkeys(plan for part in parts for plan in part))
        with turns(len(plans)) as tell:
            results = measure(plans, QUICK_SECONDS if self.quick else SECONDS, tell=tell)
        memories = [memory(Rules(num_players=players)) for players in PLAYERS]
        print_results(results, memories)
        write(self.json, describe(begun, [asdict(result) for result in results], memory=memories))
        return 0


if __name__ == "__main__":
    sys.exit(tyro.cli(DealsPerSecond).run())
