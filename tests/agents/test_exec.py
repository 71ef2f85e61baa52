"""Agents in another process: they play as they should, and none of their ways to fail hangs or leaves a process."""

from __future__ import annotations

import json
import os
import pickle
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from hearts_agents import AgentError, make
from hearts_agents.external import agent as exec_agent
from hearts_agents.external import process
from hearts_agents.external.agent import ExecAgent, ExecError, Limits
from hearts_arena.tournament_plan import plan_tournament
from hearts_env.game.rules import PRESETS, Rules
from hearts_env.match.play_match import Result, play

ROOT = Path(__file__).resolve().parents[2]
STRANGE = Path(__file__).parents[1] / "support" / "strange_agent.py"
TABLES = 12
SHORT = 1.5
"""Seconds of silence that the tests of silent agents wait for."""

LEFT_OUT = [rank + suit for suit in "CDH" for rank in "23456789TJQKA"] + ["2S", "3S", "4S", "5S", "6S", "7S"]
ONE_TRICK = Rules(num_players=7, pass_count=0, deck=tuple(LEFT_OUT), first_leader="left_of_dealer")
"""Seven cards and seven requests."""

FAILURES = {
    "answers a wrong id": "no request of id",
    "answers twice": "no request of id",
    "writes garbage": "no JSON",
    "names no card": "'1C' is no card",
    "writes a huge line": "longer than 65536 bytes",
    "dies in the middle": "it has ended",
    "is silent": "it was silent for 1.5 s",
    "closes its output": "it has ended, or closed its standard output",
    "leaves a child behind": "it has ended",
}
"""Ways to fail in the middle of a match, and what the error says."""
NO_HELLO = {
    "dies at the start": "it has ended",
    "says no hello": "it was silent",
    "says garbage for a hello": "no JSON",
    "speaks another protocol": "it speaks 'hearts-agent/2'",
    "is not ready": "it is not ready: only four players",
}


def command(way: str) -> str:
    return shlex.join([sys.executable, "-I", "-S", str(STRANGE), way])


def agent(way: str, **limits) -> ExecAgent:
    return ExecAgent(command(way), limits=Limits(**{"time_limit": 20.0, **limits}))


def lowest(rules: Rules, tables: int = TABLES, **keywords) -> Result:
    """What comes out when everybody plays the lowest legal action."""
    return play(rules, [Lowest()], [0] * rules.num_players, np.arange(tables), **keywords)


class Lowest:
    name = "lowest"

    def act(self, view):
        return np.log2((view.legal & -view.legal).astype(float)).astype(np.int64)


def outcome(one: ExecAgent, rules: Rules | None = None, tables: int = TABLES, **keywords) -> Result:
    rules = rules or Rules()
    return play(rules, [one], [0] * rules.num_players, np.arange(tables), **keywords)


