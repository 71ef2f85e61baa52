"""A tournament survives kills, full disks and lost workers, and comes out the same."""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hearts_arena import schedule, workers
from hearts_arena.finished_deals import FinishedDeals
from hearts_arena.ledger import LEDGER_NAME, Ledger, LedgerError
from hearts_arena.run import Options, hold
from hearts_arena.schedule import Schedule, Sizes
from hearts_arena.standings import Standings
from hearts_arena.tournament_plan import Tournament, TournamentError, plan_tournament
from hearts_arena.workers import InProcess, Processes, Spec, Task, WorkerLostError
from hearts_env import Rules

PROGRAM = [sys.executable, "-c", "import sys; from hearts_cli.main import main; sys.exit(main())"]
ABOUT = {"agents": ["a", "b"], "seed": 1}


def results(folder: Path) -> tuple[dict, dict]:
    """Everything in the folder that must not depend on how the tournament went."""
    content = json.loads((folder / "standings.json").read_text())
    content.pop("commit", None)  # a file of the checkout may be edited while the tests run
    for line in content["agents"]:
        del line["seconds_per_decision"]
    deals = np.load(folder / "deals.npz")
    return content, {name: deals[name].tobytes() for name in deals.files}


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "FIRST_TABLES", 12)
    monkeypatch.setattr(schedule, "MAX_TABLES", 24)


# -- the ledger ------------------------------------------------------------------------------------------------------


def ledger_with(path: Path, contents: list[bytes]) -> None:
    with Ledger(path, ABOUT) as ledger:
        for first, content in enumerate(contents):
            ledger.append(content, first, first + 1)


def kept(path: Path) -> list[bytes]:
    with Ledger(path, ABOUT, resume=True) as ledger:
        return list(ledger)


def test_a_ledger_gives_back_what_it_was_given_in_the_order_of_numbers(tmp_path: Path) -> None:
    with Ledger(tmp_path / LEDGER_NAME, ABOUT) as ledger:
        for first in (4, 0, 2):
            ledger.append(bytes([first]) * 100, first, first + 2)
    assert kept(tmp_path / LEDGER_NAME) == [bytes([first]) * 100 for first in (0, 2, 4)]


def test_a_ledger_cut_off_anywhere_loses_only_what_was_cut(tmp_path: Path) -> None:
    path, contents = tmp_path / LEDGER_NAME, [b"first" * 9, b"second" * 9, b"third" * 9]
    ledger_with(path, contents)
    whole = path.read_bytes()
    ends = [whole.index(content) + len(content) for content in contents]
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        assert kept(path) == contents[: sum(end <= size for end in ends)]
        with Ledger(path, ABOUT, resume=True) as ledger:
            ledger.append(b"again", 9, 10)
        assert kept(path)[-1] == b"again"


def test_a_damaged_chunk_is_dropped_with_what_follows(tmp_path: Path) -> None:
    path = tmp_path / LEDGER_NAME
    ledger_with(path, [b"first" * 9, b"second" * 9, b"third" * 9])
    damaged = bytearray(path.read_bytes())
    damaged[damaged.index(b"second")] ^= 1
    path.write_bytes(damaged)
    assert kept(path) == [b"first" * 9]


def test_a_ledger_of_another_tournament_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / LEDGER_NAME
    ledger_with(path, [b"first"])
    before = path.read_bytes()
    with pytest.raises(LedgerError, match="its seed is 1, asked is 2"):
        Ledger(path, {**ABOUT, "seed": 2}, resume=True)
    with pytest.raises(LedgerError, match="--resume continues it"):
        Ledger(path, ABOUT)
    assert path.read_bytes() == before
    (tmp_path / "notes").write_text("these are my notes, and no ledger at all")
    with pytest.raises(LedgerError, match="no ledger"):
        Ledger(tmp_path / "notes", ABOUT, resume=True)
    assert (tmp_path / "notes").read_text().startswith("these are my notes")


def test_two_processes_cannot_write_one_ledger(tmp_path: Path) -> None:
    with Ledger(tmp_path / LEDGER_NAME, ABOUT), pytest.raises(LedgerError, match="another process"):
        Ledger(tmp_path / LEDGER_NAME, ABOUT, resume=True)


