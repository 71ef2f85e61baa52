"""What each environment costs: microseconds a step, beside the bare core at as many tables, by turns in one process.

The ratios are of whole deals, since a step of an environment with one learning seat has the turns of the others in it.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import tyro

import comparison
from comparison import Entry
from hearts_bench.layers import LAYERS, ONE_TABLE
from hearts_bench.plan import Plan, contender
from hearts_bench.timing import Contender
from hearts_env.executor import Executor, available
from hearts_env.game.rules import Rules

RESULTS = Path(__file__).parent / "results" / "overhead.json"
MANY = 1024
CORE = ("engine", "encode")
"""The bare core, without and with observations, at one table and at MANY."""
ADAPTER = {"sb3-tutorial": "sb3", "torchrl-wrapper": "torchrl"}
"""Other ways to reach a library: measured beside our adapter to it."""


def entries() -> tuple[list[Entry], list[str]]:
    """The core, and every environment among the layers; and a sentence on each layer that is not here."""
    found: list[Entry] = []
    left_out: list[str] = []
    for executor in available():
        for layer in CORE:
            found += [_entry(layer, executor, tables) for tables in (1, MANY)]
        for layer in sorted(set(LAYERS) - {*CORE, "view"}):
            tables = 1 if layer in ONE_TABLE else MANY
            try:
                found.append(_entry(layer, executor, tables))
            except ImportError as error:
                left_out.append(f"{layer} {executor}: {error}")
    return found, left_out


def _entry(layer: str, executor: Executor, tables: int) -> Entry:
    made = contender(Plan(layer, Rules(), executor, tables))
    doc = (LAYERS[layer].__doc__ or "").strip().splitlines()[0]
    against = () if layer in CORE else tuple(_name(core, executor, tables) for core in CORE)
    if layer in ADAPTER:
        against = (_name(ADAPTER[layer], executor, MANY),)
    return Entry(Contender(_name(layer, executor, tables), made.run), doc, against, "deals", Rules())


def _name(layer: str, executor: str, tables: int) -> str:
    return f"{layer} {executor}, {tables:,} table{'s' if tables > 1 else ''}"


@dataclass(frozen=True)
class Overhead:
    """Measure what each environment costs over the bare core."""

    quick: bool = False
    """Runs of a tenth of a second, in place of runs of a second."""
    json: Path = RESULTS
    """Write the results there."""

    def run(self) -> int:
        """Measure, print, write."""
        found, left_out = entries()
        for sentence in left_out:
            print(f"overhead.py: left out: {sentence}", file=sys.stderr)
        comparison.run(found, self.json, quick=self.quick, left_out=left_out)
        return 0


if __name__ == "__main__":
    sys.exit(tyro.cli(Overhead).run())
