"""Records: what a match played is written, read and replayed to the same end; what is wrong is refused."""

from __future__ import annotations

import dataclasses
import io
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

import import_deals
import oracle
from hearts_agents import make
from hearts_env import Rules
from hearts_env.cards import ADD, CARD_NAMES, parse_card
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.rules import PRESETS
from hearts_env.match.play_match import play
from hearts_env.match.tables import Deals
from hearts_env.text.record import MAX_LINE, Record, RecordError, records_of
from hearts_env.text.replay import check_line, check_lines, read_lines, replay, replay_all, show

REAL = Path(__file__).parents[3] / "shared" / "data" / "deepcfr_vs_mc128_1600.jsonl"


def played(rules: Rules, deals: int = 4, first: int = 0, games: bool = False) -> list[Record]:
    records: list[Record] = []

    def keep(finished: Deals) -> None:
        names = [["random"] * rules.num_players] * len(finished.table)
        records.extend(records_of(rules, finished, names))

    play(rules, [make("random")], [0] * rules.num_players, range(first, first + deals), games=games, on_deals=keep)
    return records


STANDARD = played(Rules())
MOON = played(Rules(scoring={"QS": 13}), deals=1)[0]


def payload(record: Record = STANDARD[0], **changes: Any) -> dict[str, Any]:
    return {**record.to_dict(), **changes}


def answer(value: Any) -> dict[str, Any]:
    return check_line(json.dumps(value))


def error(value: Any) -> tuple[int | None, str]:
    found = answer(value)
    assert not found["ok"], found
    assert set(found) == {"line", "ok", "at", "error"}
    return found["at"], found["error"]


# -- what is played is replayed --------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS)
def test_a_match_of_every_preset_is_written_and_replayed(preset: str) -> None:
    records = played(Rules.preset(preset), deals=8)
    answers = list(check_lines([record.to_json() for record in records]))
    assert [found["line"] for found in answers] == list(range(1, 9))
    for record, found in zip(records, answers, strict=True):
        assert found["ok"], found
        assert tuple(found["points"]) == record.points
        assert tuple(found["scores"]) == record.scores
        assert len(found["tricks"]) == compiled_rules(record.rules).hand_size
        assert "next" not in found
        assert "decisions" not in found
        assert Record.parse(record.to_json()) == Record.parse(record.to_dict()) == record


def test_records_of_many_rules_in_one_file_are_answered_in_order() -> None:
    rng = Random(4)
    some = [Rules.from_dict(oracle.random_rules(rng)) for _ in range(25)]
    records = [record for rules in some for record in played(rules, deals=2)]
    rng.shuffle(records)
    for record, result in zip(records, replay_all([Record.parse(r.to_json()) for r in records]), strict=True):
        assert not isinstance(result, RecordError), result
        assert (result.points, result.scores) == (record.points, record.scores)


def test_a_game_is_a_chain_of_records_whose_last_is_over() -> None:
    records = played(Rules(), deals=1, games=True)
    answers = list(check_lines([record.to_json() for record in records]))
    for before, after in itertools.pairwise(records):
        assert after.totals == before.scores
        assert after.deal_no == before.deal_no + 1
    assert [found["over"] for found in answers] == [False] * (len(records) - 1) + [True]
    scores = answers[-1]["scores"]
    assert answers[-1]["winners"] == [seat for seat in range(4) if scores[seat] == min(scores)]


def test_the_replay_agrees_with_the_oracle() -> None:
    rng = Random(9)
    for _ in range(12):
        fields = oracle.random_rules(rng)
        for record in played(Rules.from_dict(fields), deals=2):
            result = replay(record)
            hands = [[card for card in range(52) if hand >> card & 1] for hand in record.hands]
            deal = oracle.Deal(oracle.rules(**fields), hands, record.deal_no, record.totals)
            for seat, phase, legal, action in result.decisions:
                number = {"add": 52, "subtract": 53}.get(action) or CARD_NAMES.index(action)
                assert (seat, phase, len(legal)) == (deal.turn, deal.phase, len(deal.legal()))
                deal.step(number)
            assert list(result.tricks) == deal.trick_winners
            assert list(result.points) == deal.points
            assert (result.broken, result.over) == (deal.broken, deal.game_over)
            assert list(result.winners) == deal.winners


