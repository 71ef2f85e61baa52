"""A guard against getting slower that reads no clock on the wall: deals per unit of a loop that never changes.

A layer and a fixed loop of the same kind (numpy over arrays, numpy over a few numbers, a compiled loop) are timed by
turns, in many short runs, and the best of each is taken: the one that others on the machine disturbed least.  The ratio
is compared with the one kept in guard.json; the tests fail where it has fallen to less than half.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro
from rich.table import Table

from hearts_arena.provenance import commit
from hearts_arena.report.console import console
from hearts_bench.layers import check
from hearts_bench.plan import Plan, contender
from hearts_bench.timing import Contender, TimedRun, Work, by_turns, repeat
from hearts_cli.bench import write
from hearts_env.executor import Executor, available
from hearts_env.game.rules import Rules

KEPT = Path(__file__).with_name("guard.json")
SLOWEST = 0.5
"""Of the kept ratio, below which the guard complains."""
SECONDS = 0.02
ROUNDS = 11
KEEPING_ROUNDS = 25
ARRAY = 256
"""Numbers in the arrays of the numpy loop, and tables of the layers that play many."""
UNIT = Work(1, 0, 0, 0)
Loop = Callable[[], object]


def over_arrays() -> Loop:
    """Numpy as the engine uses it: bits, counts, places and choices over arrays of ARRAY numbers."""
    random = np.random.default_rng(1)
    sets = random.integers(1 << 52, size=ARRAY)
    places = random.integers(ARRAY, size=ARRAY)

    def loop() -> object:
        rest = sets
        for shift in range(16):
            taken = rest.take(places) & ~(sets >> np.int64(shift))
            small = np.bitwise_count(taken) < 13
            rest = np.where(small, taken ^ sets, rest)
            rows = np.flatnonzero(small)
            rest[rows] |= np.left_shift(np.int64(1), rest[rows] & 31)
        return rest

    return loop


def over_few() -> Loop:
    """Numpy and Python as one table uses them: calls on arrays of four numbers, a dict, a list."""
    few = np.arange(4)

    def loop() -> object:
        seen: dict[str, int] = {}
        for number in range(64):
            row = np.where(few > 1, few & number, few)
            seen[f"seat_{number & 3}"] = int(row.sum()) + len(np.flatnonzero(row))
        return seen

    return loop


def compiled() -> Loop:
    """A compiled loop over the bits of sets.  Raises ImportError without numba."""
    from numba import njit

    @njit
    def count(sets: np.ndarray, counts: np.ndarray) -> None:
        for n in range(len(sets)):
            rest = sets[n]
            while rest:
                lowest = rest & -rest
                counts[(lowest * 0x218A392CD3D5DBF) >> 58 & 63] += lowest & 1 | n & 3
                rest ^= lowest

    sets = np.random.default_rng(2).integers(1 << 52, size=ARRAY)
    counts = np.zeros(64, np.int64)
    return lambda: count(sets, counts)


@dataclass(frozen=True)
class Guarded:
    """A layer under one executor, at so many tables, beside one of the loops."""

    layer: str
    executor: Executor
    tables: int
    loop: Callable[[], Loop]

    @property
    def name(self) -> str:
        """As it is kept."""
        return f"{self.layer} {self.executor}"


GUARDED = (
    Guarded("engine", "numpy", ARRAY, over_arrays),
    Guarded("encode", "numpy", ARRAY, over_arrays),
    Guarded("aec", "numpy", 1, over_few),
    Guarded("engine", "compiled", ARRAY, compiled),
    Guarded("encode", "compiled", ARRAY, compiled),
    Guarded("aec", "compiled", 1, over_few),
)


def ratios(rounds: int = ROUNDS) -> dict[str, float]:
    """Deals per unit of its loop, for all that can run here."""
    guarded = [each for each in GUARDED if each.executor in available()]
    loops = {each.loop: _unit(each.loop()) for each in guarded}
    layers = [contender(Plan(each.layer, Rules(), each.executor, each.tables)) for each in guarded]
    runs = by_turns([*layers, *loops.values()], SECONDS, runs=rounds)
    units = dict(zip(loops, runs[len(layers) :], strict=True))
    for of_layer in runs[: len(layers)]:
        check(Rules(), [run.work for run in of_layer])
    return {
        each.name: float(f"{_best(of_layer) / _best(units[each.loop]):.4g}")
        for each, of_layer in zip(guarded, runs, strict=False)
    }


def kept() -> dict[str, float]:
    """The ratios kept."""
    found: dict[str, float] = json.loads(KEPT.read_text(encoding="utf-8"))["deals_per_unit"]
    return found


def slower(now: dict[str, float], before: dict[str, float]) -> list[str]:
    """A sentence on each that has got slower than SLOWEST of what it was."""
    return [
        f"{name} plays {now[name]:g} deals a unit of its loop, less than {SLOWEST} of the {before[name]:g} of before"
        for name in now
        if name in before and now[name] < SLOWEST * before[name]
    ]


def _unit(loop: Loop) -> Contender:
    def batch(first: int) -> Work:
        loop()
        return UNIT

    return Contender("loop", lambda first, seconds: repeat(batch, first, seconds))


def _best(runs: list[TimedRun]) -> float:
    return max(run.deals_per_s() for run in runs)


@dataclass(frozen=True)
class Guard:
    """Compare how fast the layers are, relative to loops that never change, with what was kept."""

    keep: bool = False
    """Keep the ratios of now, after a change that made something faster (or slower, and is worth it)."""

    def run(self) -> int:
        """Measure and print; 1 if something has got slower than half."""
        now = ratios(KEEPING_ROUNDS if self.keep else ROUNDS)
        before = {} if self.keep else kept()
        table = Table("layer", box=None, pad_edge=False)
        for column in ("deals per unit", "kept", "of it"):
            table.add_column(column, justify="right")
        for name, ratio in now.items():
            old = before.get(name)
            table.add_row(
                name, f"{ratio:g}", "-" if old is None else f"{old:g}", "-" if not old else f"{ratio / old:.2f}"
            )
        console().print(table)
        if self.keep:
            write(KEPT, {"commit": commit(), "deals_per_unit": now})
        complaints = slower(now, before)
        for sentence in complaints:
            print(f"guard.py: {sentence}", file=sys.stderr)
        return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(tyro.cli(Guard).run())
