"""The PettingZoo Parallel environment: one table, an action of every seat a step."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Literal

import gymnasium
import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv

from hearts_env.aec import MASK_IN, ON_ILLEGAL, Info, MaskIn, Observation, OnIllegal
from hearts_env.cards import NOOP, choose
from hearts_env.encode import action_mask, encode, layout
from hearts_env.match import MAX_DEALS
from hearts_env.notebook import NOTHING_DEALT, show_html
from hearts_env.picture import RENDER_MODES, RenderMode, frame
from hearts_env.registration import register_pettingzoo
from hearts_env.rewards import Episode, Reward, foul_reward
from hearts_env.rules import Rules
from hearts_env.spaces import action_space, encoding_space, masked_space
from hearts_env.state import PASS, State
from hearts_env.table import EnvError, Table, checked_choice, read_start, refusal, whole_action
from hearts_env.view import View, view
from hearts_env.whole import whole_space, whole_state

Passing = Literal["simultaneous", "sequential"]
PASSING: tuple[Passing, ...] = ("simultaneous", "sequential")
SIZE = NOOP + 1
"""Actions: those of a turn, and NOOP."""
ONLY_NOOP = 1 << NOOP

Turn = tuple[dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]


class HeartsParallel(ParallelEnv[str, Observation, int]):
    """Hearts as a PettingZoo Parallel environment: the game of `HeartsAEC`, with the same seeds, rewards and encodings.

    In the pass phase every seat picks a card at the same time, one a step.  From then on one seat acts a step, and the
    masks of the others hold nothing but NOOP (action 54); no mask is ever empty, that of the last step included.

    passing: "sequential" lets seats pick in turn, as `HeartsAEC` does, so that a step is always one seat's.
    rules, episode, mask_in, reward, on_illegal, render_mode, pad, order, max_deals: see `HeartsAEC`.  An action other
        than NOOP of a seat that is not to act is illegal, and so is none of a seat that is; where an action is illegal
        and ends the episode, no seat's action is carried out.

    Raises EnvError or RulesError, both ValueErrors.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012
        "name": "hearts_v0",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": True,
        "render_fps": 4,
    }

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
    ) -> None:
        self._table = Table(rules, episode, reward, max_deals)
        self.mask_in = checked_choice("mask_in", mask_in, MASK_IN)
        self.on_illegal = checked_choice("on_illegal", on_illegal, ON_ILLEGAL)
        self.passing = checked_choice("passing", passing, PASSING)
        self.render_mode = None if render_mode is None else checked_choice("render_mode", render_mode, RENDER_MODES)
        self._layout = layout(self._table.lookup, pad=bool(pad), order=bool(order))
        self.possible_agents = [f"seat_{seat}" for seat in range(self._table.lookup.num_players)]
        self.observation_spaces = {agent: self._observation_space() for agent in self.possible_agents}
        self.action_spaces = {agent: action_space(SIZE) for agent in self.possible_agents}
        self.state_space = whole_space(self._layout)
        self.agents: list[str] = []
        self._deal_ids: np.random.Generator | None = None
        self._replacements: np.random.Generator | None = None

    @property
    def rules(self) -> Rules:
        """The rules of the table."""
        return self._table.lookup.rules

    # -- the PettingZoo interface ------------------------------------------------------------------------------------

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """Begin a new episode; seed and options as in `HeartsAEC.reset`, with the same deals."""
        start = read_start(self._table.lookup, options)
        if seed is not None or self._deal_ids is None:
            self._deal_ids = np.random.default_rng(seed)
            self._replacements = self._deal_ids.spawn(1)[0]
        drawn = 0 if start.deal_id is not None else int(self._deal_ids.integers(2**63, dtype=np.int64))
        self._table.start(drawn, start)
        self.agents = list(self.possible_agents)
        return self._turn()

    def step(self, actions: Mapping[str, Any]) -> Turn:
        """Carry out an action of every seat; a seat that is not to act may be left out.

        actions: by seat, each an int, a numpy integer or a 0-d array; anything else is an illegal action.
        When the episode is over, five empty dicts.  Raises EnvError before `reset` and for an unknown seat,
        IllegalActionError where `on_illegal` is "raise".
        """
        self._check_begun("step")
        if not self.agents:
            return {}, {}, {}, {}, {}
        numbers, fouls = self._checked(actions)
        table, rewards = self._table, np.zeros(len(self.agents))
        if fouls:
            rewards[fouls] = foul_reward(table.lookup, table.reward)
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
        """What a seat knows as a View of one row, for the agents of this library."""
        self._check_begun("view")
        seat = self._seat(agent)
        return view(self._table.lookup, self._at_each_seat(), range(len(self.possible_agents))).take(np.array([seat]))

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of a seat's observations, the same object at each call."""
        self._seat(agent)
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The space of a seat's actions, NOOP included; the same object at each call."""
        self._seat(agent)
        return self.action_spaces[agent]

    def state(self) -> Any:
        """Everything, hidden cards too, for a central critic: see `whole.whole_state`."""
        self._check_begun("state")
        return whole_state(self._layout, self._table.state, self._table.encode(self._layout, 0))

    def render(self) -> Any:
        """The table with all hands face up: text, a picture uint8 [height, width, 3], or printed in mode "human"."""
        self._check_begun("render")
        if self.render_mode is None:
            gymnasium.logger.warn(f"render() does nothing without a render_mode: {', '.join(RENDER_MODES)}")
            return None
        return frame(self.render_mode, self._table.lookup, self._table.state)

    def _repr_html_(self) -> str:
        """The table for a notebook."""
        if self._deal_ids is None:
            return NOTHING_DEALT
        return show_html(self._table.lookup, self._table.state)

    def close(self) -> None:
        """Nothing to release."""

    # -- copies, for search ------------------------------------------------------------------------------------------

    def get_state(self) -> dict[str, Any]:
        """The game as it is now, generators included, for `set_state` here or in another such environment."""
        return {
            "table": self._table.copy(),
            "agents": list(self.agents),
            **{name: copy.deepcopy(getattr(self, name)) for name in _GENERATORS},
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go on from what `get_state` returned, which can be used again.

        Raises EnvError for the state of an environment with other rules or another kind of episode.
        """
        table: Table = state["table"]
        if table.lookup is not self._table.lookup or table.episode != self._table.episode:
            raise EnvError(
                f"set_state: the state is of a {table.episode} under rules {table.lookup.rules.show()}, "
                f"not of a {self._table.episode} under {self.rules.show()}"
            )
        self._table = table.copy()
        self.agents = list(state["agents"])
        for name in _GENERATORS:
            setattr(self, name, copy.deepcopy(state[name]))

    def clone(self) -> HeartsParallel:
        """An environment that goes on from here on its own; only the spaces are shared."""
        other = copy.copy(self)
        other.set_state(self.get_state())
        return other

    # -- within ------------------------------------------------------------------------------------------------------

    def _turn(self) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """What every seat sees, and what there is to say about it."""
        table = self._table
        encodings = encode(self._layout, view(table.lookup, self._at_each_seat(), range(len(self.possible_agents))))
        allowed = [self._legal(seat) for seat in range(len(self.possible_agents))]
        masks = action_mask(np.array(allowed), SIZE)
        points, scores = table.points, table.scores
        deal_no, phase = int(table.state.deal_no[0]), int(table.state.phase[0])
        observations: dict[str, Observation] = {}
        infos: dict[str, dict[str, Any]] = {}
        for seat, agent in enumerate(self.possible_agents):
            row = encodings[seat].copy()
            observations[agent] = (
                row if self.mask_in == "info" else {"observation": row, "action_mask": masks[seat].copy()}
            )
            info = Info(allowed[seat])
            info.update(points=points.copy(), scores=scores.copy(), deal_id=table.deal_id, deal_no=deal_no, phase=phase)
            if self.mask_in != "observation":
                info["action_mask"] = masks[seat].copy()
            infos[agent] = info
        if self.render_mode == "human":
            self.render()
        return observations, infos

    def _acting(self) -> range:
        """The seats to act, in the order in which the table takes their actions."""
        state, seats = self._table.state, len(self.possible_agents)
        if self._table.over:
            return range(0)
        if state.phase[0] == PASS and self.passing == "simultaneous":
            return range(seats)
        return range(int(state.turn[0]), int(state.turn[0]) + 1)

    def _legal(self, seat: int) -> int:
        """The legal actions of a seat: NOOP where it is not to act."""
        state = self._table.state
        if seat not in self._acting():
            return ONLY_NOOP
        if state.phase[0] == PASS:
            return int(state.hands[0, seat] & ~state.picks[0, seat])
        return self._table.legal

    def _at_each_seat(self) -> State:
        """The table once for each seat, [P]; in a simultaneous pass, as it is when the turn has come to that seat.

        Picks are hidden until all have picked, so those of the seats before make no difference to what a seat sees.
        """
        rows = self._table.state.repeat(len(self.possible_agents))
        if len(self._acting()) > 1:
            rows.turn[:] = np.arange(len(rows))
            rows.count += rows.turn
        return rows

    def _checked(self, actions: Mapping[str, Any]) -> tuple[list[int], list[int]]:
        """The actions to carry out in their order, illegal ones replaced where that is the policy, and who fouls."""
        for agent in actions:
            self._seat(agent)
        acting, numbers, fouls = self._acting(), [], []
        for seat, agent in enumerate(self.possible_agents):
            action = actions.get(agent, None if seat in acting else NOOP)
            number = whole_action(action)
            if number is None or number < 0 or not self._legal(seat) >> number & 1:
                self._report(seat, action)
                if self.on_illegal == "terminate":
                    fouls.append(seat)
                else:
                    number = self._replacement(seat)
            if seat in acting and number is not None:
                numbers.append(number)
        return numbers, fouls

    def _report(self, seat: int, action: object) -> None:
        """Raise, or warn of, an illegal action as the policy has it."""
        if self.on_illegal == "random":
            return
        state = self._table.state.copy()
        state.turn[0] = seat
        error = refusal(self._table.lookup, state, action, allowed=self._legal(seat))
        if self.on_illegal == "raise":
            raise error
        gymnasium.logger.warn(f"{error}; the episode ends", stacklevel=2)

    def _replacement(self, seat: int) -> int:
        """Another action for an illegal one."""
        legal = self._legal(seat)
        if legal == ONLY_NOOP:
            return NOOP
        assert self._replacements is not None
        return int(choose(np.array([legal]), self._replacements.random(1))[0])

    def _seat(self, agent: str) -> int:
        if agent not in self.possible_agents:
            raise EnvError(f"agent {agent!r:.60}: agents are {', '.join(self.possible_agents)}")
        return self.possible_agents.index(agent)

    def _check_begun(self, call: str) -> None:
        if self._deal_ids is None:
            raise EnvError(f"{call}: no cards are dealt yet: call reset() first")

    def _observation_space(self) -> spaces.Space[Any]:
        return encoding_space(self._layout) if self.mask_in == "info" else masked_space(self._layout, SIZE)


_GENERATORS = ("_deal_ids", "_replacements")

register_pettingzoo()
