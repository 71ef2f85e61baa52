"""Records of deals in the format `hearts-record/1`, one JSON object a line; what is parsed is checked strictly."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from hearts_env.cards import (
    ACTION_NAMES,
    ADD,
    CARD_NAMES,
    NO_CARD,
    SUBTRACT,
    CardError,
    card_set,
    cards_in,
    names_in,
    parse_card,
)
from hearts_env.game.compiled_rules import CompiledRules, compiled_rules
from hearts_env.game.rules import Rules, RulesError
from hearts_env.match.tables import NO_DEAL_ID, Deals
from hearts_env.text.notation import NotationError, check_hands, show_hand

FORMAT = "hearts-record/1"
MAX_LINE = 1 << 20
"""Bytes that a line may have."""
MAX_NUMBER = 10**6
"""Numbers in rules lie within this of 0, and scores within MAX_SCORE: the engine counts in 32 bits."""
MAX_SCORE = 10**8
MAX_DEPTH = 32
MAX_NAME = 200
_LARGEST_INT = 2**63 - 1
_KEYS = frozenset(
    (
        *("format", "rules", "deal_no", "totals", "hands", "dead", "passes", "plays", "moon"),
        *("points", "scores", "names", "deal_id"),
    )
)
_CHOICES = {ACTION_NAMES[ADD]: ADD, ACTION_NAMES[SUBTRACT]: SUBTRACT}


class RecordError(ValueError):
    """A record that is not well formed, or in which something happens that the rules do not allow."""

    def __init__(self, message: str, at: int | None = None) -> None:
        """at: the index in `plays` of the play at fault, if it is one."""
        super().__init__(message)
        self.at = at


@dataclass(frozen=True, kw_only=True)
class Record:
    """One deal: how it lay and what was done, to the end or to some position."""

    rules: Rules
    hands: tuple[int, ...]
    """The hand of each seat as dealt, a card set each."""
    passes: tuple[tuple[int, ...], ...] = ()
    """The cards each seat picked to pass; empty where nobody has passed."""
    plays: tuple[int, ...] = ()
    """Cards in order of play."""
    moon: int | None = None
    """ADD or SUBTRACT where the shooter chose."""
    deal_no: int = 0
    totals: tuple[int, ...]
    """Scores before the deal."""
    points: tuple[int, ...] | None = None
    """The points that the deal adds to each score, or None if the record does not say."""
    scores: tuple[int, ...] | None = None
    """Scores after the deal, or None."""
    names: tuple[str, ...] | None = None
    """The agent in each seat, or None."""
    deal_id: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Keys that the format does not know, kept as they are."""

    @staticmethod
    def parse(source: str | bytes | Mapping[str, Any]) -> Record:
        """The record in a line of JSON, or in what JSON gave.

        Checks its form and the deal; whether passes and plays are legal and the scores right, `replay` tells.
        Raises RecordError with one sentence.
        """
        try:
            payload = _loaded(source) if isinstance(source, (str, bytes)) else source
            if not isinstance(payload, Mapping):
                raise RecordError(f"a record is a JSON object, not {payload!r:.40}")
            _check_json(payload, 0)
            return _record(payload)
        except RecursionError:
            raise RecordError(f"the record is nested more than {MAX_DEPTH} levels deep") from None

    def to_dict(self) -> dict[str, Any]:
        """The record as plain JSON values, in the order of the format."""
        result: dict[str, Any] = {
            "format": FORMAT,
            "rules": self.rules.changes(),
            "deal_no": self.deal_no,
            "totals": list(self.totals),
            "hands": [names_in(hand) for hand in self.hands],
            "dead": names_in(compiled_rules(self.rules).deck & ~sum(self.hands)),
            "passes": [_names(cards) for cards in self.passes],
            "plays": _names(self.plays),
            "moon": None if self.moon is None else ACTION_NAMES[self.moon],
        }
        for key in ("points", "scores", "names"):
            if getattr(self, key) is not None:
                result[key] = list(getattr(self, key))
        if self.deal_id is not None:
            result["deal_id"] = self.deal_id
        return {**result, **self.extra}

    def to_json(self) -> str:
        """The record as one line of JSON, without the line break."""
        return json.dumps(self.to_dict())


