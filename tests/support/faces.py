"""The batched adapters behind one face, for the tests that hold for all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hearts_env.envs.vector import HeartsVectorEnv

TABLES = 5


class Face:
    """An adapter with some tables, at each of which a new episode begins as soon as one is over."""

    library = ""

    def __init__(self, tables: int = TABLES, **options: Any) -> None:
        self.tables = tables
        pytest.importorskip(self.library, reason=f"the adapter needs {self.library}: make test-interop")
        self.env: Any = self.make(**({"opponents": "random", "on_illegal": "raise"} | options))
        self.seen: Any = None

    @property
    def envs(self) -> HeartsVectorEnv:
        return self.env.envs

    def make(self, **options: Any) -> Any:
        raise NotImplementedError

    def begin(self, seed: int) -> None:
        raise NotImplementedError

    def masks(self) -> Any:
        return np.array(self.env.action_masks())

    def send(self, actions: Any) -> tuple[Any, Any]:
        """Rewards and whether an episode is over, at each table."""
        raise NotImplementedError

    def trace(self, random: np.random.Generator, steps: int) -> list[Any]:
        """All that is seen and paid in so many steps of random play, to compare."""
        seen = []
        for _ in range(steps):
            masks = self.masks()
            seen.append((np.array(self.seen).tobytes(), masks.tobytes()))
            rewards, done = self.send(np.argmax(random.random(masks.shape) * masks, axis=1))
            seen.append((np.asarray(rewards, np.float64).tolist(), np.asarray(done).tolist()))
        return seen


class Bare(Face):
    """The vector environment itself, as a measure for the others."""

    library = "gymnasium"

    @property
    def envs(self) -> HeartsVectorEnv:
        return self.env

    def make(self, **options: Any) -> Any:
        return HeartsVectorEnv(self.tables, autoreset_mode="SameStep", **options)

    def begin(self, seed: int) -> None:
        self.seen, _ = self.env.reset(seed=seed)

    def masks(self) -> Any:
        return self.env.masks().astype(bool)

    def send(self, actions: Any) -> tuple[Any, Any]:
        self.seen, rewards, terminated, truncated, _ = self.env.step(actions)
        return rewards, terminated | truncated


class Sb3(Face):
    library = "sb3_contrib"

    def make(self, **options: Any) -> Any:
        from hearts_env.adapters.sb3 import HeartsVecEnv

        return HeartsVecEnv(self.tables, **options)

    def begin(self, seed: int) -> None:
        self.env.seed(seed)
        self.seen = self.env.reset()

    def masks(self) -> Any:
        return np.stack(self.env.env_method("action_masks"))

    def send(self, actions: Any) -> tuple[Any, Any]:
        self.seen, rewards, done, infos = self.env.step(actions)
        assert [bool(info) for info in infos] == done.tolist()
        return rewards, done


class Puffer(Face):
    library = "pufferlib"

    def make(self, **options: Any) -> Any:
        from hearts_env.adapters.pufferlib import HeartsPufferEnv

        return HeartsPufferEnv(self.tables, **options)

    def begin(self, seed: int) -> None:
        self.seen, _ = self.env.reset(seed)

    def send(self, actions: Any) -> tuple[Any, Any]:
        self.seen, rewards, terminals, truncations, _ = self.env.step(actions)
        return np.rint(rewards * self.env.reward_unit), terminals | truncations


class Tianshou(Face):
    library = "tianshou"

    def make(self, **options: Any) -> Any:
        from hearts_env.adapters.tianshou import HeartsTianshouEnv

        return HeartsTianshouEnv(self.tables, **options)

    def begin(self, seed: int) -> None:
        self.shown, _ = self.env.reset(seed=seed)
        self.seen = self.shown.obs

    def masks(self) -> Any:
        return self.shown.mask

    def send(self, actions: Any) -> tuple[Any, Any]:
        self.shown, rewards, terminated, truncated, infos = self.env.step(actions, np.arange(self.tables))
        assert [info["env_id"] for info in infos] == list(range(self.tables))
        done = terminated | truncated
        if done.any():
            rows = np.flatnonzero(done)
            self.shown[rows], _ = self.env.reset(env_id=rows)
        self.seen = self.shown.obs
        return rewards, done


class TorchRL(Face):
    library = "torchrl"

    def make(self, **options: Any) -> Any:
        from hearts_env.adapters.torchrl import HeartsTorchRLEnv

        return HeartsTorchRLEnv(self.tables, **options)

    def begin(self, seed: int) -> None:
        self.env.set_seed(seed)
        self.shown = self.env.reset()
        self.seen = self.shown["observation"].numpy()

    def masks(self) -> Any:
        return self.shown["action_mask"].numpy()

    def send(self, actions: Any) -> tuple[Any, Any]:
        import torch

        stepped, self.shown = self.env.step_and_maybe_reset(self.shown.set("action", torch.from_numpy(actions)))
        self.seen = self.shown["observation"].numpy()
        return stepped["next", "reward"][:, 0], stepped["next", "done"][:, 0]


FACES: list[type[Face]] = [Bare, Sb3, Puffer, Tianshou, TorchRL]
