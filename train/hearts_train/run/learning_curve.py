"""The learning curve of a run as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from matplotlib.figure import Figure

from hearts_train.run.checkpoint import CURVE_NAME
from hearts_train.run.log import read_metrics


class CurveError(ValueError):
    """A run without anything to plot."""


class Point(NamedTuple):
    """One network of a run, and its measured payoff."""

    decisions: float
    minutes: float
    payoff: float
    error: float


def plot(run_dir: Path) -> Path:
    """Draw `learning_curve.png` in a run directory, and return its path.

    Payoff per seat and deal against each opponent, with standard errors, against decisions and minutes.  Raises
    CurveError where the run has no evaluation yet.
    """
    lines = [line for line in read_metrics(run_dir) if line["kind"] == "evaluation"]
    if not lines:
        raise CurveError(f"nothing to plot in {run_dir}: its metrics.jsonl is missing or holds no evaluation yet")
    opponents = sorted({key.removeprefix("payoff/") for line in lines for key in line if key.startswith("payoff/")})
    curves = {
        f"against {opponent}": [
            Point(line["decisions"], line["minutes"], line[f"payoff/{opponent}"], line[f"payoff_se/{opponent}"])
            for line in lines
            if f"payoff/{opponent}" in line
        ]
        for opponent in opponents
    }
    figure = draw(curves, f"{run_dir.name}: duplicate deals, two seats each, one standard error")
    path = run_dir / CURVE_NAME
    figure.savefig(path, dpi=120)
    return path


def draw(curves: Mapping[str, Sequence[Point]], title: str) -> Figure:
    """Payoffs with their errors, a curve for each label, against decisions and against minutes."""
    figure = Figure(figsize=(10, 4), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    for axis, key, label, unit in zip(
        axes, ("decisions", "minutes"), ("million decisions", "minutes"), (1e6, 1.0), strict=True
    ):
        for name, points in curves.items():
            axis.errorbar(
                [getattr(point, key) / unit for point in points],
                [point.payoff for point in points],
                [point.error for point in points],
                marker="o",
                markersize=3,
                capsize=2,
                label=name,
            )
        axis.axhline(0, color="gray", linewidth=0.8)
        axis.set_xlabel(label)
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("payoff in points per seat and deal")
    axes[0].legend()
    figure.suptitle(title)
    return figure