def test_decisions_come_with_what_was_legal() -> None:
    found = check_line(STANDARD[0].to_json(), 7, decisions=True)
    assert found["line"] == 7
    assert len(found["decisions"]) == 4 * 3 + 52
    assert [decision[:2] for decision in found["decisions"][:5]] == [[seat, "pass"] for seat in (0, 1, 2, 3, 0)]
    assert len(found["decisions"][0][2]) == 13
    seat, phase, legal, action = found["decisions"][12]
    assert (phase, legal, action) == ("play", ["2C"], "2C")
    assert seat == found["decisions"][12][0]
    last = check_line(MOON.to_json(), decisions=True)["decisions"][-1]
    assert last[1:3] == ["moon", ["add", "subtract"]]


def test_the_keys_are_those_of_the_format_in_its_order() -> None:
    expected = "format rules deal_no totals hands dead passes plays moon points scores names deal_id"
    assert " ".join(STANDARD[0].to_dict()) == expected
    assert STANDARD[0].to_dict()["rules"] == {}
    assert STANDARD[3].to_dict()["passes"] == []


def test_what_may_be_left_out_has_defaults_and_unknown_keys_are_kept() -> None:
    needed = {key: payload()[key] for key in ("format", "hands", "passes", "plays")}
    record = Record.parse({**needed, "comment": {"by": ["me", 1.5, None]}})
    assert (record.rules, record.deal_no, record.totals, record.moon) == (Rules(), 0, (0, 0, 0, 0), None)
    assert record.points is record.scores is record.names is record.deal_id is None
    assert record.to_dict()["comment"] == {"by": ["me", 1.5, None]}
    assert replay(record).points == STANDARD[0].points


def test_cards_are_read_in_every_spelling_and_order() -> None:
    spelled = json.loads(json.dumps(payload()).replace("T", "10").lower().replace("qs", "Q♠"))
    spelled["hands"] = [hand[::-1] for hand in spelled["hands"]]
    assert Record.parse(spelled) == STANDARD[0]


# -- positions -------------------------------------------------------------------------------------------------------


def position(plays: int, record: Record = STANDARD[0], **changes: Any) -> dict[str, Any]:
    cut = {**record.to_dict(), "plays": record.to_dict()["plays"][:plays], **changes}
    return {key: value for key, value in cut.items() if key not in ("points", "scores")}


def test_a_record_whose_plays_stop_early_is_a_position() -> None:
    for plays in (0, 1, 3, 4, 30, 51):
        found = answer(position(plays))
        assert found["ok"], found
        assert len(found["tricks"]) == plays // 4
        assert found["next"]["phase"] == "play"
        following = payload()["plays"][plays]
        assert following in found["next"]["legal"]
        assert (found["scores"], found["over"], found["winners"]) == ([0, 0, 0, 0], False, [])
    assert sum(answer(position(51))["points"]) <= 26


def test_a_record_that_stops_in_the_pass_is_a_position() -> None:
    found = answer(position(0, passes=[]))
    assert found["next"] == {"seat": 0, "phase": "pass", "legal": payload()["hands"][0]}
    picks = [cards[:2] if seat == 0 else cards[:1] for seat, cards in enumerate(payload()["passes"])]
    found = answer(position(0, passes=picks))
    assert (found["next"]["seat"], found["next"]["phase"], len(found["next"]["legal"])) == (1, "pass", 12)


def test_a_record_that_stops_at_the_moon_choice_is_a_position() -> None:
    found = answer(position(52, MOON, moon=None))
    assert found["next"]["phase"] == "moon"
    assert found["next"]["legal"] == ["add", "subtract"]
    assert found["points"][found["next"]["seat"]] == 13


# -- what is wrong is refused ----------------------------------------------------------------------------------------


def test_an_illegal_play_is_named_with_its_place_seat_and_what_was_legal() -> None:
    decisions = replay(STANDARD[0]).decisions[12:]
    for at in (0, 5, 17, 40):
        seat, _, legal, _ = decisions[at]
        plays = payload()["plays"]
        place = next(place for place in range(at + 1, 52) if plays[place] not in legal)
        plays[at], plays[place] = plays[place], plays[at]
        sentence = f"illegal play {plays[at]} by seat {seat}: legal are {' '.join(legal)}"
        assert error(payload(plays=plays)) == (at, sentence)


def swapped(hands: list[list[str]], seat: int, card: str) -> list[list[str]]:
    return [[card, *hand[1:]] if number == seat else hand for number, hand in enumerate(hands)]


HANDS = STANDARD[0].to_dict()["hands"]
PASSES = STANDARD[0].to_dict()["passes"]
PLAYS = STANDARD[0].to_dict()["plays"]


