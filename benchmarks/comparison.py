"""What the comparing benchmarks share: contenders with what they were asked to do, their ratios, the results file."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rich.table import Table

from hearts_arena.report.console import console
from hearts_bench.layers import BenchError, check, describe, origin
from hearts_bench.plan import Plan, contender
from hearts_bench.timing import Contender, TimedRun, by_turns, median_deals, median_decisions, median_ratio
from hearts_cli.bench import FULL_SECONDS, QUICK_SECONDS, turns, write
from hearts_env.executor import available
from hearts_env.game.rules import Rules

Unit = Literal["deals", "decisions"]
MICROSECONDS = 1e6
TABLES = 4096
"""Tables of our layers that play many at once."""
LAYERS = {
    "engine": "deal, legal actions, random choice, step; every table keeps what views and records need",
    "encode": "the same, with the observation and the mask of the seat to act at every decision",
    "aec": "PettingZoo AEC: reset, last, step, with observation and mask at every decision",
}
"""What our layers are asked to do."""


@dataclass(frozen=True)
class Entry:
    """Someone who is measured, and what for.

    against: names of those of ours that do the same kind of work, which it is compared with.  unit: what the ratios
    count; another game's deals are not ours.
    rules: those that decisions and points per deal are checked by, where it plays by ours.
    """

    contender: Contender
    asked: str
    against: tuple[str, ...] = ()
    unit: Unit = "deals"
    rules: Rules | None = None

    @property
    def name(self) -> str:
        """The contender's."""
        return self.contender.name


def ours(*layers: str) -> list[Entry]:
    """Our layers under each executor that is here."""
    rules = Rules()
    entries = []
    for layer in layers:
        for executor in available():
            plan = Plan(layer, rules, executor, 1 if layer == "aec" else TABLES)
            made = Contender(f"{layer} {executor}", contender(plan).run)
            entries.append(Entry(made, LAYERS[layer], rules=rules))
    return entries


def compare(entries: Sequence[Entry], seconds: float) -> list[dict[str, Any]]:
    """Measure them by turns; a row each.  Raises BenchError where one that plays our rules plays them wrong."""
    with turns(len(entries)) as tell:
        results = by_turns([entry.contender for entry in entries], seconds, tell=tell)
    runs = {entry.name: result for entry, result in zip(entries, results, strict=True)}
    for entry in entries:
        if entry.rules:
            try:
                check(entry.rules, [run.work for run in runs[entry.name]])
            except BenchError as error:
                raise BenchError(f"{entry.name}: {error}") from None
    return [_row(entry, runs) for entry in entries]


def run(entries: Sequence[Entry], path: Path, *, quick: bool, **more: Any) -> None:
    """Measure them, print them, write the results file, in which `more` stands too."""
    begun = origin()
    rows = compare(entries, QUICK_SECONDS if quick else FULL_SECONDS)
    _print(rows)
    write(path, describe(begun, rows, **more))


def _row(entry: Entry, runs: dict[str, list[TimedRun]]) -> dict[str, Any]:
    mine = runs[entry.name]
    speeds = [run.deals_per_s() for run in mine]
    speed: Callable[[TimedRun], float] = TimedRun.deals_per_s if entry.unit == "deals" else TimedRun.decisions_per_s
    return {
        "name": entry.name,
        "asked": entry.asked,
        "unit": entry.unit,
        "deals_per_s": round(median_deals(mine), 2),
        "decisions_per_s": round(median_decisions(mine), 1),
        "microseconds_a_decision": round(MICROSECONDS / median_decisions(mine), 4),
        "slowest_deals_per_s": round(min(speeds), 2),
        "fastest_deals_per_s": round(max(speeds), 2),
        "core_share": round(statistics.median(run.core_share for run in mine), 2),
        "ours_is_times": {
            name: float(f"{median_ratio(list(map(speed, runs[name])), list(map(speed, mine))):.3g}")
            for name in entry.against
            if name in runs
        },
    }


def _print(rows: Sequence[dict[str, Any]]) -> None:
    table = Table("who", box=None, pad_edge=False)
    for column in ("deals/s", "decisions/s", "us/decision"):
        table.add_column(column, justify="right")
    table.add_column("ours is so many times as fast")
    for row in rows:
        ratios = ", ".join(f"{name} {times:g}" for name, times in row["ours_is_times"].items())
        if ratios and row["unit"] == "decisions":
            ratios += " (in decisions)"
        table.add_row(
            row["name"],
            f"{row['deals_per_s']:,.0f}",
            f"{row['decisions_per_s']:,.0f}",
            f"{row['microseconds_a_decision']:.3g}",
            ratios,
        )
    console().print(table)
