"""The PettingZoo AEC environment: one table, one seat's action a step."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv

from hearts_env.cards import NUM_ACTIONS, Bytes, choose, names_in
from hearts_env.encode import layout
from hearts_env.match import MAX_DEALS, Deals
from hearts_env.notebook import NOTHING_DEALT, show_html
from hearts_env.picture import RENDER_MODES, RenderMode, frame
from hearts_env.registration import register_pettingzoo
from hearts_env.rewards import Episode, Reward, foul_reward
from hearts_env.rules import Rules
from hearts_env.spaces import action_space, encoding_space, masked_space
from hearts_env.table import EnvError, Table, checked_choice, read_start
from hearts_env.view import View, view
from hearts_env.whole import whole_space, whole_state

MaskIn = Literal["observation", "info", "both"]
OnIllegal = Literal["terminate", "random", "raise"]
Mask = NDArray[np.int8]
Observation = Bytes | dict[str, Bytes | Mask]

MASK_IN: tuple[MaskIn, ...] = ("observation", "info", "both")
ON_ILLEGAL: tuple[OnIllegal, ...] = ("terminate", "random", "raise")


class Info(dict[str, Any]):
    """What is said about the table beside an observation: the same keys, with numbers of one shape, at every step.

    points, scores: one whole number a seat.  deal_id: -1 for given hands.  deal_no.  phase: an index of
    `state.PHASE_NAMES`.  action_mask: where `mask_in` puts it.

    `info["legal"]` gives the names of the legal actions, [] for a seat that is not to act.  It is no key: libraries
    that turn infos into tensors go through the keys, and choke on text.
    """

    __slots__ = ("_actions",)

    def __init__(self, actions: int = 0, said: Mapping[str, Any] = MappingProxyType({})) -> None:
        """actions: the set of legal actions.  said: what the keys begin with."""
        super().__init__(said)
        self._actions = actions

    def __missing__(self, key: str) -> list[str]:
        if key == "legal":
            return names_in(self._actions)
        raise KeyError(key)

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key (or of `legal`), or the default."""
        return self[key] if key in self or key == "legal" else default


