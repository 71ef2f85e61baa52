"""The blocks of an encoding as data: what each is made from, and by which formula.

`encode` turns whole arrays of views into the blocks, `fast.encode` makes the source of a compiled loop from them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any

import numpy as np

from hearts_env.cards import BLACK_MARIA, NO_CARD, NUM_ACTIONS, NUM_CARDS, NUM_SUITS, Sets, cards_in
from hearts_env.game.compiled_rules import CompiledRules
from hearts_env.game.compiled_rules import compiled_rules as make_lookup
from hearts_env.game.rules import CHOICES, SCORINGS, Rules
from hearts_env.game.state import PASS, PLAY

MAX_SEATS = 7
POINT_STEPS = (1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 26)
"""The `points` block has one byte a step: has the seat taken at least this many points?"""
SCORE_STEPS = 10
"""The `scores` block has one byte a tenth of the target: has the seat's score reached it?"""
MAX_TRICKS = 26
MAX_PICKS = 4


class Kind(Enum):
    """The formula by which the bits of a block come from a field of the View."""

    SET = "the field as it stands, a set or a truth value"
    ONE_HOT = "the bit of the field's number; none for -1"
    COUNT = "the bit of the number of the field's members, or the last bit where there are more"
    TABLE = "the entry at the field's number in an array that the rules give"
    STEPS = "the same, where a number beyond an end of the array counts as that end"
    HAS = "one bit: has the field, a set, the card that the rules give? none for NO_CARD"
    RULES = "a number that the rules give"


@dataclass(frozen=True)
class Spec:
    """A block before it has a place."""

    name: str
    size: int
    """Bytes, in all or for each seat."""
    kind: Kind
    field: str
    """The field or property of a View that it is made from."""
    meaning: str
    by_seat: bool = False
    """`size` bytes a seat; in a ONE_HOT of a seat, one byte each."""
    only_in: int | None = None
    """All zeros in any other phase."""
    never_in: int | None = None
    """All zeros in this phase."""
    of_rules: Callable[[CompiledRules], Any] = lambda rules: None
    """The value that the kind's formula takes from the rules."""


def thermometer(steps: tuple[int, ...]) -> Sets:
    """Bits by value: bit i is set where the value is at least `steps[i]`."""
    return np.array([sum((value >= step) << i for i, step in enumerate(steps)) for value in range(steps[-1] + 1)])


_PHASE_BITS = np.array([1, 2, 4, 0, 0], np.int64)
"""Bits by phase: none where the deal is over."""
POINT_BITS = thermometer(POINT_STEPS)
_TRICK_BITS = thermometer(tuple(range(1, MAX_TRICKS + 1)))
_SCORE_BITS = thermometer(tuple(range(1, SCORE_STEPS + 1)))


