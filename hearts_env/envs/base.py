"""Base classes of the environments: masks, illegal actions, pictures, and copies of a single table."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from hearts_env.cards import NUM_ACTIONS, Bytes, choose
from hearts_env.draw.notebook import NOTHING_DEALT, show_html
from hearts_env.draw.picture import RENDER_MODES, RenderMode, frame
from hearts_env.envs.options import EnvError, EnvOptions
from hearts_env.envs.spaces import encoding_space, masked_space
from hearts_env.envs.table import Table
from hearts_env.game.rules import Rules
from hearts_env.observe.encode import Layout, layout

Mask = NDArray[np.int8]
Observation = Bytes | dict[str, Bytes | Mask]

Env = TypeVar("Env", bound="TableEnv")


class ObservingEnv:
    """Base class of an environment: its observations and its handling of actions, by its options."""

    options: EnvOptions
    layout: Layout
    """Where everything lies in an encoding."""

    def _use(self, options: EnvOptions) -> None:
        self.options = options
        self.mask_in, self.on_illegal = options.mask_in, options.on_illegal
        self.render_mode: RenderMode | None = options.render_mode
        self.layout = layout(options.compiled, pad=bool(options.pad), order=bool(options.order))

    def _space(self, actions: int = NUM_ACTIONS) -> spaces.Space[Any]:
        return encoding_space(self.layout) if self.mask_in == "info" else masked_space(self.layout, actions)

    def _shown(self, encoding: Bytes, mask: Mask) -> Observation:
        return encoding if self.mask_in == "info" else {"observation": encoding, "action_mask": mask}


class TableEnv(ObservingEnv):
    """An environment of a single table."""

    _table: Table
    _GENERATORS: ClassVar[tuple[str, ...]]
    """Attributes with generators, or None before `reset`."""
    _KEPT: ClassVar[tuple[str, ...]]
    """Attributes with the rest of what a copy must have beside the table."""

    def _seat_at_table(self, options: EnvOptions) -> None:
        """Make the table that these options ask for."""
        self._use(options)
        self._table = Table(options)

    @property
    def rules(self) -> Rules:
        """The rules of the table."""
        return self._table.rules.rules

    def render(self) -> Any:
        """The table with all hands face up: text, a picture uint8 [height, width, 3], or printed in mode "human"."""
        self._check_begun("render")
        if self.render_mode is None:
            gymnasium.logger.warn(f"render() does nothing without a render_mode: {', '.join(RENDER_MODES)}")
            return None
        return frame(self.render_mode, self._table.rules, self._table.state)

    def _repr_html_(self) -> str:
        """The table for a notebook."""
        return show_html(self._table.rules, self._table.state) if self._table.begun else NOTHING_DEALT

    def close(self) -> None:
        """Nothing to release."""

    # -- copies, for search ------------------------------------------------------------------------------------------

    def get_state(self) -> dict[str, Any]:
        """The game as it is now, generators included, for `set_state` here or in another such environment."""
        state: dict[str, Any] = {name: copy.copy(getattr(self, name)) for name in self._KEPT}
        generators = (getattr(self, name) for name in self._GENERATORS)
        state["generators"] = [generator and generator.bit_generator.state for generator in generators]
        state["table"] = self._table.copy()
        return state

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go on from what `get_state` returned, which can be used again.

        Raises EnvError for the state of an environment with other rules or another kind of episode.
        """
        table: Table = state["table"]
        if table.rules is not self._table.rules or table.episode != self._table.episode:
            raise EnvError(
                f"set_state: the state is of a {table.episode} under rules {table.rules.rules.show()}, "
                f"not of a {self._table.episode} under {self.rules.show()}"
            )
        self._table = table.copy()
        for name in self._KEPT:
            setattr(self, name, copy.copy(state[name]))
        for name, bits in zip(self._GENERATORS, state["generators"], strict=True):
            setattr(self, name, _generator(bits))

    def clone(self: Env) -> Env:
        """An environment that goes on from here on its own; spaces, and opponents if there are any, are shared."""
        other = copy.copy(self)
        other.set_state(self.get_state())
        return other

    # -- within ------------------------------------------------------------------------------------------------------

    def _replacement(self, legal: int, random: np.random.Generator | None) -> int:
        """One of the legal actions, for an illegal one."""
        assert random is not None
        return int(choose(np.array([legal]), random.random(1))[0])

    def _check_begun(self, call: str) -> None:
        if not self._table.begun:
            raise EnvError(f"{call}: no cards are dealt yet: call reset() first")


def _generator(state: Any) -> np.random.Generator | None:
    if state is None:
        return None
    bits = getattr(np.random, state["bit_generator"])(0)
    bits.state = state
    return np.random.Generator(bits)
