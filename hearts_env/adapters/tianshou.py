"""Hearts as a vector environment of Tianshou, with the mask beside the observation, where its policies look for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from hearts_env.adapters import MissingLibraryError
from hearts_env.cards import Bools, Ints, action_numbers
from hearts_env.envs.learner_tables import check_one_learner, vector_options
from hearts_env.envs.options import EnvError
from hearts_env.envs.vector import HeartsVectorEnv

try:
    from tianshou.data import Batch
    from tianshou.env import BaseVectorEnv
except ModuleNotFoundError as error:
    raise MissingLibraryError(str(error.name), "tianshou") from None

Step = tuple[Batch, NDArray[np.float64], Bools, Bools, NDArray[np.object_]]


class HeartsTianshouEnv(BaseVectorEnv):  # type: ignore[misc]
    """`num_envs` tables of a `HeartsVectorEnv` for Tianshou's collectors, without workers or a loop over tables.

    Observations are a Batch of `obs` uint8 [K, F] and `mask` bool [K, A]; infos an array of dicts with `env_id`.
    Tables whose episode is over are reset by the collector.

    num_envs, options: of `HeartsVectorEnv`, but for `mask_in` and `autoreset_mode`; seat="all" is refused.

    Raises EnvError or RulesError, both ValueErrors.
    """

    def __init__(self, num_envs: int = 64, **options: Any) -> None:
        # Not the constructor of the base class, which makes a worker for each table.
        given = vector_options("HeartsTianshouEnv", options, "mask_in", "autoreset_mode")
        self.envs = HeartsVectorEnv(num_envs, autoreset_mode=AutoresetMode.DISABLED, mask_in="info", **given)
        check_one_learner(self.envs.tables, "Tianshou")
        self.workers: list[Any] = []
        self.env_num = self.wait_num = num_envs
        self.timeout = None
        self.is_async = self.is_closed = False
        self.waiting_id: list[int] = []
        self.ready_id = list(range(num_envs))
        self._seed: int | None = None
        self._begun = False

    def reset(
        self, env_id: Any = None, *, seed: int | None = None, **options: Any
    ) -> tuple[Batch, NDArray[np.object_]]:
        """Begin a new episode at the tables `env_id`, by default at all.  seed, options: of `HeartsVectorEnv.reset`."""
        rows = self._rows(env_id)
        given = dict(options.get("options") or {})
        if self._begun:
            mask = np.zeros(self.env_num, np.bool_)
            mask[rows] = True
            given["reset_mask"] = mask
        observations, _ = self.envs.reset(seed=self._seed if seed is None else seed, options=given)
        self._begun, self._seed = True, None
        return self._shown(observations, rows), _infos(rows)

    def step(self, action: Any, id: Any = None) -> Step:
        """Carry out an action, int [K], at each of the tables `id`, by default at all; what came of it there.

        Raises EnvError before `reset`, and for a table whose episode is over; ActionTypeError for anything but K whole
        numbers.
        """
        rows, tables = self._rows(id), self.envs.tables
        if not self._begun or tables.over[rows].any():
            raise EnvError("step: a table has no episode that goes on: call reset() with its env_id first")
        numbers = action_numbers(action, len(rows), "step: actions must be")
        actors = tables.seat[rows]
        self.envs.act(rows, numbers)
        observations, _ = self.envs.observe()
        return (
            self._shown(observations, rows),
            tables.paid[rows, actors],
            tables.terminated[rows],
            tables.truncated[rows],
            _infos(rows),
        )

    def action_masks(self) -> Bools:
        """The legal actions of the learner at each table, fresh bool [N, A]."""
        return self.envs.masks().astype(np.bool_)

    def seed(self, seed: int | Sequence[int] | None = None) -> list[list[int] | None]:
        """Fix all episodes from the next reset on."""
        self._seed = None if seed is None else int(np.ravel(seed)[0])
        return [None if self._seed is None else [self._seed]] * self.env_num

    def render(self, **_: Any) -> list[Any]:
        """The picture of each table."""
        return list(self.envs.render() or ())

    def close(self) -> None:
        """Nothing to release."""
        self.is_closed = True

    def get_env_attr(self, key: str, id: Any = None) -> list[Any]:
        """An attribute, once for each table: those of a single environment are the same at all."""
        name = {"observation_space": "single_observation_space", "action_space": "single_action_space"}.get(key, key)
        return [getattr(self.envs, name)] * len(self._rows(id))

    def set_env_attr(self, key: str, value: Any, id: Any = None) -> None:
        """Set an attribute of the vector environment.  Raises EnvError for some of the tables alone."""
        if len(self._rows(id)) < self.env_num:
            raise EnvError(f"set_env_attr {key!r}: all tables have it in common; leave id out")
        setattr(self.envs, key, value)

    def _rows(self, id: Any) -> Ints:
        rows: Ints = np.arange(self.env_num) if id is None else np.atleast_1d(np.asarray(id, np.int64))
        return rows

    def _shown(self, observations: Any, rows: Ints) -> Batch:
        return Batch(obs=observations[rows], mask=self.action_masks()[rows])


def _infos(rows: Ints) -> NDArray[np.object_]:
    return np.array([{"env_id": row} for row in rows.tolist()])