class HeartsAEC(AECEnv[str, Observation, int]):
    """Hearts as a PettingZoo AEC environment.

    Seats are `seat_0`, `seat_1`, ... clockwise.  Every decision is a turn, forced ones too: the picks of the pass,
    round the table, one card a turn; the plays; and the moon choice, which is a turn of the shooter.  Only the seat to
    act has actions in its mask; the others' are all zero, and all are when the episode is over.

    Actions are checked here, so that PettingZoo's wrappers (order, bounds, illegal actions) are not needed.

    rules: Rules, or text such as "omnibus,target=50".
    episode: one "deal", or a "game" of deals to the target.
    mask_in: "observation": a dict of observation uint8 [F] and action_mask int8 [A]; "info": the observation alone,
        and infos with the mask; "both" (which TorchRL's wrapper does not take; it takes either of the others).
    reward: "points", "tricks", "zero_sum" or "rank"; see `hearts_env.rewards`.
    on_illegal: what an illegal action does: "terminate" ends the episode, with `rewards.foul_reward` for the
        offender and nothing for the others; "random" plays a random legal action instead; "raise" raises
        IllegalActionError and leaves the table as it is.
    render_mode: "ansi": `render` returns text; "rgb_array": a picture (extra `render`); "human": every step is printed.
    pad, order: see `encode.layout`.
    max_deals: a game that is not over after so many deals is truncated.

    Raises EnvError or RulesError, both ValueErrors.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012
        "name": "hearts_v0",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": False,
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
        pad: bool = False,
        order: bool = False,
        max_deals: int = MAX_DEALS,
    ) -> None:
        self._table = Table(rules, episode, reward, max_deals)
        self.mask_in = checked_choice("mask_in", mask_in, MASK_IN)
        self.on_illegal = checked_choice("on_illegal", on_illegal, ON_ILLEGAL)
        self.render_mode = None if render_mode is None else checked_choice("render_mode", render_mode, RENDER_MODES)
        self._layout = layout(self._table.lookup, pad=bool(pad), order=bool(order))
        self._legal_block = self._layout["legal"]
        self.possible_agents = [f"seat_{seat}" for seat in range(self._table.lookup.num_players)]
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        # A space for each seat, since a space holds the generator that it samples with.
        self.observation_spaces = {agent: self._observation_space() for agent in self.possible_agents}
        self.action_spaces = {agent: action_space() for agent in self.possible_agents}
        self.state_space = whole_space(self._layout)
        self.agents = []
        self.agent_selection = ""
        self._skip_agent_selection: Any = None
        self.rewards, self._cumulative_rewards, self.infos = {}, {}, {}
        self.terminations, self.truncations = {}, {}
        self._deal_ids: np.random.Generator | None = None
        self._replacements: np.random.Generator | None = None
        self._seen: dict[int, Bytes] = {}

    @property
    def rules(self) -> Rules:
        """The rules of the table."""
        return self._table.lookup.rules

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
        start = read_start(self._table.lookup, options)
        if seed is not None or self._deal_ids is None:
            self._deal_ids = np.random.default_rng(seed)
            self._replacements = self._deal_ids.spawn(1)[0]
        drawn = 0 if start.deal_id is not None else int(self._deal_ids.integers(2**63, dtype=np.int64))
        self._table.start(drawn, start)
        self._skip_agent_selection = None
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._turn()

    def step(self, action: int | None) -> None:
        """Carry out the action of `agent_selection`; None for a seat whose episode is over.

        action: an int, a numpy integer or a 0-d array; anything else is an illegal action.
        Raises EnvError before `reset` and after the end, IllegalActionError where `on_illegal` is "raise".
        """
        self._check_begun("step")
        if not self.agents:
            raise EnvError("step: the episode is over and every seat has taken its last step: call reset()")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)  # type: ignore[arg-type]  # None is what it wants
            return
        number = self._table.action(action)
        if number is None and self.on_illegal != "terminate":
            number = self._replacement(action)
        self._cumulative_rewards[agent] = 0.0
        if number is None:
            gymnasium.logger.warn(f"{self._table.refusal(action)}; the episode ends", stacklevel=2)
            self.rewards = dict.fromkeys(self.agents, 0.0)
            self.rewards[agent] = foul_reward(self._table.lookup, self._table.reward)
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
        """What a seat knows, at any time after `reset`, as a fresh array or dict: see `mask_in`."""
        self._check_begun("observe")
        seat = self._seat(agent)
        row = self._encoding(seat).copy()
        return row if self.mask_in == "info" else {"observation": row, "action_mask": self._mask(seat)}

    def view(self, agent: str) -> View:
        """What a seat knows as a View of one row, for the agents of this library."""
        self._check_begun("view")
        return view(self._table.lookup, self._table.state, [self._seat(agent)])

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of a seat's observations, the same object at each call."""
        self._seat(agent)
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The space of a seat's actions, the same object at each call."""
        self._seat(agent)
        return self.action_spaces[agent]

    def state(self) -> Bytes:
        """Everything, hidden cards too, for a central critic: uint8 [S], see `whole.whole_state`."""
        self._check_begun("state")
        return whole_state(self._layout, self._table.state, self._table.encode(self._layout, 0))

    def render(self) -> Any:
        """The table with all hands face up: text, a picture uint8 [height, width, 3], or printed in mode "human"."""
        self._check_begun("render")
        if self.render_mode is None:
            gymnasium.logger.warn(
                f"render() does nothing without a render_mode: {', '.join(RENDER_MODES)}", stacklevel=2
            )
            return None
        return frame(self.render_mode, self._table.lookup, self._table.state)

    def _repr_html_(self) -> str:
        """The table for a notebook."""
        if self._deal_ids is None:
            return NOTHING_DEALT
        return show_html(self._table.lookup, self._table.state)

    def close(self) -> None:
        """Nothing to release."""

    def last(self, observe: bool = True) -> tuple[Observation | None, float, bool, bool, dict[str, Any]]:
        """Observation, reward since its last turn, terminated, truncated and info of the seat to act."""
        self._check_begun("last")
        if not self.agents:
            raise EnvError("last: the episode is over and every seat has taken its last step: call reset()")
        return super().last(observe)

    def agent_iter(self, max_iter: int = 2**63) -> Any:
        """The seats in the order of their turns, until the episode is over and each has taken its last step."""
        self._check_begun("agent_iter")
        return super().agent_iter(max_iter)

    # -- copies, for search ------------------------------------------------------------------------------------------

    def get_state(self) -> dict[str, Any]:
        """The game as it is now, generators included, for `set_state` here or in another such environment."""
        generators = (self._deal_ids, self._replacements)
        return {
            "table": self._table.copy(),
            "generators": [generator and generator.bit_generator.state for generator in generators],
            "agents": list(self.agents),
            "agent_selection": self.agent_selection,
            "_skip_agent_selection": self._skip_agent_selection,
            "rewards": dict(self.rewards),
            "_cumulative_rewards": dict(self._cumulative_rewards),
            "terminations": dict(self.terminations),
            "truncations": dict(self.truncations),
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
        for name, value in state.items():
            if name not in ("table", "generators"):
                setattr(self, name, copy.copy(value))
        self._table = table.copy()
        self._deal_ids, self._replacements = map(_generator, state["generators"])
        self._turn(render=False, selection=self.agent_selection)

    def clone(self) -> HeartsAEC:
        """An environment that goes on from here on its own; only the spaces are shared."""
        other = copy.copy(self)
        other.set_state(self.get_state())
        return other

    # -- within ------------------------------------------------------------------------------------------------------

    def _turn(self, render: bool = True, selection: str | None = None) -> None:
        """Say whose turn it is and what there is to say about it."""
        self._seen = {}
        table, turn = self._table, self._table.turn
        if selection is None:
            selection = self.possible_agents[0 if table.over else turn]
        self.agent_selection = selection
        points, scores = table.points, table.scores
        said = {
            "points": points,
            "scores": scores,
            "deal_id": table.deal_id,
            "deal_no": table.deal_no,
            "phase": table.phase,
        }
        self.infos = {}
        for agent in self.agents:
            seat = self._seat_of[agent]
            info = Info(table.legal if seat == turn else 0, said)
            info["points"], info["scores"] = points.copy(), scores.copy()
            if self.mask_in != "observation":
                info["action_mask"] = self._mask(seat)
            self.infos[agent] = info
        if render and self.render_mode == "human":
            self.render()

    def _mask(self, seat: int) -> Mask:
        if seat != self._table.turn or self._table.over:
            return np.zeros(NUM_ACTIONS, np.int8)
        # The encoding has it as a block.
        mask: Mask = self._encoding(seat)[self._legal_block].astype(np.int8)
        return mask

    def _encoding(self, seat: int) -> Bytes:
        """Made once a turn; not to be handed out."""
        if seat not in self._seen:
            self._seen[seat] = self._table.encode(self._layout, seat)
        return self._seen[seat]

    def _replacement(self, action: object) -> int:
        """Another action for an illegal one."""
        if self.on_illegal == "raise" or self._replacements is None:
            raise self._table.refusal(action)
        return int(choose(np.array([self._table.legal]), self._replacements.random(1))[0])

    def _seat(self, agent: str) -> int:
        try:
            return self._seat_of[agent]
        except (KeyError, TypeError):
            raise EnvError(f"agent {agent!r:.60}: agents are {', '.join(self.possible_agents)}") from None

    def _check_begun(self, call: str) -> None:
        if self._deal_ids is None:
            raise EnvError(f"{call}: no cards are dealt yet: call reset() first")

    def _observation_space(self) -> spaces.Space[Any]:
        return encoding_space(self._layout) if self.mask_in == "info" else masked_space(self._layout)


def _generator(state: Any) -> np.random.Generator | None:
    if state is None:
        return None
    bits = np.random.PCG64(0)
    bits.state = state
    return np.random.Generator(bits)


register_pettingzoo()
