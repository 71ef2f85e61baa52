"""Tables with a learner in one seat: opponents play on as they would answer, and one table alone is one of many."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from hearts_agents import make
from hearts_env.envs.options import EnvError
from hearts_env.envs.single import HeartsEnv
from hearts_env.envs.spaces import sample_masked
from hearts_env.envs.vector import HeartsVectorEnv
from hearts_env.executor import EXECUTORS, available, using
from hearts_env.game.view import View

VIEW = ("seat", "hand", "legal", "scores")
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


def told(value: Any) -> Any:
    """The first row of what a vector environment tells, as a single one does."""
    if isinstance(value, dict):
        return {name: told(part) for name, part in value.items() if name[0] != "_"}
    return value[0].tolist()


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    return value.tolist() if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize(
    "options",
    [
        {"seat": "rotating", "reward": "tricks", "mask_in": "both"},
        {"seat": 1, "skip_forced": True, "reward": "zero_sum", "pad": True, "order": True},
        {"seat": "all", "rules": "num_players=3", "reward": "rank"},
        {"seat": 4, "rules": "num_players=5,target=30", "episode": "game", "max_deals": 2, "reward": "tricks"},
        {"rules": "two_player", "on_illegal": "terminate", "mask_in": "observation"},
        {"rules": "omnibus,target=40", "episode": "game", "on_illegal": "random", "reward": "zero_sum"},
        {"rules": "partnership", "on_illegal": "terminate", "reward": "rank", "skip_forced": True},
    ],
)
def test_the_single_environment_is_a_vector_environment_of_one_table(executor: Any, options: Any) -> None:
    if executor not in available():
        pytest.skip("the compiled executor needs numba")
    with using(executor):
        opponents, chance = [make("rule"), Asked("random:5"), make("random")], Random(2)
        one = HeartsEnv(opponents=opponents, **options)
        many = HeartsVectorEnv(1, opponents=opponents, autoreset_mode="Disabled", **options)
        for seed in (3, None, None):
            begin = None if seed else {"deal_no": chance.randrange(4)}
            seen, info = one.reset(seed=seed, options=begin)
            seen_there, infos = many.reset(seed=seed, options=begin)
            over = False
            while not over:
                assert plain(seen) == told(seen_there) if isinstance(seen, dict) else (seen == seen_there[0]).all()
                assert plain(info) == told(infos)
                assert one.action_masks().tolist() == many.masks()[0].astype(bool).tolist()
                assert all(getattr(one.view(), name).tolist() == getattr(many.view(), name).tolist() for name in VIEW)
                foul = "on_illegal" in options and chance.random() < 0.05
                action = 53 if foul else chance.choice(np.flatnonzero(one.action_masks()).tolist())
                seen, reward, terminated, truncated, info = one.step(action)
                seen_there, rewards, terminations, truncations, infos = many.step(np.array([action]))
                over = terminated or truncated
                assert ([reward], [terminated], [truncated]) == (
                    rewards.tolist(),
                    terminations.tolist(),
                    truncations.tolist(),
                )
            assert plain(info) == told(infos)
            assert "summary" in info


def test_a_state_of_another_game_is_refused_by_the_single_environment() -> None:
    state = HeartsEnv(opponents="random", seat=1).get_state()
    with pytest.raises(EnvError, match="set_state: the state is of seat=1, not of 'rotating'"):
        HeartsEnv(opponents="random", seat="rotating").set_state(state)
    with pytest.raises(EnvError, match="set_state: the state is of a deal under rules standard, not of a game under"):
        HeartsEnv(opponents="random", seat=1, episode="game").set_state(state)