@pytest.mark.parametrize(
    ("changes", "at", "sentence"),
    [
        ({"format": "hearts-record/2"}, None, "format is 'hearts-record/2', not 'hearts-record/1'"),
        ({"format": None}, None, "format is None"),
        ({"rules": []}, None, "rules must be an object of fields, not []"),
        ({"rules": {"moon": "maybe"}}, None, "rules: moon='maybe': must be one of"),
        ({"rules": {"colour": 1}}, None, "rules: colour=1: unknown field"),
        ({"rules": {"num_players": True}}, None, "rules: num_players=True: must be a whole number"),
        ({"rules": {"num_players": 4.0}}, None, "rules: num_players=4.0: must be a whole number"),
        ({"rules": {"target": 10**30}}, None, "the number 1.000e+30 is too large"),
        ({"rules": {"target": 10**7}}, None, "the number 1.000e+07 is too large"),
        ({"rules": {"num_players": 5}}, None, "hands must be a list of 5, one a seat"),
        ({"rules": {"deck": ["2C", "2D", "2H", "2S"]}}, None, "not in the pack of these rules"),
        ({"deal_no": -1}, None, "deal_no: -1 is no whole number from 0"),
        ({"deal_no": True}, None, "deal_no: True is no whole number"),
        ({"deal_no": 1.0}, None, "deal_no: 1.0 is no whole number"),
        ({"deal_no": None}, None, "deal_no: None is no whole number"),
        ({"deal_no": 3}, None, "seat 0 passes cards, but nobody passes in deal number 3"),
        ({"totals": [0, 0, 0]}, None, "totals must be a list of 4, one a seat"),
        ({"totals": [0, 0, 0, 0.5]}, None, "totals: 0.5 is no whole number"),
        ({"totals": [0, 0, 0, 10**9]}, None, "totals: 1000000000 is no whole number from"),
        ({"totals": {"0": 1}}, None, "totals must be a list of 4"),
        ({"hands": HANDS[:3]}, None, "hands must be a list of 4"),
        ({"hands": [*HANDS[:3], 5]}, None, "hands of seat 3 must be a list of cards, not 5"),
        ({"hands": [HANDS[0][1:], *HANDS[1:]]}, None, "seat 0 holds 12 cards; the rules deal 13"),
        ({"hands": swapped(HANDS, 2, HANDS[2][1])}, None, f"hands of seat 2: {HANDS[2][1]} stands twice"),
        ({"hands": swapped(HANDS, 2, HANDS[0][1])}, None, f"seat 2 holds {HANDS[0][1]}, which another seat holds"),
        ({"hands": swapped(HANDS, 2, "1C")}, None, "hands of seat 2: '1C' is no card"),
        ({"hands": swapped(HANDS, 2, 12)}, None, "hands of seat 2: a card is text such as 'QS', not 12"),  # type: ignore[arg-type]
        ({"dead": ["2C"]}, None, "dead is ['2C'], but the cards dealt to nobody are -"),
        ({"passes": PASSES[:3]}, None, "passes must be a list of 4"),
        ({"passes": []}, None, "seat 0 passes 0 cards; the rules pass 3"),
        ({"passes": [PASSES[0][:2], *PASSES[1:]]}, None, "seat 0 passes 2 cards; the rules pass 3"),
        ({"passes": [HANDS[0][:4], *PASSES[1:]]}, None, "seat 0 passes 4 cards; the rules pass 3"),
        ({"passes": [[PASSES[0][0]] * 3, *PASSES[1:]]}, None, f"passes of seat 0: {PASSES[0][0]} stands twice"),
        ({"passes": [PASSES[1], *PASSES[1:]]}, None, f"illegal pass {PASSES[1][0]} by seat 0: legal are"),
        ({"plays": "2C"}, None, "plays must be a list of cards, not '2C'"),
        ({"plays": [*PLAYS[:7], "XX", *PLAYS[8:]]}, 7, "plays: 'XX' is no card"),
        ({"plays": [*PLAYS[:7], PLAYS[3], *PLAYS[8:]]}, 7, f"plays: {PLAYS[3]} stands twice"),
        ({"plays": [*PLAYS[:7], None]}, 7, "plays: a card is text such as 'QS', not None"),
        ({"moon": "add"}, None, "moon is 'add', but no shooter had a choice to make: it must be null"),
        ({"moon": "up"}, None, "moon is 'up': must be 'add', 'subtract' or null"),
        ({"moon": ["add"]}, None, "moon is ['add']: must be"),
        ({"points": [0, 0, 0, 26]}, None, "points are ["),
        ({"points": [0, 0, 0]}, None, "points must be a list of 4"),
        ({"points": [True, 0, 0, 0]}, None, "points: True is no whole number"),
        ({"scores": [1, 1, 1, 23]}, None, "but the record says [1, 1, 1, 23]"),
        ({"plays": PLAYS[:20]}, None, "points are given, but the deal is not over: next is a play action"),
        ({"names": ["a", "b", "c", 4]}, None, "names: 4 is no printable text"),
        ({"names": ["a", "b", "c", "\x1b[2J"]}, None, "is no printable text"),
        ({"names": "abcd"}, None, "names must be a list of 4"),
        ({"deal_id": -1}, None, "deal_id: -1 is no whole number"),
        ({"deal_id": 2**63}, None, "is too large"),
        ({"comment": float("nan")}, None, "nan is no JSON value"),
        ({"comment": [float("inf")]}, None, "inf is no JSON value"),
        ({"comment": 10**400}, None, "a number is too large"),
    ],
)
def test_a_corruption_is_refused_with_its_sentence(changes: dict[str, Any], at: int | None, sentence: str) -> None:
    found_at, found = error(payload(**changes))
    assert sentence in found
    assert found_at == at


