"""The environments behind one face, for the tests that hold for all of them."""

from __future__ import annotations

import copy
import pickle
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import gymnasium
import numpy as np

from hearts_env import hearts_v0


@dataclass
class Sight:
    """What one viewer is shown at one step."""

    space: Any
    observation: Any
    info: dict[str, Any]
    asked: bool
    """Is an action expected of it?"""

    @property
    def encoding(self) -> np.ndarray:
        return self.observation["observation"] if isinstance(self.observation, dict) else self.observation

    @property
    def masks(self) -> list[np.ndarray]:
        """Every mask that it is shown."""
        shown = [self.observation["action_mask"]] if isinstance(self.observation, dict) else []
        return shown + ([self.info["action_mask"]] if "action_mask" in self.info else [])


class Kind(ABC):
    """One environment, driven by random legal actions."""

    illegal_action: Any = 999
    exists_after_end = True

    def __init__(self, **options: Any) -> None:
        self.env: Any = self.make(**options)
        self.sights: list[Sight] = []
        self.paid: np.ndarray = np.zeros(0)
        """What the last step paid each seat (of the first table)."""
        self.over = True

    @abstractmethod
    def make(self, **options: Any) -> Any: ...

    @abstractmethod
    def begin(self, seed: int | None = None, options: Any = None) -> None: ...

    @abstractmethod
    def send(self, actions: list[Any]) -> None:
        """An action for each sight that is asked, in their order."""

    def act(self, chance: Random) -> None:
        asked = [sight for sight in self.sights if sight.asked]
        self.send([chance.choice(np.flatnonzero(sight.masks[0]).tolist()) for sight in asked])

    def episode(self, chance: Random) -> Iterator[list[Sight]]:
        """Play to the end; the sights of every step, those of the end included."""
        yield self.sights
        while not self.over:
            self.act(chance)
            yield self.sights

    def foul(self) -> None:
        """Send an illegal action in the place of the first."""
        asked = sum(sight.asked for sight in self.sights)
        legal = [int(np.flatnonzero(sight.masks[0])[0]) for sight in self.sights if sight.asked]
        assert asked == len(legal)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.send([self.illegal_action, *legal[1:]])

    def trace(self, chance: Random, steps: int = 10**6) -> list[Any]:
        """All that is seen in so many steps of random play, to compare."""
        seen = []
        for sights in self.episode(chance):
            seen.append([(s.encoding.tobytes(), [m.tobytes() for m in s.masks], s.asked) for s in sights])
            seen.append(self.paid.tolist())
            steps -= 1
            if steps < 0:
                break
        return seen


class Aec(Kind):
    def make(self, **options: Any) -> Any:
        return hearts_v0.env(**options)

    def begin(self, seed: int | None = None, options: Any = None) -> None:
        self.env.reset(seed=seed, options=options)
        self._look()

    def send(self, actions: list[Any]) -> None:
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


class Parallel(Kind):
    def make(self, **options: Any) -> Any:
        return hearts_v0.parallel_env(**options)

    def begin(self, seed: int | None = None, options: Any = None) -> None:
        self._look(*self.env.reset(seed=seed, options=options))
        self.paid = np.zeros(len(self.env.possible_agents))

    def send(self, actions: list[Any]) -> None:
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


class SequentialParallel(Parallel):
    def make(self, **options: Any) -> Any:
        return hearts_v0.parallel_env(passing="sequential", **options)


class Single(Kind):
    def make(self, **options: Any) -> Any:
        env = gymnasium.make("hearts_env/Hearts-v0", **({"opponents": "random", "mask_in": "observation"} | options))
        return env.unwrapped

    def begin(self, seed: int | None = None, options: Any = None) -> None:
        self.over = False
        self._look(*self.env.reset(seed=seed, options=options))

    def send(self, actions: list[Any]) -> None:
        observation, _, terminated, truncated, info = self.env.step(actions[0])
        self.over = terminated or truncated
        self._look(observation, info)

    def _look(self, observation: Any, info: Any) -> None:
        self.sights = [Sight(self.env.observation_space, observation, info, not self.over)]
        self.paid = info["rewards"]


class AllSeats(Single):
    """The caller plays every seat."""

    def make(self, **options: Any) -> Any:
        return super().make(seat="all", **options)


class Vector(Kind):
    """Three tables; the episode of this face ends when the first table's does."""

    tables = 3
    mode = "NextStep"

    def make(self, **options: Any) -> Any:
        given = {"opponents": "random", "mask_in": "observation", "autoreset_mode": self.mode} | options
        return gymnasium.make_vec("hearts_env/Hearts-v0", num_envs=self.tables, **given)

    def begin(self, seed: int | None = None, options: Any = None) -> None:
        self.over = False
        self._look(*self.env.reset(seed=seed, options=options))

    def send(self, actions: list[Any]) -> None:
        observations, _, terminated, truncated, infos = self.env.step(np.array(actions))
        self.over = bool(terminated[0] or truncated[0])
        self._look(observations, infos)

    def _look(self, observations: Any, infos: Any) -> None:
        def row(value: Any, index: int) -> Any:
            return {key: part[index] for key, part in value.items()} if isinstance(value, dict) else value[index]

        told = {key: value for key, value in infos.items() if key[0] != "_" and not isinstance(value, dict)}
        self.sights = [
            Sight(self.env.single_observation_space, row(observations, index), row(told, index), True)
            for index in range(self.tables)
        ]
        self.paid = infos["rewards"][0]


class SameStep(Vector):
    mode = "SameStep"


class Disabled(Vector):
    """Tables that are over are reset by hand."""

    mode = "Disabled"

    def send(self, actions: list[Any]) -> None:
        over = self.env.tables.over
        if over.any():
            self.env.reset(options={"reset_mask": over})
            legal = self.env.masks()
            actions = [int(np.flatnonzero(legal[n])[0]) if over[n] else action for n, action in enumerate(actions)]
        super().send(actions)


KINDS: list[type[Kind]] = [Aec, Parallel, SequentialParallel, Single, AllSeats, Vector, SameStep, Disabled]


def cloned(kind: Kind) -> Any:
    return kind.env.clone()


def restored(kind: Kind) -> Any:
    other = copy.deepcopy(kind.env)
    other.set_state(pickle.loads(pickle.dumps(kind.env.get_state())))
    return other


COPIES: list[Callable[[Kind], Any]] = [
    cloned,
    restored,
    lambda kind: copy.deepcopy(kind.env),
    lambda kind: pickle.loads(pickle.dumps(kind.env)),
]
