"""How strong the networks of a run were in the course of its training: `python benchmarks/net_curve.py RUN`.

The weights that it kept (`hearts train --past-every-decisions`) and its last ones meet some agents, two seats each
in every rotation, on the same fresh deal ids.  Writes benchmarks/results/NAME.json and docs/images/NAME.png, from which
docs/training.md is made: NAME is `net_curve` for the run of the network in the package.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from hearts_agents import make
from hearts_agents.net.weights import read_tensors, weights_file
from hearts_arena.duplicate_evaluation import duplicate_payoffs, fresh_ids, mean_and_error
from hearts_arena.provenance import commit, machine, versions
from hearts_env.game.rules import Rules
from hearts_train.run.checkpoint import PAST_NAME
from hearts_train.run.learning_curve import Point, draw

RESULTS = Path(__file__).resolve().parent / "results"
PICTURES = Path(__file__).resolve().parent.parent / "docs" / "images"
LAST = "last"
"""As an opponent: the last weights of the run."""
LAST_IN_WORDS = "the run's last network"


@dataclass(frozen=True)
class NetCurve:
    """Measure the networks that a run has kept."""

    run: Annotated[Path, tyro.conf.Positional]
    """The run directory."""
    against: tuple[str, ...] = ("rule", LAST)
    """Agents that each meets; `last` is the run's last network."""
    name: str = "net_curve"
    """Of the files that are written."""
    every: int = 1
    """Of the kept networks only every so manyth; the last one of the run is always among them."""
    deals: int = 4000
    """Deal ids of each match."""
    seed: int = 1
    """Of the deal ids, which no training has seen."""

    def __call__(self) -> dict[str, Any]:
        """What the file holds.  Raises NetError or AgentError."""
        last, ids = f"net:{weights_file(self.run)}", fresh_ids(self.deals, self.seed)
        points = []
        kept = sorted((self.run / PAST_NAME).glob("*.safetensors"))[:: self.every]
        for file in [*kept, weights_file(self.run)]:
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


def curves(content: dict[str, Any]) -> dict[str, list[Point]]:
    """Payoff against each opponent."""
    return {
        f"against {LAST_IN_WORDS if opponent == LAST else opponent}": [
            Point(point["decisions"], point["minutes"], *point[opponent])
            for point in content["points"]
            if opponent in point
        ]
        for opponent in content["against"]
    }


if __name__ == "__main__":
    asked = tyro.cli(NetCurve)
    content = asked()
    results, picture = RESULTS / f"{asked.name}.json", PICTURES / f"{asked.name}.png"
    results.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    title = f"two seats each, {content['deals']:,} fresh deal ids, one standard error"
    draw(curves(content), title).savefig(picture, dpi=120)
    print(f"{results} and {picture} written; `make docs` puts the numbers into docs/training.md")
