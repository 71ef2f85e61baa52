"""Time every layer of this checkout and of another one by turns: `python benchmarks/compare_checkouts.py OTHER_ROOT`.

Each checkout runs in a process of its own, with the packages of its own folders; one run of the one is followed by a
run of the other, so that whatever else the machine does hits both.  Prints the median of the ratios round by round:
above 1, this checkout is faster.  A checkout from before the packages had folders of their own can be compared too.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import tyro
from rich.table import Table

from hearts_arena.report.console import console

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = {
    "hearts_env": ("hearts_env",),
    "hearts_agents": ("agents/hearts_agents", "agents"),
    "hearts_arena": ("agents/hearts_arena",),
    "hearts_train": ("train/hearts_train", "train"),
    "hearts_bench": ("benchmarks/hearts_bench",),
    "hearts_cli": ("apps/hearts_cli",),
}
"""Where a package may stand in a checkout, the newest place first."""
SERVER = """
import sys
try:
    from hearts_bench.plan import Plan, contender
    from hearts_env.game.rules import Rules
except ImportError:
    from hearts_train.bench_plan import Plan, contender
    from hearts_env.rules import Rules
layer, executor, tables = sys.argv[1], sys.argv[2], int(sys.argv[3])
made = contender(Plan(layer, Rules(), executor, tables))
made.run(0, 0.0)
print("ready", flush=True)
for number, line in enumerate(sys.stdin, 1):
    run = made.run(number << 32, float(line))
    print(run.decisions_per_s(), flush=True)
"""


@dataclass(frozen=True)
class Compare:
    """Time layers of this checkout and of another one by turns."""

    other: tyro.conf.Positional[Path]
    """The root of the other checkout, for example of the commit before a change."""
    layers: tuple[str, ...] = ()
    """LAYER:EXECUTOR:TABLES, for example engine:compiled:4096.  Default: every layer under both executors."""
    rounds: int = 7
    """Runs of each checkout."""
    seconds: float = 0.3
    """Of work of one core, at least, a run."""


DEFAULT = (
    *("engine:numpy:4096", "engine:compiled:4096", "view:numpy:4096", "view:compiled:4096"),
    *("encode:numpy:1024", "encode:compiled:1024", "aec:numpy:1", "aec:compiled:1", "parallel:numpy:1"),
    *("parallel:compiled:1", "single:numpy:1", "single:compiled:1", "vector:numpy:1024", "vector:compiled:1024"),
    *("match:random:numpy:4096", "match:random:compiled:4096", "match:rule:numpy:1024", "match:rule:compiled:4096"),
    *("match:net:numpy:256", "match:net:compiled:256", "match:search:16:compiled:16"),
)


class Checkout:
    """A process that times one layer of a checkout when it is told to."""

    def __init__(self, root: Path, layer: str, executor: str, tables: str, folder: Path) -> None:
        folder.mkdir()
        for package, places in FOLDERS.items():
            found = [root / place for place in places if (root / place / "__init__.py").is_file()]
            if found:
                (folder / package).symlink_to(found[0])
        environment = {**os.environ, "PYTHONPATH": str(folder), "HEARTS_THREADS": "1", "OMP_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-c", SERVER, layer, executor, tables],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
            cwd=folder,
        )
        self._told = _pipe(self._process.stdin)
        self._answers = _pipe(self._process.stdout)
        if self._answers.readline().strip() != "ready":
            raise RuntimeError(f"{root}: the layer {layer} under {executor} does not start")

    def speed(self, seconds: float) -> float:
        """Decisions a second of one core over a run of at least so many seconds."""
        print(seconds, file=self._told, flush=True)
        return float(self._answers.readline())

    def close(self) -> None:
        """End the process."""
        self._told.close()
        self._process.wait()


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe


def ratios(options: Compare, layer: str) -> tuple[float, list[float]]:
    """This checkout's decisions a second, and its speed over the other's in every round."""
    name, executor, tables = layer.rsplit(":", 2)
    with tempfile.TemporaryDirectory() as folder:
        pair = [
            Checkout(root.resolve(), name, executor, tables, Path(folder) / str(place))
            for place, root in enumerate((ROOT, options.other))
        ]
        speeds: list[tuple[float, float]] = []
        for number in range(options.rounds):
            order = (0, 1) if number % 2 else (1, 0)
            found = {place: pair[place].speed(options.seconds) for place in order}
            speeds.append((found[0], found[1]))
        for one in pair:
            one.close()
    return statistics.median(ours for ours, _ in speeds), [ours / theirs for ours, theirs in speeds]


def main(options: Compare) -> int:
    """Time and print; exit code 1 where a layer could not be timed."""
    table = Table("layer", "executor", "tables", "decisions/s", "ratio", "slowest", "fastest")
    failed = 0
    for layer in options.layers or DEFAULT:
        try:
            speed, found = ratios(options, layer)
        except (RuntimeError, ValueError) as error:
            console().print(f"{layer}: {error}")
            failed = 1
            continue
        figures = (statistics.median(found), min(found), max(found))
        table.add_row(*layer.rsplit(":", 2), f"{speed:,.0f}", *(f"{figure:.2f}" for figure in figures))
        console().print(f"{layer}: {figures[0]:.2f}")
    console().print(table)
    return failed


if __name__ == "__main__":
    sys.exit(main(tyro.cli(Compare, description=__doc__)))