def test_a_missing_key_is_named() -> None:
    for key in ("hands", "plays"):
        assert error({name: value for name, value in payload().items() if name != key}) == (None, f"{key} is missing")
    assert error({name: value for name, value in payload().items() if name != "format"})[1].startswith("format is None")


def test_a_play_after_the_end_is_one_too_many() -> None:
    rules = Rules(num_players=2)
    record = played(rules, deals=1)[0]
    dead = record.to_dict()["dead"][0]
    sentence = f"{dead} is one action too many: the deal is over"
    assert error(payload(record, plays=[*payload(record)["plays"], dead])) == (26, sentence)


def test_the_moon_choice_is_null_where_the_rules_choose() -> None:
    record = played(Rules(scoring={"QS": 13}, moon="add"), deals=1)[0]
    assert record.moon is None
    assert answer(payload(record))["ok"]
    assert "it must be null" in error(payload(record, moon="add"))[1]


def test_the_other_moon_choice_gives_other_points() -> None:
    other = "subtract" if MOON.moon == ADD else "add"
    assert "points are" in error(payload(MOON, moon=other))[1]
    assert "next is a moon action" in error(payload(MOON, moon=None))[1]


DEEP = '{"format": ' + "[" * 100_000 + "]" * 100_000 + "}"


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("", "not JSON: the line is empty"),
        (b" \r\n", "not JSON: the line is empty"),
        ("{", "not JSON: Expecting property name"),
        ("[1, 2]", "a record is a JSON object, not [1, 2]"),
        ("null", "a record is a JSON object, not None"),
        ("1" * 5000, "not JSON: a huge number"),
        ('{"format": "hearts-record/1", "format": 1}', "the key 'format' stands twice"),
        ('{"x": NaN}', "nan is no JSON value"),
        ('{"x": 1e999}', "inf is no JSON value"),
        (b'{"x": "\xff"}', "the line is not UTF-8: byte 7 is 255"),
        (b"\xef\xbb\xbf{}", "not JSON"),
        (DEEP, "nested more than 32 levels deep"),
        ('{"x": ' + "[" * 33 + "]" * 33 + "}", "nested more than 32 levels deep"),
        (b"x" * (MAX_LINE + 1), "the line is longer than 1048576 bytes"),
        ("é" * (MAX_LINE // 2 + 1), "the line is longer than 1048576 bytes"),
    ],
    ids=range(15),
)
def test_a_line_that_is_no_record_is_answered_and_the_rest_goes_on(line: str | bytes, sentence: str) -> None:
    good = STANDARD[0].to_json()
    answers = list(check_lines([good, line, good.encode() + b"\n"]))
    assert [found["ok"] for found in answers] == [True, False, True]
    assert [found["line"] for found in answers] == [1, 2, 3]
    assert sentence in answers[1]["error"]
    assert answers[1]["at"] is None


def test_a_random_change_anywhere_in_a_line_never_breaks_the_check() -> None:
    rng = Random(6)
    good = STANDARD[0].to_json().encode()
    lines = []
    for _ in range(400):
        line = bytearray(good)
        for _ in range(rng.randint(1, 3)):
            place = rng.randrange(len(line))
            line[place : place + rng.randint(0, 2)] = rng.choices(b'[]{}",:0123456789-TJQKACDHSe\xff\\ ', k=1)
        lines.append(bytes(line))
    answers = list(check_lines(lines))
    assert len(answers) == 400
    assert json.loads(json.dumps(answers)) == answers
    assert 0 < sum(found["ok"] for found in answers) < 100


