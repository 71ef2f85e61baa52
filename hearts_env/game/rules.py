"""The rules of one game of Hearts as a frozen value: fields, defaults, checks and text.

Sources are named by the short tags that `variants.SOURCES` spells out.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal, cast

from hearts_env.cards import (
    ALL_CARDS,
    CARD_NAMES,
    CLUBS,
    NUM_CARDS,
    RANKS,
    CardError,
    card_set,
    names_in,
    parse_card,
    parse_hand,
    show_suits,
)
from hearts_env.game.variants import PRESETS as PRESETS

LIMIT = 10_000
"""No number in the rules may be larger: scores are counted in 32 bits."""

Removed = tuple[str, ...]
CardPoints = tuple[tuple[str, int], ...]


class RulesError(ValueError):
    """A rules field that is unknown, of the wrong kind, or at odds with another."""


class _Default:
    """Marks a field left to the default of the player count."""

    def __repr__(self) -> str:
        return "default"

    def __reduce__(self) -> str:
        return "DEFAULT"


DEFAULT: Final[Any] = _Default()

SEED_REMOVED: Final[dict[int, Removed]] = {
    2: tuple(rank + suit for suit in "CDHS" for rank in "3579JK"),
    3: ("2D",),
    4: (),
    5: ("2C", "2D"),
    6: ("3C", "4C", "2D", "3D"),
    7: ("3C", "2D", "3D"),
}
"""Cards left out by player count (GR for two players, SC for the others)."""
MOREHEAD_REMOVED: Final[dict[int, Removed]] = {
    3: ("2C",),
    4: (),
    5: ("2C", "2D"),
    6: ("2C", "3C", "2D", "2S"),
}
"""The other common way to strip the pack (HG)."""

SCORINGS: Final[dict[str, CardPoints]] = {
    "standard": (*((rank + "H", 1) for rank in RANKS), ("QS", 13)),
    "spot": (*((rank + "H", place + 2) for place, rank in enumerate(RANKS)), ("QS", 25)),
    "black_maria": (*((rank + "H", 1) for rank in RANKS), ("QS", 13), ("KS", 10), ("AS", 7)),
}
"""Points of each card by the name of the scoring; cards not named are worth nothing."""

CHOICES: Final[dict[str, tuple[object, ...]]] = {
    "first_leader": ("lowest_club", "left_of_dealer"),
    "first_lead": ("forced", "any_club", "any"),
    "first_trick_points": ("forbidden", "allowed"),
    "first_trick_all_points": ("any", "hearts"),
    "hearts_broken_by": ("heart_or_qs", "heart", "void", "free", "never"),
    "trump": (None, "H"),
    "bonus_card": (None, "JD", "TD"),
    "moon": ("choice", "add", "subtract", "auto", "none"),
    "teams": (None, "fixed"),
    "team_moon": ("player", "team"),
    "team_end": ("team", "player"),
    "tie": ("shared", "continue"),
}
"""The values a field may take, for fields that take one of a few."""


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The rules of one game; a value to compare, hash, pickle and print.

    Fields not given take the default of the player count.  Raises RulesError (a ValueError) that names the
    field, the value and the reason.

    >>> Rules().pass_cycle, Rules(num_players=3).pass_cycle
    ((1, 3, 2, 0), (1, 2))
    >>> Rules(moon="maybe")
    Traceback (most recent call last):
    ...
    hearts_env.game.rules.RulesError: moon='maybe': must be one of 'choice', 'add', 'subtract', 'auto', 'none'
    """

    num_players: int = 4
    """Seats at the table, 2 to 7.  Source: SC (3-7), GR (2)."""
    deck: str | Removed = "seed"
    """The pack: the 52 less those of "seed" (SC, GR) or "morehead" (HG), or less the cards named in a tuple; or, as
    text by suit, the cards that are in: "C234 H567 SQA"."""
    dead_cards: int = DEFAULT
    """Cards dealt to nobody and never shown.  Default 2 for two players (GR), else 0."""
    pass_count: int = DEFAULT
    """Cards each seat passes.  Default 3 (SC), 0 for two players (GR; FB passes one)."""
    pass_cycle: tuple[int, ...] = DEFAULT
    """Pass offset of each deal in turn, 1 = to the left, 0 = hold.  Default left, right, across, hold for four
    players, never for two, else left, right (SC)."""
    pass_queen: bool = True
    """May QS be passed?  Yes: SC.  No: t_games, an option."""
    first_leader: Literal["lowest_club", "left_of_dealer"] = "lowest_club"
    """Who leads first: the holder of the lowest club dealt (SC, GR), or the seat left of the dealer (PA)."""
    first_lead: Literal["forced", "any_club", "any"] = "forced"
    """The lead of the holder of the opening card: that card (SC), any club (OS), or anything that may be led."""
    first_trick_points: Literal["forbidden", "allowed"] = DEFAULT
    """May a seat void in the led suit discard penalty cards on the first trick?  Default forbidden (SC, MS);
    allowed for two players (GR)."""
    first_trick_all_points: Literal["any", "hearts"] = "any"
    """The cards that a hand of penalty cards only may discard where they are forbidden: anything (WC, OS), or hearts if
    it has some (SE)."""
    hearts_broken_by: Literal["heart_or_qs", "heart", "void", "free", "never"] = DEFAULT
    """The condition for leading hearts: a heart or QS played (SC, YH, OS), a heart (MS, PG, GR), any discard as well
    ("void", GR to the letter), nothing needed ("free", OS option), or never while another suit is held (GK).
    Default heart_or_qs; heart for two players."""
    lead_hearts_with_qs: bool = False
    """May a hand of hearts and QS lead an unbroken heart?  Yes: YH, PA.  No: PG, OS."""
    trump: Literal["H"] | None = DEFAULT
    """The trump suit.  Default hearts for two players (GR), else none."""
    scoring: Literal["standard", "spot", "black_maria"] | Mapping[str, int] | CardPoints = "standard"
    """Points of the cards: "standard" (hearts 1, QS 13), "spot" (hearts their pips, QS 25), "black_maria" (hearts
    1, QS 13, KS 10, AS 7; PA), or a mapping of card names to points."""
    bonus_card: Literal["JD", "TD"] | None = None
    """The Omnibus bonus card: JD (PG, OS) or TD (BI)."""
    bonus_points: int = -10
    """Points that the bonus card adds to its taker's score (PG, BI, OS)."""
    no_tricks_bonus: int = 0
    """Points that a seat without a trick adds to its score in a deal without a moon (OS: -5)."""
    moon: Literal["choice", "add", "subtract", "auto", "none"] = DEFAULT
    """The effect of a moon: the shooter chooses (SC), adds to the others (MS, OS), subtracts from its own, adds
    unless that would lose the game ("auto", GO), or nothing.  Default choice; add for two players (GR)."""
    moon_value: int | Literal["available"] | None = None
    """The value of a moon: None for the penalty points of the whole pack (26; 20 for two players), a number,
    or "available" for the penalty points not dead (FB)."""
    moon_needs_bonus: bool = False
    """Does a moon need the bonus card too, and replace its points?  Yes: BI.  No: PG, OS."""
    sun_value: int = 0
    """Added to the moon value when the shooter takes every trick as well (WC)."""
    teams: Literal["fixed"] | None = None
    """"fixed": seats 0 and 2 play seats 1 and 3 (WP)."""
    team_moon: Literal["player", "team"] = "player"
    """Must one player take every penalty card (PA, WP), or may the two of a team?"""
    team_end: Literal["team", "player"] = "team"
    """Whose score ends the game: the side's sum (WP), or any player's (PG)."""
    target: int = 100
    """The score that ends the game (SC)."""
    end_strict: bool = False
    """Must the target be passed, not just reached?"""
    exact_reset: int | None = None
    """The score that a seat falls back to when it reaches the target exactly (GO: 50)."""
    tie: Literal["shared", "continue"] = DEFAULT
    """How a tie for the lowest score is resolved: all win (GO, HG), or further deals decide (PA; GR for two players).
    Default shared; continue for two players."""

    def __post_init__(self) -> None:
        self._check_num_players()
        two = self.num_players == 2
        defaults: dict[str, object] = {
            "dead_cards": 2 if two else 0,
            "pass_count": 0 if two else 3,
            "pass_cycle": _default_cycle(self.num_players),
            "first_trick_points": "allowed" if two else "forbidden",
            "hearts_broken_by": "heart" if two else "heart_or_qs",
            "trump": "H" if two else None,
            "moon": "add" if two else "choice",
            "tie": "continue" if two else "shared",
        }
        for name, value in defaults.items():
            if getattr(self, name) is DEFAULT:
                object.__setattr__(self, name, value)
        for name, allowed in CHOICES.items():
            _require(self, name, getattr(self, name) in allowed, _one_of(allowed))
        self._check_kinds()
        self._check_cards()
        self._check_passing()
        self._check_scores()

    # -- checks, each naming the field, the value and the reason -------------------------------------------

    def _check_num_players(self) -> None:
        fits = _is_int(self.num_players) and 2 <= self.num_players <= 7
        _require(self, "num_players", fits, "must be a whole number from 2 to 7")

    def _check_kinds(self) -> None:
        for name in ("dead_cards", "pass_count", "bonus_points", "no_tricks_bonus", "sun_value", "target"):
            _require(self, name, _is_int(getattr(self, name)), f"must be a whole number up to {LIMIT}")
        for name in ("pass_queen", "lead_hearts_with_qs", "moon_needs_bonus", "end_strict"):
            _require(self, name, isinstance(getattr(self, name), bool), "must be True or False")

    def _check_cards(self) -> None:
        if self.deck == "morehead":
            known = self.num_players in MOREHEAD_REMOVED
            _require(self, "deck", known, f"there is no such pack for num_players={self.num_players}")
        elif self.deck != "seed":
            object.__setattr__(self, "deck", self._checked_deck())
        _require(self, "dead_cards", self.dead_cards >= 0, "must not be negative")
        size = NUM_CARDS - len(self.removed)
        live = size - self.dead_cards
        _require(
            self,
            "dead_cards",
            live >= self.num_players and live % self.num_players == 0,
            f"{size} cards less {self.dead_cards} dead cannot be dealt evenly to {self.num_players} seats",
        )
        clubs = (CLUBS & ~self.removed_set).bit_count()
        _require(
            self,
            "first_leader",
            self.first_leader != "lowest_club" or clubs > self.dead_cards,
            "needs more clubs in the pack than dead cards, or nobody might hold one",
        )
        object.__setattr__(self, "scoring", self._checked_scoring())
        bonus_dealt = self.bonus_card is None or self.bonus_card not in self.removed
        _require(self, "bonus_card", bonus_dealt, "this card is not in the pack")
        twice = self.bonus_card in dict(self.card_points)
        _require(self, "bonus_card", not twice, "scoring gives this card points of its own")

    def _checked_deck(self) -> str | Removed:
        deck: object = self.deck
        try:
            if isinstance(deck, str):
                return show_suits(parse_hand(deck))
            if not isinstance(deck, (tuple, list)):
                raise CardError("neither text nor a list of cards")
            cards = [parse_card(name) for name in deck]
        except CardError as error:
            ways = "must be 'seed', 'morehead', the cards to remove, as in ('2C', '2D'), or those in, as in 'C24 HA'"
            raise _error(self, "deck", f"{ways}: {error}") from None
        _require(self, "deck", len(set(cards)) == len(cards), "names a card twice")
        return tuple(CARD_NAMES[card] for card in sorted(cards))

    def _checked_scoring(self) -> str | CardPoints:
        scoring: object = self.scoring
        if isinstance(scoring, str):
            _require(self, "scoring", scoring in SCORINGS, _one_of((*SCORINGS, "a mapping of cards to points")))
            return scoring
        pairs = scoring.items() if isinstance(scoring, Mapping) else scoring
        points: dict[int, int] = {}
        try:
            for name, value in cast(CardPoints, pairs):
                card = parse_card(name)
                _require(self, "scoring", card not in points, f"names {name} twice")
                _require(self, "scoring", _is_int(value), f"{name} must be worth a whole number up to {LIMIT}")
                points[card] = value
        except (CardError, TypeError) as error:
            raise _error(self, "scoring", f"must map cards to points, as in {{'QS': 13}}: {error}") from None
        except ValueError as error:
            if isinstance(error, RulesError):
                raise
            raise _error(self, "scoring", "must map cards to points, as in {'QS': 13}") from None
        return tuple((CARD_NAMES[card], points[card]) for card in sorted(points))

    def _check_passing(self) -> None:
        fits = 0 <= self.pass_count <= self.hand_size
        _require(self, "pass_count", fits, f"must lie between 0 and the {self.hand_size} cards of a hand")
        # So that whoever has to pick a card has one beside the queen.
        spare = self.pass_queen or self.pass_count < self.hand_size
        _require(self, "pass_queen", spare, f"needs a pass_count below the {self.hand_size} cards of a hand")
        cycle: object = self.pass_cycle
        whole = isinstance(cycle, (tuple, list)) and len(cycle) > 0 and all(map(_is_int, cycle))
        _require(self, "pass_cycle", whole, "must be a tuple of pass offsets, as in (1, 3, 2, 0)")
        seats = self.num_players
        near = all(-seats < offset < seats for offset in self.pass_cycle)
        _require(self, "pass_cycle", near, f"offsets lie between {1 - seats} and {seats - 1}")
        object.__setattr__(self, "pass_cycle", tuple(offset % seats for offset in self.pass_cycle))

    def _check_scores(self) -> None:
        _require(self, "bonus_points", self.bonus_points <= 0, "must not be positive: the card is a bonus")
        _require(self, "no_tricks_bonus", self.no_tricks_bonus <= 0, "must not be positive: it is a bonus")
        needs_card = not self.moon_needs_bonus or self.bonus_card is not None
        _require(self, "moon_needs_bonus", needs_card, "needs a bonus_card")
        _require(self, "sun_value", self.sun_value >= 0, "must not be negative")
        value: object = self.moon_value
        named = value is None or value == "available" or (_is_int(value) and cast(int, value) > 0)
        _require(self, "moon_value", named, "must be None, 'available' or a positive whole number")
        four = self.teams is None or self.num_players == 4
        _require(self, "teams", four, f"needs num_players=4, not {self.num_players}")
        for name, plain in (("team_moon", "player"), ("team_end", "team")):
            fits = self.teams is not None or getattr(self, name) == plain
            _require(self, name, fits, "needs teams='fixed'")
        _require(self, "target", self.target > 0, "must be positive")
        reset: object = self.exact_reset
        low = reset is None or (_is_int(reset) and cast(int, reset) < self.target)
        _require(self, "exact_reset", low, f"must be None or a whole number below the target {self.target}")

    # -- what follows from the fields -----------------------------------------------------------------------

    @property
    def removed(self) -> Removed:
        """The names of the cards left out of the 52."""
        if self.deck == "seed":
            return SEED_REMOVED[self.num_players]
        if self.deck == "morehead":
            return MOREHEAD_REMOVED[self.num_players]
        if isinstance(self.deck, str):
            return tuple(names_in(ALL_CARDS & ~parse_hand(self.deck)))
        return self.deck

    @property
    def removed_set(self) -> int:
        """The cards left out, as a set."""
        return card_set(map(parse_card, self.removed))

    @property
    def hand_size(self) -> int:
        """Cards in a hand, which is also the number of tricks."""
        return (NUM_CARDS - len(self.removed) - self.dead_cards) // self.num_players

    @property
    def card_points(self) -> CardPoints:
        """Name and points of each scoring card in the pack, the bonus card not counted."""
        named = SCORINGS[self.scoring] if isinstance(self.scoring, str) else cast(CardPoints, self.scoring)
        return tuple(pair for pair in named if pair[0] not in self.removed)

    # -- values, text and presets ----------------------------------------------------------------------------

    def replace(self, **changes: Any) -> Rules:
        """These rules with some fields changed; fields at their default follow a changed num_players.

        >>> Rules(target=50).replace(num_players=3).pass_cycle
        (1, 2)
        """
        return Rules.from_dict({**self.changes(), **changes})

    def changes(self) -> dict[str, Any]:
        """The fields that differ from the defaults of this player count, as plain JSON values."""
        plain = _plain(self.num_players)
        result: dict[str, Any] = {}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name == "num_players":
                if value != Rules.num_players:
                    result[field.name] = value
            elif value != getattr(plain, field.name):
                result[field.name] = _to_json(field.name, value)
        return result

    @staticmethod
    def from_dict(fields: Mapping[str, Any]) -> Rules:
        """The rules with the given fields (lists for tuples, as JSON has them).  Raises RulesError."""
        if not isinstance(fields, Mapping):
            raise RulesError(f"rules must map field names to values, not {fields!r:.60}")
        known = {field.name for field in dataclasses.fields(Rules)}
        for name in fields:
            if name not in known:
                raise RulesError(f"{name}={fields[name]!r:.60}: unknown field; fields are {', '.join(sorted(known))}")
        return Rules(**{name: _from_json(value) for name, value in fields.items()})

    @staticmethod
    def preset(name: str) -> Rules:
        """The rules of a named variant.  Raises RulesError for an unknown name.

        >>> Rules.preset("omnibus").bonus_card
        'JD'
        """
        if name not in PRESETS:
            raise RulesError(f"unknown rules preset {name!r:.40}; presets are {', '.join(PRESETS)}")
        return Rules.from_dict(PRESETS[name].fields)

    @staticmethod
    def parse(text: str) -> Rules:
        """Rules from text: a preset's name, `field=value` pairs, or both, separated by commas.

        Values are JSON, or bare words; a list is written in brackets.  Raises RulesError.

        >>> Rules.parse("omnibus,target=50").target
        50
        >>> Rules.parse("num_players=3,pass_cycle=[1,2,0]").pass_cycle
        (1, 2, 0)
        """
        fields: dict[str, Any] = {}
        for place, part in enumerate(_split(text)):
            name, equals, value = part.partition("=")
            if equals:
                fields[name.strip()] = _parse_value(value.strip())
            elif place == 0:
                if part not in PRESETS:
                    raise RulesError(f"unknown rules preset {part!r:.40}; presets are {', '.join(PRESETS)}")
                fields.update(PRESETS[part].fields)
            else:
                raise RulesError(f"{part!r:.60}: expected field=value")
        return Rules.from_dict(fields)

    def show(self) -> str:
        """The fields that differ from the defaults, in the form that `parse` reads.

        >>> Rules(num_players=3, target=50).show()
        'num_players=3,target=50'
        """
        pairs = (f"{name}={json.dumps(value, separators=(',', ':'))}" for name, value in self.changes().items())
        return ",".join(pairs) or "standard"


