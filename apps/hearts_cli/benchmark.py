"""`hearts benchmark`: one agent against fixed opponents on published deals, as one line that can be compared."""

from __future__ import annotations

import hashlib
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from hearts_arena.provenance import commit, machine, versions
from hearts_arena.report.screen import Screen
from hearts_cli.exit_codes import INTERRUPTED
from hearts_env.text.write_file import write_file

PACK = "hearts-benchmark/1"
"""Names what follows, which never changes: another pack gets another number."""
FIRST_ID = 700_000_000
"""The deal ids are this one and those after it."""
DEALS = 500
"""In six seatings: a tenth of a point of error, and some minutes of one core against the slowest opponent."""
OPPONENTS = ("random", "rule", "search:32", "search:128", "net")


@dataclass(frozen=True)
class Benchmark:
    """Measure an agent: standard rules, fixed deals, two seats each in all six seatings, against fixed opponents.

    The line it prints is comparable between machines and versions of the same pack; docs/leaderboard.md has the
    rules for entering one.  Opponents that can't be made here are left out, with a sentence.
    """

    agent: Annotated[str, tyro.conf.Positional]
    """The agent's name, as `hearts agents` lists them; a path stands for the network there."""
    opponents: tuple[str, ...] = OPPONENTS
    """Measure only against these opponents."""
    out: Path | None = None
    """Folder for the results against each opponent; what is finished there is not played again."""
    json: Path | None = None
    """Write an entry for the leaderboard: the line, and what it took."""
    workers: int = 0
    """Worker processes; 0 for one a core.  The results do not depend on it."""

    def run(self) -> int:
        """Play and print the line."""
        results = {}
        for opponent in self.opponents:
            try:
                pair = self._meet(opponent)
            except _SkippedError as reason:
                print(f"hearts: without {opponent}: {reason}", file=sys.stderr)
                continue
            if pair is None:
                print("hearts: stopped; with --out it goes on from there", file=sys.stderr)
                return INTERRUPTED
            results[opponent] = pair
        if not results:
            raise ValueError(f"no opponent of {', '.join(self.opponents)} can be made here")
        if self.json:
            write_file(self.json, json.dumps(entry(self.agent, results), indent=1) + "\n")
        print(line(self.agent, results))
        return 0

    def _meet(self, opponent: str) -> dict[str, Any] | None:
        """Payoff against one opponent with its standard error and interval; None after Ctrl-C."""
        from hearts_agents.registry import AgentError, make
        from hearts_arena.run import Options, hold
        from hearts_arena.tournament_plan import plan_tournament
        from hearts_env.game.rules import Rules

        try:
            make(opponent)
        except AgentError as error:
            raise _SkippedError(str(error)) from None
        planned = plan_tournament(Rules(), (self.agent, opponent), DEALS, first_id=FIRST_ID, format="roundrobin")
        folder = self.out / opponent.replace(":", "_") if self.out else None
        with Screen(planned) as screen:
            outcome = hold(planned, folder, Options(workers=self.workers, resume=self.out is not None), screen.update)
        if outcome.failure:
            raise outcome.failure
        if not outcome.finished or outcome.content is None:
            return None
        found = next(one for one in outcome.content["agents"] if one["agent"] == planned.labels[0])
        return {
            "payoff": found["payoff"],
            "payoff_se": found["payoff_se"],
            "interval": found["intervals"]["payoff"],
            "moons": found["moons"],
            "seconds_per_decision": found["seconds_per_decision"],
        }


class _SkippedError(Exception):
    """An opponent that can't be made here."""


def entry(agent: str, results: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """An entry of the leaderboard, as plain JSON values."""
    from hearts_agents.net.agent import SHIPPED

    return {
        "pack": PACK,
        "agent": agent,
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "net": hashlib.sha256(SHIPPED.read_bytes()).hexdigest(),  # the opponent
        "commit": commit(),
        "machine": machine(),
        "versions": versions(),
        "payoff": results,
    }


def line(agent: str, results: dict[str, dict[str, Any]]) -> str:
    """The line for the leaderboard: payoff per seat and deal with one standard error."""
    parts = [f"{name} {found['payoff']:+.3f} ± {found['payoff_se']:.3f}" for name, found in results.items()]
    return f"{PACK}  {agent}  " + "  ".join(parts)
