"""The PettingZoo AEC environment: one table, one seat's action a step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from pettingzoo import AECEnv

from hearts_env.cards import NUM_ACTIONS, Bytes
from hearts_env.draw.picture import RENDER_MODES, RenderMode
from hearts_env.envs.base import Mask, Observation
from hearts_env.envs.options import EnvError, EnvOptions, MaskIn, OnIllegal
from hearts_env.envs.pettingzoo_base import SeatsEnv
from hearts_env.envs.table import Info
from hearts_env.game.rewards import Episode, Reward, foul_reward
from hearts_env.game.rules import Rules
from hearts_env.game.view import View, view
from hearts_env.match.tables import MAX_DEALS, Deals


class HeartsAEC(SeatsEnv, AECEnv[str, Observation, int]):
    """Hearts as a PettingZoo AEC environment.

    Seats are `seat_0`, `seat_1`, ... clockwise.  Every decision is a turn, forced ones too: the picks of the pass,
    round the table, one card a turn; the plays; and the moon choice, which is a turn of the shooter.  Only the seat to
    act has actions in its mask; the others' are all zero, and all are when the episode is over.

    Actions are checked here, so that PettingZoo's wrappers (order, bounds, illegal actions) are not needed.

    rules: Rules, or text such as "omnibus,target=50".
    episode: one "deal", or a "game" of deals to the target.
    mask_in: "observation": a dict of observation uint8 [F] and action_mask int8 [A]; "info": the observation alone,
        and infos with the mask; "both" (which TorchRL's wrapper does not take; it takes either of the others).
    reward: "points", "tricks", "zero_sum" or "rank"; see `hearts_env.game.rewards`.
    on_illegal: what an illegal action does: "terminate" ends the episode, with `rewards.foul_reward` for the
        offender and nothing for the others; "random" plays a random legal action instead; "raise" raises
        IllegalActionError and leaves the table as it is.
    render_mode: "ansi": `render` returns text; "rgb_array": a picture (extra `render`); "human": every step is printed.
    pad, order: see `encode.layout`.
    max_deals: a game that is not over after so many deals is truncated.
    deal_id_in_info: infos have `deal_id`, from which all hands can be worked out: for logs, never for a learner.

    Raises EnvError or RulesError, both ValueErrors.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012
        "name": "hearts_v0",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": False,
        "render_fps": 4,
    }
    _KEPT = (
        "agents",
        "agent_selection",
        "_skip_agent_selection",
        "rewards",
        "_cumulative_rewards",
        "terminations",
        "truncations",
    )

    def __init__(
        self,
        rules: Rules | str = Rules(),
        episode: Episode = "deal",
        mask_in: MaskIn = "observation",
        reward: Reward = "points",
        on_illegal: OnIllegal = "terminate",
        render_mode: RenderMode | None = None,
        *,
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
        self._seat_agents()
        self.agents = []
        self.agent_selection = ""
        self._skip_agent_selection: Any = None
        self.rewards, self._cumulative_rewards, self.infos = {}, {}, {}
        self.terminations, self.truncations = {}, {}
        self._seen: dict[int, Bytes] = {}

    @property
    def finished_deal(self) -> Deals | None:
        """The deal that was finished last, also where the next has been dealt; None before the first."""
        return self._table.finished

    # -- the PettingZoo interface ------------------------------------------------------------------------------------

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begin a new episode.

        seed: fixes the deal ids of this and the following episodes (numpy's default_rng(seed) draws them, from 0 to
        2**63 - 1).  Without a seed the sequence goes on; the first one starts anywhere.
        options: deal_id, deal_no, scores, hands, all optional, as `table.read_start` says; others are ignored.

        Raises EnvError and other ValueErrors for options that cannot be.
        """
        self._start(seed, options)
        self._skip_agent_selection = None
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._turn()

    def step(self, action: int | None) -> None:
        """Carry out the action of `agent_selection`; None for a seat whose episode is over.

        action: a whole number, or an array or tensor of exactly one.
        Raises EnvError before `reset` and after the end, ActionTypeError for anything that is no whole number, and
        IllegalActionError where `on_illegal` is "raise".
        """
        if not self.agents:
            raise self._out_of_order("step")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)  # type: ignore[arg-type]  # None is what it wants
            return
        number = self._table.action(action)
        if number is None and self.on_illegal == "raise":
            raise self._table.refusal(action)
        if number is None and self.on_illegal == "random":
            number = self._replacement(self._table.legal, self._replacements)
        self._cumulative_rewards[agent] = 0.0
        if number is None:
            gymnasium.logger.warn(f"{self._table.refusal(action)}; the episode ends", stacklevel=2)
            self.rewards = dict.fromkeys(self.agents, 0.0)
            self.rewards[agent] = foul_reward(self._table.rules, self._table.reward)
            self._table.abandon()
        else:
            paid = self._table.step(number)
            amounts = [0.0] * len(self.agents) if paid is None else paid.tolist()
            self.rewards = dict(zip(self.agents, amounts, strict=True))
        if self._table.over:
            self.terminations = dict.fromkeys(self.agents, self._table.terminated)
            self.truncations = dict.fromkeys(self.agents, self._table.truncated)
        self._turn()
        self._accumulate_rewards()

    def observe(self, agent: str) -> Observation:
        """The observation of a seat at any time after `reset`, a fresh array or dict: see `mask_in`."""
        self._check_begun("observe")
        seat = self._seat(agent)
        return self._shown(self._encoding(seat).copy(), self._mask(seat))

    def view(self, agent: str) -> View:
        """The View of a seat, one row, for the agents of this library."""
        self._check_begun("view")
        return view(self._table.rules, self._table.state, [self._seat(agent)])

    def last(self, observe: bool = True) -> tuple[Observation | None, float, bool, bool, dict[str, Any]]:
        """Observation, reward since its last turn, terminated, truncated and info of the seat to act."""
        if not self.agents:
            raise self._out_of_order("last")
        return super().last(observe)

    def agent_iter(self, max_iter: int = 2**63) -> Any:
        """The seats in the order of their turns, until the episode is over and each has taken its last step."""
        self._check_begun("agent_iter")
        return super().agent_iter(max_iter)

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go on from what `get_state` returned, which can be used again.

        Raises EnvError for the state of an environment with other rules or another kind of episode.
        """
        super().set_state(state)
        self._turn(render=False, selection=self.agent_selection)

    # -- within ------------------------------------------------------------------------------------------------------

    def _turn(self, render: bool = True, selection: str | None = None) -> None:
        """Say whose turn it is and what there is to say about it."""
        self._seen = {}
        table, turn = self._table, self._table.turn
        if selection is None:
            selection = self.possible_agents[0 if table.over else turn]
        self.agent_selection = selection
        said, masked = table.said(deal_id=self.options.deal_id_in_info), self.mask_in != "observation"
        self.infos = {}
        for agent in self.agents:
            seat = self._seat_of[agent]
            self.infos[agent] = Info(table.legal if seat == turn else 0, said)
            if masked:
                self.infos[agent]["action_mask"] = self._mask(seat)
        if render and self.render_mode == "human":
            self.render()

    def _out_of_order(self, call: str) -> EnvError:
        """The error of a call that needs seats which have not taken their last step."""
        self._check_begun(call)
        return EnvError(f"{call}: the episode is over and every seat has taken its last step: call reset()")

    def _mask(self, seat: int) -> Mask:
        if seat != self._table.turn or self._table.over:
            return np.zeros(NUM_ACTIONS, np.int8)
        # The encoding has it as a block.
        mask: Mask = self._encoding(seat)[self._legal_block].astype(np.int8)
        return mask

    def _encoding(self, seat: int) -> Bytes:
        """Made once a turn; not to be handed out."""
        if seat not in self._seen:
            self._seen[seat] = self._table.encode(self.layout, seat)
        return self._seen[seat]
