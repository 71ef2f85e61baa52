"""One table at the edge of the library: where it starts, which actions it takes, what they pay."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from hearts_env.cards import (
    ACTION_NAMES,
    NO_SUIT,
    NUM_ACTIONS,
    Bools,
    Bytes,
    CardError,
    Ints,
    Sets,
    action_number,
    card_set,
    names_in,
    parse_card,
)
from hearts_env.envs.options import LIMIT, EnvError, EnvOptions
from hearts_env.fast.single import OneTable
from hearts_env.game.compiled_rules import CompiledRules
from hearts_env.game.engine import legal
from hearts_env.game.rewards import Rewards
from hearts_env.game.scoring import is_over
from hearts_env.game.state import DEAL_OVER, PASS, State
from hearts_env.match.agent import IllegalActionError, Kernel, run_kernel
from hearts_env.match.tables import FROM_DEAL_ID, NO_DEAL_ID, Deals, Start, Tables
from hearts_env.observe.encode import Layout
from hearts_env.text.notation import check_hands, parse_hand, show_position

_ROW = np.zeros(1, np.int64)
"""The one row of the tables, int64 [1]."""


def read_start(rules: CompiledRules, options: Mapping[str, Any] | None) -> Start:
    """The start that the `options` of a reset ask for; keys other than those below are ignored.

    deal_id: a whole number from 0 to 2**63 - 1.  deal_no: the number of the deal, which decides where cards are passed.
    scores: one whole number a seat, the scores before the deal.  hands: one hand a seat as dealt, before the pass, each
    text (`"2C 5C QS"`, `"C25 SQ"`) or a list of card names or numbers; not together with deal_id.

    Raises EnvError, CardError or NotationError (all ValueErrors) that say what is wrong.
    """
    if options is None:
        return Start()
    if not isinstance(options, Mapping):
        raise EnvError(f"options={options!r:.60}: must be a mapping of names to values")
    given = {name: options[name] for name in ("deal_id", "deal_no", "scores", "hands") if options.get(name) is not None}
    if given.keys() >= {"deal_id", "hands"}:
        raise EnvError("options deal_id and hands: give one of the two, either decides the cards")
    number = given.get("deal_no")
    return Start(
        deal_id=_whole("deal_id", given["deal_id"], 0, 2**63) if "deal_id" in given else None,
        deal_no=None if number is None else _whole("deal_no", number, 0, LIMIT),
        scores=_scores(rules, given["scores"]) if "scores" in given else None,
        hands=_hands(rules, given["hands"]) if "hands" in given else None,
    )


def _whole(name: str, value: object, low: int, limit: int) -> int:
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None or isinstance(value, bool) or not low <= number < limit:
        raise EnvError(f"option {name}={value!r:.60}: must be a whole number from {low} to {limit - 1}")
    return number


def _scores(rules: CompiledRules, value: object) -> Ints:
    if isinstance(value, str) or not hasattr(value, "__len__") or not hasattr(value, "__iter__"):
        raise EnvError(f"option scores={value!r:.80}: must be {rules.num_players} whole numbers, one a seat")
    numbers = [_whole("scores", score, 1 - LIMIT, LIMIT) for score in value]
    if len(numbers) != rules.num_players:
        raise EnvError(f"option scores={value!r:.80}: must be {rules.num_players} whole numbers, one a seat")
    scores = np.array([numbers], np.int64)
    if is_over(rules, scores)[0]:
        raise EnvError(f"option scores={value!r:.80}: the game is over at these scores, target {rules.rules.target}")
    return scores


def _hands(rules: CompiledRules, value: object) -> Sets:
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        raise EnvError(f"option hands={value!r:.80}: must be {rules.num_players} hands, one a seat")
    hands = [parse_hand(hand) if isinstance(hand, str) else card_set(_cards(hand)) for hand in value]
    check_hands(rules, hands)
    return np.array([hands], np.int64)


def _cards(hand: object) -> list[int]:
    if not hasattr(hand, "__iter__"):
        raise EnvError(f"option hands: a hand is text or a list of cards, not {hand!r:.60}")
    cards = [parse_card(card) if isinstance(card, str) else _whole("hands", card, 0, 52) for card in hand]
    if len(set(cards)) < len(cards):
        raise CardError(f"option hands: a card stands twice in {hand!r:.200}")
    return cards


def refusal(
    rules: CompiledRules, state: State, action: object, where: str = "", allowed: int | None = None
) -> IllegalActionError:
    """The error that says why `action` is not legal for the seat to act at the one table of `state`.

    where: said after the seat.  allowed: the set of legal actions, where it is not that of `engine.legal`.
    """
    if allowed is None:
        allowed = int(legal(rules, state)[0])
    number = action_number(action)
    shown = str(number)[:60]
    if 0 <= number < len(ACTION_NAMES):
        shown += f" ({ACTION_NAMES[number]!r})"
    return IllegalActionError(
        f"illegal action {shown} by seat {state.turn[0]}{where}: legal are {' '.join(names_in(allowed))} "
        f"in {show_position(rules, state)}"
    )


class Info(dict[str, Any]):
    """The info beside an observation: the same keys, with numbers of one shape, at every step.

    points, scores: one whole number a seat.  deal_no.  phase: an index of `state.PHASE_NAMES`.  action_mask: where
    `mask_in` puts it.  deal_id: where the option `deal_id_in_info` asks for it; -1 for given hands.

    `info["legal"]` gives the names of the legal actions, [] for a seat that is not to act.  It is no key: libraries
    that turn infos into tensors go through the keys, and choke on text.
    """

    __slots__ = ("_actions",)

    def __init__(self, actions: int = 0, said: Mapping[str, Any] = MappingProxyType({})) -> None:
        """actions: the set of legal actions.  said: what all seats are told, see `Table.said`."""
        super().__init__(said)
        for name in ("points", "scores"):
            # Lists, of which each seat gets its own.
            if name in said:
                self[name] = said[name].copy()
        self._actions = actions

    def __missing__(self, key: str) -> list[str]:
        if key == "legal":
            return names_in(self._actions)
        raise KeyError(key)

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key (or of `legal`), or the default."""
        return self[key] if key in self or key == "legal" else default


