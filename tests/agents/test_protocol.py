"""The protocol hearts-agent/1: requests carry whole views, our agents answer them, examples and page are true."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from random import Random

import numpy as np
import pytest

import oracle
from hearts_agents import make
from hearts_agents.external.agent import ExecAgent
from hearts_agents.external.messages import parse_request, request_lines, view_of
from hearts_agents.external.protocol import (
    MAX_LINE,
    ProtocolError,
    answer_line,
    hello_line,
    loaded,
    parse_answer,
    parse_hello,
    parse_welcome,
    welcome_line,
)
from hearts_agents.external.server import Answerer, converse
from hearts_env.cards import NUM_ACTIONS
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.rules import PRESETS, Rules
from hearts_env.game.view import View
from hearts_env.match.play_match import play

ROOT = Path(__file__).resolve().parents[2]
AGENT = [sys.executable, "-c", "import sys; from hearts_cli.main import main; sys.exit(main())", "agent"]
EXTRA = (
    "first_leader=left_of_dealer",
    "bonus_card=TD,teams=fixed,team_moon=team",
    "num_players=2,pass_count=1,pass_cycle=[1]",
)


class Mirror:
    """Plays at random, and checks that each view survives the way through the protocol."""

    name = "mirror"

    def __init__(self) -> None:
        self.seen = 0
        self._inner = make("random")

    def act(self, view: View):
        lines = request_lines(view, self.seen)
        requests = [parse_request(view.rules, loaded(line)) for line in lines]
        again = view_of(view.rules, requests)
        assert [request.id for request in requests] == list(range(self.seen, self.seen + len(view)))
        for field in fields(View)[1:]:
            if field.name != "table_key":
                before, after = getattr(view, field.name), getattr(again, field.name)
                assert before.dtype == after.dtype, field.name
                assert np.array_equal(before, after), field.name
        assert request_lines(again, self.seen) == lines
        self.seen += len(view)
        return self._inner.act(view)


@pytest.mark.parametrize("variant", [*PRESETS, *EXTRA])
def test_a_view_rebuilt_from_its_request_is_the_same_for_whole_deals(variant: str) -> None:
    rules = Rules.parse(variant)
    mirror = Mirror()
    play(rules, [mirror], [0] * rules.num_players, np.arange(8))
    assert mirror.seen >= 8 * rules.num_players * rules.hand_size


def test_a_view_rebuilt_from_its_request_is_the_same_under_random_rules() -> None:
    chance = Random(5)
    for _ in range(12):
        rules = Rules.from_dict(oracle.random_rules(chance))
        play(rules, [Mirror()], [0] * rules.num_players, [chance.randrange(2**40) for _ in range(2)])


def test_a_view_rebuilt_from_its_request_is_the_same_in_later_deals_of_a_game() -> None:
    play(Rules(target=30), [Mirror()], [0] * 4, np.arange(3), games=True)


class Through:
    """Answers through the protocol, within this process."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._answerer: Answerer | None = None

    def act(self, view: View):
        if self._answerer is None:
            self._answerer = Answerer(make(self.name))
            assert parse_welcome(self._answerer.answers([hello_line(view.rules.rules)])) == self.name
        lines = request_lines(view, 100)
        answers = self._answerer.answers(lines[::-1]).splitlines()
        actions = dict(map(parse_answer, answers))
        return np.array([actions[100 + row] for row in range(len(view))])


@pytest.mark.parametrize("variant", ["standard", "two_player", "omnibus", "seven", "partnership"])
def test_the_rule_agent_plays_the_same_through_the_protocol(variant: str) -> None:
    rules = Rules.parse(variant)
    lineup = [0] * rules.num_players
    here = play(rules, [make("rule")], lineup, np.arange(20))
    there = play(rules, [Through("rule")], lineup, np.arange(20))
    assert (here.points == there.points).all()


def test_the_random_agent_plays_the_same_at_each_try_through_the_protocol() -> None:
    tries = [play(Rules(), [Through("random:3")], [0] * 4, np.arange(20)).points for _ in range(2)]
    assert (tries[0] == tries[1]).all()
    assert len({tuple(row) for row in tries[0].tolist()}) > 10


