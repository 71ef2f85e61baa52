"""Deals per second of every layer for two to seven players: `hearts bench` with a file in benchmarks/results."""

import sys
from pathlib import Path

import tyro

from hearts_train.bench_command import Bench

RESULTS = Path(__file__).parent / "results" / "deals_per_second.json"

if __name__ == "__main__":
    sys.exit(tyro.cli(Bench, default=Bench(players=(2, 3, 4, 5, 6, 7), json=RESULTS)).run())
