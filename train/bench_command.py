"""`hearts bench`: measure every layer, print a table, write the JSON file."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from hearts_env.executor import Executor
from hearts_train.terminal import console

if TYPE_CHECKING:
    from hearts_env.rules import Rules
    from hearts_train.bench import Measured

QUICK_SECONDS = 0.1
FULL_SECONDS = 1.0
QUICK_TABLES = (1024,)


@dataclass(frozen=True)
class Bench:
    """Measure deals per second of every layer on one core under both executors, each the median of five runs.

    Layers: engine (deal, legal actions, random choice, step), view and encode (these at every decision as well),
    aec (the PettingZoo environment with observations), and match:AGENT.
    """

    quick: bool = False
    """Runs of a tenth of a second with 1,024 tables, in place of runs of a second with the best number."""
    layers: tuple[str, ...] = ()
    """Only these layers."""
    players: tuple[int, ...] = (4,)
    """Player counts, each with its default rules."""
    rules: str = ""
    """A preset's name, `field=value` pairs, or both, in place of --players."""
    executors: tuple[Executor, ...] = ()
    """Only these of numpy and compiled.  Default: both, where numba is installed."""
    tables: tuple[int, ...] = ()
    """Tables played at once; each number is measured.  Default: the fastest of 1, 256, 1,024, 4,096 and 16,384."""
    json: Path | None = None
    """Write the results there, with commit, machine and versions."""

    def run(self) -> int:
        """Measure, print, write."""
        from hearts_env.executor import available, using
        from hearts_env.rules import Rules
        from hearts_train.bench import DEFAULT_LAYERS, describe, memory

        games = [Rules.parse(self.rules)] if self.rules else [Rules(num_players=number) for number in self.players]
        tables = self.tables or (QUICK_TABLES if self.quick else ())
        results = []
        for rules in games:
            for name in self.layers or DEFAULT_LAYERS:
                for executor in self.executors or available():
                    with using(executor):
                        results += _measured(name, rules, tables, QUICK_SECONDS if self.quick else FULL_SECONDS)
        memories = [memory(rules) for rules in games]
        _print(results, memories)
        if self.json:
            write(self.json, describe([asdict(result) for result in results], memories))
        return 0


def write(path: Path, content: dict[str, Any]) -> None:
    """Write the JSON file whole, in place of one that may be there.  Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    part.replace(path)


def _measured(name: str, rules: Rules, tables: Sequence[int], seconds: float) -> list[Measured]:
    """What there is to measure; nothing, with a note, where a module is missing."""
    from hearts_train.bench import measure

    try:
        return list(measure(name, rules, tables, seconds=seconds))
    except ImportError as error:
        print(f"hearts: {name} left out: {error}", file=sys.stderr)
        return []


def _print(results: Sequence[Measured], memories: Sequence[dict[str, Any]]) -> None:
    table = Table("layer", "executor", "rules", box=None, pad_edge=False)
    for column in ("tables", "deals/s", "decisions/s"):
        table.add_column(column, justify="right")
    for result in results:
        table.add_row(
            result.layer,
            result.executor,
            result.rules,
            f"{result.tables:,}",
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
