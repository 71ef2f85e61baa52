"""Throw wrong input at everything that reads text, and ask the oracle about all that is accepted.

    python tests/tools/fuzz.py --inputs 1_000_000 --seed 0 --processes 2

Records (mutated as JSON and as bytes), positions, hands, cards and actions, rules as text and as fields, and what both
ends of the protocol hearts-agent/1 are told.  A failure is an exception other than the documented one, a warning, an
input that takes too long, text that does not survive being shown and read again, or a record, position or set of rules
that is accepted though the oracle makes it another.  The inputs depend on nothing but the seed.  Exits with 1 if
anything fails.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

import support_path  # noqa: F401

# isort: split
import oracle
from hearts_agents import make
from hearts_agents.external.messages import parse_request, request_lines, view_of
from hearts_agents.external.protocol import ProtocolError, loaded, parse_answer
from hearts_env.cards import ACTION_NAMES, CARD_NAMES, NO_CARD, CardError, cards_in, parse_card
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.engine import deal, legal, shuffle, step
from hearts_env.game.rules import CHOICES, Rules, RulesError
from hearts_env.game.state import PHASE_NAMES, State
from hearts_env.game.variants import PRESETS
from hearts_env.game.view import View
from hearts_env.match.agent import check_actions
from hearts_env.match.play_match import play
from hearts_env.match.tables import Deals
from hearts_env.text.notation import (
    NotationError,
    dealt_hands,
    parse_action,
    parse_hand,
    parse_position,
    show_hand,
    show_position,
    show_suits,
)
from hearts_env.text.record import records_of
from hearts_env.text.replay import check_line, check_lines

CHUNK = 500
SECONDS_A_CHUNK = 60.0
SECONDS_AN_INPUT = 5.0


# -- what is mutated ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sample:
    """Some rules, and what was played and seen under them."""

    rules: Rules
    records: list[dict[str, Any]]
    positions: list[str]
    requests: list[bytes]


def corpus(seed: int, size: int) -> list[Sample]:
    """Samples of random rules, most of them with few cards: quick to read, and full of corners."""
    chance = Random(f"corpus {seed}")
    found = [sample(chance, Rules()), sample(chance, Rules(scoring={"QS": 13}))]
    while len(found) < size:
        rules = Rules.from_dict(oracle.random_rules(chance))
        if rules.hand_size <= 4 or len(found) % 8 == 0:
            found.append(sample(chance, rules))
    return found


def sample(chance: Random, rules: Rules) -> Sample:
    records: list[dict[str, Any]] = []

    def keep(deals: Deals) -> None:
        records.extend(record.to_dict() for record in records_of(rules, deals, [["x"] * rules.num_players] * 4))

    ids = [chance.randrange(2**40) for _ in range(4)]
    asked = Asked()
    play(rules, [asked], [0] * rules.num_players, ids, on_deals=keep)
    return Sample(rules, records, [position(chance, rules) for _ in range(4)], asked.requests)


class Asked:
    """Plays at random, and keeps what another program would be asked."""

    name = "asked"

    def __init__(self) -> None:
        self.requests: list[bytes] = []
        self._inner = make("random")

    def act(self, seen: View) -> Any:
        self.requests += request_lines(seen, len(self.requests))
        return self._inner.act(seen)


def position(chance: Random, rules: Rules) -> str:
    compiled = compiled_rules(rules)
    state = State.empty(compiled, 1)
    deal(compiled, state, shuffle(compiled, [chance.randrange(2**40)]), deal_no=[chance.randrange(6)])
    for _ in range(chance.randrange(compiled.num_plays + rules.num_players * rules.pass_count + 2)):
        if not state.over[0]:
            step(compiled, state, np.array([chance.choice(cards_in(int(legal(compiled, state)[0])))]))
    return show_position(compiled, state)


# -- how records are mutated -------------------------------------------------------------------------------------------

JUNK: list[Any] = [
    None, True, False, 0, -1, 1, 2**31, 2**63, 10**20, 1.5, 1e308, "", "x", "QS", "add", [], {}, [[]], [None],
    {"a": 1}, [0, 0, 0, 0], ["2C"], "\x00", "\ud800", "é" * 50, [["2C"], ["3C"], [], []], -0.0, "10C", [True] * 4,
]  # fmt: skip
RULE_JUNK: list[Any] = [
    None, True, False, 0, 1, 2, 3, 4, 5, 6, 7, 13, 50, -1, -10, 26, 10**5, "any", "heart", "auto", "available", "JD",
    "TD", "H", "fixed", "morehead", "seed", "spot", [], [0], [1, 0], [1, -1], ["2C"], ["2C", "2D"], {"QS": 13}, {}, 1.0,
    {"QS": 13, "qs": 1}, [["QS", 13]], "team", "player", "continue", "choice", "add", [5], {"KH": -3, "2H": 4}, [[1]],
]  # fmt: skip
FIELDS = list(Rules.__dataclass_fields__)


def mutated_record(chance: Random, source: dict[str, Any], rule_changes: list[dict[str, Any]]) -> dict[str, Any]:
    payload = dict(source)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        chance.choice(MUTATIONS)(chance, payload)
    if chance.random() < 0.1:
        payload["rules"] = chance.choice(rule_changes)
    if chance.random() < 0.4:
        for key in ("points", "scores"):
            payload.pop(key, None)
    return payload


def _lists(payload: dict[str, Any], key: str) -> list[list[Any]]:
    """A copy of a list of lists, or what looks like one."""
    value = payload.get(key)
    if not isinstance(value, list) or not value or not all(isinstance(part, list) for part in value):
        return [["2C"], ["3C"]]
    payload[key] = [list(part) for part in value]
    return payload[key]


def _plays(payload: dict[str, Any]) -> list[Any]:
    payload["plays"] = list(payload["plays"]) if isinstance(payload.get("plays"), list) else ["2C"]
    return payload["plays"]


def swap_plays(chance: Random, payload: dict[str, Any]) -> None:
    plays = _plays(payload)
    if len(plays) > 1:
        one = chance.randrange(len(plays))
        other = (
            min(len(plays) - 1, one + chance.randint(1, 4)) if chance.random() < 0.6 else chance.randrange(len(plays))
        )
        plays[one], plays[other] = plays[other], plays[one]


def shuffle_last_plays(chance: Random, payload: dict[str, Any]) -> None:
    plays = _plays(payload)
    tail = chance.randint(2, 8)
    last = plays[-tail:]
    chance.shuffle(last)
    plays[-tail:] = last


def cut_plays(chance: Random, payload: dict[str, Any]) -> None:
    plays = _plays(payload)
    del plays[chance.randrange(len(plays) + 1) :]


def change_play(chance: Random, payload: dict[str, Any]) -> None:
    plays = _plays(payload)
    place = chance.randrange(len(plays) + 1)
    plays[place : place + chance.randint(0, 1)] = [chance.choice(CARD_NAMES)]


def swap_dealt(chance: Random, payload: dict[str, Any]) -> None:
    hands = _lists(payload, chance.choice(("hands", "hands", "passes")))
    one, other = chance.choice(hands), chance.choice(hands)
    if one and other:
        here, there = chance.randrange(len(one)), chance.randrange(len(other))
        one[here], other[there] = other[there], one[here]


def change_dealt(chance: Random, payload: dict[str, Any]) -> None:
    hands = _lists(payload, chance.choice(("hands", "passes")))
    hand = chance.choice(hands)
    if chance.random() < 0.5:
        hand.append(chance.choice(CARD_NAMES))
    elif hand:
        del hand[chance.randrange(len(hand))]
    if chance.random() < 0.2:
        chance.shuffle(hands)


def change_number(chance: Random, payload: dict[str, Any]) -> None:
    key = chance.choice(("totals", "points", "scores", "deal_no", "deal_id"))
    if key.startswith("deal"):
        payload[key] = chance.choice((0, 1, 2, 3, 4, 7, -1, 10**6, 10**6 + 1, True, 2.0, "1"))
    elif isinstance(payload.get(key), list) and payload[key]:
        payload[key] = numbers = list(payload[key])
        numbers[chance.randrange(len(numbers))] = chance.choice((0, 1, 26, -26, 99, 100, 10**8, 10**9, True, 0.0))


def shift_scores(chance: Random, payload: dict[str, Any]) -> None:
    """Scores before and after moved alike: right, unless the target or a reset comes in between."""
    shift = chance.choice((1, -50, 74, 90, 99))
    for key in ("totals", "scores"):
        if isinstance(payload.get(key), list):
            payload[key] = [value + shift if type(value) is int else value for value in payload[key]]


def change_moon(chance: Random, payload: dict[str, Any]) -> None:
    payload["moon"] = chance.choice(("add", "subtract", None, "none", 52))


def drop_key(chance: Random, payload: dict[str, Any]) -> None:
    if payload:
        del payload[chance.choice(list(payload))]


def junk_key(chance: Random, payload: dict[str, Any]) -> None:
    payload[chance.choice((*payload, "extra", "format"))] = chance.choice(JUNK)


def respell(chance: Random, payload: dict[str, Any]) -> None:
    """Cards in another spelling, which is allowed."""
    spell = chance.choice((str.lower, lambda name: name.replace("T", "10"), lambda name: f" {name}", _signed))
    for key in ("plays", "dead"):
        if isinstance(payload.get(key), list):
            payload[key] = [spell(name) if isinstance(name, str) else name for name in payload[key]]


def _signed(name: str) -> str:
    return name.translate(str.maketrans("CDHS", "♣♦♥♠"))


MUTATIONS: list[Callable[[Random, dict[str, Any]], None]] = [
    swap_plays, swap_plays, shuffle_last_plays, shuffle_last_plays, cut_plays, change_play, swap_dealt, swap_dealt,
    change_dealt, change_number, change_number, shift_scores, change_moon, drop_key, junk_key, respell,
]  # fmt: skip


def mutated_bytes(chance: Random, line: bytes) -> bytes:
    """A few bytes changed, cut out, put in or moved."""
    result = bytearray(line)
    for _ in range(chance.choice((1, 1, 2, 4))):
        place = chance.randrange(len(result) + 1)
        way = chance.random()
        if way < 0.25:
            del result[place : place + chance.choice((1, 1, 2, 10, 400))]
        elif way < 0.5:
            result[place : place + 1] = chance.choices(b'[]{}",:0123456789-TJQKACDHSe\xff\\ \x00\n', k=1)
        elif way < 0.65:
            result[place:place] = result[chance.randrange(len(result) + 1) :][: chance.choice((1, 6, 40))]
        elif way < 0.75 and place < len(result):
            result[place] ^= 1 << chance.randrange(8)
        else:
            _other_card(chance, result)
    return bytes(result)


def _other_card(chance: Random, line: bytearray) -> None:
    """One card's name for another's, which leaves the JSON whole."""
    place = line.find(b'"', chance.randrange(len(line) + 1))
    if place >= 0 and line[place + 3 : place + 4] == b'"':
        line[place + 1 : place + 3] = chance.choice(CARD_NAMES).encode()


def mutated_text(chance: Random, text: str, alphabet: str) -> str:
    for _ in range(chance.choice((1, 1, 2, 3, 6))):
        place = chance.randrange(len(text) + 1)
        way = chance.random()
        if way < 0.3:
            text = text[:place] + text[place + chance.choice((1, 1, 2, 8)) :]
        elif way < 0.8:
            text = text[:place] + chance.choice(alphabet) + text[place + chance.randint(0, 1) :]
        else:
            other = chance.randrange(len(text) + 1)
            text = text[:place] + text[other : other + chance.choice((2, 5, 20))] + text[place:]
    return text


# -- what the oracle makes of it ---------------------------------------------------------------------------------------


class WrongError(Exception):
    """The oracle refuses what was accepted, or finds something else in it."""


def expect(holds: bool, what: str) -> None:
    if not holds:
        raise WrongError(what)


SIGNS = str.maketrans("♣♧♦♢♥♡♠♤", "CCDDHHSS")


def plain_card(name: str) -> int:
    return oracle.card(name.strip().upper().replace("10", "T").translate(SIGNS))


def plain_pack(text: str) -> str:
    """The cards of a pack by suit, from cards named one by one or by suit."""
    words = [word.upper().replace("10", "T").translate(SIGNS) for word in text.split()]
    by_suit = [w for w in words if w[0] in oracle.SUITS and len(w) > 1]
    by_name = [w[1] + w[0] for w in words if w not in by_suit]
    return " ".join([*by_suit, *by_name])


def plain_rules(fields: dict[str, Any]) -> oracle.Rules:
    changes = dict(fields)
    if isinstance(changes.get("scoring"), (dict, list)):
        changes["scoring"] = {oracle.name(plain_card(name)): value for name, value in dict(changes["scoring"]).items()}
    if isinstance(changes.get("deck"), (list, tuple)):
        changes["deck"] = tuple(oracle.name(plain_card(name)) for name in changes["deck"])
    elif changes.get("deck", "seed") not in ("seed", "morehead"):
        changes["deck"] = plain_pack(changes["deck"])
    return oracle.rules(**changes)


def oracle_answer(line: bytes) -> dict[str, Any]:
    """What `hearts check` must say of a record, from the oracle; WrongError where the record is wrong."""
    payload = json.loads(line)
    rules = plain_rules(payload.get("rules", {}))
    hands = [[plain_card(name) for name in hand] for hand in payload["hands"]]
    expect(all(len(hand) == oracle.hand_size(rules) for hand in hands), "a hand of the wrong size")
    game = oracle.Deal(rules, hands, payload.get("deal_no", 0), payload.get("totals"))
    if payload.get("dead") is not None:
        expect({plain_card(name) for name in payload["dead"]} == game.dead, "other dead cards")
    picks = [[plain_card(name) for name in cards] for cards in payload.get("passes") or [()] * game.n]
    while game.phase == "pass" and picks[game.turn]:
        game.step(picks[game.turn].pop(0))
    expect(not any(picks), "picks left over")
    for name in payload["plays"]:
        expect(game.phase == "play", "a play outside the play")
        game.step(plain_card(name))
    if payload.get("moon") is not None:
        expect(game.phase == "moon", "a choice without a moon")
        game.step(ACTION_NAMES.index(payload["moon"]))
    return _answer_of(game, payload)


def _answer_of(game: oracle.Deal, payload: dict[str, Any]) -> dict[str, Any]:
    over = game.phase == "over"
    points = game.points if over else oracle.raw_points(game.r, game.taken)
    scores = game.scores if over else game.totals
    for key, value in (("points", points), ("scores", scores)):
        if payload.get(key) is not None:
            expect(over and list(payload[key]) == list(value), f"{key} are {value}")
    answer = {
        "points": points,
        "scores": scores,
        "tricks": game.trick_winners,
        "broken": game.broken,
        "over": game.game_over,
        "winners": game.winners,
    }
    if not over:
        answer["next"] = {
            "seat": game.turn,
            "phase": game.phase,
            "legal": [ACTION_NAMES[card] for card in game.legal()],
        }
    return answer


def check_answer(line: bytes, answer: dict[str, Any]) -> bool:
    """Is the record accepted?  WrongError where the oracle does not agree that it is right."""
    if not answer["ok"]:
        expect(isinstance(answer["error"], str) and 0 < len(answer["error"]) < 2000, "no sentence on what is wrong")
        return False
    found = {key: value for key, value in answer.items() if key not in ("line", "ok")}
    try:
        expected = oracle_answer(line)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise WrongError(f"accepted, but the oracle says {error!r}") from None
    expect(found == expected, f"answered {found}, but the oracle says {expected}")
    return True


def check_position(rules: Rules, text: str) -> bool:
    compiled = compiled_rules(rules)
    try:
        state = parse_position(compiled, text)
    except NotationError:
        return False
    shown = show_position(compiled, state)
    expect(show_position(compiled, parse_position(compiled, shown)) == shown, f"shown as {shown}, it is read otherwise")
    number = int(state.deal_no[0])
    if number < 0:
        return True
    hands = [cards_in(hand) for hand in dealt_hands(compiled, state)[0]]
    before = [int(word) for word in text.split("|")[1].split()[1:]]
    game = oracle.Deal(plain_rules({**rules.changes(), "num_players": rules.num_players}), hands, number, before)
    picks = [cards_in(cards) for cards in state.picks[0]]
    while game.phase == "pass" and picks[game.turn]:
        game.step(picks[game.turn].pop(0))
    for card in state.plays[0][state.plays[0] != NO_CARD]:
        game.step(int(card))
    if game.phase == "moon" and state.choice[0] != NO_CARD:
        game.step(int(state.choice[0]))
    phase = "over" if state.over[0] else PHASE_NAMES[state.phase[0]]
    expect((phase, int(state.turn[0])) == (game.phase, game.turn), f"{phase}, but {game.phase} in the oracle")
    expect([cards_in(cards) for cards in legal(compiled, state)[0:1]] == [game.legal()], "other actions are legal")
    expect(state.scores[0].tolist() == (game.scores if phase == "over" else before), "other scores")
    return True


def check_rules(make_rules: Callable[[], Rules]) -> bool:
    try:
        rules = make_rules()
    except RulesError:
        return False
    expect(Rules.parse(rules.show()) == rules, f"shown as {rules.show()}, they are read otherwise")
    plain = plain_rules({**rules.changes(), "num_players": rules.num_players})
    expect(oracle.hand_size(plain) == rules.hand_size, "another hand size")
    expect([oracle.name(card) for card in range(52) if card not in oracle.deck(plain)] == sorted(
        rules.removed, key=parse_card), "another pack")  # fmt: skip
    points = {card: value for card, value in oracle.points_of(plain).items() if oracle.name(card) != rules.bonus_card}
    ours = {parse_card(name): value for name, value in rules.card_points if value}
    expect(points == ours, "other points")
    expect(plain["moon"] == rules.moon and plain["target"] == rules.target, "another moon or target")
    return True


def check_hand(text: str) -> bool:
    try:
        cards = parse_hand(text)
    except CardError:
        return False
    expect(parse_hand(show_hand(cards)) == cards == parse_hand(show_suits(cards, signs=True)), "read otherwise")
    return True


def check_action(text: Any) -> bool:
    accepted = False
    for parse in (parse_action, parse_card):
        try:
            expect(0 <= parse(text) < len(ACTION_NAMES), "no action")
            accepted = True
        except CardError:
            pass
    return accepted


def check_request(rules: Rules, line: bytes) -> bool:
    """Is the request accepted?  It must then be asked again as it was read, and our agents must be able to answer."""
    compiled = compiled_rules(rules)
    try:
        request = parse_request(compiled, loaded(line))
        seen = view_of(compiled, [request])
    except ProtocolError:
        return False
    shown = request_lines(seen, request.id)[0]
    expect(parse_request(compiled, loaded(shown)) == request, f"asked again as {shown!r}")
    check_actions(seen, make("rule").act(seen), "rule")
    return True


def check_reply(line: bytes) -> bool:
    try:
        number, action = parse_answer(line)
    except ProtocolError:
        return False
    payload = json.loads(line)
    name = payload["action"].strip()
    expect(number == payload["id"], "another id")
    plain = ACTION_NAMES.index(name.lower()) if name.lower() in ("add", "subtract") else plain_card(name)
    expect(action == plain, "another action")
    return True


# -- chunks of inputs --------------------------------------------------------------------------------------------------


@dataclass
class Outcome:
    """What came of some inputs of one kind."""

    kind: str
    inputs: int = 0
    accepted: int = 0
    failures: list[str] = field(default_factory=list)


class TooSlowError(Exception):
    """The time for some inputs is up."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    def stop(number: int, frame: Any) -> None:
        raise TooSlowError(f"no answer within {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def records(chance: Random, samples: list[Sample], as_bytes: bool) -> tuple[list[bytes], Callable[[bytes], bool]]:
    """Lines of mutated records of one sample, so that many are replayed at once."""
    one = chance.choice(samples)
    changes = [{**one.rules.changes(), chance.choice(FIELDS): chance.choice(RULE_JUNK)} for _ in range(4)]
    lines = []
    for _ in range(CHUNK):
        source = chance.choice(one.records)
        if as_bytes:
            lines.append(mutated_bytes(chance, json.dumps(source).encode()))
        else:
            lines.append(json.dumps(mutated_record(chance, source, changes)).encode())
    return lines, lambda line: check_answer(line, check_line(line))


def positions(chance: Random, samples: list[Sample]) -> tuple[list[str], Callable[[str], bool]]:
    one = chance.choice(samples)
    alphabet = "deal scorhnpiky|/0123456789TJQKACDHS-♠ "
    texts = [mutated_text(chance, chance.choice(one.positions), alphabet) for _ in range(CHUNK)]
    return texts, lambda text: check_position(one.rules, text)


def hands(chance: Random, samples: list[Sample]) -> tuple[list[str], Callable[[str], bool]]:
    del samples
    shows = (show_hand, show_suits, lambda cards: show_suits(cards, signs=True))
    texts = []
    for _ in range(CHUNK):
        text = chance.choice(shows)(chance.getrandbits(52) & chance.getrandbits(52))
        texts.append(mutated_text(chance, text, "23456789TJQKA10CDHScdhs♠♥♦♣- \t٣²ß"))
    return texts, check_hand


def actions(chance: Random, samples: list[Sample]) -> tuple[list[Any], Callable[[Any], bool]]:
    del samples
    texts: list[Any] = []
    for _ in range(CHUNK):
        text = chance.choice(ACTION_NAMES)
        texts.append(mutated_text(chance, text, "23456789TJQKA10CDHS♠♥adsubtrc \0é") if chance.random() < 0.9 else
                     chance.choice((*JUNK, text)))  # fmt: skip
    return texts, check_action


def rules_text(chance: Random, samples: list[Sample]) -> tuple[list[str], Callable[[str], bool]]:
    texts = []
    for _ in range(CHUNK):
        text = chance.choice((*PRESETS, chance.choice(samples).rules.show()))
        for _ in range(chance.choice((0, 1, 2))):
            name = chance.choice(FIELDS)
            word = chance.choice((*CHOICES.get(name, ()), *RULE_JUNK))
            text += f",{name}={word if isinstance(word, str) else json.dumps(word)}"
        texts.append(
            mutated_text(chance, text, "[]{}()=,\"'0123456789-e. truefalsnQSH") if chance.random() < 0.6 else text
        )
    return texts, lambda text: check_rules(lambda: Rules.parse(text))


def rules_fields(chance: Random, samples: list[Sample]) -> tuple[list[Any], Callable[[Any], bool]]:
    found: list[Any] = []
    for _ in range(CHUNK):
        fields = dict(chance.choice(samples).rules.changes())
        for _ in range(chance.choice((1, 1, 2, 4))):
            name = chance.choice(FIELDS) if chance.random() < 0.97 else chance.choice(("", "Moon", "rules"))
            fields[name] = chance.choice((*CHOICES.get(name, ()), *RULE_JUNK, *JUNK))
        found.append(fields if chance.random() < 0.99 else chance.choice(JUNK))
    return found, lambda fields: check_rules(lambda: Rules.from_dict(fields))


def requests(chance: Random, samples: list[Sample]) -> tuple[list[bytes], Callable[[bytes], bool]]:
    one = chance.choice(samples)
    lines = []
    for _ in range(CHUNK):
        line = chance.choice(one.requests)
        if chance.random() < 0.5:
            lines.append(mutated_bytes(chance, line))
            continue
        payload = json.loads(line)
        for _ in range(chance.choice((1, 1, 2))):
            key = chance.choice((*payload, "extra"))
            other = json.loads(chance.choice(one.requests))
            payload[key] = chance.choice((other.get(key), other.get(key), other.get(key), chance.choice(JUNK)))
        lines.append(json.dumps(payload).encode())
    return lines, lambda line: check_request(one.rules, line)


def replies(chance: Random, samples: list[Sample]) -> tuple[list[bytes], Callable[[bytes], bool]]:
    del samples
    lines = []
    for _ in range(CHUNK):
        answer = {"id": chance.randrange(10**4), "action": chance.choice(ACTION_NAMES)}
        if chance.random() < 0.4:
            answer[chance.choice(("id", "action", "extra"))] = chance.choice(JUNK)
        line = json.dumps(answer).encode()
        lines.append(line if chance.random() < 0.3 else mutated_bytes(chance, line))
    return lines, check_reply


KINDS: dict[str, Callable[[Random, list[Sample]], tuple[list[Any], Callable[[Any], bool]]]] = {
    "record, JSON": lambda chance, samples: records(chance, samples, as_bytes=False),
    "record, bytes": lambda chance, samples: records(chance, samples, as_bytes=True),
    "position": positions,
    "hand": hands,
    "action": actions,
    "rules, text": rules_text,
    "rules, fields": rules_fields,
    "request": requests,
    "answer": replies,
}


WHEEL = (
    *("record, bytes", "action", "hand", "rules, text", "action", "position", "record, JSON", "hand", "action"),
    *("record, bytes", "rules, fields", "hand", "action", "record, JSON", "rules, text", "position", "record, bytes"),
    *("action", "rules, fields", "hand", "request", "answer"),
)
"""The kinds of the chunks in turn: as many of each as its speed allows."""


def run_chunk(samples: list[Sample], seed: int, number: int, kind: str = "") -> Outcome:
    """The inputs of chunk `number`, of the kind that is next on the wheel unless given."""
    kind = kind or WHEEL[number % len(WHEEL)]
    inputs, check = KINDS[kind](Random(f"{seed} {number}"), samples)
    outcome = Outcome(kind, inputs=len(inputs))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            with time_limit(SECONDS_A_CHUNK):
                outcome.accepted = _together(kind, inputs, check)
        except Exception:
            for place, one in enumerate(inputs):
                _alone(outcome, f"{kind}, seed {seed}, chunk {number}, input {place}", one, check)
            if not outcome.failures:
                outcome.failures.append(f"{kind}, chunk {number}: only together: {traceback.format_exc(limit=-3)}")
    return outcome


def _together(kind: str, inputs: list[Any], check: Callable[[Any], bool]) -> int:
    if kind.startswith("record"):
        answers = check_lines(inputs)
        return sum(check_answer(line, answer) for line, answer in zip(inputs, answers, strict=True))
    return sum(map(check, inputs))


def _alone(outcome: Outcome, where: str, one: Any, check: Callable[[Any], bool]) -> None:
    try:
        with time_limit(SECONDS_AN_INPUT):
            outcome.accepted += check(one)
    except Exception as error:
        outcome.failures.append(f"{where}: {type(error).__name__}: {error}\n    {one!r:.3000}")


_SAMPLES: list[Sample] = []


def _work(job: tuple[int, int]) -> Outcome:
    return run_chunk(_SAMPLES, *job)


def outcomes(inputs: int, seed: int, processes: int, size: int) -> Iterator[Outcome]:
    """The outcomes of the chunks in order, worked on by several processes."""
    _SAMPLES[:] = corpus(seed, size)
    jobs = [(seed, number) for number in range(-(-inputs // CHUNK))]
    if processes <= 1:
        yield from map(_work, jobs)
        return
    # The workers inherit the corpus.
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        yield from pool.imap(_work, jobs, chunksize=4)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--samples", type=int, default=60, help="sets of rules in the corpus")
    options = parser.parse_args()
    begin = shown = time.monotonic()
    inputs, accepted, failed = Counter[str](), Counter[str](), 0
    for outcome in outcomes(options.inputs, options.seed, options.processes, options.samples):
        inputs[outcome.kind] += outcome.inputs
        accepted[outcome.kind] += outcome.accepted
        failed += len(outcome.failures)
        for failure in outcome.failures[:5]:
            print(f"FAILED {failure}", flush=True)
        if time.monotonic() - shown > 10:
            shown = time.monotonic()
            rate = inputs.total() / (shown - begin)
            print(f"{inputs.total():,} of {options.inputs:,} inputs, {rate:,.0f}/s, {failed} failures", flush=True)
    seconds = time.monotonic() - begin
    print(f"{inputs.total():,} inputs in {seconds:.0f} s ({inputs.total() / seconds:,.0f}/s), {failed} failures")
    for kind in KINDS:
        print(f"  {kind:14} {inputs[kind]:9,} inputs, {accepted[kind]:8,} accepted")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