class Table:
    """One table that is played deal after deal; a value to copy, pickle and set back.

    The one-row case of `Tables`, which knows the episode: this class keeps its numbers as Python's, and lets Python
    carry out the actions.  Only `start`, `step`, `play_on` and `abandon` change it.  `step` trusts its action; `action`
    checks one.
    """

    def __init__(self, options: EnvOptions) -> None:
        self.rules, self.episode, self.reward = options.compiled, options.episode, options.reward
        self._tables = Tables(self.rules, 1, episode=self.episode, reward=self.reward, max_deals=options.max_deals)
        self._one = OneTable(self.rules, self._tables.state)
        self.deal_id = NO_DEAL_ID
        self.deals = 0
        """Deals finished since the start."""
        self.finished: Deals | None = None
        """The deal that was finished last, until another one is the same object; None before the first."""
        self.terminated = self.truncated = False
        self.points = [0] * self.rules.num_players
        """Points of each seat so far in this deal; what it has added once it is over."""
        self.legal = 0
        """The set of legal actions of the seat to act; 0 when the episode is over."""

    def start(self, deal_id: int, start: Start = FROM_DEAL_ID) -> None:
        """Begin an episode with deal `deal_id`, or as `start` says; see `Tables.start`."""
        self._tables.start(_ROW, np.array([deal_id]), start)
        self.deals, self.terminated, self.truncated = 0, False, False
        self._begin_deal()

    @property
    def state(self) -> State:
        """The table as a State of one row."""
        return self._one.state

    @property
    def begun(self) -> bool:
        """An episode has begun: cards have been dealt."""
        return self.deal_no >= 0

    @property
    def over(self) -> bool:
        """The episode is over."""
        return self.terminated or self.truncated

    @property
    def turn(self) -> int:
        """The seat to act; NO_SEAT when the episode is over."""
        turn: int = self._one.numbers.turn[0]
        return turn

    @property
    def scores(self) -> list[int]:
        """Score of each seat in this game."""
        result: list[int] = self.state.scores[0].tolist()
        return result

    @property
    def deal_no(self) -> int:
        """The number of the deal in its game."""
        number: int = self._one.numbers.deal_no[0]
        return number

    @property
    def phase(self) -> int:
        """The phase of the deal, an index of `state.PHASE_NAMES`."""
        phase: int = self._one.numbers.phase[0]
        return phase

    def encode(self, layout: Layout, seat: int) -> Bytes:
        """The encoding of what a seat knows, a fresh uint8 [F]."""
        return self._one.encode(layout, seat)

    def said(self, *, deal_id: bool) -> dict[str, Any]:
        """The part of the infos that all seats share at this turn, see `Info`; with the deal id or without."""
        said: dict[str, Any] = {
            "points": self.points,
            "scores": self.scores,
            "deal_no": self.deal_no,
            "phase": self.phase,
        }
        if deal_id:
            said["deal_id"] = self.deal_id
        return said

    def action(self, action: object) -> int | None:
        """The legal action that `action` is, see `cards.action_number`, or None.  Raises ActionTypeError."""
        number = action_number(action)
        return number if 0 <= number < NUM_ACTIONS and self.legal >> number & 1 else None

    def refusal(self, action: object) -> IllegalActionError:
        """The error that says why `action` is not legal here."""
        return refusal(self.rules, self.state, action)

    def step(self, action: int) -> Rewards | None:
        """Carry out a legal action, and deal the next deal of a game where one is over.

        What it pays each seat, float64 [P] until the next step, or None where it pays nothing.
        """
        one, numbers = self._one, self._one.numbers
        one.step(action)
        if numbers.led[0] != NO_SUIT or numbers.phase[0] == PASS:
            self.legal = one.legal()
            return None
        return self._settle()

    def play_on(self, kernel: Kernel, seats: Bools) -> tuple[int, Rewards | None]:
        """Let an agent act for as long as one of its seats, bool [1, P], is to: how many actions, and what they pay."""
        made = run_kernel(kernel, self.rules, self.state, seats)
        return made, self._settle() if made else None

    def abandon(self) -> None:
        """End the episode here."""
        self._tables.abandon(_ROW)
        self.terminated = True
        self.legal = 0

    def copy(self) -> Table:
        """A copy of the table that shares nothing that changes."""
        other = Table.__new__(Table)
        tables = self._tables.copy()
        one = OneTable(self.rules, tables.state)
        other.__dict__.update(self.__dict__, points=self.points.copy(), _tables=tables, _one=one)
        return other

    def _settle(self) -> Rewards | None:
        """Take note of a trick or a deal that is over: what it pays each seat."""
        one, tables = self._one, self._tables
        self.legal, self.points = one.legal(), one.points()
        over = one.numbers.phase[0] >= DEAL_OVER
        if not over and self.reward != "tricks":
            return None
        tables.paid[0] = 0.0
        if over:
            self._finish()
        else:
            tables.pay_tricks(_ROW)
        paid: Rewards = tables.paid[0]
        return paid

    def _finish(self) -> None:
        """The deal is over: pay for it, and deal the next one of a game that goes on."""
        tables = self._tables
        tables.settle(_ROW)
        self.deals += 1
        self.finished = tables.finished(_ROW)
        self.terminated, self.truncated = bool(tables.terminated[0]), bool(tables.truncated[0])
        if not self.over:
            tables.next_deal(_ROW)
            self._begin_deal()

    def _begin_deal(self) -> None:
        self.deal_id = int(self._tables.deal_id[0])
        self.points = [0] * self.rules.num_players
        self.legal = self._one.legal()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_one": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _one=OneTable(state["rules"], state["_tables"].state))
