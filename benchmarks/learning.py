"""Decisions a second that one worker learns from, and where its time goes, as a file in benchmarks/results."""

import json
from dataclasses import asdict
from pathlib import Path

import tyro

from hearts_arena.provenance import commit, machine, versions
from hearts_bench.learning import learning
from hearts_env.executor import available
from hearts_train.run.checkpoint import write_whole
from hearts_train.run.config import TrainConfig

RESULTS = Path(__file__).parent / "results" / "learning.json"


def main(out: Path = RESULTS) -> None:
    """Measure one worker under each executor.

    Args:
        out: The JSON file to write.
    """
    results = learning(TrainConfig().with_options(workers=1), available())
    for result in results:
        parts = ", ".join(f"{name} {cost:.1f}" for name, cost in result.microseconds.items())
        print(f"{result.executor}: {result.decisions_per_s:,.0f} decisions/s a core; microseconds: {parts}")
    print(f"matrix products alone, without the first layer: {results[0].products:.1f} microseconds a decision")
    found = {"commit": commit(), "machine": machine(), "versions": versions()}
    text = json.dumps({**found, "results": [asdict(result) for result in results]}, indent=2) + "\n"
    write_whole(out, text.encode())


if __name__ == "__main__":
    tyro.cli(main)
