"""A person at the table: what is understood, what is shown, and how one leaves."""

from __future__ import annotations

import io
import itertools
import json
import os
import select
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from hearts_agents.human import HELP, HumanAgent, LeftTableError, read_action
from hearts_cli import main as cli
from hearts_cli.play import Play
from hearts_env.cards import ACTION_NAMES, CardError, cards_in
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.engine import deal
from hearts_env.game.rules import Rules
from hearts_env.game.state import State
from hearts_env.game.view import View, view
from hearts_env.match.play_match import play
from hearts_env.text.notation import parse_hand, parse_position
from hearts_env.text.replay import check_line

RULES = Rules(pass_count=0, deck=tuple(f"{r}{s}" for s in "CDHS" for r in "23456789TJ"))
HANDS = "QC QD AS / KC KD QH / AC AD KH / AH QS KS"


def table(plays: str = "", rules: Rules = RULES, hands: str = HANDS) -> View:
    """What the seat to act sees after these plays."""
    where = f"deal 0 | scores 0 0 0 0 | hands {hands}" + (f" | plays {plays}" if plays else "")
    return view(compiled_rules(rules), parse_position(compiled_rules(rules), where))


def understood(text: str, seen: View) -> str:
    return ACTION_NAMES[read_action(seen, text)]


@pytest.mark.parametrize("text", ["KD", "kd", " dk ", "K♦", "♦k", "1"])
def test_a_card_may_be_typed_in_many_ways(text: str) -> None:
    assert understood(text, table("QC KC AC KS AD QS QD")) == "KD"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("qd", "do not hold"),
        ("qh", "must follow with ♦K"),
        ("2", "is none of them"),
        ("", "none"),
        ("hello", "none"),
        ("٣", "none"),
        ("add", "do not hold"),
    ],
)
def test_what_cannot_be_played_is_refused_with_its_reason(text: str, said: str) -> None:
    with pytest.raises(CardError, match=said):
        understood(text, table("QC KC AC KS AD QS QD"))


def test_a_rank_or_suit_that_only_one_legal_card_has_is_enough_but_never_a_q_alone() -> None:
    seen = table("QC KC AC KS")
    assert [understood(text, seen) for text in ("a", "d", "♦")] == ["AD"] * 3
    with pytest.raises(CardError, match="none"):
        understood("k", seen)
    queen = table("", hands="AC AD AS / QC KD QH / KC QD KH / AH QS KS")
    with pytest.raises(CardError, match="quit to leave"):
        understood("q", queen)


def test_a_moon_choice_may_be_typed_as_a_word_or_number() -> None:
    from hearts_env.cards import HEARTS, QS_SET
    from hearts_env.game.state import MOON

    rules = compiled_rules(Rules())
    state = State.empty(rules, 1)
    state.phase[:], state.turn[:], state.shooter[:] = MOON, 0, 0
    state.taken[0, 0] = HEARTS | QS_SET
    seen = view(rules, state)
    assert [understood(text, seen) for text in ("add", "a", "1", "Subtract", "s", "2")] == ["add"] * 3 + [
        "subtract"
    ] * 3


class Typist:
    """Types one text after the other, then closes the input."""

    def __init__(self, *texts: str) -> None:
        self._texts: Iterator[str] = iter(texts)

    def __call__(self, prompt: str) -> str:
        text = next(self._texts, None)
        if text is None:
            raise EOFError
        if text == "^C":
            raise KeyboardInterrupt
        return text


def person(*texts: str) -> tuple[HumanAgent, io.StringIO]:
    screen = io.StringIO()
    console = Console(file=screen, width=120, markup=False, highlight=False)
    return HumanAgent(ask=Typist(*texts), console=console, names=["you", "a", "b", "c"]), screen


def test_help_and_hint_and_an_empty_line_only_tell_something() -> None:
    human, screen = person("?", "hint", "", "9c", "1")
    seen = table("QC")
    assert human.act(seen).tolist() == [cards_in(int(seen.legal[0]))[0]]
    out = screen.getvalue()
    assert HELP.format(adviser="rule") in out
    assert "rule would play ♣K" in out
    assert out.count("trick 1 of 3") == 2
    assert "you do not hold ♣9" in out


def test_the_table_shows_the_trick_and_the_last_one_but_no_hidden_card() -> None:
    human, screen = person("1")
    human.act(table("QC KC AC KS AD QS QD"))
    out = screen.getvalue()
    assert "Trick 1: seat 0 you ♣Q  you ♣K  seat 2 b ♣A  seat 3 c ♠K; seat 2 b takes it for 0" in out
    assert "♦K ♥Q" in out
    for hidden in ("♠A", "♥K", "♥A"):
        assert hidden not in out