def records_of(rules: Rules, deals: Deals, names: Sequence[Sequence[str]]) -> list[Record]:
    """The records of deals that a match has just finished, or of deals as far as they were played.

    names: the agent in each seat, for each of the deals.
    """
    state = deals.state
    chose = rules.moon == "choice"
    over = state.over.tolist()
    return [
        Record(
            rules=rules,
            hands=tuple(deals.hands[row].tolist()),
            passes=tuple(tuple(cards_in(cards)) for cards in state.picks[row]) if state.picks[row].any() else (),
            plays=tuple(card for card in state.plays[row].tolist() if card != NO_CARD),
            moon=int(state.choice[row]) if chose and state.choice[row] != NO_CARD else None,
            deal_no=int(state.deal_no[row]),
            totals=tuple(deals.totals[row].tolist()),
            points=tuple(state.points[row].tolist()) if over[row] else None,
            scores=tuple(state.scores[row].tolist()) if over[row] else None,
            names=tuple(names[row]),
            deal_id=None if deals.deal_ids[row] == NO_DEAL_ID else int(deals.deal_ids[row]),
        )
        for row in range(len(state))
    ]


# -- parsing ---------------------------------------------------------------------------------------------------------


def _loaded(line: str | bytes) -> Any:
    if len(line if isinstance(line, bytes) else line.encode("utf-8", "surrogatepass")) > MAX_LINE:
        raise RecordError(f"the line is longer than {MAX_LINE} bytes")
    try:
        text = line.decode("utf-8") if isinstance(line, bytes) else line
    except UnicodeDecodeError as error:
        raise RecordError(f"the line is not UTF-8: byte {error.start} is {line[error.start]!r}") from None
    if not text.strip():
        raise RecordError("not JSON: the line is empty")
    try:
        return json.loads(text, object_pairs_hook=_object)
    except RecordError:
        raise
    except ValueError as error:
        # Python's limit on the digits of a number is a ValueError too, and its text is long.
        reason = f"{error.msg} at character {error.pos}" if isinstance(error, json.JSONDecodeError) else "a huge number"
        raise RecordError(f"not JSON: {reason}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise RecordError(f"the key {twice!r:.60} stands twice")
    return result


def _check_json(value: Any, depth: int, largest: int = _LARGEST_INT) -> None:
    """Raise RecordError for what JSON cannot hold, and for what is too deep or too large."""
    if depth > MAX_DEPTH:
        raise RecordError(f"the record is nested more than {MAX_DEPTH} levels deep")
    if isinstance(value, str) or value is None:
        return
    if isinstance(value, (list, tuple)):
        for item in value:
            _check_json(item, depth + 1, largest)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            _check_json(item, depth + 1, largest)
            if not isinstance(key, str):
                raise RecordError(f"the key {key!r:.60} is no text")
    elif isinstance(value, int):
        if abs(value) > largest:
            raise RecordError(f"the number {value:.3e} is too large" if abs(value) < 1e300 else "a number is too large")
    elif not isinstance(value, float) or not math.isfinite(value):
        raise RecordError(f"{value!r:.60} is no JSON value")


def _record(payload: Mapping[str, Any]) -> Record:
    if payload.get("format") != FORMAT:
        raise RecordError(f"format is {payload.get('format')!r:.60}, not {FORMAT!r}")
    rules = _rules(payload.get("rules", {}))
    compiled = compiled_rules(rules)
    hands = _hands(compiled, payload)
    deal_id = payload.get("deal_id")
    return Record(
        rules=rules,
        hands=hands,
        passes=_passes(compiled, payload.get("passes")),
        plays=_cards("plays", _needed(payload, "plays"), indexed=True),
        moon=_moon(payload.get("moon")),
        deal_no=_whole("deal_no", payload.get("deal_no", 0), 0, MAX_NUMBER),
        totals=_numbers(compiled, payload, "totals") or (0,) * compiled.num_players,
        points=_numbers(compiled, payload, "points"),
        scores=_numbers(compiled, payload, "scores"),
        names=_seat_names(compiled, payload.get("names")),
        deal_id=None if deal_id is None else _whole("deal_id", deal_id, 0, _LARGEST_INT),
        extra={key: value for key, value in payload.items() if key not in _KEYS},
    )


def _rules(fields: Any) -> Rules:
    if not isinstance(fields, Mapping):
        raise RecordError(f"rules must be an object of fields, not {fields!r:.60}")
    _check_json(fields, 0, MAX_NUMBER)
    try:
        return _known_rules(json.dumps(dict(fields), default=dict))
    except RulesError as error:
        raise RecordError(f"rules: {error}") from None


@lru_cache(maxsize=256)
def _known_rules(text: str) -> Rules:
    """Rules take longer to check than all the rest of a record, and a file has few."""
    return Rules.from_dict(json.loads(text))


def _hands(rules: CompiledRules, payload: Mapping[str, Any]) -> tuple[int, ...]:
    lists = _per_seat(rules, "hands", _needed(payload, "hands"))
    hands = tuple(card_set(_cards(f"hands of seat {seat}", cards)) for seat, cards in enumerate(lists))
    try:
        check_hands(rules, hands)
    except NotationError as error:
        raise RecordError(str(error)) from None
    dead = payload.get("dead")
    undealt = rules.deck & ~sum(hands)
    if dead is not None and card_set(_cards("dead", dead)) != undealt:
        raise RecordError(f"dead is {dead!r:.80}, but the cards dealt to nobody are {show_hand(undealt)}")
    return hands


def _passes(rules: CompiledRules, value: Any) -> tuple[tuple[int, ...], ...]:
    if value is None or value == []:
        return ()
    lists = _per_seat(rules, "passes", value)
    passes = tuple(_cards(f"passes of seat {seat}", cards) for seat, cards in enumerate(lists))
    return passes if any(passes) else ()


def _moon(value: Any) -> int | None:
    if value is None:
        return None
    if not isinstance(value, str) or value not in _CHOICES:
        raise RecordError(f"moon is {value!r:.60}: must be 'add', 'subtract' or null")
    return _CHOICES[value]


def _numbers(rules: CompiledRules, payload: Mapping[str, Any], key: str) -> tuple[int, ...] | None:
    value = payload.get(key)
    if value is None:
        return None
    return tuple(_whole(key, item, -MAX_SCORE, MAX_SCORE) for item in _per_seat(rules, key, value))


def _seat_names(rules: CompiledRules, value: Any) -> tuple[str, ...] | None:
    if value is None:
        return None
    for name in _per_seat(rules, "names", value):
        if not isinstance(name, str) or not name.isprintable() or len(name) > MAX_NAME:
            raise RecordError(f"names: {name!r:.60} is no printable text of at most {MAX_NAME} characters")
    return tuple(value)


def _needed(payload: Mapping[str, Any], key: str) -> Any:
    if key not in payload:
        raise RecordError(f"{key} is missing")
    return payload[key]


def _per_seat(rules: CompiledRules, key: str, value: Any) -> Sequence[Any]:
    if not isinstance(value, (list, tuple)) or len(value) != rules.num_players:
        raise RecordError(f"{key} must be a list of {rules.num_players}, one a seat, not {value!r:.60}")
    return value


def _whole(key: str, value: Any, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise RecordError(f"{key}: {value!r:.60} is no whole number from {low} to {high}")
    return value


def _cards(key: str, value: Any, indexed: bool = False) -> tuple[int, ...]:
    """Cards that differ.  indexed: an error tells the place of the card at fault."""
    if not isinstance(value, (list, tuple)):
        raise RecordError(f"{key} must be a list of cards, not {value!r:.60}")
    cards: list[int] = []
    for place, name in enumerate(value):
        try:
            card = parse_card(name)
        except CardError as error:
            raise RecordError(f"{key}: {error}", place if indexed else None) from None
        if card in cards:
            raise RecordError(f"{key}: {CARD_NAMES[card]} stands twice", place if indexed else None)
        cards.append(card)
    return tuple(cards)


def _names(cards: Sequence[int]) -> list[str]:
    return [CARD_NAMES[card] for card in cards]
