"""The environments as layers of the benchmark: each played through its own interface, by random legal actions."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from hearts_bench.timing import Batch, Work
from hearts_env.cards import NOOP
from hearts_env.game.rules import Rules

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


def sb3_layer(rules: Rules, tables: int) -> Batch:
    """The Stable-Baselines3 VecEnv: one seat's decisions at many tables, masks asked for as MaskablePPO does."""
    env: Any = _made("hearts_env.adapters.sb3", "HeartsVecEnv")(tables, rules=rules, opponents=OPPONENTS)
    random = np.random.default_rng(0)
    env.seed(0)
    env.reset()

    def batch(first: int) -> Work:
        deals, points = 0, 0.0
        for _ in range(_STEPS):
            masks = np.stack(env.env_method("action_masks"))
            actions = np.argmax(random.random(masks.shape, np.float32) * masks, axis=1)
            _, rewards, dones, _ = env.step(actions)
            deals += int(np.count_nonzero(dones))
            points -= float(rewards.sum())
        return Work(deals, _STEPS * tables, deals, round(points), seats=1)

    return batch


def torchrl_layer(rules: Rules, tables: int) -> Batch:
    """The TorchRL EnvBase: one seat's decisions at many tables, random legal actions, stepped as its collectors do."""
    env: Any = _made("hearts_env.adapters.torchrl", "HeartsTorchRLEnv")(tables, rules=rules, opponents=OPPONENTS)
    env.set_seed(0)
    last = {"shown": env.reset()}

    def batch(first: int) -> Work:
        deals, points = 0, 0.0
        for _ in range(_STEPS):
            stepped, last["shown"] = env.step_and_maybe_reset(env.rand_action(last["shown"]))
            deals += int(stepped["next", "done"].sum())
            points -= float(stepped["next", "reward"].sum())
        return Work(deals, _STEPS * tables, deals, round(points), seats=1)

    return batch


def sb3_tutorial_layer(rules: Rules, tables: int) -> Batch:
    """Not ours: one table's AEC environment wrapped for SB3 as PettingZoo's tutorial does it, in a DummyVecEnv."""
    vec_env = _made("stable_baselines3.common.vec_env", "DummyVecEnv")
    monitor = _made("stable_baselines3.common.monitor", "Monitor")
    env = vec_env([lambda: monitor(_turn_by_turn(rules))])
    random = np.random.default_rng(0)
    env.reset()

    def batch(first: int) -> Work:
        decisions, over, points = 0, False, 0
        while not over:
            masks = np.stack(env.env_method("action_masks"))
            _, _, dones, infos = env.step(np.array([_any_of(masks[0], random)]))
            decisions, over, points = decisions + 1, bool(dones[0]), infos[0]["points"]
        return Work(1, decisions, 1, points)

    return batch


def torchrl_wrapper_layer(rules: Rules, tables: int) -> Batch:
    """Not ours: one table's AEC environment in TorchRL's PettingZooWrapper, a rollout of random legal actions."""
    wrapper, groups = _made("torchrl.envs", "PettingZooWrapper"), _made("torchrl.envs", "MarlGroupMapType")
    env = wrapper(
        _made("hearts_env.hearts_v0", "env")(rules=rules),
        use_mask=True,
        group_map=groups.ALL_IN_ONE_GROUP,
        categorical_actions=True,
    )
    (group,) = env.group_map

    def batch(first: int) -> Work:
        rolled = env.rollout(_LONGEST)
        return Work(1, len(rolled), 1, round(-float(rolled["next", group, "reward"].sum())))

    return batch


def _turn_by_turn(rules: Rules) -> Any:
    """The AEC environment as a gymnasium Env of whichever seat is to act."""
    gymnasium = importlib.import_module("gymnasium")
    env: Any = _made("hearts_env.hearts_v0", "env")(rules=rules)
    seat = env.possible_agents[0]

    class TurnByTurn(gymnasium.Env):  # type: ignore[misc, name-defined]
        observation_space = env.observation_space(seat)["observation"]
        action_space = env.action_space(seat)

        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            env.reset(seed=seed, options=options)
            return env.observe(env.agent_selection)["observation"], {}

        def step(self, action: Any) -> Any:
            actor = env.agent_selection
            env.step(int(action))
            observation, _, terminated, truncated, _ = env.last()
            points = round(-sum(env.rewards.values()))
            return observation["observation"], env.rewards[actor], terminated, truncated, {"points": points}

        def action_masks(self) -> Any:
            return env.observe(env.agent_selection)["action_mask"].astype(np.bool_)

    return TurnByTurn()


_LONGEST = 1000
"""Decisions: no deal has so many."""
_STEPS = 64
"""Steps of a batch: at four seats, four deals."""


def _any_of(mask: Any, random: np.random.Generator) -> int:
    actions = mask.nonzero()[0]
    return int(actions[int(random.random() * len(actions))])


def _gymnasium(function: str, **arguments: Any) -> Any:
    """The gymnasium environment of our id.  Raises ImportError where gymnasium does not know it."""
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
