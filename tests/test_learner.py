"""Tables with a learner in one seat: opponents that play on by themselves play as they do when they are asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hearts_agents import make
from hearts_env.executor import using
from hearts_env.spaces import sample_masked
from hearts_env.vector import HeartsVectorEnv
from hearts_env.view import View

POOLS = {"one": ["random"], "two": ["random:3", "random:4"], "rule": ["rule"]}


class Asked:
    """An agent without its loop."""

    def __init__(self, name: str) -> None:
        self.name, self.agent = name, make(name)

    def act(self, view: View) -> Any:
        return self.agent.act(view)


def pool(names: list[str], asked: set[int] = frozenset()) -> list[Any]:  # type: ignore[assignment]
    return [Asked(name) if place in asked else make(name) for place, name in enumerate(names)]


def trace(opponents: list[Any], steps: int = 60, **options: Any) -> list[Any]:
    """All that is seen in so many steps, in which some tables act and others wait."""
    envs = HeartsVectorEnv(7, opponents=opponents, autoreset_mode="Disabled", **options)
    observations, _ = envs.reset(seed=3)
    random, seen = np.random.default_rng(1), []
    for _ in range(steps):
        over = envs.tables.over
        if over.any():
            observations, _ = envs.reset(options={"reset_mask": over})
        rows = np.flatnonzero(random.random(7) < 0.7)
        envs.act(rows, sample_masked(envs.masks(), random)[rows])
        observations, masks = envs.observe()
        paid, told = envs.tables.paid.tolist(), {k: v.tolist() for k, v in envs.tables.summary().items()}
        seen.append((np.asarray(observations).tobytes(), masks.tobytes(), paid, told))
    return seen


@pytest.mark.parametrize("names", POOLS.values(), ids=POOLS)
@pytest.mark.parametrize(
    "options",
    [
        {"seat": "rotating", "reward": "tricks"},
        {"seat": 2, "skip_forced": True, "rules": "num_players=5"},
        {"episode": "game", "rules": "target=30", "reward": "tricks", "max_deals": 3},
        {"rules": "two_player", "on_illegal": "random"},
    ],
)
def test_opponents_that_play_on_play_what_they_answer(names: list[str], options: Any) -> None:
    pytest.importorskip("numba", reason="loops of agents are compiled, by the extra fast")
    with using("compiled"):
        by_loops = trace(pool(names), **options)
        assert by_loops == trace(pool(names, {0, 1}), **options)
        assert by_loops == trace(pool(names, {0}), **options)