def test_a_chunk_comes_back_from_its_bytes_whole_and_in_part() -> None:
    planned = plan_tournament(Rules(), ["random", "random:1"], 5)
    chunk = planned.play(0, 5, planned.seatings, keep_deals=True, records=True)
    again = FinishedDeals.from_bytes(chunk.to_bytes())
    assert again.records == chunk.records
    assert again.to_bytes() == chunk.to_bytes()
    alone = planned.play(0, 3, planned.seatings, keep_deals=True, records=True)
    head = again.head(3)
    assert head.records == alone.records
    assert {name: values.tobytes() for name, values in head.columns.items()} == {
        name: values.tobytes() for name, values in alone.columns.items()
    }


# -- kills and full disks --------------------------------------------------------------------------------------------


def command(folder: Path, *arguments: str) -> list[str]:
    names = ["tournament", "random", "random:1", "--deals", "1500", "--out", str(folder), "--records"]
    return [*PROGRAM, *names, *arguments]


def start(folder: Path, *arguments: str, **options) -> subprocess.Popen:
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command(folder, *arguments), **pipes, **options)


def ends(folder: Path, *arguments: str) -> bool:
    """Does it end well?"""
    return subprocess.run(command(folder, *arguments), capture_output=True, timeout=300).returncode == 0


def seconds_at_risk(folder: Path, process: subprocess.Popen, kill_after: float = float("inf")) -> float:
    """Wait from the moment that the ledger is there until the process ends: the seconds.  Kill it after so many."""
    with process:
        while process.poll() is None and not (folder / LEDGER_NAME).exists():
            time.sleep(0.002)
        begin = time.monotonic()
        while process.poll() is None and time.monotonic() < begin + kill_after:
            time.sleep(0.002)
        if process.poll() is None:
            process.kill()
        process.communicate()
        return time.monotonic() - begin


@pytest.mark.slow
def test_kill_9_at_random_moments_changes_nothing(tmp_path: Path) -> None:
    calm = tmp_path / "calm"
    process = start(calm, "--workers", "1")
    seconds = seconds_at_risk(calm, process)
    assert process.returncode == 0
    dice = random.Random(1)
    killed, number = 0, 0
    while killed < 10:
        folder = tmp_path / str(number)
        for _ in range(4):
            process = start(folder, "--resume", "--workers", str(1 + number % 2))
            seconds_at_risk(folder, process, dice.uniform(0.0, seconds))
            assert process.returncode in (0, -signal.SIGKILL)
            killed += process.returncode != 0
        assert ends(folder, "--resume")
        assert results(folder) == results(calm)
        assert (folder / "records.jsonl").read_text() == (calm / "records.jsonl").read_text()
        assert not (folder / LEDGER_NAME).exists()
        number += 1


@pytest.mark.usefixtures("small_chunks")
def test_a_tournament_that_goes_on_plays_only_what_is_missing(tmp_path: Path, monkeypatch) -> None:
    planned = plan_tournament(Rules(), ["random", "random:1"], 40)
    hold(planned, tmp_path / "calm")
    folder = tmp_path / "broken"
    seen: list[int] = []
    whole = Tournament.play

    def breaks_at_twenty(self: Tournament, first: int, *arguments, **options) -> FinishedDeals:
        if first >= 20 and len(seen) < 100:
            raise ValueError("gone")
        return whole(self, first, *arguments, **options)

    def counts(self: Tournament, first: int, end: int, *arguments, **options) -> FinishedDeals:
        seen.extend(range(first, end))
        return whole(self, first, end, *arguments, **options)

    monkeypatch.setattr(Tournament, "play", breaks_at_twenty)
    outcome = hold(planned, folder)
    assert str(outcome.failure) == "gone"
    done = json.loads((folder / "standings.json").read_text())["deals"]
    assert 0 < done < 40
    monkeypatch.setattr(Tournament, "play", counts)
    assert hold(planned, folder, Options(resume=True)).finished
    assert seen == list(range(done, 40))
    assert results(folder) == results(tmp_path / "calm")
    seen.clear()
    assert hold(planned, folder, Options(resume=True)).finished
    assert seen == []


def test_a_swiss_that_goes_on_pairs_as_it_would_have(tmp_path: Path) -> None:
    planned = plan_tournament(Rules(), ["random", "rule", "random:1", "rule"], 40, format="swiss", rounds=3)
    hold(planned, tmp_path / "calm")
    calls = []

    def interrupt(standings: Standings) -> None:
        calls.append(standings.deals)
        if len(calls) == 3:
            raise ValueError("stop")

    assert not hold(planned, tmp_path / "broken", watch=interrupt).finished
    assert hold(planned, tmp_path / "broken", Options(resume=True)).finished
    assert results(tmp_path / "broken") == results(tmp_path / "calm")


