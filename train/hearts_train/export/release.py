"""A run's network becomes the agent `net`: its weights in the package, and the facts for its card.

`python -m hearts_train.export.release RUN`, in a checkout; then `make docs` writes the card.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro

from hearts_agents.net.agent import SHIPPED, Net, NetAgent
from hearts_agents.net.weights import NetError, NetSpec, read_tensors, weights_file
from hearts_arena.duplicate_evaluation import duplicate_payoffs, duplicate_wins, fresh_ids, mean_and_error
from hearts_arena.provenance import commit, machine, versions
from hearts_env import Rules
from hearts_env.cards import Ints
from hearts_env.match.agent import Agent
from hearts_train.run.checkpoint import CONFIG_NAME, CheckpointError, write_whole
from hearts_train.run.config import flat_options
from hearts_train.run.log import read_metrics

FACTS = SHIPPED.with_suffix(".json")
"""Beside the weights: what the card says in numbers."""
MOST_BYTES = 10_000_000


@dataclass(frozen=True)
class Release:
    """Put a run's network into this package as the agent `net`, and measure what its card says."""

    run: Annotated[Path, tyro.conf.Positional]
    """The run directory, or a weights file in it."""
    deals: int = 2000
    """Deal ids to measure it on against each opponent, drawn by the hash of the weights."""
    opponents: tuple[str, ...] = ("random", "rule", "search:32", "search:128")
    """Agents to measure it against, in two seats, one and three."""
    games: int = 300
    """Deal ids from which games to 100 begin, against each opponent of these."""
    games_against: tuple[str, ...] = ("rule", "search:128")
    """Agents to play games against."""
    other_deals: int = 500
    """Deal ids for each of the other rules that the run has learned."""
    other_opponents: tuple[str, ...] = ("random", "rule", "search:32")
    """Agents to measure it against under the other rules, in half of the seats."""

    def __call__(self) -> None:
        """Measure, then write.  Raises NetError or CheckpointError, and then nothing is written."""
        facts, content = self.prepared()
        write_whole(SHIPPED, content)
        write_whole(FACTS, (json.dumps(facts, indent=1) + "\n").encode())
        print(f"{SHIPPED} and {FACTS.name} written; `make docs` puts the numbers into the card")

    def prepared(self) -> tuple[dict[str, Any], bytes]:
        """Measure the run's network; return the facts, and the contents of its weights file.

        Raises NetError for weights that do not fit, that are too large, or that do not say how far they were trained.
        """
        file = weights_file(self.run)
        net, trained = Net.load(file), read_tensors(file)[1].get("trained")
        content = file.read_bytes()
        if not isinstance(trained, dict):
            raise NetError(f"{file} does not say how far it was trained: resume the run once with this version")
        if len(content) > MOST_BYTES:
            raise NetError(f"{file} has {len(content):,} bytes: must be at most {MOST_BYTES:,} to be shipped")
        digest, told = hashlib.sha256(content).hexdigest(), training(file.parent, trained)
        others = {Rules.parse(text): text for text in told["config"].get("also_rules", ())}
        others.pop(net.spec.rules, None)
        facts = {
            "weights": {"sha256": digest, "bytes": len(content), **size(net.spec)},
            "training": told,
            "evaluation": {
                "deals": self.deals,
                "game_ids": self.games,
                "other_deals": self.other_deals,
                "commit": commit(),
                "machine": machine(),
                "versions": versions(),
                **self._measured(net, int(digest, 16), others),
            },
        }
        return facts, content

    def _measured(self, net: Net, seed: int, others: dict[Rules, str]) -> dict[str, Any]:
        """Return how it plays, each figure with its error.  others: more rules it has learned, and their names."""
        ids = fresh_ids(max(self.deals, self.games, self.other_deals), seed)
        plain, drawing = NetAgent(net, settled=True), NetAgent(net, "net?sample", sample=True, settled=True)
        seatings = [(plain, 2), (plain, 1), (plain, 3), (drawing, 2)]
        return {
            "results": [
                _row(agent, opponent, net.spec.rules, ids[: self.deals], seats)
                for opponent in self.opponents
                for agent, seats in seatings
            ],
            "games": [
                _row(plain, opponent, net.spec.rules, ids[: self.games], 2, games=True)
                for opponent in self.games_against
            ],
            "others": [
                {"rules": text, **_row(plain, opponent, rules, ids[: self.other_deals], -(-rules.num_players // 2))}
                for rules, text in others.items()
                for opponent in self.other_opponents
            ],
        }


def _row(agent: Agent, opponent: str, rules: Rules, ids: Ints, seats: int, *, games: bool = False) -> dict[str, Any]:
    """Measure an agent against an opponent in so many seats, every rotation; return plain JSON values."""
    measure, met = ("wins", duplicate_wins) if games else ("payoff", duplicate_payoffs)
    mean, error = mean_and_error(met(rules, agent, opponent, ids, seats))
    where = "" if rules == Rules() else f" ({rules.show()})"
    said = f"{agent.name} in {seats} seats against {opponent}{where}: {measure} {mean:+.3f} ± {error:.3f}"
    print(said, file=sys.stderr, flush=True)
    table = {"agent": agent.name, "opponent": opponent, "seats": seats, "players": rules.num_players}
    return {**table, measure: round(mean, 3), f"{measure}_se": round(error, 3)}


def size(spec: NetSpec) -> dict[str, int]:
    """Return the size of the network."""
    parameters = sum(int(np.prod(shape)) for shape in spec.shapes.values())
    return {"parameters": parameters, "inputs": spec.layout.size, "width": spec.width, "blocks": spec.blocks}


def training(run: Path, trained: dict[str, Any]) -> dict[str, Any]:
    """Return how the weights came about: what the run's files say up to them."""
    try:
        # Weights that it began with or met, without the folders of this machine.
        config = json.loads(re.sub('(?<=[":])/[^"]*/', "", (run / CONFIG_NAME).read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise CheckpointError(f"cannot read {run / CONFIG_NAME}, which tells how the run was made: {error}") from None
    sessions = [line for line in read_metrics(run) if line["kind"] == "session"]
    return {
        "decisions": trained["decisions"],
        "deals": trained["deals"],
        "hours": round(trained["seconds"] / 3600, 2),
        "start": trained.get("start"),
        "sessions": [line for line in sessions if line["decisions"] <= trained["decisions"]],
        "config": flat_options(config),
    }


if __name__ == "__main__":
    try:
        tyro.cli(Release)()
    except ValueError as error:
        sys.exit(f"release: {error}")
