"""Hearts for RLlib: many tables with a learner at each, or one table as a multi-agent environment, for self-play."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from hearts_env.adapters import MissingLibraryError
from hearts_env.cards import NUM_ACTIONS, Bytes
from hearts_env.envs.aec import HeartsAEC
from hearts_env.envs.base import Mask
from hearts_env.envs.learner_tables import LearnerOptions, check_one_learner
from hearts_env.envs.options import EnvOptions, forwarded
from hearts_env.envs.spaces import encoding_space
from hearts_env.envs.vector import HeartsVectorEnv, Infos, Step
from hearts_env.observe.encode import Layout

try:
    from ray.rllib.env.multi_agent_env import MultiAgentEnv
except ModuleNotFoundError as error:
    raise MissingLibraryError(str(error.name), "rllib") from None

Floats = dict[str, NDArray[np.float32]]
Seen = dict[str, Floats]
OBSERVATIONS, MASK = "observations", "action_mask"
"""Keys of an observation: those of RLlib's ActionMaskingTorchRLModule."""


class HeartsRLlibVectorEnv(HeartsVectorEnv):
    """`num_envs` tables of a `HeartsVectorEnv` for RLlib's runner of single-agent environments, in one process.

    RLlib makes it where `env_runners(gym_env_vectorize_mode="vector_entry_point")` is set, with its own
    `num_envs_per_env_runner`.  An observation is a dict of `observations` float32 [N, F] and `action_mask` float32
    [N, A], as RLlib's `ActionMaskingTorchRLModule` reads it.  RLlib takes infos apart table by table: there is nothing
    in them but `summary`, where episodes are over.

    config: the options of `vector.HeartsVectorEnv`, but for `mask_in` and `autoreset_mode`; as RLlib hands them on from
        `env_config`.  seat="all" is refused.

    Raises EnvError or RulesError, both ValueErrors.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        more = ("num_envs", "autoreset_mode", "copy")
        given = forwarded("HeartsRLlibVectorEnv", dict(config or {}), LearnerOptions, more=more, fixed=("mask_in",))
        super().__init__(mask_in="observation", **given)
        check_one_learner(self.tables, "RLlib")

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Any, Infos]:
        """Begin a new episode at every table, see `HeartsVectorEnv.reset`."""
        return super().reset(seed=seed, options=options)[0], {}

    def step(self, actions: Any) -> Step:
        """Carry out the learner's action at each table, see `HeartsVectorEnv.step`."""
        seen, rewards, terminated, truncated, infos = super().step(actions)
        told: Infos = {name: infos[name] for name in ("summary", "_summary") if name in infos}
        return seen, rewards, terminated, truncated, told

    def _space(self, actions: int = NUM_ACTIONS) -> spaces.Space[Any]:
        return _space(self.layout)

    def _shown(self, encoding: Bytes, mask: Mask) -> Any:
        return _as_floats(encoding, mask)


class HeartsMultiAgentEnv(MultiAgentEnv):  # type: ignore[misc]
    """One table, turn by turn: observations for the seat to act alone, rewards for every seat, at the end all of them.

    An observation is a dict of `observations` float32 [F] and `action_mask` float32 [A], as RLlib's
    `ActionMaskingTorchRLModule` reads it.  After the end masks are all ones: no action is asked for.

    config: the options of `aec.HeartsAEC`, but for `mask_in`; as RLlib hands them on from `env_config`.

    Raises EnvError or RulesError, both ValueErrors.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        given = forwarded("HeartsMultiAgentEnv", dict(config or {}), EnvOptions, fixed=("mask_in",))
        self.env = HeartsAEC(mask_in="observation", **given)
        self.possible_agents = list(self.env.possible_agents)
        # RLlib's check wants those who are shown the end to be in it still.
        self.agents = list(self.possible_agents)
        self.render_mode = self.env.render_mode
        self.observation_spaces = dict.fromkeys(self.possible_agents, _space(self.env.layout))
        self.action_spaces = dict.fromkeys(self.possible_agents, self.env.action_space(self.possible_agents[0]))

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Seen, dict[str, dict[str, Any]]]:
        """Begin a new episode; seed and options as in `HeartsAEC.reset`."""
        self.env.reset(seed=seed, options=options)
        return self._seen(over=False), {}

    def step(
        self, action_dict: Mapping[str, Any]
    ) -> tuple[Seen, dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Carry out the action of the seat to act."""
        self.env.step(action_dict[self.env.agent_selection])
        terminated, truncated = all(self.env.terminations.values()), all(self.env.truncations.values())
        over = terminated or truncated
        seen = self._seen(over)
        infos = {agent: {"points": list(self.env.infos[agent]["points"])} for agent in seen} if over else {}
        return seen, dict(self.env.rewards), {"__all__": terminated}, {"__all__": truncated}, infos

    def render(self) -> Any:
        """The table with all hands face up, see `HeartsAEC.render`."""
        return self.env.render()

    def _seen(self, over: bool) -> Seen:
        """The observation of the seat to act, or of every seat at the end, by agent."""
        seen = {}
        for agent in self.possible_agents if over else [self.env.agent_selection]:
            observation: Any = self.env.observe(agent)
            mask = np.ones(NUM_ACTIONS, np.int8) if over else observation["action_mask"]
            seen[agent] = _as_floats(observation["observation"], mask)
        return seen


def _space(layout: Layout) -> spaces.Dict:
    encoding: Any = encoding_space(layout)
    return spaces.Dict(
        {
            OBSERVATIONS: spaces.Box(encoding.low.astype(np.float32), encoding.high.astype(np.float32)),
            MASK: spaces.Box(0.0, 1.0, (NUM_ACTIONS,), np.float32),
        }
    )


def _as_floats(encoding: Bytes, mask: Mask) -> Floats:
    return {OBSERVATIONS: encoding.astype(np.float32), MASK: mask.astype(np.float32)}