def test_what_was_passed_and_received_is_shown_in_the_first_trick() -> None:
    rules = RULES.replace(pass_count=1)
    compiled = compiled_rules(rules)
    state = State.empty(compiled, 1)
    deal(compiled, state, np.array([[parse_hand(hand) for hand in HANDS.split("/")]]))
    from hearts_env.game.engine import step
    from hearts_env.text.notation import parse_action

    for name in ("AS", "KD", "AD", "KS", "QC"):
        step(compiled, state, np.array([parse_action(name)]))
    human, screen = person("1")
    human.act(view(compiled, state))
    assert "You passed ♦K to seat 2 b and received ♠A from seat 0 you" in screen.getvalue()


def test_leaving_is_possible_by_word_and_by_closing_the_input() -> None:
    for texts in (("quit",), ("RESIGN",), ("exit",), ()):
        with pytest.raises(LeftTableError):
            person(*texts)[0].act(table("QC"))


@pytest.mark.parametrize("variant", ["standard", "two_player", "seven", "partnership", "black_maria"])
def test_a_person_who_types_1_can_play_any_number_of_seats(variant: str) -> None:
    rules = Rules.preset(variant)
    human = HumanAgent(ask=lambda prompt: "1", console=Console(file=io.StringIO()))
    assert (play(rules, [human], [0] * rules.num_players, [1]).deals == 1).all()


# -- hearts play -----------------------------------------------------------------------------------------------------


def records(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_deal_is_played_to_the_end_and_recorded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "new" / "file.jsonl"
    assert Play(deal=5, seat=2, record=path).play(lambda prompt: "1")
    (record,) = records(path)
    assert check_line(json.dumps(record))["ok"]
    assert record["names"] == ["rule", "rule", "human", "rule"]
    assert (record["deal_id"], record["deal_no"]) == (5, 1)
    out = capsys.readouterr().out
    assert "deal over" in out
    assert f"{record['scores'][2]:5}" in out


def test_a_game_goes_on_to_the_target_and_every_deal_is_recorded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "file.jsonl"
    assert Play(("random",), rules="three,target=30", seed=3, record=path).play(lambda prompt: "1")
    played = records(path)
    answers = [check_line(json.dumps(record)) for record in played]
    assert all(answer["ok"] for answer in answers)
    assert [answer["over"] for answer in answers] == [False] * (len(played) - 1) + [True]
    for before, after in itertools.pairwise(played):
        assert before["scores"] == after["totals"]
    assert "The game is over; won by" in capsys.readouterr().out


def test_the_same_seed_deals_the_same_cards_to_a_person(tmp_path: Path) -> None:
    for name in ("one", "two"):
        Play(seed=7, record=tmp_path / name).play(Typist("1", "1"))
    assert (tmp_path / "one").read_text() == (tmp_path / "two").read_text()


@pytest.mark.parametrize("last", ["quit", "^C", None])
def test_leaving_in_the_middle_saves_the_deal_as_a_position(
    last: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "file.jsonl"
    texts = ["1"] * 5 + ([last] if last else [])
    assert not Play(deal=4, record=path).play(Typist(*texts))
    (record,) = records(path)
    answer = check_line(json.dumps(record))
    assert answer["ok"]
    assert answer["next"]["seat"] == 0
    assert "You leave the table; the deal until here is in" in capsys.readouterr().out


@pytest.mark.parametrize("last", ["q", "^C", None])
def test_leaving_between_two_deals_records_nothing_twice(last: str | None, tmp_path: Path) -> None:
    path = tmp_path / "file.jsonl"

    def ask(prompt: str) -> str:
        return typed(prompt) if prompt.startswith("Enter") else "1"

    typed = Typist(*([last] if last else []))
    assert not Play(seed=1, record=path).play(ask)
    assert len(records(path)) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("play rule rule", "2 agents"),
        ("play nobody", "nobody"),
        ("play --seat 4", "--seat 4"),
        ("play --deal -1", "--deal -1"),
        ("play --rules nope", "nope"),
    ],
)
def test_a_table_that_cannot_be_made_is_refused(arguments: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(arguments.split()) == 2
    assert said in capsys.readouterr().err


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a pseudo-terminal")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_at_a_terminal_the_cards_have_colours_and_ctrl_c_leaves_politely() -> None:
    import pty

    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(HEARTS_EXECUTOR="numpy", TERM="xterm-256color", COLUMNS="120")
        code = "import sys; from hearts_cli.main import main; sys.exit(main())"
        os.execv(sys.executable, [sys.executable, "-c", code, "play", "--deal", "81723"])
    try:
        shown = _until(terminal, b"play: ")
        os.write(terminal, b"hint\n")
        shown += _until(terminal, b"would play")
        os.write(terminal, b"\x03")
        shown += _until(terminal, b"You leave the table.")
        _, status = os.waitpid(pid, 0)
    except BaseException:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise
    finally:
        os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 130
    assert "\x1b[32m♣78TQ" in shown.decode()
    assert "Traceback" not in shown.decode()


def _until(terminal: int, text: bytes) -> bytes:
    shown = b""
    until = time.monotonic() + 30
    while text not in shown:
        assert select.select([terminal], [], [], max(0.0, until - time.monotonic()))[0], shown
        shown += os.read(terminal, 4096)
    return shown
