"""A run's network becomes the agent `net`: its weights in the package, and the facts for its card.

`python -m hearts_train.ship RUN`, in a checkout; then `make docs` writes the card.
"""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro

from hearts_agents.net import SHIPPED, Net, NetAgent
from hearts_agents.net_file import NetError, NetSpec, read_tensors
from hearts_train.checkpoint import CONFIG_NAME, CheckpointError, write_whole
from hearts_train.league import TRAINING_IDS, duplicate_payoffs, mean_and_error
from hearts_train.machine import commit, machine, versions
from hearts_train.report import read_metrics

FACTS = SHIPPED.with_suffix(".json")
"""Beside the weights: what the card says in numbers."""
MOST_BYTES = 10_000_000
OPPONENTS = ("random", "rule", "search:32")


@dataclass(frozen=True)
class Ship:
    """Put a run's network into this package as the agent `net`, and measure what its card says."""

    run: Annotated[Path, tyro.conf.Positional]
    """The run directory, or a weights file in it."""
    deals: int = 2000
    """Deal ids to measure it on against each opponent, drawn by the hash of the weights."""
    opponents: tuple[str, ...] = OPPONENTS
    """Agents to measure it against."""

    def __call__(self) -> None:
        """Measure, then write.  Raises NetError or CheckpointError, and then nothing is written."""
        facts, content = prepared(self.run, self.deals, self.opponents)
        write_whole(SHIPPED, content)
        write_whole(FACTS, (json.dumps(facts, indent=1) + "\n").encode())
        print(f"{SHIPPED} and {FACTS.name} written; `make docs` puts the numbers into the card")


def prepared(source: Path, deals: int, opponents: tuple[str, ...]) -> tuple[dict[str, Any], bytes]:
    """The facts of a run's network, measured, and the contents of its weights file.

    Raises NetError for weights that do not fit, that are too large, or that do not say how far they were trained.
    """
    file = source if source.is_file() else source / SHIPPED.name
    net, trained = Net.load(file), read_tensors(file)[1].get("trained")
    content = file.read_bytes()
    if not isinstance(trained, dict):
        raise NetError(f"{file} does not say how far it was trained: resume the run once with this version")
    if len(content) > MOST_BYTES:
        raise NetError(f"{file} has {len(content):,} bytes: must be at most {MOST_BYTES:,} to be shipped")
    digest = hashlib.sha256(content).hexdigest()
    ids = np.random.default_rng(int(digest, 16)).integers(TRAINING_IDS, size=deals, dtype=np.int64)
    facts = {
        "weights": {"sha256": digest, "bytes": len(content), **size(net.spec)},
        "training": training(file.parent, trained),
        "evaluation": {
            "deals": deals,
            "commit": commit(),
            "machine": machine(),
            "versions": versions(),
            "results": [
                {"agent": agent.name, "opponent": opponent, **measured(net, agent, opponent, ids)}
                for opponent in opponents
                for agent in (NetAgent(net), NetAgent(net, "net?sample", sample=True))
            ],
        },
    }
    return facts, content


def measured(net: Net, agent: NetAgent, opponent: str, deal_ids: np.ndarray[Any, np.dtype[np.int64]]) -> dict[str, Any]:
    """Payoff a seat and deal against the opponent, two seats each in every rotation, and its standard error."""
    mean, error = mean_and_error(duplicate_payoffs(net.spec.rules, agent, opponent, deal_ids))
    print(f"{agent.name} against {opponent}: {mean:+.2f} ± {error:.2f}", file=sys.stderr)
    return {"payoff": round(mean, 3), "payoff_se": round(error, 3)}


def size(spec: NetSpec) -> dict[str, int]:
    """How large the network is."""
    parameters = sum(int(np.prod(shape)) for shape in spec.shapes.values())
    return {"parameters": parameters, "inputs": spec.layout.size, "width": spec.width, "blocks": spec.blocks}


def training(run: Path, trained: dict[str, Any]) -> dict[str, Any]:
    """How the weights came about: what the run's files say up to them."""
    try:
        config = json.loads((run / CONFIG_NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CheckpointError(f"cannot read {run / CONFIG_NAME}, which tells how the run was made: {error}") from None
    sessions = [line for line in read_metrics(run) if line["kind"] == "session"]
    return {
        "decisions": trained["decisions"],
        "deals": trained["deals"],
        "hours": round(trained["seconds"] / 3600, 2),
        "sessions": [line for line in sessions if line["decisions"] <= trained["decisions"]],
        "config": config,
    }


if __name__ == "__main__":
    try:
        tyro.cli(Ship)()
    except ValueError as error:
        sys.exit(f"ship: {error}")
