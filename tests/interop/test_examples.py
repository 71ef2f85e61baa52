"""Every example trains, plays tens of thousands of checked decisions without an illegal one, and beats `random`."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"
NEEDS = {
    "pettingzoo_loop": "pettingzoo",
    "cleanrl_ppo": "torch",
    "sb3_maskable_ppo": "sb3_contrib",
    "torchrl_ppo": "torchrl",
    "tianshou_ppo": "tianshou",
    "pufferlib_ppo": "pufferlib",
    "rllib_ppo": "ray.rllib",
}
SECONDS = 20
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
    if missing(NEEDS[example]):
        pytest.skip(f"{example} needs {NEEDS[example]}: make test-interop")
    command = [sys.executable, str(EXAMPLES / f"{example}.py"), str(SECONDS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "hearts_env" not in done.stderr.replace("hearts_env: compiling", ""), done.stderr[-2000:]
    found = RESULT.search(done.stdout)
    assert found, done.stdout
    payoff, error = map(float, found.groups())
    assert payoff > 2 * error, done.stdout