def children() -> set[int]:
    """Every process that descends from this one or stayed in a group of one that does, zombies included."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes()
                status = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(status[1]) == os.getpid() or STRANGE.name.encode() in line:
                found.add(int(entry.name))
    return found


@pytest.fixture(autouse=True)
def nothing_stays(request: pytest.FixtureRequest):
    if not Path("/proc/self/stat").exists():
        yield
        return
    before = children()
    yield
    until = time.monotonic() + 5
    while children() - before and time.monotonic() < until:
        time.sleep(0.01)
    assert not children() - before, "a process is left"


# -- agents that keep the protocol -----------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", PRESETS)
def test_a_program_plays_every_variant_as_the_same_agent_does_here(variant: str) -> None:
    rules = Rules.preset(variant)
    with agent("is good") as one:
        result = outcome(one, rules)
    assert (result.points == lowest(rules).points).all()
    assert result.failures.sum() == 0


@pytest.mark.parametrize("way", ["answers in the opposite order", "writes complaints all the time"])
def test_answers_may_come_in_any_order_and_complaints_do_not_disturb(way: str) -> None:
    # Without a pass and its hold deals, so that there is a request for all of the tables each time.
    rules = Rules(pass_count=0)
    with agent(way) as one:
        assert (outcome(one, rules).points == lowest(rules).points).all()


def test_pipes_that_are_full_both_ways_do_not_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_PIPE_SIZE", 4096)
    rules = Rules(num_players=7, pass_count=6)
    with agent("pads its answers") as one:
        assert (outcome(one, rules, 100).points == lowest(rules, 100).points).all()


def test_a_program_plays_whole_games_and_other_rules_after_them_in_a_new_process() -> None:
    with agent("is good") as one:
        for rules in (Rules(target=30), Rules(num_players=3, target=30), Rules(target=30)):
            result = outcome(one, rules, 2, games=True)
            assert (result.points == lowest(rules, 2, games=True).points).all()


def test_a_program_is_asked_again_after_it_was_closed() -> None:
    one = agent("is good")
    for _ in range(2):
        outcome(one)
        one.close()
        one.close()


def test_a_program_that_ignores_the_bye_is_ended() -> None:
    one = agent("ignores the bye")
    outcome(one)
    begin = time.monotonic()
    one.close()
    assert time.monotonic() - begin < 5


def test_a_copy_has_a_process_of_its_own() -> None:
    with agent("is good") as one, pickle.loads(pickle.dumps(one)) as other:
        assert (other.name, other.command, other.limits) == (one.name, one.command, one.limits)
        assert (outcome(one).points == outcome(other).points).all()


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_worker_starts_a_process_of_its_own_and_leaves_that_of_its_parent() -> None:
    with agent("is good") as one:
        before = outcome(one)
        worker = os.fork()
        if worker == 0:
            same = False
            try:
                same = bool((outcome(one).points == before.points).all())
                one.close()
            finally:
                os._exit(0 if same else 1)
        assert os.waitpid(worker, 0)[1] == 0
        assert (outcome(one).points == before.points).all()


# -- agents that do not ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", FAILURES)
def test_a_failure_ends_the_match_with_an_error_that_names_command_request_and_reason(way: str) -> None:
    one = agent(way, time_limit=SHORT if way == "is silent" else 20.0)
    with pytest.raises(ExecError) as caught:
        outcome(one)
    message = str(caught.value)
    assert message.startswith(f"exec:{command(way)}: ")
    assert FAILURES[way] in message
    assert '"legal":[' in message
    assert len(message) < 2000


def test_the_error_for_an_illegal_action_shows_the_answer_and_its_request() -> None:
    with pytest.raises(ExecError, match=r"illegal.*its answer: .*\"add\".*request: .*\"id\":0,.*\"phase\":\"pass\""):
        outcome(agent("is always illegal"))


def test_the_error_of_a_dead_program_ends_with_its_last_words() -> None:
    with pytest.raises(ExecError, match="standard error ends: segmentation fault, more or less"):
        outcome(agent("dies in the middle"))


@pytest.mark.parametrize("on_failure", ["error", "random"])
@pytest.mark.parametrize("way", NO_HELLO)
def test_a_program_without_a_proper_hello_is_an_error_whatever_the_policy(way: str, on_failure) -> None:
    one = agent(way, time_limit=SHORT if way == "says no hello" else 20.0, on_failure=on_failure)
    with pytest.raises(ExecError, match="no hello") as caught:
        outcome(one)
    assert NO_HELLO[way] in str(caught.value)
    assert '"hello":"hearts-agent/1"' in str(caught.value)


def test_a_program_that_speaks_before_it_is_asked_is_refused() -> None:
    with pytest.raises(ExecError, match=r"said more before it was asked|no request of id"):
        outcome(agent("speaks before it is asked"))


@pytest.mark.parametrize("way", FAILURES)
def test_with_random_actions_for_failures_the_match_goes_on_and_they_are_counted(way: str) -> None:
    with agent(way, time_limit=SHORT if way == "is silent" else 20.0, on_failure="random") as one:
        result = outcome(one, Rules(pass_count=0), tables=1)
    # It fails at its 21st request and after a restart again; a second answer may be seen too late to change anything.
    assert (way != "answers twice") <= result.failures[0] <= 3
    assert result.points.sum() == 26 or result.moons.any()


def test_an_illegal_action_is_replaced_without_a_restart() -> None:
    with agent("is always illegal", on_failure="random") as one:
        result = outcome(one)
        assert one._restarts == 0
    assert result.failures[0] == result.decisions[0] == one.failures


def test_a_program_that_keeps_dying_is_not_started_for_ever(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exec_agent, "RESTARTS", 2)
    one = agent("dies in the middle", on_failure="random")
    with one:
        result = outcome(one, ONE_TRICK, tables=100)
    # It answers 20 of 100 requests in each of its lives.
    assert one._restarts > 2
    assert result.decisions[0] / 2 < result.failures[0] < result.decisions[0]
    assert "failed too often" in caplog.text


def test_random_actions_for_failures_do_not_depend_on_the_batch() -> None:
    results = []
    for tables in (20, 7):
        with agent("is always illegal", on_failure="random") as one:
            results.append(outcome(one, Rules(num_players=7), tables=tables))
    assert (results[0].points[:7] == results[1].points).all()


# -- ends ------------------------------------------------------------------------------------------------------------

PARENT = f"""
import numpy as np, sys
from hearts_agents import make
from hearts_env import Rules
from hearts_env.match.play_match import play
one = make("exec:" + {command("WAY")!r}.replace("WAY", sys.argv[1]))
play(Rules(), [one], [0] * 4, np.arange(30))
print("played", flush=True)
sys.stdin.readline()
play(Rules(), [one], [0] * 4, np.arange(30))
"""


def parent(way: str) -> subprocess.Popen[str]:
    """Another process with an agent that has played; it plays once more when it is told to."""
    process = subprocess.Popen(
        [sys.executable, "-c", PARENT, way],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=numpy_only(),
    )  # fmt: skip
    assert process.stdout is not None
    if way == "is good":
        assert process.stdout.readline() == "played\n"
    return process


def numpy_only() -> dict[str, str]:
    """Nothing is compiled in a process that lives for a moment."""
    return {**os.environ, "HEARTS_EXECUTOR": "numpy"}


@pytest.mark.parametrize("end", ["return", "interrupt", "terminate", "kill"])
def test_no_process_outlives_a_parent_that_ends_in_whatever_way(end: str) -> None:
    if end in ("terminate", "kill") and not sys.platform.startswith("linux"):
        pytest.skip("only Linux tells a process that its parent was killed")
    process = parent("is good")
    try:
        if end == "interrupt":
            process.send_signal(signal.SIGINT)
        elif end == "terminate":
            process.terminate()
        elif end == "kill":
            process.kill()
        process.communicate("", timeout=20)
    finally:
        process.kill()
        process.wait()
    # The fixture sees whether a process is left.


def test_ctrl_c_ends_a_batch_that_waits_for_an_answer() -> None:
    process = parent("is silent")
    try:
        until = time.monotonic() + 20
        while len(children()) < 2 and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, complaints = process.communicate(timeout=20)
    finally:
        process.kill()
        process.wait()
    assert "KeyboardInterrupt" in complaints


# -- names and limits ------------------------------------------------------------------------------------------------


def test_commands_that_cannot_be_run_are_refused_at_once() -> None:
    for wrong, said in (
        ("exec:", "needs a command"),
        ("exec:  ", "needs a command"),
        ("exec:'open", "No closing quotation"),
        ("exec:/no/such/program --fast", "'/no/such/program'"),
    ):
        with pytest.raises(AgentError, match=said):
            make(wrong)


@pytest.mark.parametrize("wrong", [0.0, -1.0, float("nan"), float("inf")])
def test_a_time_limit_is_a_number_of_seconds(wrong: float) -> None:
    with pytest.raises(ExecError, match="time_limit"):
        Limits(time_limit=wrong)


def test_the_failures_of_a_program_stand_in_the_standings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from hearts_cli.main import main

    name = f"exec:{command('dies in the middle')}"
    arguments = ["tournament", name, "random", "--deals", "2", "--out"]
    assert main([*arguments, str(tmp_path / "ended")]) == 2
    assert "segmentation fault" in capsys.readouterr().err
    assert main([*arguments, str(tmp_path), "--on-failure", "random", "--time-limit", "20"]) == 0
    lines = {line["agent"]: line for line in json.loads((tmp_path / "standings.json").read_text())["agents"]}
    assert lines["random"]["failures"] == 0
    assert lines[name]["failures"] > 0
    assert f"failed {lines[name]['failures']} times" in capsys.readouterr().out


def test_two_agents_of_one_command_have_a_process_each() -> None:
    name = f"exec:{command('is good')}"
    planned = plan_tournament(Rules(), [name, name], 1)
    assert planned.labels == (name, f"{name}#2")
    planned.play(0, 1, planned.seatings)
    first, second = planned.agents
    assert isinstance(first, ExecAgent)
    assert isinstance(second, ExecAgent)
    assert first._process is not second._process
    first.close()
    second.close()
