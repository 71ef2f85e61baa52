"""Every example trains a little, plays 30,000 checked decisions without an illegal one, and beats `random`."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"
NEEDS = {
    "pettingzoo_loop": ("pettingzoo", 400),
    "cleanrl_ppo": ("torch", 20_000),
    "sb3_maskable_ppo": ("sb3_contrib", 20_000),
    "torchrl_ppo": ("torchrl", 20_000),
    "tianshou_ppo": ("tianshou", 20_000),
    "pufferlib_ppo": ("pufferlib", 20_000),
    "rllib_ppo": ("ray.rllib", 3_000),
}
"""What each imports, and how many steps (deals) of training are enough."""
PATIENT = {"RAY_raylet_start_wait_time_s": "300"}
"""Ray gives its processes half a minute to start, which is not enough on a busy machine."""
RESULT = re.compile(r"against random: payoff ([+-][\d.]+) ± ([\d.]+) points a deal \(500 deals, each in every seat\)")


def missing(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is None
    except ModuleNotFoundError:
        return True


def test_every_training_example_is_run_here() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} - {"agent"} == set(NEEDS)


@pytest.mark.slow
@pytest.mark.parametrize("example", NEEDS)
def test_an_example_trains_and_beats_random(example: str) -> None:
    module, steps = NEEDS[example]
    if missing(module):
        pytest.skip(f"{example} needs {module}: make test-interop")
    command = [sys.executable, str(EXAMPLES / f"{example}.py"), str(steps)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=600, env={**os.environ, **PATIENT}
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "hearts_env" not in done.stderr.replace("hearts_env: compiling", ""), done.stderr[-2000:]
    found = RESULT.search(done.stdout)
    assert found, done.stdout
    payoff, error = map(float, found.groups())
    assert payoff > 2 * error, done.stdout
