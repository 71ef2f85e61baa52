"""The gymnasium VectorEnv: many tables at once over the batched core, with a learner at each."""

from __future__ import annotations

import copy as copying
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from hearts_env.cards import NUM_ACTIONS, Bools, Ints, Sets, action_numbers, bit, choose
from hearts_env.draw.notebook import NOTHING_DEALT, show_html
from hearts_env.draw.picture import RENDER_MODES, RenderMode, frame
from hearts_env.envs.base import Mask, Observation, ObservingEnv
from hearts_env.envs.learner_tables import LearnerOptions, LearnerTables, SeatChoice
from hearts_env.envs.opponents import Opponents
from hearts_env.envs.options import EnvError, MaskIn, OnIllegal
from hearts_env.envs.spaces import action_space
from hearts_env.envs.table import read_start, refusal
from hearts_env.game.rewards import Episode, Reward, foul_reward
from hearts_env.game.rules import Rules
from hearts_env.game.view import View
from hearts_env.match.tables import FROM_DEAL_ID, MAX_DEALS, Start
from hearts_env.observe.encode import action_mask, encode

Infos = dict[str, Any]
Step = tuple[Observation, NDArray[np.float64], Bools, Bools, Infos]


class VectorOptions(LearnerOptions):
    """The options of an environment with a learner that is rendered as many pictures, never printed."""

    @classmethod
    def render_modes(cls) -> Sequence[RenderMode]:
        """The modes in which `render` shows these environments."""
        return RENDER_MODES[1:]