@lru_cache(maxsize=64)
def _trick_bits(rules: CompiledRules) -> Sets:
    """Bits by cards played."""
    bits: Sets = _TRICK_BITS[np.arange(rules.num_plays + 1) // rules.num_players]
    return bits


@lru_cache(maxsize=64)
def _score_bits(target: int) -> Sets:
    """Bits by score, from 0 to the target."""
    bits: Sets = _SCORE_BITS[np.arange(target + 1) * SCORE_STEPS // target]
    return bits


def rule_flags(compiled: CompiledRules) -> dict[str, bool]:
    """The flags of the rules that a player must know: the bytes of the `rules` block in order, each by its meaning."""
    rules = compiled.rules
    choices = {name: CHOICES[name] for name in ("hearts_broken_by", "moon", "bonus_card")}
    choices["scoring"] = tuple(SCORINGS)
    return {
        **{f"{players} players": rules.num_players == players for players in range(2, MAX_SEATS + 1)},
        **{
            f"{name}={value}": getattr(rules, name) == value
            for name, values in choices.items()
            for value in values
            if value is not None
        },
        "points may fall on the first trick": rules.first_trick_points == "allowed",
        "hearts may be led from hearts and QS": rules.lead_hearts_with_qs,
        "hearts are trumps": rules.trump is not None,
        "a moon needs the bonus card": rules.moon_needs_bonus,
        "a seat without a trick gets a bonus": rules.no_tricks_bonus != 0,
        "fixed teams": rules.teams is not None,
        "a team may shoot the moon": rules.team_moon == "team",
    }


@lru_cache(maxsize=1024)
def _rule_bits(rules: CompiledRules) -> int:
    """The flags as bits."""
    return sum(holds << place for place, holds in enumerate(rule_flags(rules).values()))


def _bonus_card(rules: CompiledRules) -> int:
    return cards_in(rules.bonus)[0] if rules.bonus else NO_CARD


_RULE_NAMES = tuple(rule_flags(make_lookup(Rules())))
_CARDS = NUM_CARDS
_POINTS_MEANING = f"points taken in this deal are at least {', '.join(map(str, POINT_STEPS))}"
_RULES_MEANING = "what a player must know of the rules: " + "; ".join(_RULE_NAMES)
SPECS = (
    Spec("hand", _CARDS, Kind.SET, "hand", "cards held"),
    Spec("out", _CARDS, Kind.SET, "out", "cards the viewer has not seen (in other hands, or dead)"),
    Spec("picks", _CARDS, Kind.SET, "picks", "cards picked to pass, or passed"),
    Spec("got", _CARDS, Kind.SET, "got", "cards received in the pass"),
    Spec("kept", _CARDS, Kind.SET, "kept", "cards the viewer passed that the receiver still holds"),
    Spec("trick", _CARDS, Kind.SET, "table", "cards of the current trick"),
    Spec("best", _CARDS, Kind.ONE_HOT, "best", "the card that is winning the trick"),
    Spec("played", _CARDS, Kind.SET, "played", "cards the seat has played, in the current trick too", by_seat=True),
    Spec("legal", NUM_ACTIONS, Kind.SET, "legal", "legal actions: the cards, add, subtract"),
    Spec("phase", 3, Kind.TABLE, "phase", "pass, play, moon choice", of_rules=lambda _: _PHASE_BITS),
    Spec(
        "pick_no",
        MAX_PICKS,
        Kind.COUNT,
        "picks",
        "cards the viewer has picked in the pass phase: 0, 1, 2, 3 or more",
        only_in=PASS,
    ),
    Spec(
        "trick_no",
        MAX_TRICKS,
        Kind.TABLE,
        "count",
        "at least 1, 2, ... 26 tricks are complete",
        never_in=PASS,
        of_rules=_trick_bits,
    ),
    Spec("position", MAX_SEATS, Kind.COUNT, "table", "seats that have played to the trick, one of 0..6", only_in=PLAY),
    Spec("led", NUM_SUITS, Kind.ONE_HOT, "led", "the suit led: C D H S"),
    Spec("winning", 1, Kind.ONE_HOT, "best_seat", "the seat is winning the trick", by_seat=True),
    Spec("offset", MAX_SEATS, Kind.ONE_HOT, "offset", "pass offset of the deal, one of 0..6; 0 is hold"),
    Spec("voids", NUM_SUITS, Kind.SET, "voids", "suits the seat has failed to follow: C D H S", by_seat=True),
    Spec(
        "points", len(POINT_STEPS), Kind.STEPS, "points", _POINTS_MEANING, by_seat=True, of_rules=lambda _: POINT_BITS
    ),
    Spec("queen", 1, Kind.HAS, "taken", "the seat has taken QS", by_seat=True, of_rules=lambda _: BLACK_MARIA),
    Spec("bonus", 1, Kind.HAS, "taken", "the seat has taken the bonus card", by_seat=True, of_rules=_bonus_card),
    Spec(
        "scores",
        SCORE_STEPS,
        Kind.STEPS,
        "scores",
        "score is at least 1, 2, ... 10 tenths of the target",
        by_seat=True,
        of_rules=lambda rules: _score_bits(rules.rules.target),
    ),
    Spec("broken", 1, Kind.SET, "broken", "hearts are broken"),
    Spec("rules", len(_RULE_NAMES), Kind.RULES, "", _RULES_MEANING, of_rules=_rule_bits),
)