def test_many_lines_are_answered_in_order_over_several_chunks() -> None:
    lines = [record.to_json() for record in STANDARD] * 300
    lines[1111] = "wrong"
    answers = list(check_lines(iter(lines)))
    assert [found["line"] for found in answers] == list(range(1, 1201))
    assert [found["line"] for found in answers if not found["ok"]] == [1112]


def test_lines_are_read_without_their_ends_and_never_whole_when_too_long() -> None:
    stream = io.BytesIO(b"one\ntwo\r\n\n" + b"x" * (3 * MAX_LINE) + b"\nlast")
    lines = list(read_lines(stream))
    assert [lines[0], lines[1], lines[2], lines[4]] == [b"one", b"two", b"", b"last"]
    assert MAX_LINE < len(lines[3]) < MAX_LINE + 10
    exact = b"y" * MAX_LINE
    assert list(read_lines(io.BytesIO(exact + b"\nz"))) == [exact, b"z"]


# -- for people ------------------------------------------------------------------------------------------------------


def test_a_record_is_shown_trick_by_trick() -> None:
    text = show(STANDARD[0])
    lines = text.splitlines()
    assert lines[0] == "deal 0, number 0 of its game, standard"
    assert lines[2].startswith("seat 0 random  ♣")
    assert sum(line.startswith("seat ") and " passes " in line for line in lines) == 4
    tricks = [line for line in lines if line[:5].strip().isdigit()]
    assert len(tricks) == 13
    assert all(line.count(">") == line.count("*") == 1 for line in tricks)
    assert [line.split()[1:] for line in lines if line.startswith("points")] == [
        [str(points) for points in STANDARD[0].points or ()]
    ]


def test_positions_holds_and_moons_are_shown() -> None:
    assert "no pass" in show(STANDARD[3])
    assert "moon    " in show(MOON)
    stopped = Record.parse(position(6))
    assert show(stopped).splitlines()[-1].startswith("next: play by seat ")
    passing = dataclasses.replace(stopped, plays=(), passes=(), names=None, deal_id=None)
    assert show(passing).splitlines()[0].startswith("a deal, number 0")
    assert show(passing).splitlines()[-1].startswith("next: pass by seat 0, legal are ")
    over = dataclasses.replace(STANDARD[0], totals=(99, 99, 99, 99), scores=None)
    assert "the game is over; won by seat" in show(over)


def test_a_wrong_record_is_not_shown_or_replayed() -> None:
    wrong = dataclasses.replace(STANDARD[0], plays=STANDARD[0].plays[::-1])
    for ask in (show, replay):
        ask_any: Callable[[Record], Any] = ask
        with pytest.raises(RecordError, match="illegal play") as caught:
            ask_any(wrong)
        assert caught.value.at == 0


# -- deals that others played ----------------------------------------------------------------------------------------


@pytest.mark.skipif(not REAL.exists(), reason="the folder with other people's deals is not here")
def test_real_deals_of_other_engines_replay_to_their_scores() -> None:
    with REAL.open(encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    records = [import_deals.convert(row) for row in rows]
    answers = list(check_lines([record.to_json() for record in records]))
    assert len(answers) == 1600
    for row, found in zip(rows, answers, strict=True):
        assert found["ok"], found
        assert found["points"] == row["scores_nesw"]
        leaders = ["NESW".index(trick[0][0]) for trick in row["tricks"]]
        assert found["tricks"][:-1] == leaders[1:]


def test_imported_deals_become_records() -> None:
    record = STANDARD[0]
    players = [seat for seat, phase, _, _ in replay(record).decisions if phase == "play"]
    plays = ["NESW"[seat] + CARD_NAMES[card] for seat, card in zip(players, record.plays, strict=True)]
    row = {
        "direction": "left",
        "hands_nesw": record.to_dict()["hands"],
        "passes_nesw": record.to_dict()["passes"],
        "tricks": [plays[begin : begin + 4] for begin in range(0, 52, 4)],
        "scores_nesw": list(record.points or ()),
        "pair": 3,
    }
    imported = import_deals.convert(row)
    assert (imported.hands, imported.plays, imported.deal_no) == (record.hands, record.plays, 0)
    assert imported.extra == {"pair": 3}
    assert imported.plays[0] == parse_card("2C")
