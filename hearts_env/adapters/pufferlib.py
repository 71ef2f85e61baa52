"""Hearts as a native environment of PufferLib: many tables that write straight into its buffers."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from hearts_env.adapters import MissingLibraryError
from hearts_env.cards import Bools
from hearts_env.envs.learner_tables import check_one_learner, vector_options
from hearts_env.envs.vector import HeartsVectorEnv
from hearts_env.game.rewards import foul_reward
from hearts_env.observe.encode import Layout

try:
    from pufferlib import PufferEnv
except ModuleNotFoundError as error:
    raise MissingLibraryError(str(error.name), "pufferlib") from None

Step = tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any], list[dict[str, float]]]


class HeartsPufferEnv(PufferEnv):  # type: ignore[misc]
    """`num_envs` tables of a `HeartsVectorEnv`, each an agent of PufferLib; it resets in the step of the end.

    PufferLib has no masks: a network finds the legal actions in the encoding, at `mask_slice`.  Its trainer clips
    rewards to 1, so they are divided by `reward_unit`, the worst that a deal can bring; infos are not.

    num_envs, options: of `HeartsVectorEnv`, but for `mask_in`, `copy` and `autoreset_mode`; seat="all" is refused.
    buf: PufferLib's.  seed: for the first episodes where `reset` is given none.

    Raises EnvError or RulesError, both ValueErrors.
    """

    def __init__(self, num_envs: int = 64, buf: Any = None, seed: int = 0, **options: Any) -> None:
        given = vector_options("HeartsPufferEnv", options, "mask_in", "autoreset_mode", "copy")
        self.envs = HeartsVectorEnv(
            num_envs, autoreset_mode=AutoresetMode.SAME_STEP, mask_in="info", copy=False, **given
        )
        check_one_learner(self.envs.tables, "PufferLib")
        self.single_observation_space = self.envs.single_observation_space
        self.single_action_space = self.envs.single_action_space
        self.num_agents = num_envs
        self.render_mode = self.envs.render_mode
        self._seed = seed
        self.reward_unit = -foul_reward(self.envs.tables.rules, self.envs.tables.reward)
        super().__init__(buf)

    @property
    def layout(self) -> Layout:
        """Where everything lies in an observation."""
        return self.envs.layout

    @property
    def mask_slice(self) -> slice:
        """Where the legal actions lie in an observation."""
        return self.layout["legal"]

    def action_masks(self) -> Bools:
        """The legal actions of the learner at each table, fresh bool [N, A]."""
        return self.envs.masks().astype(np.bool_)

    def reset(self, seed: int | None = None) -> tuple[NDArray[Any], list[dict[str, float]]]:
        """Begin a new episode at every table."""
        self.observations[:] = self.envs.reset(seed=self._seed if seed is None else seed)[0]
        return self.observations, []

    def step(self, actions: NDArray[Any]) -> Step:
        """Carry out an action at each table, int [N].  Infos: means over the episodes that are over, if any is."""
        seen, rewards, self.terminals[:], self.truncations[:], told = self.envs.step(actions)
        self.observations[:] = seen
        self.rewards[:] = rewards / self.reward_unit
        infos = []
        if "summary" in told:
            done = told["_summary"]
            infos = [
                {
                    name: float(told["summary"][key][done].mean())
                    for name, key in (
                        ("episode_return", "return"),
                        ("episode_length", "length"),
                        ("payoff", "payoff"),
                        ("won", "won"),
                    )
                }
            ]
        return self.observations, self.rewards, self.terminals, self.truncations, infos

    def render(self) -> Any:
        """The picture of the first table."""
        pictures = self.envs.render()
        return pictures and pictures[0]

    def close(self) -> None:
        """Nothing to release."""