def test_the_program_hearts_agent_plays_as_the_agent_does() -> None:
    with ExecAgent(" ".join([sys.executable, "-c", "'import sys; from hearts_cli.main import main; sys.exit(main())'",
                             "agent", "rule"])) as one:  # fmt: skip
        there = play(Rules(), [one], [0] * 4, np.arange(6))
    assert (there.points == play(Rules(), [make("rule")], [0] * 4, np.arange(6)).points).all()


# -- being asked -----------------------------------------------------------------------------------------------------


def asked(**changes) -> dict:
    """A request in the second trick of a deal of three cards each, with changes."""
    return {**REQUEST, **changes}


RULES = Rules(pass_count=1, deck=tuple(f"{r}{s}" for s in "CDHS" for r in "23456789TJ"))
REQUEST = {
    "id": 7, "seat": 1, "phase": "play", "hand": ["AD", "KH"], "legal": ["AD"], "deal_no": 0, "pass_offset": 1,
    "passed": ["AS"], "received": ["KH"], "plays": [[0, "QC"], [1, "KC"], [2, "QD"], [3, "QH"]],
    "totals": [1, 2, 3, 4], "points": [0, 1, 0, 0],
}  # fmt: skip


def view_from(request: dict) -> View:
    rules = compiled_rules(RULES)
    return view_of(rules, [parse_request(rules, request)])


def test_a_request_of_any_origin_is_read() -> None:
    seen = view_from(asked(unknown=1))
    assert seen.voids[0].tolist() == [0, 0b1, 0b1, 0]
    assert seen.points[0].tolist() == [1, 0, 0, 0]
    assert seen.scores[0].tolist() == [2, 3, 4, 1]
    assert seen.broken[0]


WRONG = [
    ({"id": "7"}, "id"), ({"id": True}, "id"), ({"seat": 4}, "seat"), ({"seat": 0}, "turn"),
    ({"phase": "bid"}, "phase"), ({"phase": "moon"}, "legal"), ({"phase": "pass"}, "legal|before the pass"),
    ({"hand": ["AD"]}, "cards of a hand"), ({"hand": ["AD", "AD"]}, "stands twice"), ({"hand": ["AD", "KC"]}, "played"),
    ({"hand": ["AD", "2C"], "received": []}, "not in the pack"), ({"hand": "AD"}, "list"), ({"legal": []}, "legal"),
    ({"legal": ["QS"]}, "legal"), ({"legal": ["add"]}, "legal"), ({"deal_no": -1}, "deal_no"),
    ({"pass_offset": 2}, "pass_offset"), ({"passed": []}, "passed"), ({"passed": ["AD"]}, "held"),
    ({"received": ["QS"]}, "received"), ({"plays": [[0, "QC"]]}, "cards of a hand"), ({"totals": [0, 0, 0]}, "totals"),
    ({"plays": [[1, "KC"], [0, "QC"], [2, "QD"], [3, "QH"]]}, "out of turn"), ({"points": [1, 0, 0, 0]}, "points"),
    ({"plays": [[0, "QC"], [1, "KC"], [2, "QC"], [3, "QH"]]}, "stands twice"), ({"plays": [[0, "QC", 1]]}, "plays"),
    ({"plays": [[0, "QC"], [1, "KC"], [2, "QD"], [3, "QH"], [0, "AC"]]}, "out of turn"), ({"plays": 1}, "plays"),
    ({"totals": [0, 0, 0, 1.5]}, "totals"), ({"plays": [[9, "QC"]]}, "plays"), ({"plays": [[0, "1C"]]}, "plays"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "said"), WRONG)
def test_a_request_that_cannot_be_is_refused_with_its_reason(changes: dict, said: str) -> None:
    with pytest.raises(ProtocolError, match=said):
        view_from(asked(**changes))


def test_in_the_pass_all_cards_but_the_picks_are_legal() -> None:
    passing = asked(phase="pass", hand=["AD", "KH", "AS"], passed=[], received=[], plays=[], points=[0] * 4)
    assert len(view_from({**passing, "legal": ["AD", "KH", "AS"]})) == 1
    with pytest.raises(ProtocolError, match="legal must be the hand"):
        view_from({**passing, "legal": ["AD"]})


