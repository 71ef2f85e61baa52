"""The gymnasium Env: one table, one learning seat, agents in the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from hearts_env.cards import NUM_ACTIONS, Bools, Bytes
from hearts_env.draw.picture import RENDER_MODES, RenderMode
from hearts_env.envs.base import Mask, Observation, TableEnv
from hearts_env.envs.learner_tables import LearnerOptions, SeatChoice
from hearts_env.envs.opponents import Opponents
from hearts_env.envs.options import EnvError, MaskIn, OnIllegal
from hearts_env.envs.spaces import action_space
from hearts_env.envs.table import read_start
from hearts_env.game.rewards import Episode, Reward, foul_reward, payoff
from hearts_env.game.rules import Rules
from hearts_env.game.scoring import lowest_seats
from hearts_env.game.view import View, view
from hearts_env.match.agent import Kernel, ask, kernel_of
from hearts_env.match.tables import MAX_DEALS


class HeartsEnv(TableEnv, gymnasium.Env[Observation, Any]):  # type: ignore[misc]  # its modes are some text
    """Hearts as a gymnasium environment: what `HeartsVectorEnv` is at one table, made for one table.

    Observations are uint8 [F] and `info["action_mask"]` int8 [A] (`mask_in` may move the mask); the reward is the
    learner's.  `info` has the keys of `HeartsVectorEnv`, one table's each, and at the end `summary`.

    rules, opponents, seat, episode, reward, mask_in, on_illegal, skip_forced, pad, order, max_deals,
        deal_id_in_info: see `vector.HeartsVectorEnv`.  With seat="all" the caller plays every seat,
        `info["seat"]` next.
    render_mode: "ansi" text, "rgb_array" a picture, or "human": every step is printed.

    Raises EnvError or RulesError, both ValueErrors.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 4}  # noqa: RUF012
    _GENERATORS = ("_np_random", "_replacements", "_draws")
    _KEPT = ("seat_choice", "_seat", "_lineup", "_episodes", "_length", "_paid", "_total")

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
        deal_id_in_info: bool = False,
    ) -> None:
        given = LearnerOptions(
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
            opponents=opponents,
            seat=seat,
            skip_forced=skip_forced,
        )
        self._seat_at_table(given)
        self.seat_choice: SeatChoice = given.seat
        self.skip_forced = bool(skip_forced)
        self.opponents = given.agents()
        self.observation_space = self._space()
        self.action_space = action_space()
        self._legal_block = self.layout["legal"]
        self._replacements: np.random.Generator | None = None
        self._draws: np.random.Generator | None = None  # of the opponents
        self._seat = 0  # whose decision it is
        self._lineup = np.zeros(self.rules.num_players, np.int16)  # [P]  an index into `opponents` for each seat
        self._kernels: dict[int, tuple[Kernel, Bools]] = {}  # by seat: of the agent there, and all its seats, [1, P]
        self._episodes = 0  # begun
        self._length = 0  # decisions of the learner in this episode
        self._paid = np.zeros(self._table.rules.num_players)  # by the last step
        self._total = np.zeros(self._table.rules.num_players)  # in this episode

    # -- the gymnasium interface -------------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a new episode and play to the learner's first decision.

        seed: as in `HeartsVectorEnv.reset`.  options: `deal_id`, `deal_no`, `scores`, `hands`, as in
        `table.read_start`; others are ignored.  Raises EnvError and other ValueErrors for options that cannot be.
        """
        start = read_start(self._table.rules, options)
        super().reset(seed=seed)
        if seed is not None or self._draws is None:
            self._replacements, self._draws = self.np_random.spawn(2)
        drawn = 0 if start.deal_id is not None else int(self.np_random.integers(2**63, dtype=np.int64))
        self._table.start(drawn, start)
        self._sit_down()
        self._length = 0
        self._paid, self._total = np.zeros_like(self._paid), np.zeros_like(self._total)
        self._play_on()
        return self._turn(illegal=False)

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Carry out the learner's action and play on to its next decision.

        action: a whole number, or an array or tensor of exactly one.
        Raises EnvError before `reset` and after the end, ActionTypeError for anything that is no whole number, and
        IllegalActionError where `on_illegal` is "raise".
        """
        self._check_begun("step")
        table, actor = self._table, self._seat
        if table.over:
            raise EnvError("step: the episode is over: call reset()")
        number = table.action(action)
        illegal = number is None
        if illegal and self.on_illegal == "raise":
            raise table.refusal(action)
        if illegal and self.on_illegal == "random":
            number = self._replacement(table.legal, self._replacements)
        self._length += 1
        self._paid = np.zeros_like(self._paid)
        if number is None:
            self._paid[actor] = foul_reward(table.rules, table.reward)
            table.abandon()
        else:
            self._carry_out(number)
            self._play_on()
        self._total = self._total + self._paid
        observation, info = self._turn(illegal)
        return observation, float(self._paid[actor]), table.terminated, table.truncated, info

    def action_masks(self) -> Bools:
        """The legal actions, bool [A], as sb3-contrib's MaskablePPO asks for them; all when the episode is over."""
        self._check_begun("action_masks")
        masks: Bools = self._mask(self._table.encode(self.layout, self._seat)).view(np.bool_)
        return masks

    def view(self) -> View:
        """The View of the seat to decide, one row, for the agents of this library."""
        self._check_begun("view")
        return view(self._table.rules, self._table.state, [self._seat])

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go on from what `get_state` returned, which can be used again.

        Raises EnvError for the state of an environment with other rules, another kind of episode or another `seat`.
        """
        if state["seat_choice"] != self.seat_choice:
            raise EnvError(f"set_state: the state is of seat={state['seat_choice']!r}, not of {self.seat_choice!r}")
        super().set_state(state)
        self._find_kernels()

    # -- within ------------------------------------------------------------------------------------------------------

    @property
    def _all_seats(self) -> bool:
        return self.seat_choice == "all"

    def _sit_down(self) -> None:
        """Choose the learner's seat and the opponents of the episode."""
        assert self._draws is not None
        seats = self._table.rules.num_players
        if len(self.opponents) > 1:
            self._lineup = self._draws.integers(len(self.opponents), size=seats, dtype=np.int16)
        if self.seat_choice == "rotating":
            self._seat = self._episodes % seats
        elif self.seat_choice != "all":
            self._seat = self.seat_choice
        self._episodes += 1
        self._find_kernels()

    def _find_kernels(self) -> None:
        """Find the opponents that have kernels, and their seats."""
        seats = self._table.rules.num_players
        self._kernels = {}
        for index, agent in enumerate(self.opponents):
            kernel = kernel_of(agent)
            if kernel is not None:
                mine = (self._lineup == index) & (np.arange(seats) != self._seat)
                self._kernels |= {int(seat): (kernel, mine[None]) for seat in np.flatnonzero(mine)}

    def _play_on(self) -> None:
        """Let others act until the learner is to decide or the episode is over."""
        table = self._table
        while not table.over:
            turn = table.turn
            if self._all_seats:
                self._seat = turn
            forced = table.legal & (table.legal - 1) == 0
            if turn == self._seat and not (forced and self.skip_forced and self._length):
                return
            if forced:
                self._carry_out(table.legal.bit_length() - 1)
            elif turn not in self._kernels or not self._run_kernel(*self._kernels[turn]):
                seen = view(table.rules, table.state)
                self._carry_out(int(ask(self.opponents, self._lineup[[turn]], seen)[0]))

    def _carry_out(self, action: int) -> None:
        paid = self._table.step(action)
        if paid is not None:
            self._paid += paid

    def _run_kernel(self, kernel: Kernel, seats: Bools) -> int:
        """Let the kernel of an agent play in its seats, bool [1, P]; how many actions it has taken."""
        made, paid = self._table.play_on(kernel, seats)
        if paid is not None:
            self._paid += paid
        return made

    def _turn(self, illegal: bool) -> tuple[Observation, dict[str, Any]]:
        """The learner's observation and the info that goes with it."""
        table = self._table
        encoding = table.encode(self.layout, self._seat)
        mask = self._mask(encoding)
        info: dict[str, Any] = {
            "seat": self._seat,
            "points": np.array(table.points),
            "scores": np.array(table.scores),
            "deal_no": table.deal_no,
            "phase": table.phase,
            "illegal": illegal,
            "rewards": self._paid.copy(),
        }
        if self.options.deal_id_in_info:
            info["deal_id"] = table.deal_id
        if self.mask_in != "observation":
            info["action_mask"] = mask.copy() if self.mask_in == "both" else mask
        if table.over:
            info["summary"] = self._summary()
        if self.render_mode == "human":
            self.render()
        return self._shown(encoding, mask), info

    def _mask(self, encoding: Bytes) -> Mask:
        if self._table.over:
            return np.ones(NUM_ACTIONS, np.int8)
        # The encoding has it as a block.
        mask: Mask = encoding[self._legal_block].astype(np.int8)
        return mask

    def _summary(self) -> dict[str, Any]:
        """The results of the episode, by the keys of `LearnerTables.summary`."""
        table = self._table
        points, scores = np.array(table.points), np.array(table.scores)
        final = (points if table.episode == "deal" else scores)[None]
        return {
            "points": points,
            "scores": scores,
            "return": self._of_learner(self._total),
            "payoff": self._of_learner(payoff(table.rules, final)[0]),
            "won": self._of_learner(lowest_seats(table.rules, final)[0]),
            "length": self._length,
            "deals": table.deals,
            "seat": self._seat,
        }

    def _of_learner(self, values: NDArray[Any]) -> Any:
        """The learner's of a value a seat; all where every seat learns."""
        return values.copy() if self._all_seats else values[self._seat].item()
