"""Hearts as a multi-agent environment of RLlib, for self-play with one network or for a policy a seat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from hearts_env.adapters import MissingLibraryError
from hearts_env.aec import HeartsAEC
from hearts_env.cards import NUM_ACTIONS

try:
    from ray.rllib.env.multi_agent_env import MultiAgentEnv
except ModuleNotFoundError as error:
    raise MissingLibraryError(str(error.name), "rllib") from None

Seen = dict[str, dict[str, NDArray[np.float32]]]
OBSERVATIONS, MASK = "observations", "action_mask"
"""Keys of an observation: those of RLlib's ActionMaskingTorchRLModule."""


class HeartsMultiAgentEnv(MultiAgentEnv):  # type: ignore[misc]
    """One table, turn by turn: observations for the seat to act alone, rewards for every seat, at the end all of them.

    An observation is a dict of `observations` float32 [F] and `action_mask` float32 [A], as RLlib's
    `ActionMaskingTorchRLModule` reads it.  After the end masks are all ones: no action is asked for.

    config: the options of `aec.HeartsAEC`, but for `mask_in`; as RLlib hands them on from `env_config`.

    Raises EnvError or RulesError, both ValueErrors.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self.env = HeartsAEC(mask_in="observation", **dict(config or {}))
        self.possible_agents = list(self.env.possible_agents)
        # RLlib's check wants those who are shown the end to be in it still.
        self.agents = list(self.possible_agents)
        self.render_mode = self.env.render_mode
        seat = self.possible_agents[0]
        space: Any = self.env.observation_space(seat)
        encoding = space["observation"]
        seen = spaces.Dict(
            {
                OBSERVATIONS: spaces.Box(encoding.low.astype(np.float32), encoding.high.astype(np.float32)),
                MASK: spaces.Box(0.0, 1.0, (NUM_ACTIONS,), np.float32),
            }
        )
        self.observation_spaces = dict.fromkeys(self.possible_agents, seen)
        self.action_spaces = dict.fromkeys(self.possible_agents, self.env.action_space(seat))

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
        """What the seat to act sees, or every seat at the end."""
        seen = {}
        for agent in self.possible_agents if over else [self.env.agent_selection]:
            observation: Any = self.env.observe(agent)
            mask = np.ones(NUM_ACTIONS, np.float32) if over else observation["action_mask"].astype(np.float32)
            seen[agent] = {OBSERVATIONS: observation["observation"].astype(np.float32), MASK: mask}
        return seen