@pytest.mark.parametrize("name", REQUEST)
def test_a_request_that_lacks_something_is_refused(name: str) -> None:
    request = asked()
    del request[name]
    with pytest.raises(ProtocolError, match=name):
        view_from(request)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([b"nonsense"], "no JSON"),
        ([b"[1]"], "object"),
        ([b"\xff"], "no JSON"),
        ([b"9" * 5000], "no JSON"),
        ([b"[" * 5000], "no JSON"),
        ([b" " * (MAX_LINE + 1)], "bytes"),
        ([b'{"what": 1}'], "neither hello nor request nor bye"),
        ([json.dumps(REQUEST).encode()], "before the hello"),
    ],
)
def test_what_is_no_message_is_refused(lines: list[bytes], said: str) -> None:
    if lines[0].startswith(b" "):
        lines = [b'"' + lines[0] + b'"']
    with pytest.raises(ProtocolError, match=said):
        Answerer(make("random")).answers(lines)


def test_another_protocol_or_wrong_rules_are_answered_with_not_ready_and_its_reason() -> None:
    for hello, said in (({"hello": "hearts-agent/2"}, "hearts-agent/2"),
                        ({"hello": "hearts-agent/1", "rules": {"moon": "maybe"}}, "maybe")):  # fmt: skip
        answerer = Answerer(make("random"))
        answer = answerer.answers([json.dumps(hello).encode()])
        assert answerer.over
        with pytest.raises(ProtocolError, match=said):
            parse_welcome(answer)


def test_the_lines_of_both_ends_are_read_by_the_other() -> None:
    for variant in PRESETS:
        rules = Rules.preset(variant)
        assert parse_hello(loaded(hello_line(rules))) == rules
    assert parse_welcome(welcome_line("me")) == "me"
    for action in range(NUM_ACTIONS):
        assert parse_answer(answer_line(action, action)) == (action, action)
    assert parse_answer('{"action": "10♠", "id": -1, "why": [1]}'.encode()) == parse_answer(b'{"id":-1,"action":"ts"}')


@pytest.mark.parametrize(
    "line",
    [b'{"id": 1.0, "action": "QS"}', b'{"id": true, "action": "QS"}', b'{"action": "QS"}', b'{"id": 1}', b"null",
     b'{"id": 1, "action": "noop"}', b'{"id": 1, "action": 3}', b'{"id": 1, "action": []}',
     b'{"id": NaN, "action": 1}'],
)  # fmt: skip
def test_what_is_no_answer_is_refused(line: bytes) -> None:
    with pytest.raises(ProtocolError):
        parse_answer(line)


# -- the program -----------------------------------------------------------------------------------------------------


def answered(name: str, said: bytes, **keywords) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "HEARTS_EXECUTOR": "numpy"}
    return subprocess.run([*AGENT, name], input=said, capture_output=True, timeout=60, env=environment, **keywords)


def test_hearts_agent_answers_until_the_end_of_its_input_even_without_a_line_break() -> None:
    done = answered("rule", hello_line(RULES) + json.dumps(REQUEST).encode())
    assert done.stdout.splitlines() == [b'{"name":"rule","ready":true}', b'{"id":7,"action":"AD"}']
    assert (done.returncode, done.stderr) == (0, b"")


def test_hearts_agent_ends_with_one_sentence_where_the_other_end_is_wrong() -> None:
    done = answered("random", hello_line(RULES) + b"nonsense\n")
    assert done.returncode == 2
    assert done.stderr.startswith(b"hearts: the line is no JSON")
    assert answered("human", b"").returncode == 2


