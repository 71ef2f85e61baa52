"""Base class of the two PettingZoo environments: a table whose seats are agents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from hearts_env.cards import NUM_ACTIONS, Bytes
from hearts_env.envs.base import TableEnv
from hearts_env.envs.options import EnvError
from hearts_env.envs.spaces import action_space, whole_space
from hearts_env.envs.table import read_start
from hearts_env.observe.global_state import whole_state


class SeatsEnv(TableEnv):
    """A table whose seats are `seat_0`, `seat_1`, ... clockwise, each with spaces of its own."""

    possible_agents: list[str]
    _GENERATORS = ("_deal_ids", "_replacements")

    def _seat_agents(self, actions: int = NUM_ACTIONS) -> None:
        """Make the seats and their spaces.  actions: the size of a mask."""
        self.possible_agents = [f"seat_{seat}" for seat in range(self._table.rules.num_players)]
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        # A space for each seat, since a space holds the generator that it samples with.
        self.observation_spaces = {agent: self._space(actions) for agent in self.possible_agents}
        self.action_spaces: dict[str, spaces.Space[Any]] = {
            agent: action_space(actions) for agent in self.possible_agents
        }
        self.state_space = whole_space(self.layout)
        self._legal_block = self.layout["legal"]
        self._deal_ids: np.random.Generator | None = None
        self._replacements: np.random.Generator | None = None

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of a seat's observations, the same object at each call."""
        return self.observation_spaces[self.possible_agents[self._seat(agent)]]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The space of a seat's actions, the same object at each call."""
        return self.action_spaces[self.possible_agents[self._seat(agent)]]

    def state(self) -> Bytes:
        """Everything, hidden cards too, for a central critic: uint8 [S], see `whole.whole_state`."""
        self._check_begun("state")
        return whole_state(self.layout, self._table.state, self._table.encode(self.layout, 0))

    def _start(self, seed: int | None, options: Mapping[str, Any] | None) -> None:
        """Begin a new episode at the table."""
        start = read_start(self._table.rules, options)
        if seed is not None or self._deal_ids is None:
            self._deal_ids = np.random.default_rng(seed)
            self._replacements = self._deal_ids.spawn(1)[0]
        drawn = 0 if start.deal_id is not None else int(self._deal_ids.integers(2**63, dtype=np.int64))
        self._table.start(drawn, start)

    def _seat(self, agent: str) -> int:
        try:
            return self._seat_of[agent]
        except (KeyError, TypeError):
            raise EnvError(f"agent {agent!r:.60}: agents are {', '.join(self.possible_agents)}") from None
