"""Decisions per second of the example agents in another process, asked for a thousand tables at a time."""

from __future__ import annotations

import json
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import tyro

from hearts_agents.external.agent import ExecAgent
from hearts_arena.provenance import commit, machine, versions
from hearts_env.game.rules import Rules
from hearts_env.match.play_match import play

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "exec_agents.json"
TABLES = 1000
RUNS = 5


def measured(command: str) -> dict[str, object]:
    """The median over the runs; the time of this process alone beside that of both."""
    rates, shares = [], []
    with ExecAgent(command) as agent:
        play(Rules(), [agent], [0] * 4, np.arange(50))
        for _ in range(RUNS):
            begin = time.process_time()
            result = play(Rules(moon="add"), [agent], [0] * 4, np.arange(TABLES), tables=TABLES)
            shares.append((time.process_time() - begin) / result.decisions[0])
            rates.append(result.decisions[0] / result.seconds[0])
            sums = result.points.sum(axis=1)
            assert ((sums == 26) | (sums == 78)).all(), "the points of a deal do not add up"
    return {
        "command": Path(command.split()[-1]).name,
        "decisions_per_s": round(statistics.median(rates)),
        "own_microseconds_per_decision": round(statistics.median(shares) * 1e6, 1),
    }


def main(out: Path = RESULTS) -> None:
    """Time the example agents in C and in Python.

    Args:
        out: The JSON file to write.
    """
    examples = ROOT / "examples"
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "agent.c.out"
        subprocess.run(["cc", "-O2", "-o", program, examples / "agent.c"], check=True)
        commands = [str(program), shlex.join([sys.executable, str(examples / "agent.py")])]
        results = [measured(command) for command in commands]
    for line in results:
        print("{command}: {decisions_per_s:,} decisions/s, {own_microseconds_per_decision} us here".format(**line))
    kept = {"commit": commit(), "machine": machine(), "versions": versions(), "tables": TABLES, "results": results}
    out.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    tyro.cli(main)
