"""Hearts as a vectorised environment of Stable-Baselines3, with the masks of all tables at once for MaskablePPO."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from hearts_env.adapters import MissingLibraryError
from hearts_env.cards import Bools, Bytes, Ints
from hearts_env.envs.learner_tables import check_one_learner, vector_options
from hearts_env.envs.options import EnvError
from hearts_env.envs.vector import HeartsVectorEnv

try:
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import VecEnv
except ModuleNotFoundError as error:
    raise MissingLibraryError(str(error.name), "sb3") from None

MASKS = "action_masks"
Step = tuple[Bytes, NDArray[np.float32], Bools, list[dict[str, Any]]]


class HeartsVecEnv(VecEnv):  # type: ignore[misc]
    """`num_envs` tables of a `HeartsVectorEnv` for Stable-Baselines3 and sb3-contrib, without a loop over tables.

    Observations are uint8 [N, F].  A table whose episode is over begins the next one in the same step; its info then
    has `terminal_observation`, `TimeLimit.truncated`, `episode` as Monitor tells it (so no VecMonitor is needed) and
    `summary`, see `LearnerTables.summary`.  Infos of other tables are empty.

    num_envs, options: of `HeartsVectorEnv`, but for `mask_in` and `autoreset_mode`.  seat="all" is refused: the
        algorithms take each table's steps for those of one learner.

    Raises EnvError or RulesError, both ValueErrors.
    """

    def __init__(self, num_envs: int = 64, **options: Any) -> None:
        given = vector_options("HeartsVecEnv", options, "mask_in", "autoreset_mode")
        self.envs = HeartsVectorEnv(num_envs, autoreset_mode=AutoresetMode.SAME_STEP, mask_in="info", **given)
        check_one_learner(self.envs.tables, "Stable-Baselines3")
        self._actions: NDArray[np.int64] = np.zeros(num_envs, np.int64)
        super().__init__(num_envs, self.envs.single_observation_space, self.envs.single_action_space)

    def action_masks(self) -> Bools:
        """The legal actions of the learner at each table, fresh bool [N, A]."""
        return self.envs.masks().astype(np.bool_)

    def reset(self) -> Bytes:
        """Begin a new episode at every table, with the seed and the options that `seed` and `set_options` gave."""
        observations, _ = self.envs.reset(seed=self._seeds[0], options=self._options[0])
        self._reset_seeds()
        self._reset_options()
        return observations  # type: ignore[return-value]

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Keep the actions, int [N], for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> Step:
        """Carry them out: observations, rewards float32 [N], dones, infos."""
        observations, rewards, terminated, truncated, told = self.envs.step(self._actions)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        done = terminated | truncated
        if done.any():
            rows = np.flatnonzero(done)
            for row, last in zip(rows.tolist(), _last_infos(told, rows, truncated[rows].tolist()), strict=True):
                infos[row] = last
        return observations, rewards.astype(np.float32), done, infos  # type: ignore[return-value]

    def close(self) -> None:
        """Nothing to release."""

    def get_images(self) -> Sequence[Any]:
        """The picture of each table, where `render_mode` is "rgb_array"."""
        return self.envs.render() or ()

    # -- the interface for single tables -----------------------------------------------------------------------------

    def env_method(self, method_name: str, *arguments: Any, indices: Any = None, **keywords: Any) -> list[Any]:
        """The result of that method, once for each of the tables `indices`; `action_masks` is there for each table."""
        rows = self._get_indices(indices)
        if method_name == MASKS:
            masks = self.action_masks()
            return list(masks) if indices is None else [masks[row] for row in rows]
        value = getattr(self.envs, method_name)(*arguments, **keywords)
        return [value for _ in rows]

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """That attribute of the vector environment, once for each of the tables `indices`.  Raises AttributeError."""
        rows = self._get_indices(indices)
        if attr_name == MASKS:
            return [partial(self._masks_of, row) for row in rows]
        return [getattr(self.envs, attr_name)] * len(list(rows))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of the vector environment.  Raises EnvError for some of the tables alone."""
        if len(set(self._get_indices(indices))) < self.num_envs:
            raise EnvError(f"set_attr {attr_name!r}: all tables have it in common; leave indices out")
        setattr(self.envs, attr_name, value)

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Any = None) -> list[bool]:
        """True for Monitor, whose work is done here: infos have `episode`."""
        return [issubclass(wrapper_class, Monitor) for _ in self._get_indices(indices)]

    def _masks_of(self, row: int) -> Bools:
        masks: Bools = self.action_masks()[row]
        return masks


def _last_infos(told: dict[str, Any], rows: Ints, truncated: list[bool]) -> Iterator[dict[str, Any]]:
    """The infos of the tables `rows`, whose episodes are over, in the form of Stable-Baselines3."""
    names = [name for name in told["summary"] if name[0] != "_"]
    summaries = zip(*(told["summary"][name][rows] for name in names), strict=True)
    for observation, values, cut in zip(told["final_obs"][rows], summaries, truncated, strict=True):
        summary = dict(zip(names, values, strict=True))
        yield {
            "terminal_observation": observation,
            "TimeLimit.truncated": cut,
            "episode": {"r": float(summary["return"]), "l": int(summary["length"]), "t": 0.0},
            "summary": summary,
        }
