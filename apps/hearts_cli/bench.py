"""`hearts bench`: measure every layer, print a table, write the JSON file."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from hearts_arena.report.console import console
from hearts_env.executor import Executor
from hearts_env.text.write_file import write_file

if TYPE_CHECKING:
    from hearts_bench.plan import Measured, Plan
    from hearts_env.game.rules import Rules

QUICK_SECONDS = 0.1
FULL_SECONDS = 1.0
_PROBE = 4
"""For how large a part of a run's time each number of tables is tried where none is asked for."""
QUICK_TABLES = 1024
QUICK_DEALS = 64
"""Of one iteration of the layer `train`."""
TRAIN = "train"


@dataclass(frozen=True)
class Bench:
    """Measure deals per second of every layer on one core under both executors, by turns, medians of five runs.

    Layers: engine (deal, legal actions, random choice, step), view and encode (these at every decision as well),
    aec and parallel (the PettingZoo environments with observations), single and vector (the gymnasium ones, where
    decisions are those of one seat), match:AGENT, and train: one worker that plays and learns, where its time goes.
    """

    quick: bool = False
    """Runs of a tenth of a second with 1,024 tables, in place of runs of a second with the best number."""
    layers: tuple[str, ...] = ()
    """Measure only these layers."""
    players: tuple[int, ...] = (4,)
    """Player counts, each with its default rules."""
    rules: str = ""
    """A preset's name, `field=value` pairs, or both, in place of --players."""
    executors: tuple[Executor, ...] = ()
    """Measure only these executors, of numpy and compiled.  Default: both, where numba is installed."""
    tables: tuple[int, ...] = ()
    """Tables played at once; each number is measured.  Default: the fastest of 1, 256, 1,024, 4,096 and 16,384."""
    threads: tuple[int, ...] = (1,)
    """Numbers of threads of the compiled executor; each is measured."""
    json: Path | None = None
    """Write the results to this JSON file, with commit, machine and versions."""

    def run(self) -> int:
        """Measure, print, write."""
        from hearts_bench.layers import describe, memory, origin
        from hearts_bench.plan import measure
        from hearts_env.game.rules import Rules

        begun = origin()
        games = [Rules.parse(self.rules)] if self.rules else [Rules(num_players=number) for number in self.players]
        plans = self._plans(games)
        seconds = QUICK_SECONDS if self.quick else FULL_SECONDS
        with turns(len(plans)) as tell:
            results = measure(plans, seconds, tell=tell) if plans else []
        memories = [memory(rules) for rules in games]
        print_results(results, memories)
        learned = self._learned(games) if not self.layers or TRAIN in self.layers else []
        print_learned(learned)
        if self.json:
            rows = [*(asdict(result) for result in results), *learned]
            write(self.json, describe(begun, rows, memory=memories))
        return 0

    def _learned(self, games: Sequence[Rules]) -> list[dict[str, Any]]:
        """The layer `train`, at the settings that `hearts train` has; with a note, nothing without torch."""
        try:
            from hearts_bench.learning import RUNS, learning
            from hearts_train.run.config import TrainConfig
        except ImportError as error:
            print(f"hearts: {TRAIN} left out: {error}", file=sys.stderr)
            return []
        from hearts_env.executor import available

        rows = []
        for rules in games:
            shown = {
                "layer": TRAIN,
                "rules": rules.show(),
                "num_players": rules.num_players,
                "runs": RUNS,
                "threads": 1,
            }
            config = TrainConfig(rules=rules.show()).with_options(workers=1)
            if self.quick:
                config = replace(config, tables=QUICK_DEALS)
            rows += [{**shown, **asdict(found)} for found in learning(config, self.executors or available())]
        return rows

    def _plans(self, games: Sequence[Rules]) -> list[Plan]:
        """The plans to measure, without those that need a missing module, for which it prints a note."""
        from hearts_bench.layers import DEFAULT_LAYERS
        from hearts_env.executor import available

        found: list[Plan] = []
        layers = [layer for layer in self.layers or DEFAULT_LAYERS if layer != TRAIN]
        for rules, layer in itertools.product(games, layers):
            try:
                for executor in self.executors or available():
                    found += self._sizes(layer, rules, executor)
            except ImportError as error:
                print(f"hearts: {layer} left out: {error}", file=sys.stderr)
        return found

    def _sizes(self, layer: str, rules: Rules, executor: Executor) -> list[Plan]:
        """The numbers of tables and of threads."""
        from hearts_bench.layers import ONE_TABLE
        from hearts_bench.plan import Plan, best_tables, contender

        sizes = (1,) if layer in ONE_TABLE else self.tables or ((QUICK_TABLES,) if self.quick else ())
        if not sizes:
            sizes = (best_tables(layer, rules, executor, FULL_SECONDS / _PROBE),)
        threads = self.threads if executor == "compiled" else (1,)
        plans = [Plan(layer, rules, executor, tables, count) for tables in sizes for count in threads]
        # For its errors, before anything is measured.
        contender(plans[0])
        return plans


@contextmanager
def turns(contenders: int) -> Iterator[Callable[[str], None]]:
    """A progress bar on standard error, if that is a terminal; gives what is to be told who has had a turn."""
    from hearts_bench.timing import RUNS

    screen = Console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=screen, disable=not screen.is_terminal, transient=True) as progress:
        task = progress.add_task("", total=contenders * (RUNS + 1))
        yield lambda name: progress.update(task, advance=1, description=name)


def print_learned(rows: Sequence[dict[str, Any]]) -> None:
    """Print how fast a worker learns, and what its time goes into."""
    if not rows:
        return
    speeds = [f"{row['executor']}, {row['rules']}: {row['decisions_per_s']:,.0f} decisions/s" for row in rows]
    table = Table("train: microseconds a decision", *speeds, box=None, pad_edge=False)
    for part in dict.fromkeys(part for row in rows for part in row["microseconds"]):
        table.add_row(part, *(f"{row['microseconds'].get(part, 0):.1f}" for row in rows))
    console().print(table)


def write(path: Path, content: dict[str, Any]) -> None:
    """Write the results as JSON, into a folder that is made if need be.  Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, json.dumps(content, indent=1) + "\n")


def print_results(results: Sequence[Measured], memories: Sequence[dict[str, Any]]) -> None:
    """Print the table for people."""
    table = Table("layer", "executor", "rules", box=None, pad_edge=False)
    for column in ("tables", "threads", "deals/s", "decisions/s"):
        table.add_column(column, justify="right")
    for result in results:
        table.add_row(
            result.layer,
            result.executor,
            result.rules,
            f"{result.tables:,}",
            str(result.threads),
            f"{result.deals_per_s:,.0f}",
            f"{result.decisions_per_s:,.0f}",
        )
    out = console()
    out.print(table)
    for entry in memories:
        out.print(
            f"{entry['num_players']} players: {entry['state_bytes']} bytes of state a table; "
            f"{entry['tables']:,} tables take {entry['state_mib']} MiB, "
            f"{entry['state_and_encoding_mib']} MiB with encodings and masks",
            soft_wrap=True,
        )
