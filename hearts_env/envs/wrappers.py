"""Wrappers of the AEC environment: deals written as records, and rules drawn anew for each episode."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TextIO

import numpy as np
from gymnasium import spaces
from pettingzoo.utils.wrappers import BaseWrapper

from hearts_env.envs.aec import HeartsAEC
from hearts_env.envs.base import Observation
from hearts_env.envs.options import EnvError, EnvOptions, checked_rules, forwarded
from hearts_env.game.rules import Rules
from hearts_env.match.tables import Deals
from hearts_env.text.record import records_of


class RecordDeals(BaseWrapper[str, Observation, int]):
    """Writes each deal as it is finished as a record, one line of JSON, which `hearts check` and `hearts show` read.

    A deal that an illegal action ends is not finished.  Copies made for search (`clone`) are of the wrapped
    environment, and write nothing.
    """

    def __init__(self, env: HeartsAEC, file: TextIO, names: Sequence[str] | None = None) -> None:
        """file: open for text; flushed after each deal and never closed here.  names: of the agent in each seat."""
        super().__init__(env)
        self._env = env
        self._file = file
        self._names = list(env.possible_agents if names is None else names)

    def step(self, action: int | None) -> None:
        """Carry out the action; write the deal if it is over."""
        before = self._env.finished_deal
        super().step(action)  # type: ignore[arg-type]  # None is what a dead seat takes
        done = self._env.finished_deal
        if done is not None and done is not before:
            write_records(self._file, self._env.rules, done, [self._names])


def write_records(file: TextIO, rules: Rules, deals: Deals, names: Sequence[Sequence[str]]) -> None:
    """Write deals that are over as records, a line each.  names: the agent in each seat, for each of the deals.

    As the hook of a match: `play(..., on_deals=lambda deals: write_records(file, rules, deals, names))`.
    """
    file.writelines(record.to_json() + "\n" for record in records_of(rules, deals, names))
    file.flush()


class SampleRules(BaseWrapper[str, Observation, int]):
    """Draws the rules of each episode: a curriculum, or one network for every player count.

    Observations are padded to seven seats (`pad=True`), so that spaces stay what they are, whatever is drawn.
    `possible_agents` are the seats of the largest table, and `agents` those of the table drawn.
    """

    def __init__(
        self, draw: Callable[[np.random.Generator, int], Rules | str], num_players: int, **options: Any
    ) -> None:
        """draw: the rules for a generator and the number of the episode (from 0).  num_players: the most seats drawn.

        options: of HeartsAEC, but for rules and pad.  Raises EnvError.
        """
        if {"rules", "pad"} & options.keys():
            raise EnvError("SampleRules draws the rules and pads observations itself: leave rules and pad out")
        self._draw, self._options = draw, forwarded("SampleRules", options, EnvOptions, fixed=("rules", "pad"))
        self._tables: dict[Rules, HeartsAEC] = {}
        self._chance: np.random.Generator | None = None
        self._episode = 0
        self._largest = self._table(Rules(num_players=num_players))
        super().__init__(self._largest)
        self.possible_agents = list(self._largest.possible_agents)

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Draw rules and begin an episode under them.  seed: fixes the rules and deals of this and all that follow.

        Raises EnvError for rules of more seats than `num_players`.
        """
        if seed is not None or self._chance is None:
            self._chance, self._episode = np.random.default_rng(seed), 0
        rules = checked_rules(self._draw(self._chance, self._episode))
        if rules.num_players > len(self.possible_agents):
            raise EnvError(f"num_players={len(self.possible_agents)}: rules of {rules.num_players} seats were drawn")
        self._episode += 1
        self.env = self._table(rules)
        self.env.reset(seed=int(self._chance.integers(2**63)), options=options)

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of a seat's observations, the same object at each call."""
        return self._largest.observation_space(agent)

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The space of a seat's actions, the same object at each call."""
        return self._largest.action_space(agent)

    def _table(self, rules: Rules) -> HeartsAEC:
        if rules not in self._tables:
            self._tables[rules] = HeartsAEC(rules, pad=True, **self._options)
        return self._tables[rules]
