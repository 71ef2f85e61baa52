"""What a tournament costs in seconds and memory, every deal stored and the report written.

    python experiments/tournament_cost.py [--quick]

Prints a line each and writes experiments/results/tournament_cost.json.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from hearts_arena.provenance import commit, machine, versions
from hearts_arena.result_files import DEALS_NAME

OUT = Path(__file__).parent / "results" / "tournament_cost.json"
PROGRAM = """
import json, os, sys, time
from hearts_cli.main import main
begin = time.perf_counter()
code = main(sys.argv[1:])
times, status = os.times(), open("/proc/self/status").read()
cpu = times.user + times.system + times.children_user + times.children_system
peak = int(status.partition("VmHWM:")[2].split()[0]) / 1024
print(json.dumps({"wall_s": time.perf_counter() - begin, "cpu_s": cpu, "peak_mib": peak}), file=sys.stderr)
sys.exit(code)
"""
"""The program `hearts`, that tells at the end what it took.  The high-water mark of the memory is Linux's."""


def held(agents: list[str], deals: int, seatings: int, *options: str) -> dict[str, Any]:
    """Hold a tournament of so many deals, and look whether all of them were stored."""
    ids = -(-deals // seatings)
    with tempfile.TemporaryDirectory() as folder:
        command = ["tournament", *agents, "--deals", str(ids), "--out", folder, *options]
        done = subprocess.run([sys.executable, "-c", PROGRAM, *command], capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"hearts {' '.join(command)}: {done.stderr}")
        stored = len(np.load(Path(folder) / DEALS_NAME)["deal_id"])
        assert stored == ids * seatings
        took = json.loads(done.stderr.splitlines()[-1])
    found = {"agents": " ".join(agents), "deals": stored, **{name: round(value, 1) for name, value in took.items()}}
    print("{agents}: {deals:,} deals in {wall_s} s ({cpu_s} s of a core), at most {peak_mib} MiB".format(**found))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a hundredth of the deals, and no file")
    scale = 100 if parser.parse_args().quick else 1
    held(["rule", "rule"], 6, 6)  # what is compiled once is none of its cost
    rule = held(["rule"] * 4, 20_000 // scale, 4)
    # In one process, since the workers hold no more than a chunk each.
    sizes = [size // scale for size in (10_000, 100_000, 1_000_000)]
    memory = [held(["random", "random:1"], size, 6, "--workers", "1") for size in sizes]
    grown = memory[-1]["peak_mib"] / memory[0]["peak_mib"]
    print(f"from {sizes[0]:,} to {sizes[-1]:,} deals, memory grows to {grown:.2f} times")
    if scale == 1:
        about = {"commit": commit(), "machine": machine(), "versions": versions()}
        OUT.write_text(json.dumps({**about, "rule": rule, "memory": memory}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
