"""The environments as layers of the benchmark: each played through its own interface, by random legal actions."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from hearts_env.cards import NOOP
from hearts_env.rules import Rules
from hearts_train.timing import Batch, Work

ENV_ID = "hearts_env/Hearts-v0"
OPPONENTS = "random"
"""Who plays the other seats where an environment has one learning seat."""


def aec_layer(rules: Rules, tables: int) -> Batch:
    """The PettingZoo AEC environment, one table, with the observation and mask of every decision."""
    from hearts_env import hearts_v0

    env: Any = hearts_v0.env(rules=rules)
    random = np.random.default_rng(0)

    def batch(first: int) -> Work:
        env.reset(options={"deal_id": first})
        decisions, points = 0, 0.0
        for _ in env.agent_iter():
            observation, reward, terminated, truncated, _ = env.last()
            if terminated or truncated:
                points -= reward
                env.step(None)
                continue
            env.step(_any_of(observation["action_mask"], random))
            decisions += 1
        return Work(1, decisions, 1, round(points))

    return batch


def parallel_layer(rules: Rules, tables: int) -> Batch:
    """The PettingZoo Parallel environment, one table, with the observation and mask of every seat at every step."""
    env: Any = _made("hearts_env.hearts_v0", "parallel_env")(rules=rules)
    random = np.random.default_rng(0)

    def batch(first: int) -> Work:
        observations, _ = env.reset(options={"deal_id": first})
        decisions, points = 0, 0.0
        while env.agents:
            actions = {agent: _any_of(seen["action_mask"], random) for agent, seen in observations.items()}
            decisions += sum(action != NOOP for action in actions.values())
            observations, rewards, *_ = env.step(actions)
            points -= sum(rewards.values())
        return Work(1, decisions, 1, round(points))

    return batch


def single_layer(rules: Rules, tables: int) -> Batch:
    """The gymnasium environment, one table: one seat's decisions, random opponents within."""
    env: Any = _gymnasium("make", rules=rules)
    random = np.random.default_rng(0)

    def batch(first: int) -> Work:
        _, info = env.reset(options={"deal_id": first})
        decisions, points, over = 0, 0.0, False
        while not over:
            _, reward, terminated, truncated, info = env.step(_any_of(info["action_mask"], random))
            decisions, points, over = decisions + 1, points - float(reward), terminated or truncated
        return Work(1, decisions, 1, round(points), seats=1)

    return batch


def vector_layer(rules: Rules, tables: int) -> Batch:
    """The gymnasium vector environment: one seat's decisions at many tables, random opponents within."""
    env: Any = _gymnasium("make_vec", num_envs=tables, rules=rules)
    random = np.random.default_rng(0)
    last: dict[str, Any] = {}

    def batch(first: int) -> Work:
        # It deals anew by itself, so a batch is a number of steps, and goes on where the one before has stopped.
        if not last:
            last["info"], last["over"] = env.reset(seed=0)[1], 0
        deals, decisions, points = 0, 0, 0.0
        for _ in range(_STEPS):
            mask = last["info"]["action_mask"]
            actions = np.argmax(random.random(mask.shape, np.float32) * mask, axis=1)
            _, rewards, terminated, truncated, last["info"] = env.step(actions)
            # The step after the end of an episode begins another one: no decision.
            decisions += tables - last["over"]
            last["over"] = int(np.count_nonzero(terminated | truncated))
            deals += last["over"]
            points -= float(rewards.sum())
        return Work(deals, decisions, deals, round(points), seats=1)

    return batch


_STEPS = 64
"""Steps of a batch: at four seats, four deals."""


def _any_of(mask: Any, random: np.random.Generator) -> int:
    actions = mask.nonzero()[0]
    return int(actions[int(random.random() * len(actions))])


def _gymnasium(function: str, **arguments: Any) -> Any:
    """What gymnasium makes of our id.  Raises ImportError where it does not know it."""
    gymnasium = importlib.import_module("gymnasium")
    importlib.import_module("hearts_env")
    if ENV_ID not in gymnasium.registry:
        raise ImportError(f"gymnasium knows no {ENV_ID} in this version")
    return getattr(gymnasium, function)(ENV_ID, opponents=OPPONENTS, **arguments)


def _made(module: str, name: str) -> Any:
    """That member of a module.  Raises ImportError where it has none."""
    try:
        return getattr(importlib.import_module(module), name)
    except AttributeError:
        raise ImportError(f"{module} has no {name} in this version") from None
