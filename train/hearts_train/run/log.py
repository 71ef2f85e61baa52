"""The log of a run: a line of JSON and TensorBoard scalars for each event, and progress on the terminal."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any, TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from hearts_train.run.checkpoint import METRICS_NAME, write_whole

Metrics = dict[str, Any]
_PLAIN_EVERY_S = 30.0


def read_metrics(run: Path) -> list[Metrics]:
    """Return the lines of a run's metrics.jsonl; a last line that was cut off by a kill is left out."""
    path = run / METRICS_NAME
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    result = []
    for line in lines:
        try:
            result.append(json.loads(line))
        except ValueError:
            break
    return result


class RunLog:
    """Writes metrics.jsonl and TensorBoard's files, and shows how far the run is.

    On a terminal that is a bar, elsewhere a plain line now and then.
    """

    def __init__(self, run: Path, decisions: int) -> None:
        """decisions: where the run goes on; what an earlier session wrote beyond that is dropped."""
        from torch.utils.tensorboard import SummaryWriter  # here, because the other workers do not need it

        kept = [line for line in read_metrics(run) if line["decisions"] <= decisions]
        write_whole(run / METRICS_NAME, "".join(json.dumps(line) + "\n" for line in kept).encode())
        self._file: TextIO = open(run / METRICS_NAME, "a", encoding="utf-8", buffering=1)  # noqa: SIM115
        purge = decisions + 1 if kept else None
        self._board = SummaryWriter(str(run), purge_step=purge)
        self._console = Console()
        self._bar: Progress | None = None
        self._task = TaskID(0)
        self._last_plain = time.monotonic()
        self._versus: dict[str, str] = {}
        if self._console.is_terminal:
            columns = (BarColumn(bar_width=8), TextColumn("{task.percentage:>3.0f}%"))  # all in 80 columns
            self._bar = Progress(*columns, TextColumn("{task.description}"), console=self._console)
            self._task = self._bar.add_task("starting the workers", total=1.0)
            self._bar.start()

    def say(self, text: str) -> None:
        """Print a sentence for the person at the terminal."""
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def session(self, origin: Metrics) -> None:
        """Log that a run starts or goes on.  origin: where the run stands, commit, machine and versions."""
        self._write({"kind": "session", **origin})

    def iteration(self, metrics: Metrics, fraction: float) -> None:
        """Log an update.  fraction: of the run's budget that is used."""
        self._write({"kind": "iteration", **metrics})
        text = self._text(metrics)
        if self._bar:
            self._bar.update(self._task, completed=fraction, description=text)
        elif time.monotonic() - self._last_plain > _PLAIN_EVERY_S:
            self._last_plain = time.monotonic()
            self.say(f"{fraction:4.0%}  {text}")

    def evaluation(self, metrics: Metrics) -> None:
        """Log a match on fixed deal ids: `payoff/OPPONENT` and `payoff_se/OPPONENT` among the metrics."""
        self._write({"kind": "evaluation", **metrics})
        for key, value in metrics.items():
            if key.startswith("payoff/"):
                opponent = key.removeprefix("payoff/")
                self._versus[opponent] = f"{opponent} {value:+.2f} ± {metrics[f'payoff_se/{opponent}']:.2f}"
        if not self._bar:
            place = f"{metrics['minutes']:6.2f} min  {metrics['decisions']:,} decisions"
            self.say(f"{place}  payoff against {', '.join(self._versus.values())}")

    def close(self) -> None:
        """End the display and close the files."""
        if self._bar:
            self._bar.stop()
        self._file.close()
        self._board.close()

    def _text(self, metrics: Metrics) -> str:
        speed = f"{metrics['decisions'] / 1e6:.2f}M, {metrics['decisions_per_s']:,.0f}/s"
        # Under the run's own rules; "rule num_players=3" is told where it is measured.
        own = [name for name in self._versus if not any(name.startswith(f"{other} ") for other in self._versus)]
        return "  ".join([speed, *(f"vs {self._versus[name]}" for name in own)])

    def _write(self, metrics: Metrics) -> None:
        self._file.write(json.dumps(metrics) + "\n")
        for key, value in metrics.items():
            if isinstance(value, (int, float)):
                tag = key if "/" in key else f"{metrics['kind']}/{key}"
                self._board.add_scalar(tag, value, metrics["decisions"])


class SilentLog(RunLog):
    """Writes and shows nothing, where another process does."""

    def __init__(self) -> None:
        """No files."""

    def say(self, text: str) -> None:
        """Nothing."""

    def session(self, origin: Metrics) -> None:
        """Nothing."""

    def iteration(self, metrics: Metrics, fraction: float) -> None:
        """Nothing."""

    def evaluation(self, metrics: Metrics) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""
