"""The environments behind one face, so that one test can play them all."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray


@dataclass
class Sight:
    """The observation and info of one viewer at one step."""

    space: Any
    observation: Any
    info: dict[str, Any]
    asked: bool
    """Is an action expected of it?"""

    @property
    def encoding(self) -> NDArray[Any]:
        """The observation without its mask."""
        shown: NDArray[Any] = (
            self.observation["observation"] if isinstance(self.observation, dict) else self.observation
        )
        return shown

    @property
    def masks(self) -> list[NDArray[Any]]:
        """Every mask that it is shown."""
        shown = [self.observation["action_mask"]] if isinstance(self.observation, dict) else []
        return shown + ([self.info["action_mask"]] if "action_mask" in self.info else [])


class Face(ABC):
    """One environment, driven by random legal actions."""

    illegal_action: Any = 999

    def __init__(self, env: Any) -> None:
        self.env = env
        self.sights: list[Sight] = []
        self.paid: NDArray[Any] = np.zeros(0)
        """The rewards of the last step, one a seat (of the first table)."""
        self.over = True

    @abstractmethod
    def begin(self, seed: int | None = None, options: Any = None) -> None:
        """Reset the environment."""

    @abstractmethod
    def send(self, actions: list[Any]) -> None:
        """Step with an action for each sight that is asked, in their order."""

    def choices(self, chance: Random) -> list[Any]:
        """A random legal action for each sight that is asked."""
        asked = [sight for sight in self.sights if sight.asked]
        return [chance.choice(np.flatnonzero(sight.masks[0]).tolist()) for sight in asked]

    def act(self, chance: Random) -> None:
        """Step with random legal actions."""
        self.send(self.choices(chance))

    def episode(self, chance: Random) -> Iterator[list[Sight]]:
        """Play to the end; the sights of every step, those of the end included."""
        yield self.sights
        while not self.over:
            self.act(chance)
            yield self.sights

    def foul(self) -> None:
        """Step with an illegal action in the place of the first."""
        legal = [int(np.flatnonzero(sight.masks[0])[0]) for sight in self.sights if sight.asked]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.send([self.illegal_action, *legal[1:]])

    def shown(self) -> list[Any]:
        """All that is seen now, and what the last step paid, to compare."""
        sights = [(s.encoding.tobytes(), [m.tobytes() for m in s.masks], s.asked) for s in self.sights]
        return [sights, self.paid.tolist()]

    def trace(self, chance: Random, steps: int = 10**6) -> list[Any]:
        """All that is seen in so many steps of random play, to compare."""
        seen: list[Any] = []
        for _ in self.episode(chance):
            seen += self.shown()
            steps -= 1
            if steps < 0:
                break
        return seen


class AecFace(Face):
    """PettingZoo's AEC: a sight for each seat, one of them asked."""

    def begin(self, seed: int | None = None, options: Any = None) -> None:
        """Reset the environment."""
        self.env.reset(seed=seed, options=options)
        self._look()

    def send(self, actions: list[Any]) -> None:
        """Step with the action of the seat to act."""
        self.env.step(actions[0])
        self._look()

    def _look(self) -> None:
        env = self.env
        self.over = any(env.terminations.values()) or any(env.truncations.values())
        self.sights = [
            Sight(
                env.observation_space(agent),
                env.observe(agent),
                env.infos[agent],
                agent == env.agent_selection and not self.over,
            )
            for agent in env.possible_agents
        ]
        self.paid = np.array(list(env.rewards.values()))


class ParallelFace(Face):
    """PettingZoo's Parallel: a sight for each seat, all asked."""

    def begin(self, seed: int | None = None, options: Any = None) -> None:
        """Reset the environment."""
        self._look(*self.env.reset(seed=seed, options=options))
        self.paid = np.zeros(len(self.env.possible_agents))

    def send(self, actions: list[Any]) -> None:
        """Step with an action of every seat."""
        observations, rewards, _, _, infos = self.env.step(dict(zip(self.env.agents, actions, strict=True)))
        self.paid = np.array(list(rewards.values()))
        self._look(observations, infos)

    def _look(self, observations: Any, infos: Any) -> None:
        env = self.env
        self.over = not env.agents
        self.sights = [
            Sight(env.observation_space(agent), observations[agent], infos[agent], not self.over)
            for agent in env.possible_agents
        ]


class SingleFace(Face):
    """gymnasium's Env: one sight, the learner's."""

    def begin(self, seed: int | None = None, options: Any = None) -> None:
        """Reset the environment."""
        self.over = False
        observation, info = self.env.reset(seed=seed, options=options)
        self._look(observation, info, 0.0)

    def send(self, actions: list[Any]) -> None:
        """Step with the learner's action."""
        observation, reward, terminated, truncated, info = self.env.step(actions[0])
        self.over = terminated or truncated
        self._look(observation, info, reward)

    def _look(self, observation: Any, info: Any, reward: float) -> None:
        self.sights = [Sight(self.env.observation_space, observation, info, not self.over)]
        self.paid = info.get("rewards", np.array([reward]))


class VectorFace(Face):
    """gymnasium's VectorEnv: a sight for each table; the episode ends when the first table's does."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self._by_hand = env.metadata.get("autoreset_mode") == AutoresetMode.DISABLED
        self._ended: NDArray[np.bool_] = np.zeros(env.num_envs, np.bool_)

    def begin(self, seed: int | None = None, options: Any = None) -> None:
        """Reset all tables."""
        self.over = False
        self._ended[:] = False
        observations, infos = self.env.reset(seed=seed, options=options)
        self._look(observations, infos, np.zeros(self.env.num_envs))

    def send(self, actions: list[Any]) -> None:
        """Step with an action for each table; those that nobody resets are reset first, and get any legal action."""
        if self._by_hand and self._ended.any():
            observations, infos = self.env.reset(options={"reset_mask": self._ended})
            self._look(observations, infos, np.zeros(self.env.num_envs))
            for row in np.flatnonzero(self._ended):
                actions[row] = int(np.flatnonzero(self.sights[row].masks[0])[0])
        observations, rewards, terminated, truncated, infos = self.env.step(np.array(actions))
        self._ended = terminated | truncated
        self.over = bool(self._ended[0])
        self._look(observations, infos, rewards)

    def _look(self, observations: Any, infos: Any, rewards: NDArray[Any]) -> None:
        def row(value: Any, index: int) -> Any:
            return {key: part[index] for key, part in value.items()} if isinstance(value, dict) else value[index]

        told = {key: value for key, value in infos.items() if key[0] != "_" and not isinstance(value, dict)}
        self.sights = [
            Sight(self.env.single_observation_space, row(observations, index), row(told, index), True)
            for index in range(self.env.num_envs)
        ]
        self.paid = infos["rewards"][0] if "rewards" in infos else rewards[:1]


def face_of(env: Any) -> Face:
    """The environment behind its face.  Raises TypeError for what is no environment of these four kinds."""
    kinds: list[tuple[type, type[Face]]] = [
        (pettingzoo.AECEnv, AecFace),
        (pettingzoo.ParallelEnv, ParallelFace),
        (gymnasium.vector.VectorEnv, VectorFace),
        (gymnasium.Env, SingleFace),
    ]
    for base, face in kinds:
        if isinstance(env, base):
            return face(env)
    raise TypeError(f"{env!r:.60} is neither a PettingZoo AECEnv or ParallelEnv nor a gymnasium Env or VectorEnv")