def test_a_full_disk_stops_it_with_one_sentence_and_keeps_what_is_finished(tmp_path: Path) -> None:
    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))

    process = start(tmp_path, "--workers", "1", preexec_fn=small_files)
    _, complaints = process.communicate(timeout=120)
    assert process.returncode == 2
    assert complaints.count("\n") == 1
    assert "make room, and repeat the command with --resume" in complaints
    process = start(tmp_path, "--workers", "1", "--resume")
    _, complaints = process.communicate(timeout=120)
    assert (process.returncode, complaints) == (0, "")
    assert json.loads((tmp_path / "standings.json").read_text())["deals"] == 1500


@pytest.mark.parametrize("call", [1, 3])
@pytest.mark.parametrize(
    "moment", [(os, "fsync"), (FinishedDeals, "from_bytes"), (Ledger, "append"), (Standings, "add")]
)
def test_ctrl_c_at_any_moment_counts_all_that_the_ledger_holds(
    moment: tuple[object, str], call: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_chunks: None
) -> None:
    planned = plan_tournament(Rules(), ["random", "random:1"], 40)
    hold(planned, tmp_path / "calm")
    owner, name = moment
    whole, calls = getattr(owner, name), []

    def presses(*arguments: object) -> object:
        calls.append(name)
        if len(calls) == call + (name in ("fsync", "append")):  # the first one writes the ledger's head
            signal.raise_signal(signal.SIGINT)
        return whole(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(owner, name, presses)
        outcome = hold(planned, tmp_path / "broken")
    assert not outcome.finished
    assert outcome.failure is None
    done = json.loads((tmp_path / "broken" / "standings.json").read_text())["deals"]
    about = {**planned.to_json(), "records": False}
    with Ledger(tmp_path / "broken" / LEDGER_NAME, about, resume=True) as ledger:
        assert done == max(ledger.spans.values()) > 0
    assert hold(planned, tmp_path / "broken", Options(resume=True)).finished
    assert results(tmp_path / "broken") == results(tmp_path / "calm")


# -- engines ---------------------------------------------------------------------------------------------------------


def test_processes_give_the_same_as_one_and_a_killed_one_is_replaced(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(schedule, "ALONE_SECONDS", 0.0)
    monkeypatch.setattr(schedule, "MAX_TABLES", 128)
    planned = plan_tournament(Rules(), ["random", "random:1"], 300)
    assert hold(planned, tmp_path / "one").finished
    made: list[Processes] = []
    monkeypatch.setattr(workers, "Processes", lambda *given: made.append(Processes(*given)) or made[-1])
    killed: list[int] = []

    def kill_one(standings: Standings) -> None:
        if made and made[0].pids and not killed:
            killed.append(made[0].pids[0])
            os.kill(killed[0], signal.SIGKILL)

    assert hold(planned, tmp_path / "two", Options(workers=2), kill_one).finished
    assert killed
    assert results(tmp_path / "two") == results(tmp_path / "one")


@pytest.mark.slow
def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    process = start(tmp_path, "--deals", "1000000", "--workers", "2", start_new_session=True)
    try:
        deadline = time.monotonic() + 60
        while len(members(process.pid)) < 5 and time.monotonic() < deadline:  # tracker, server and two workers
            time.sleep(0.2)
        assert len(members(process.pid)) >= 5
        process.send_signal(signal.SIGKILL)
        process.wait()
        deadline = time.monotonic() + 20
        while members(process.pid) and time.monotonic() < deadline:
            time.sleep(0.2)
        assert not members(process.pid)
    finally:
        for member in members(process.pid):
            os.kill(member, signal.SIGKILL)
        process.communicate()


def members(session: int) -> list[int]:
    """The living processes of a session."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session and fields[0] != "Z":
                found.append(int(entry.name))
    return found


class Unreliable:
    """An engine of two slots, of which each task is lost a number of times and whose answers come in another order."""

    slots = 2
    lost = (WorkerLostError,)

    def __init__(self, planned: Tournament, losses: int) -> None:
        self.failed = 0
        self._inner = InProcess(planned, keep_deals=True, records=False)
        self._losses = losses
        self._deals, self._kept = planned.deals, 0
        self._seen: dict[int, int] = {}
        self._held: list[tuple[Future[bytes], Future[bytes]]] = []

    def submit(self, task: Task) -> Future[bytes]:
        future: Future[bytes] = Future()
        self._seen[task.first] = self._seen.get(task.first, 0) + 1
        if self._seen[task.first] <= self._losses:
            self.failed += 1
            future.set_exception(WorkerLostError())
            return future
        self._held.append((future, self._inner.submit(task)))
        self._kept += task.end - task.first
        if len(self._held) == 2 or self._kept == self._deals:
            for held, inner in reversed(self._held):
                held.set_result(inner.result())
            self._held.clear()
        return future

    def close(self) -> None: ...


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("losses", [0, 1, 3])
def test_lost_tasks_are_played_again_and_come_out_in_order(losses: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hearts_arena.schedule.time.sleep", lambda seconds: None)
    planned = plan_tournament(Rules(), ["random", "random:1"], 40)
    engine = Unreliable(planned, losses)
    found = list(Schedule(engine).in_order(0, 40, planned.seatings))
    assert [chunk.first for chunk in found] == sorted({chunk.first for chunk in found})
    assert sum(map(len, found)) == 40
    assert (engine.failed > 0) == (losses > 0)
    whole = planned.play(0, 40, planned.seatings)
    assert (np.concatenate([chunk.points for chunk in found]) == whole.points).all()


def test_workers_that_are_always_lost_end_it_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hearts_arena.schedule.time.sleep", lambda seconds: None)
    planned = plan_tournament(Rules(), ["random", "random:1"], 40)
    with pytest.raises(TournamentError, match="workers were lost"):
        list(Schedule(Unreliable(planned, 1000)).in_order(0, 40, planned.seatings))


def test_other_processes_are_started_for_what_is_long_and_not_for_what_only_has_to_warm_up() -> None:
    planned = plan_tournament(Rules(), ["random", "random:1"], 1000)
    chunk = planned.play(0, 2, planned.seatings)

    def settled(*walls: float) -> bool:
        sizes = Sizes()
        for wall in walls:
            sizes.tables = 12
            sizes.saw(replace(chunk, wall=wall))
        return sizes.settled

    assert not settled(3.0)
    assert not settled(3.0, 0.001)
    assert settled(3.0, 0.5)
    assert settled(60.0)


def test_workers_end_without_a_word(capfd: pytest.CaptureFixture[str]) -> None:
    planned = plan_tournament(Rules(), ["random", "random:1"], 4)
    for _ in range(3):
        engine = Processes(Spec.of(planned, keep_deals=False, records=False), 1)
        engine.submit(Task(0, 1, planned.seatings)).result()
        engine.close()
    time.sleep(0.3)
    assert capfd.readouterr().err == ""


def test_an_error_of_an_agent_comes_through_from_another_process() -> None:
    planned = plan_tournament(Rules(), ["random", "random:1"], 4, games=True)
    engine = Processes(Spec.of(planned, keep_deals=False, records=False), 1)
    try:
        with pytest.raises(ValueError, match="lineup"):
            engine.submit(Task(0, 4, np.full((1, 4), 7, np.int16))).result()
        assert len(FinishedDeals.from_bytes(engine.submit(Task(0, 2, planned.seatings)).result())) == 2
    finally:
        engine.close()


def playing() -> list[int]:
    """The processes in which Ray is playing deals at this moment, by the title that it gives them."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and (entry / "cmdline").read_bytes().startswith(b"ray::_ray_work"):
                found.append(int(entry.name))
    return found


@pytest.mark.slow
def test_a_ray_worker_that_is_killed_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ray = pytest.importorskip("ray", reason="needs the extra dist")
    monkeypatch.setattr(schedule, "ALONE_SECONDS", 0.0)
    monkeypatch.setattr(schedule, "MAX_TABLES", 128)
    planned = plan_tournament(Rules(), ["random", "random:1"], 300)
    hold(planned, tmp_path / "one")
    killed: list[int] = []

    def kill_one(standings: Standings) -> None:
        if ray.is_initialized() and not killed and standings.deals < 200:
            killed.extend(playing())
            for process in killed:
                os.kill(process, signal.SIGKILL)

    assert hold(planned, tmp_path / "two", Options(workers=2, engine="ray"), kill_one).finished
    assert killed
    assert results(tmp_path / "two") == results(tmp_path / "one")
