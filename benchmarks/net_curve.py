"""How strong the networks of a run were in the course of its training: `python benchmarks/net_curve.py RUN`.

All weights that it kept (`hearts train --past-every-decisions`) and its last ones meet some agents, two seats each
in every rotation, on the same fresh deal ids.  Writes benchmarks/results/net_curve.json and docs/images/net_curve.png,
from which docs/training.md is made.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro
from matplotlib.figure import Figure

from hearts_agents import make
from hearts_agents.net_file import read_tensors, weights_file
from hearts_env.rules import Rules
from hearts_train.checkpoint import PAST_NAME
from hearts_train.league import duplicate_payoffs, fresh_ids, mean_and_error
from hearts_train.machine import commit, machine, versions

RESULTS = Path(__file__).resolve().parent / "results" / "net_curve.json"
PICTURE = Path(__file__).resolve().parent.parent / "docs" / "images" / "net_curve.png"
LAST = "last"
"""As an opponent: the last weights of the run."""


@dataclass(frozen=True)
class NetCurve:
    """Measure all networks that a run has kept."""

    run: Annotated[Path, tyro.conf.Positional]
    """The run directory."""
    against: tuple[str, ...] = ("rule", LAST)
    """Agents that each meets; `last` is the run's last network."""
    deals: int = 4000
    """Deal ids of each match."""
    seed: int = 1
    """Of the deal ids, which no training has seen."""

    def __call__(self) -> dict[str, Any]:
        """What the file holds.  Raises NetError or AgentError."""
        last, ids = f"net:{weights_file(self.run)}", fresh_ids(self.deals, self.seed)
        points = []
        for file in [*sorted((self.run / PAST_NAME).glob("*.safetensors")), weights_file(self.run)]:
            trained, met = read_tensors(file)[1]["trained"], {}
            for opponent in self.against:
                name = last if opponent == LAST else opponent
                if f"net:{file}" != name:
                    payoffs = duplicate_payoffs(Rules(), make(f"net:{file}"), name, ids)
                    met[opponent] = [round(value, 3) for value in mean_and_error(payoffs)]
            points.append({"decisions": trained["decisions"], "minutes": round(trained["seconds"] / 60, 1), **met})
            print(points[-1], file=sys.stderr, flush=True)
        origin = {"commit": commit(), "machine": machine(), "versions": versions()}
        return {"deals": self.deals, "seed": self.seed, **origin, "against": list(self.against), "points": points}


def draw(content: dict[str, Any]) -> Figure:
    """Payoff against each opponent over decisions and over minutes, with a standard error."""
    figure = Figure(figsize=(10, 4), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for axis, (key, label, unit) in zip(
        panels, (("decisions", "million decisions", 1e6), ("minutes", "minutes", 1)), strict=True
    ):
        for opponent in content["against"]:
            met = [point for point in content["points"] if opponent in point]
            values, errors = zip(*(point[opponent] for point in met), strict=True)
            name = "the run's last network" if opponent == LAST else opponent
            at = [point[key] / unit for point in met]
            axis.errorbar(at, values, errors, marker="o", markersize=3, capsize=2, label=f"against {name}")
        axis.axhline(0, color="gray", linewidth=0.8)
        axis.set_xlabel(label)
        axis.grid(alpha=0.3)
    panels[0].set_ylabel("payoff in points per seat and deal")
    panels[0].legend()
    figure.suptitle(f"two seats each, {content['deals']:,} fresh deal ids, one standard error", fontsize=10)
    return figure


if __name__ == "__main__":
    content = tyro.cli(NetCurve)()
    RESULTS.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    draw(content).savefig(PICTURE, dpi=120)
    print(f"{RESULTS} and {PICTURE} written; `make docs` puts the numbers into docs/training.md")