def test_a_reader_who_writes_everything_first_does_not_block(tmp_path: Path) -> None:
    """More requests and more answers than the pipes hold, and nobody reads until all is written."""
    lines = [hello_line(RULES), *[json.dumps(asked(id=number)).encode() + b"\n" for number in range(8000)]]
    here, agents_input = os.pipe()
    agents_output, there = os.pipe()
    worker = subprocess.Popen(
        [*AGENT, "random"], stdin=here, stdout=there, env={**os.environ, "HEARTS_EXECUTOR": "numpy"}
    )
    os.close(here)
    os.close(there)
    with open(agents_input, "wb") as out:
        out.writelines(lines)
    with open(agents_output, "rb") as back:
        answers = back.read().splitlines()
    assert worker.wait(timeout=30) == 0
    assert [json.loads(line).get("id") for line in answers] == [None, *range(8000)]


def test_an_agent_that_prints_does_not_disturb_its_answers() -> None:
    code = (
        "from hearts_agents import registry\n"
        "class Chatty:\n"
        "    name = 'chatty'\n"
        "    def act(self, view):\n"
        "        print('thinking'); return (view.legal & 0) + 51\n"
        "import hearts_agents; hearts_agents.make = lambda name: Chatty()\n"
        "from hearts_cli.main import main; raise SystemExit(main(['agent', 'chatty']))"
    )
    ace = asked(hand=["KH", "AS"], legal=["AS"], passed=["AD"])
    done = subprocess.run(
        [sys.executable, "-c", code], input=hello_line(RULES) + json.dumps(ace).encode(),
        capture_output=True, timeout=60, env={**os.environ, "HEARTS_EXECUTOR": "numpy"},
    )  # fmt: skip
    assert done.stdout.splitlines()[1:] == [b'{"id":7,"action":"AS"}']
    assert done.stderr == b"thinking\n"


# -- the examples and the page ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    program = tmp_path_factory.mktemp("c") / "agent"
    source = ROOT / "examples" / "agent.c"
    subprocess.run([compiler, "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, source], check=True, timeout=60)
    return program


@pytest.mark.parametrize("variant", ["standard", "two_player", "seven", "omnibus"])
def test_the_example_in_c_plays_every_number_of_seats(compiled: Path, variant: str) -> None:
    check_example(str(compiled), Rules.parse(variant))


@pytest.mark.parametrize("variant", ["standard", "two_player", "seven", "omnibus"])
def test_the_example_in_python_plays_every_number_of_seats(variant: str) -> None:
    check_example(f"{sys.executable} {ROOT / 'examples' / 'agent.py'}", Rules.parse(variant))


def check_example(command: str, rules: Rules) -> None:
    seats = rules.num_players
    with ExecAgent(command) as one:
        result = play(rules, [one, make("random")], np.tile([[0] * (seats // 2) + [1] * (seats - seats // 2)], (40, 1)),
                      np.arange(40))  # fmt: skip
    assert result.decisions[0] >= 40 * rules.hand_size * (seats // 2)


def test_the_example_in_python_is_better_than_chance() -> None:
    with ExecAgent(f"{sys.executable} {ROOT / 'examples' / 'agent.py'}") as one:
        result = play(Rules(), [one, make("random")], [0, 1, 0, 1], np.arange(200))
    assert result.points[:, ::2].mean() < result.points[:, 1::2].mean() - 2


def transcript() -> Iterator[tuple[str, str]]:
    """The lines of the conversation on the page, each with who said it."""
    text = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
    block = text.partition("<!-- generated: transcript -->")[2].partition("<!-- end of transcript -->")[0]
    for line in block.splitlines():
        if line[:3] in ("-> ", "<- "):
            yield line[:2], line[3:]


def test_the_conversation_on_the_page_is_what_hearts_agent_answers() -> None:
    lines = list(transcript())
    assert len(lines) > 20
    asked = "".join(line + "\n" for who, line in lines if who == "->")
    done = answered("rule", asked.encode())
    assert done.stdout.decode().splitlines() == [line for who, line in lines if who == "<-"]
    assert done.returncode == 0


def test_converse_is_what_the_program_runs(tmp_path: Path) -> None:
    source, sink = tmp_path / "in", tmp_path / "out"
    source.write_bytes(hello_line(RULES) + b'\n\n{"bye": true}\n{"id": 1}\n')
    with source.open("rb") as reading, sink.open("wb") as writing:
        converse(make("random"), reading.fileno(), writing.fileno())
    assert sink.read_bytes() == welcome_line("random")