@cache
def _plain(num_players: int) -> Rules:
    """The rules with every field at its default."""
    return Rules(num_players=num_players)


def _default_cycle(num_players: int) -> tuple[int, ...]:
    if num_players == 2:
        return (0,)
    if num_players == 4:
        return (1, 3, 2, 0)
    return (1, num_players - 1)


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LIMIT


def _one_of(values: tuple[object, ...]) -> str:
    return "must be one of " + ", ".join(map(repr, values))


def _error(rules: Rules, name: str, reason: str) -> RulesError:
    return RulesError(f"{name}={getattr(rules, name)!r:.80}: {reason}")


def _require(rules: Rules, name: str, holds: bool, reason: str) -> None:
    if not holds:
        raise _error(rules, name, reason)


def _to_json(name: str, value: Any) -> Any:
    if name == "scoring" and isinstance(value, tuple):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value


def _from_json(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _split(text: str) -> list[str]:
    """The parts of `text` between commas that stand outside brackets."""
    parts, depth, part = [], 0, ""
    for letter in text:
        depth += (letter in "[{(") - (letter in "]})")
        if letter == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += letter
    return [part.strip() for part in (*parts, part) if part.strip()]


def _parse_value(text: str) -> Any:
    words = {"True": True, "False": False, "None": None}
    if text in words:
        return words[text]
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        return text
