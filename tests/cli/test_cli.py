"""The `hearts` program: what it prints, its exit codes, and how it stops."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hearts_cli import main as cli
from hearts_cli.main import COMMANDS, main
from hearts_env import Rules
from hearts_env.game.rules import PRESETS

PROGRAM = [sys.executable, "-c", "import sys; from hearts_cli.main import main; sys.exit(main())"]


def run(*arguments: str, **keywords) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*PROGRAM, *arguments], capture_output=True, text=True, timeout=60, **keywords)


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("out")
    assert main(["tournament", "random", "random:1", "--deals", "3", "--out", str(folder), "--records"]) == 0
    return folder / "records.jsonl"


# -- help and start --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["", *(name for name in COMMANDS if name != "train")])
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main([*command.split(), "--help"])
    assert stop.value.code == 0
    assert f"usage: hearts {command}".strip() in capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("play", "Random seed of the first deal and of the agents; random if omitted."),
        ("tournament", "Stop early once A and B differ significantly (anytime-valid test)"),
        ("tournament", "`--deals` becomes the maximum."),
        ("tournament", "Random seed of the deal ids and of the agents"),
        ("tournament", "Control variate: reduce the variance of differences"),
        ("show", "Review every decision with this agent"),
        ("exploit", "the payoff of the exact best response over every deal of a small pack"),
        ("agent", "Serve an agent to another program"),
        *((name, "A preset's name, `field=value` pairs, or both") for name in ("deal", "play")),
    ],
)
def test_help_says_it_in_the_field_s_terms(command: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    told = " ".join(capsys.readouterr().out.replace("│", " ").split()).lower()
    assert text.lower() in told


@pytest.mark.slow
def test_the_settings_of_training_explain_themselves() -> None:
    pytest.importorskip("torch")
    done = run("train", "--help")
    assert done.returncode == 0
    assert "usage: hearts train" in done.stdout
    assert "--minutes" in done.stdout


def test_help_comes_at_once_because_nothing_heavy_is_loaded() -> None:
    heavy = "torch numba matplotlib pettingzoo"  # gymnasium knows our ids from the import of hearts_env on
    script = (
        "import sys; from hearts_cli.main import main\n"
        "try: main(['--help'])\n"
        f"finally: print('loaded:', *(name for name in '{heavy}'.split() if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert "loaded:\n" in done.stdout


def test_an_unknown_command_exits_with_2() -> None:
    assert run("nonsense").returncode == 2


# -- the small commands ----------------------------------------------------------------------------------------------


def test_agents_lists_every_kind(capsys: pytest.CaptureFixture[str]) -> None:
    from hearts_agents import AGENTS

    assert main(["agents"]) == 0
    out = capsys.readouterr().out
    assert all(entry.form in out for entry in AGENTS.values())


def test_rules_lists_every_preset_with_its_source(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for name, preset in PRESETS.items():
        assert any(line.split()[0] == name and preset.source in line for line in lines if line.strip())


@pytest.mark.parametrize("name", PRESETS)
def test_rules_of_a_name_shows_the_fields_that_differ(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", name]) == 0
    out = capsys.readouterr().out
    for field, value in Rules.preset(name).changes().items():
        assert f"{field}={json.dumps(value)}" in out


def test_deal_prints_each_id_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["deal", "1", "2", "--rules", "three"]) == 0
    out = capsys.readouterr().out
    assert out.count("seat 2") == 2
    assert out.startswith("deal 1,")


def test_check_answers_each_line_and_exits_with_0_when_all_are_right(
    records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(records)]) == 0
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [answer["line"] for answer in answers] == list(range(1, 19))
    assert all(answer["ok"] for answer in answers)
    assert "decisions" not in answers[0]


def test_check_adds_the_decisions_when_asked(records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(records), "--decisions"]) == 0
    answer = json.loads(capsys.readouterr().out.splitlines()[0])
    assert len(answer["decisions"]) >= 52


def test_check_reads_standard_input_and_exits_with_1_when_a_record_is_wrong(records: Path) -> None:
    lines = records.read_text().splitlines()
    done = run("check", "-", input="\n".join([lines[0], "nonsense", lines[1]]))
    assert done.returncode == 1
    assert [json.loads(line)["ok"] for line in done.stdout.splitlines()] == [True, False, True]
    assert done.stderr == ""


def test_show_prints_the_line_asked_for(records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(records), "--line", "2"]) == 0
    out = capsys.readouterr().out
    assert "random:1" in out
    assert str(json.loads(records.read_text().splitlines()[1])["deal_id"]) in out


def test_a_reader_that_leaves_is_not_an_error(records: Path) -> None:
    many = records.read_text() * 50
    process = subprocess.Popen(
        [*PROGRAM, "check", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    _, complaints = process.communicate(many, timeout=60)
    assert complaints == ""
    assert process.returncode == cli.BROKEN_PIPE


# -- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("deal", "deal id"),
        ("deal -1", "-1"),
        ("deal 99999999999999999999", "99999999999999999999"),
        ("deal 1 --rules nope", "unknown rules preset 'nope'"),
        ("deal 1 --rules num_players=9", "num_players=9"),
        ("rules target=soon", "target='soon'"),
        ("check /nowhere/at/all", "/nowhere/at/all: No such file"),
        ("check /", "/: Is a directory"),
        ("show /nowhere/at/all", "/nowhere/at/all: No such file"),
        ("show /dev/null", "has no line 1"),
        ("show /dev/null --line 0", "lines count from 1"),
        ("tournament", "two agents"),
        ("tournament random", "two agents"),
        ("tournament random nobody", "nobody"),
        ("tournament random random --deals 0", "deals=0"),
        ("tournament random random --seed -1", "seed=-1"),
        ("tournament random random --rules moon=maybe", "moon='maybe'"),
        ("tournament random random --records", "--out"),
        ("tournament random random --resume", "--out"),
        ("tournament random random --workers -1", "--workers -1"),
        ("tournament random random --power 0", "--power 0"),
        ("tournament random random --until random>nobody", "needed is A>B"),
        ("tournament random random:1 --until random>random:1 --alpha 2", "alpha=2"),
        ("tournament random random:1 --format swiss --until random>random:1", "swiss"),
        ("tournament random random:1 --format ladder", "needs a field"),
        ("tournament random random:1 --control nobody", "nobody"),
        ("tournament random random --out /dev/null", "/dev/null: File exists"),
        ("bench --layers nothing", "unknown layer 'nothing'"),
        ("bench --tables 0", "tables=0"),
        ("bench --layers match:nobody", "nobody"),
    ],
)
def test_bad_input_gives_one_sentence_and_exit_code_2(
    arguments: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments.split()) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("hearts: ")
    assert said in captured.err
    assert captured.err.count("\n") == 1


def test_what_is_no_record_cannot_be_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("{}\n")
    assert main(["show", str(tmp_path / "file")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full disk")
def test_a_full_disk_gives_one_sentence_and_exit_code_2(records: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*PROGRAM, "check", str(records)], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60
        )
    assert done.returncode == 2
    assert done.stderr == "hearts: No space left on device\n"


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def no_torch(arguments: list[str]) -> int:
        raise ModuleNotFoundError("No module named 'torch'", name="torch")

    monkeypatch.setattr(cli, "train", no_torch)
    assert main(["train"]) == 2
    assert "pip install 'hearts_env[train]'" in capsys.readouterr().err


# -- tournaments -----------------------------------------------------------------------------------------------------


def test_a_tournament_prints_its_standings(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tournament", "random", "random:1", "random", "--deals", "2", "--rules", "three"]) == 0
    out = capsys.readouterr().out
    assert "2 deal ids in 3 seatings, 6 deals, num_players=3" in out
    assert "random#2" in out
    assert out.count(" over ") == 3


def test_ctrl_c_keeps_what_is_finished_and_exits_with_130(tmp_path: Path) -> None:
    arguments = ["tournament", "random", "random:1", "--deals", "100000000", "--out", str(tmp_path), "--records"]
    process = subprocess.Popen([*PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        _wait_for_deals(tmp_path)
        process.send_signal(signal.SIGINT)
        out, complaints = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == cli.INTERRUPTED
    standings = json.loads((tmp_path / "standings.json").read_text())
    assert 0 < standings["deals"] < standings["deals_asked"] == 100000000
    assert complaints == f"hearts: stopped after {standings['deals']} of 100000000 deal ids\n"
    assert "random:1" in out
    assert len((tmp_path / "records.jsonl").read_text().splitlines()) == 6 * standings["deals"]
    assert (tmp_path / "tournament.ledger").exists()
    assert not list(tmp_path.glob("*.part"))


def test_the_deals_until_an_agent_fails_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from hearts_arena import schedule
    from hearts_arena.tournament_plan import Tournament

    whole = Tournament.play

    def fails_after_ten(self: Tournament, first: int, *arguments, **options):
        if first >= 10:
            raise ValueError("the agent\nis gone")
        return whole(self, first, *arguments, **options)

    monkeypatch.setattr(schedule, "FIRST_TABLES", 60)
    monkeypatch.setattr(Tournament, "play", fails_after_ten)
    assert main(["tournament", "random", "random:1", "--deals", "50", "--out", str(tmp_path)]) == 2
    captured = capsys.readouterr()
    assert captured.err == "hearts: the agent is gone\n"
    assert "10 deal ids" in captured.out
    assert json.loads((tmp_path / "standings.json").read_text())["deals"] == 10


def _wait_for_deals(folder: Path) -> None:
    """Until some deals of an unfinished tournament have been written."""
    ledger = folder / "tournament.ledger"
    until = time.monotonic() + 30
    while time.monotonic() < until:
        if ledger.exists() and os.path.getsize(ledger) > 10_000:
            return
        time.sleep(0.05)
    raise AssertionError("no deals within 30 s")
