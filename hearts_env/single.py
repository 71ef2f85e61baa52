"""The gymnasium Env: one table, one learning seat, agents in the others."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode

from hearts_env.aec import MaskIn, OnIllegal
from hearts_env.cards import NUM_ACTIONS, Bools
from hearts_env.learner import SeatChoice
from hearts_env.match import MAX_DEALS, IllegalActionError
from hearts_env.opponents import Opponents
from hearts_env.picture import RENDER_MODES, RenderMode
from hearts_env.rewards import Episode, Reward
from hearts_env.rules import Rules
from hearts_env.table import EnvError, checked_choice, refusal, whole_action
from hearts_env.vector import HeartsVectorEnv, Observations
from hearts_env.view import View

NO_ACTION = -1
"""Stands for anything that is no number: as illegal as any other."""


class HeartsEnv(gymnasium.Env[Observations, Any]):
    """Hearts as a gymnasium environment: a `HeartsVectorEnv` of one table, and the same game in every respect.

    Observations are uint8 [F] and `info["action_mask"]` int8 [A] (`mask_in` may move the mask); the reward is the
    learner's.  `info` has the keys of `HeartsVectorEnv`, one table's each, and at the end `summary`.

    rules, opponents, seat, episode, reward, mask_in, on_illegal, skip_forced, pad, order, max_deals: see
        `vector.HeartsVectorEnv`.  With seat="all" the caller plays every seat, `info["seat"]` next.
    render_mode: "ansi" text, "rgb_array" a picture, or "human": every step is printed.

    Raises EnvError or RulesError, both ValueErrors.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 4}  # noqa: RUF012

    def __init__(
        self,
        rules: Rules | str = Rules(),
        opponents: Opponents = "rule",
        seat: SeatChoice = 0,
        episode: Episode = "deal",
        reward: Reward = "points",
        mask_in: MaskIn = "info",
        on_illegal: OnIllegal = "terminate",
        render_mode: RenderMode | None = None,
        *,
        skip_forced: bool = False,
        pad: bool = False,
        order: bool = False,
        max_deals: int = MAX_DEALS,
    ) -> None:
        self._tables = HeartsVectorEnv(
            1,
            rules,
            opponents,
            seat,
            episode,
            reward,
            mask_in,
            on_illegal,
            autoreset_mode=AutoresetMode.DISABLED,
            skip_forced=skip_forced,
            pad=pad,
            order=order,
            max_deals=max_deals,
        )
        self.render_mode: RenderMode | None = None
        if render_mode is not None:
            self.render_mode = checked_choice("render_mode", render_mode, RENDER_MODES)
        self.observation_space = self._tables.single_observation_space
        self.action_space = self._tables.single_action_space

    @property
    def rules(self) -> Rules:
        """The rules of the table."""
        return self._tables.rules

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Observations, dict[str, Any]]:
        """Begin a new episode and play to the learner's first decision.

        seed: as in `HeartsVectorEnv.reset`.  options: `deal_id`, `deal_no`, `scores`, `hands`, as in
        `table.read_start`; others are ignored.  Raises EnvError and other ValueErrors for options that cannot be.
        """
        super().reset(seed=seed)
        self._tables.use_random(self.np_random, anew=seed is not None)
        return self._turn(*self._tables.reset(options=_without_masks(options)))

    def step(self, action: Any) -> tuple[Observations, float, bool, bool, dict[str, Any]]:
        """Carry out the learner's action and play on to its next decision.

        action: an int, a numpy integer or a 0-d array; anything else is an illegal action.
        Raises EnvError before `reset` and after the end, IllegalActionError where `on_illegal` is "raise".
        """
        number = whole_action(action)
        legal_number = NO_ACTION if number is None or not 0 <= number < NUM_ACTIONS else number
        if self._tables.tables.over[0]:
            raise EnvError("step: the episode is over: call reset()")
        try:
            observations, rewards, terminated, truncated, infos = self._tables.step([legal_number])
        except IllegalActionError:
            tables = self._tables.tables
            raise refusal(tables.lookup, tables.state, action) from None
        observation, info = self._turn(observations, infos)
        return observation, float(rewards[0]), bool(terminated[0]), bool(truncated[0]), info

    def action_masks(self) -> Bools:
        """The legal actions, bool [A], as sb3-contrib's MaskablePPO asks for them; all when the episode is over."""
        masks: Bools = self._tables.masks()[0].astype(np.bool_)
        return masks

    def view(self) -> View:
        """What the seat to decide knows, as a View of one row, for the agents of this library."""
        return self._tables.view()

    def render(self) -> Any:
        """The table with all hands face up: text, a picture uint8 [height, width, 3], or printed in mode "human"."""
        if self.render_mode is None:
            gymnasium.logger.warn(f"render() does nothing without a render_mode: {', '.join(RENDER_MODES)}")
            return None
        return self._tables.picture(self.render_mode, 0)

    def _repr_html_(self) -> str:
        """The table for a notebook."""
        return self._tables.html(0)

    # -- copies, for search ------------------------------------------------------------------------------------------

    def clone(self) -> HeartsEnv:
        """An environment that goes on from here on its own; spaces and opponents are shared."""
        other = copy.copy(self)
        other._tables = self._tables.clone()
        other._np_random = other._tables._np_random
        return other

    def get_state(self) -> dict[str, Any]:
        """The game as it is now, generators included, for `set_state` here or in another such environment."""
        return self._tables.get_state()

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go on from what `get_state` returned, which can be used again.  Raises EnvError, see HeartsVectorEnv."""
        self._tables.set_state(state)
        self._np_random = self._tables._np_random

    # -- within ------------------------------------------------------------------------------------------------------

    def _turn(self, observations: Observations, infos: dict[str, Any]) -> tuple[Observations, dict[str, Any]]:
        """The one row of each, as single environments have it."""
        if self.render_mode == "human":
            self.render()
        return _first(observations), _first({name: value for name, value in infos.items() if name[0] != "_"})


def _first(value: Any) -> Any:
    """The first row: arrays stay arrays (fresh ones), numbers become Python's."""
    if isinstance(value, dict):
        return {name: _first(part) for name, part in value.items() if name[0] != "_"}
    row = value[0]
    return row.copy() if isinstance(row, np.ndarray) else row.item()


def _without_masks(options: Any) -> Any:
    """The options without that which has a meaning for many tables only."""
    if not isinstance(options, Mapping):
        return options
    return {name: value for name, value in options.items() if name != "reset_mask"}