class HeartsVectorEnv(ObservingEnv, VectorEnv[Observation, Ints, NDArray[Any]]):  # type: ignore[misc]  # its modes are some text
    """Hearts at `num_envs` tables: one act call of each opponent, and one of the engine, for all tables in a turn.

    Every step is a decision of the learner at each table (forced ones too, unless skipped): its picks of the pass, one
    card at a time; its plays; its moon choice.  The others act in between.

    rules, episode, reward, on_illegal, pad, order, max_deals, deal_id_in_info: see `aec.HeartsAEC`.
    mask_in: "info": observations uint8 [N, F] alone, and `infos["action_mask"]` int8 [N, A]; "observation": a dict of
        `observation` and `action_mask`; or "both".  At a table whose episode is over the mask is all ones, since any
        action will do there: none is carried out.
    opponents, seat, skip_forced: see `LearnerOptions`.  With seat="all" each step is a decision of whichever
        seat is to act at the table (`infos["seat"]`), and rewards are those of the seats that acted;
        `infos["rewards"]` has what the step paid to every seat.
    autoreset_mode: NEXT_STEP: the step after the end ignores the action and begins a new episode; SAME_STEP: the last
        step of an episode begins the next one, and `infos["final_obs"]` and `infos["final_info"]` tell how it ended;
        DISABLED: `reset(options={"reset_mask": ...})` begins it.
    render_mode: "ansi" or "rgb_array": `render` returns a tuple with the picture of each table.
    copy: False returns the same arrays of observations and masks at each step, overwritten by the next.

    `infos` has, each with its `_key`: seat [N], points and scores [N, P], deal_no, phase [N], illegal bool [N],
    rewards float64 [N, P]; deal_id [N] where `deal_id_in_info` asks for it; and when an episode is over `summary`, see
    `LearnerTables.summary`.

    Raises EnvError or RulesError, both ValueErrors.
    """

    def __init__(
        self,
        num_envs: int = 1,
        rules: Rules | str = Rules(),
        opponents: Opponents = "rule",
        seat: SeatChoice = 0,
        episode: Episode = "deal",
        reward: Reward = "points",
        mask_in: MaskIn = "info",
        on_illegal: OnIllegal = "terminate",
        render_mode: RenderMode | None = None,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        skip_forced: bool = False,
        pad: bool = False,
        order: bool = False,
        max_deals: int = MAX_DEALS,
        deal_id_in_info: bool = False,
        copy: bool = True,
    ) -> None:
        given = VectorOptions(
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
        self.tables = LearnerTables(num_envs, given)
        self.num_envs = len(self.tables)
        self._use(given)
        self.autoreset_mode = _checked_mode(autoreset_mode)
        self.metadata = {"render_modes": list(RENDER_MODES[1:]), "render_fps": 4, "autoreset_mode": self.autoreset_mode}
        self.copy = bool(copy)
        self.single_observation_space = self._space()
        self.single_action_space = action_space()
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._legal: Sets | None = None  # int64 [N]
        self._encodings = np.zeros((self.num_envs, self.layout.size), np.uint8)
        self._masks = np.zeros((self.num_envs, NUM_ACTIONS), np.int8)
        self._chance: list[np.random.Generator] = []

    @property
    def rules(self) -> Rules:
        """The rules of all tables."""
        return self.tables.rules.rules

    # -- the gymnasium interface -------------------------------------------------------------------------------------

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Observation, Infos]:
        """Begin a new episode at every table, or at some.

        seed: fixes the deal ids, the opponents drawn from a pool and the replacements of illegal actions from here on.
        options: `reset_mask`, bool [N], the tables to reset (default all); `deal_id`, a whole number or int [N];
            `deal_no`, `scores`, `hands` as in `table.read_start`, for all of them.  Others are ignored.

        Raises EnvError and other ValueErrors for options that cannot be.
        """
        rows = self._rows_to_reset(options)
        ids, start = self._start(options, rows)
        super().reset(seed=seed)
        self.use_random(self.np_random, anew=seed is not None)
        self._begin(rows, ids, start)
        observations, masks = self.observe()
        return observations, self._infos(masks, np.zeros(self.num_envs, np.bool_))

    def step(self, actions: Any) -> Step:
        """Carry out the learner's action at each table, int [N], and play on to its next decision.

        Raises ActionTypeError for anything but N whole numbers, see `cards.action_numbers`; EnvError before `reset`,
        and with autoreset DISABLED where a table's episode is over; IllegalActionError where `on_illegal` is "raise".
        """
        tables, numbers = self.tables, self._numbers(actions)
        over, actors = tables.over, tables.seat.copy()
        rows = np.flatnonzero(~over)
        illegal = np.zeros(self.num_envs, np.bool_)
        illegal[rows] = self.act(rows, numbers[rows])
        if over.any():
            self._begin(np.flatnonzero(over))
        rewards = tables.paid[np.arange(self.num_envs), actors]
        terminated, truncated = tables.terminated.copy(), tables.truncated.copy()
        done = tables.over
        ended: Infos = {}
        paid = tables.paid.copy()
        if done.any():
            ended = {"summary": _each(tables.summary(), done), "_summary": done.copy()}
            if self.autoreset_mode == AutoresetMode.SAME_STEP:
                ended |= self._final(done, illegal, ended)
                self._begin(np.flatnonzero(done))
        observations, masks = self.observe()
        infos = self._infos(masks, illegal, paid) | ended
        return observations, rewards, terminated, truncated, infos

    def act(self, rows: Ints, actions: Ints) -> Bools:
        """Carry out actions, int64 [K], at tables `rows` (int64 [K]) alone, where no episode is over; reset none.

        For adapters to libraries that step some of the tables: `tables` and `observe` tell what came of it.
        Returns where an action was illegal, bool [K].  Raises IllegalActionError where `on_illegal` is "raise".
        """
        assert self._legal is not None
        legal = self._legal[rows]
        within = (actions >= 0) & (actions < NUM_ACTIONS)
        numbers = np.where(within, actions, 0)
        illegal: Bools = ~(within & ((bit(numbers) & legal) != 0))
        if illegal.any():
            wrong = np.flatnonzero(illegal)
            if self.on_illegal == "raise":
                row = rows[wrong[0]]
                raise refusal(
                    self.tables.rules, self.tables.state.take(rows[wrong[:1]]), actions[wrong[0]], f" at table {row}"
                )
            if self.on_illegal == "terminate":
                self.tables.foul(rows[wrong], foul_reward(self.tables.rules, self.tables.reward))
                rows, numbers = rows[~illegal], numbers[~illegal]
            else:
                numbers[wrong] = choose(legal[wrong], self._chance[0].random(len(wrong)))
        self.tables.act(rows, numbers)
        return illegal

    def render(self) -> tuple[Any, ...] | None:
        """The picture of each table, all hands face up, as text or as uint8 [height, width, 3]."""
        self._check_begun("render")
        if self.render_mode is None:
            return None
        return tuple(self.picture(self.render_mode, row) for row in range(self.num_envs))

    def picture(self, mode: RenderMode, row: int) -> Any:
        """One table, all hands face up, see `picture.frame`."""
        self._check_begun("render")
        return frame(mode, self.tables.rules, self.tables.state, row)

    def html(self, row: int = 0) -> str:
        """One table, all hands face up, as a piece of HTML."""
        if self._legal is None:
            return NOTHING_DEALT
        return show_html(self.tables.rules, self.tables.state, row)

    def _repr_html_(self) -> str:
        """The first table for a notebook."""
        return self.html()

    def view(self) -> View:
        """The View of the seat to decide at each table, for the agents of this library."""
        self._check_begun("view")
        return self.tables.view()

    def masks(self) -> Mask:
        """The legal actions of the learner at each table, fresh int8 [N, A]; all ones where the episode is over."""
        self._check_begun("masks")
        assert self._legal is not None
        masks = action_mask(self._legal)
        masks[self.tables.over] = 1
        return masks

    def sample(self) -> Ints:
        """A random legal action for each table, int64 [N], drawn from `np_random`'s kin `action_space.np_random`."""
        self._check_begun("sample")
        legal = self._legal if self._legal is not None else self.tables.legal()
        actions: Ints = np.maximum(choose(legal, self.action_space.np_random.random(self.num_envs)), 0)
        return actions

    def use_random(self, random: np.random.Generator, anew: bool) -> None:
        """Draw deal ids from this generator; `anew`: and everything else from fresh kin of it."""
        self._np_random = random
        if anew or not self._chance:
            self._chance = random.spawn(2)

    # -- copies, for search ------------------------------------------------------------------------------------------

    def clone(self) -> HeartsVectorEnv:
        """An environment that goes on from here on its own; spaces and opponents are shared."""
        other = copying.copy(self)
        other.tables = self.tables.copy()
        for name in ("_np_random", "_chance", "_legal", "_encodings", "_masks"):
            setattr(other, name, copying.deepcopy(getattr(self, name)))
        return other

    def get_state(self) -> dict[str, Any]:
        """The games as they are now, generators included, for `set_state` here or in another such environment."""
        return {
            "tables": self.tables.copy(),
            **{name: copying.deepcopy(getattr(self, name)) for name in ("_np_random", "_chance", "_legal")},
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go on from what `get_state` returned, which can be used again.

        Raises EnvError for the state of an environment with other rules, another kind of episode or other tables.
        """
        tables: LearnerTables = state["tables"]
        for name in ("rules", "episode", "seat_choice"):
            if getattr(tables, name) != getattr(self.tables, name) or len(tables) != self.num_envs:
                raise EnvError(
                    f"set_state: the state is of other tables: {len(tables)} of a {tables.episode} under rules "
                    f"{tables.rules.rules.show()}, seat {tables.seat_choice}"
                )
        self.tables = tables.copy()
        for name in ("_np_random", "_chance", "_legal"):
            setattr(self, name, copying.deepcopy(state[name]))

    # -- within ------------------------------------------------------------------------------------------------------

    def _begin(self, rows: Ints, ids: Ints | None = None, start: Start = FROM_DEAL_ID) -> None:
        """Begin an episode at some tables, with ids of their own unless these are given."""
        if ids is None:
            ids = self.np_random.integers(2**63, size=len(rows), dtype=np.int64)
        self.tables.begin(rows, ids, self._chance[1], start)

    def observe(self) -> tuple[Observation, Mask]:
        """The learner's observation at each table, and its masks, int8 [N, A]; see `mask_in` and `masks`."""
        tables = self.tables
        seen = tables.view()
        over = tables.over
        self._legal = np.where(over, 0, seen.legal)
        encodings = encode(self.layout, seen, None if self.copy else self._encodings)
        masks = self.masks()
        if not self.copy:
            self._masks[...] = masks
            masks = self._masks
        return self._shown(encodings, masks), masks.copy() if self.mask_in == "both" else masks

    def _infos(self, masks: Mask | None, illegal: Bools, paid: NDArray[np.float64] | None = None) -> Infos:
        tables = self.tables
        infos: Infos = {
            "seat": tables.seat.copy(),
            "points": tables.points,
            "scores": tables.state.scores.astype(np.int64),
            "deal_no": tables.state.deal_no.astype(np.int64),
            "phase": tables.state.phase.astype(np.int64),
            "illegal": illegal,
            "rewards": tables.paid.copy() if paid is None else paid,
        }
        if self.options.deal_id_in_info:
            infos["deal_id"] = tables.deal_id.copy()
        if masks is not None and self.mask_in != "observation":
            infos["action_mask"] = masks
        return _each(infos, np.ones(self.num_envs, np.bool_))

    def _final(self, done: Bools, illegal: Bools, ended: Infos) -> Infos:
        """The last observations and infos of the episodes that are over, for SAME_STEP, before the next ones begin."""
        rows = np.flatnonzero(done)
        encodings = encode(self.layout, self.tables.view(rows))
        masks = np.repeat(done[:, None], NUM_ACTIONS, axis=1).astype(np.int8)
        observations = np.full(self.num_envs, None, object)
        for row, encoding in zip(rows, encodings, strict=True):
            observations[row] = self._shown(encoding, masks[row].copy())
        infos = {name: value for name, value in self._infos(masks, illegal.copy()).items() if name[0] != "_"}
        return {
            "final_obs": observations,
            "_final_obs": done.copy(),
            "final_info": _each(infos, done) | ended,
            "_final_info": done.copy(),
        }

    def _numbers(self, actions: Any) -> Ints:
        """The actions as int64 [N].  Raises ActionTypeError unless there is one for each, EnvError if none is due."""
        self._check_begun("step")
        numbers = action_numbers(actions, self.num_envs, "step: actions must be")
        over = self.tables.over
        if self.autoreset_mode == AutoresetMode.DISABLED and over.any():
            raise EnvError(
                f"step: the episode of table {int(np.argmax(over))} is over: call "
                "reset(options={'reset_mask': done}), or let autoreset_mode do it"
            )
        return numbers

    def _rows_to_reset(self, options: Mapping[str, Any] | None) -> Ints:
        mask = options.get("reset_mask") if isinstance(options, Mapping) else None
        if mask is None:
            return np.arange(self.num_envs)
        if (
            not isinstance(mask, np.ndarray)
            or mask.dtype != np.bool_
            or mask.shape != (self.num_envs,)
            or not mask.any()
        ):
            raise EnvError(
                f"option reset_mask={mask!r:.60}: must be a bool array [{self.num_envs}] that is true somewhere"
            )
        if self._legal is None and not mask.all():
            raise EnvError("option reset_mask: no cards are dealt yet: reset every table first")
        return np.flatnonzero(mask)

    def _start(self, options: Mapping[str, Any] | None, rows: Ints) -> tuple[Ints | None, Start]:
        """Where `options` let tables start: deal ids where there is one for each, int64 [rows]."""
        given = options.get("deal_id") if isinstance(options, Mapping) else None
        if not isinstance(given, (list, tuple, np.ndarray)) or np.ndim(given) == 0:
            start = read_start(self.tables.rules, options)
            return (None if start.deal_id is None else np.full(len(rows), start.deal_id)), start
        ids = np.asarray(given)
        if ids.shape != (self.num_envs,) or not np.issubdtype(ids.dtype, np.integer) or ids.min() < 0:
            raise EnvError(f"option deal_id={given!r:.60}: must be a whole number, or {self.num_envs} of them")
        assert options is not None
        if options.get("hands") is not None:
            raise EnvError("options deal_id and hands: give one of the two, either decides the cards")
        return ids[rows].astype(np.int64), read_start(self.tables.rules, {**options, "deal_id": None})

    def _check_begun(self, call: str) -> None:
        if self._legal is None:
            raise EnvError(f"{call}: no cards are dealt yet: call reset() first")


def _each(infos: Infos, mask: Bools) -> Infos:
    """The infos, and for each key a `_key` that tells for which tables it holds."""
    return infos | {f"_{name}": mask.copy() for name in infos}


def _checked_mode(mode: AutoresetMode | str) -> AutoresetMode:
    for known in AutoresetMode:
        if mode in (known, known.value, known.name):
            return known
    raise EnvError(
        f"autoreset_mode={mode!r:.60}: must be one of {', '.join(repr(known.value) for known in AutoresetMode)}"
    )
