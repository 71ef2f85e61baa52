"""How strong the agents are: a duplicate tournament of every two, and the time that each takes for a decision.

Writes benchmarks/results/ladder.json, from which docs/agents.md is made.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro

from hearts_agents import make
from hearts_arena.provenance import commit, machine, versions
from hearts_arena.run import Options, hold
from hearts_arena.tournament_plan import plan_tournament
from hearts_env.cards import Ints
from hearts_env.game.rules import Rules
from hearts_env.game.view import View
from hearts_env.match.agent import Agent
from hearts_env.match.play_match import play

RESULTS = Path(__file__).parent / "results" / "ladder.json"
MANY = 64
"""Tables at once for the time of a decision, beside one table alone."""


class Timed:
    """An agent whose `act` is timed by the seconds that a core works for it."""

    def __init__(self, agent: Agent) -> None:
        self.name, self._agent = agent.name, agent
        self.seconds, self.decisions = 0.0, 0

    def act(self, view: View) -> Ints:
        """What the agent does."""
        began = time.process_time()
        actions = self._agent.act(view)
        self.seconds += time.process_time() - began
        self.decisions += len(view)
        return actions


def milliseconds(name: str, tables: int, rounds: int) -> float:
    """Of one decision, forced ones counted: the median of some rounds of deals with the agent in every seat."""
    play(Rules(), [make(name)], [0] * 4, [0])
    found = []
    for number in range(rounds):
        timed = Timed(make(name))
        play(Rules(), [timed], [0] * 4, np.arange(tables) + 1000 * (number + 1))
        found.append(1000 * timed.seconds / timed.decisions)
    return float(np.median(found))


@dataclass(frozen=True)
class Ladder:
    """Every two agents meet, two seats each, on the same deal ids in all six seatings."""

    agents: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="AGENT ...")] = (
        "random",
        "rule",
        "search:32",
        "search:128",
    )
    """The weakest first."""
    deals: int = 100
    """Deal ids."""
    seed: int = 1
    """Another one has other deal ids."""
    rounds: int = 3
    """Deals (of one table, and of 64) that the time of a decision is the median of."""
    workers: int = 1
    """Processes; 0 for one a core."""
    json: Path = RESULTS
    """The file to write."""

    def run(self) -> None:
        """Play, measure and write."""
        planned = plan_tournament(Rules(), list(self.agents), self.deals, seed=self.seed, format="roundrobin")
        outcome = hold(planned, None, Options(workers=self.workers))
        if outcome.failure or not outcome.content:
            raise outcome.failure or SystemExit("no deal was finished")
        times = {
            name: {str(tables): milliseconds(name, tables, self.rounds) for tables in (1, MANY)} for name in self.agents
        }
        kept: dict[str, Any] = {
            "agents": list(self.agents),
            "deals": outcome.content["deals"],
            "seatings_a_pair": 6,
            "meetings": outcome.content["meetings"],
            "moons": {line["agent"]: line["moon_rate"] for line in outcome.content["agents"]},
            "milliseconds": times,
            "commit": commit(),
            "machine": machine(),
            "versions": versions(),
        }
        self.json.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        print(f"{kept['deals']} deal ids in {self.json}")


if __name__ == "__main__":
    tyro.cli(Ladder).run()
