"""The PettingZoo Parallel environment: one table, an action of every seat a step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any, Literal

import gymnasium
import numpy as np
from pettingzoo import ParallelEnv

from hearts_env.cards import NOOP, NUM_ACTIONS, action_number
from hearts_env.draw.picture import RENDER_MODES, RenderMode
from hearts_env.envs.base import Mask, Observation
from hearts_env.envs.options import EnvOptions, MaskIn, OnIllegal, checked_choice
from hearts_env.envs.pettingzoo_base import SeatsEnv
from hearts_env.envs.table import Info, refusal
from hearts_env.game.rewards import Episode, Reward, foul_reward
from hearts_env.game.rulebook import legal_picks
from hearts_env.game.rules import Rules
from hearts_env.game.state import PASS
from hearts_env.game.view import View, view
from hearts_env.match.tables import MAX_DEALS

Passing = Literal["simultaneous", "sequential"]
PASSING: tuple[Passing, ...] = ("simultaneous", "sequential")
SIZE = NOOP + 1
"""Actions: those of a turn, and NOOP."""
ONLY_NOOP = 1 << NOOP

Turn = tuple[dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]


class HeartsParallel(SeatsEnv, ParallelEnv[str, Observation, int]):
    """Hearts as a PettingZoo Parallel environment: the game of `HeartsAEC`, with the same seeds, rewards and encodings.

    In the pass phase every seat picks a card at the same time, one a step.  From then on one seat acts a step, and the
    masks of the others hold nothing but NOOP (action 54); no mask is ever empty, that of the last step included.

    passing: "sequential" lets seats pick in turn, as `HeartsAEC` does, so that a step is always one seat's.
    rules, episode, mask_in, reward, on_illegal, render_mode, pad, order, max_deals, deal_id_in_info: see `HeartsAEC`.
        An action other than NOOP of a seat that is not to act is illegal, and so is none of a seat that is; where an
        action is illegal and ends the episode, no seat's action is carried out.

    Raises EnvError or RulesError, both ValueErrors.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012
        "name": "hearts_v0",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": True,
        "render_fps": 4,
    }
    _KEPT = ("agents",)

    def __init__(
        self,
        rules: Rules | str = Rules(),
        episode: Episode = "deal",
        mask_in: MaskIn = "observation",
        reward: Reward = "points",
        on_illegal: OnIllegal = "terminate",
        render_mode: RenderMode | None = None,
        *,
        passing: Passing = "simultaneous",
        pad: bool = False,
        order: bool = False,
        max_deals: int = MAX_DEALS,
        deal_id_in_info: bool = False,
    ) -> None:
        self._seat_at_table(
            EnvOptions(
                rules=rules,
                episode=episode,
                reward=reward,
                mask_in=mask_in,
                on_illegal=on_illegal,
                render_mode=render_mode,
                pad=pad,
                order=order,
                max_deals=max_deals,
                deal_id_in_info=deal_id_in_info,
            )
        )
        self.passing = checked_choice("passing", passing, PASSING)
        self._seat_agents(SIZE)
        self.agents: list[str] = []

    # -- the PettingZoo interface ------------------------------------------------------------------------------------

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """Begin a new episode; seed and options as in `HeartsAEC.reset`, with the same deals."""
        self._start(seed, options)
        self.agents = list(self.possible_agents)
        return self._turn()

    def step(self, actions: Mapping[str, Any]) -> Turn:
        """Carry out an action of every seat; a seat that is not to act may be left out.

        actions: by seat, each a whole number, or an array or tensor of exactly one.
        When the episode is over, five empty dicts.  Raises EnvError before `reset` and for an unknown seat,
        ActionTypeError for anything that is no whole number, IllegalActionError where `on_illegal` is "raise".
        """
        self._check_begun("step")
        if not self.agents:
            return {}, {}, {}, {}, {}
        numbers, fouls = self._checked(actions)
        table, rewards = self._table, np.zeros(len(self.agents))
        if fouls:
            rewards[fouls] = foul_reward(table.rules, table.reward)
            table.abandon()
        else:
            for number in numbers:
                paid = table.step(number)
                if paid is not None:
                    rewards += paid
        seats = self.agents
        if table.over:
            self.agents = []
        observations, infos = self._turn()
        return (
            observations,
            dict(zip(seats, rewards.tolist(), strict=True)),
            dict.fromkeys(seats, table.terminated),
            dict.fromkeys(seats, table.truncated),
            infos,
        )

    def view(self, agent: str) -> View:
        """The View of a seat, one row, for the agents of this library."""
        self._check_begun("view")
        seat = self._seat(agent)
        with self._turn_of(seat) if self._together else nullcontext():
            return view(self._table.rules, self._table.state, [seat])

    # -- within ------------------------------------------------------------------------------------------------------

    def _turn(self) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """The observation and the info of every seat, by agent."""
        table, masked = self._table, self.mask_in != "observation"
        said = table.said(deal_id=self.options.deal_id_in_info)
        together = self._together
        observations: dict[str, Observation] = {}
        infos: dict[str, dict[str, Any]] = {}
        for seat, (agent, legal) in enumerate(zip(self.possible_agents, self._legal(), strict=True)):
            if together:
                with self._turn_of(seat):
                    row = table.encode(self.layout, seat)
            else:
                row = table.encode(self.layout, seat)
            mask: Mask = np.zeros(SIZE, np.int8)
            # The encoding has the legal actions as a block, which is empty where NOOP is the only one.
            mask[:NUM_ACTIONS] = row[self._legal_block]
            mask[NOOP] = legal == ONLY_NOOP
            observations[agent] = self._shown(row, mask)
            infos[agent] = Info(legal, said)
            if masked:
                infos[agent]["action_mask"] = mask.copy()
        if self.render_mode == "human":
            self.render()
        return observations, infos

    @property
    def _together(self) -> bool:
        """All seats act at once."""
        return self.passing == "simultaneous" and self._table.phase == PASS and not self._table.over

    def _legal(self) -> list[int]:
        """The legal actions of each seat: NOOP where it is not to act."""
        table = self._table
        if self._together:
            hands, picks = table.state.hands[0].tolist(), table.state.picks[0].tolist()
            return [legal_picks(table.rules.play, hand, picked) for hand, picked in zip(hands, picks, strict=True)]
        legal = [ONLY_NOOP] * len(self.possible_agents)
        if not table.over:
            legal[table.turn] = table.legal
        return legal

    @contextmanager
    def _turn_of(self, seat: int) -> Iterator[None]:
        """Where all act at once: the table for a while as it is when the turn has come to this seat.

        Picks are hidden until all have picked, so those of the seats before make no difference to what a seat sees.
        """
        state = self._table.state
        state.turn[0] += seat
        state.count[0] += seat
        try:
            yield
        finally:
            state.turn[0] -= seat
            state.count[0] -= seat

    def _checked(self, actions: Mapping[str, Any]) -> tuple[list[int], list[int]]:
        """The actions to carry out in their order, illegal ones replaced where that is the policy, and who fouls."""
        given = {self._seat(agent): action_number(action) for agent, action in actions.items()}
        numbers, fouls = [], []
        for seat, legal in enumerate(self._legal()):
            acts = legal != ONLY_NOOP
            number = given.get(seat, NOOP)
            if not (0 <= number < SIZE and legal >> number & 1):
                self._report(seat, number, legal)
                if self.on_illegal == "terminate":
                    fouls.append(seat)
                else:
                    number = self._replacement(legal, self._replacements) if acts else NOOP
            if acts:
                numbers.append(number)
        return numbers, fouls

    def _report(self, seat: int, action: int, legal: int) -> None:
        """Raise, or warn of, an illegal action as the policy has it."""
        if self.on_illegal == "random":
            return
        state = self._table.state.copy()
        state.turn[0] = seat
        error = refusal(self._table.rules, state, action, allowed=legal)
        if self.on_illegal == "raise":
            raise error
        gymnasium.logger.warn(f"{error}; the episode ends", stacklevel=2)
