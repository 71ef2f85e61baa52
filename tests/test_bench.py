"""The benchmark: what it measures, what it writes, and that it does not time a broken engine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hearts_env import Rules
from hearts_env.executor import available, chosen
from hearts_env.rules import PRESETS
from hearts_env.state import State
from hearts_train import bench
from hearts_train.bench import DEFAULT_LAYERS, BenchError, Work, check, find_layer, measure, memory
from hearts_train.bench_command import Bench


@pytest.mark.parametrize("name", DEFAULT_LAYERS)
def test_every_layer_is_measured(name: str) -> None:
    (result,) = measure(name, Rules(), [32], seconds=0.01)
    assert result.layer == name
    assert result.tables == (1 if name == "aec" else 32)
    assert result.runs >= 5
    assert result.deals_per_s > 0
    assert 52 <= result.decisions_per_s / result.deals_per_s <= 66


@pytest.mark.parametrize("preset", PRESETS)
def test_random_play_is_in_range_under_every_preset(preset: str) -> None:
    rules = Rules.preset(preset)
    check(rules, [find_layer("engine")(rules, 200)(0), find_layer("match:random")(rules, 20)(0)])


def test_every_batch_size_asked_for_is_measured() -> None:
    assert [result.tables for result in measure("engine", Rules(), [1, 8], seconds=0.0)] == [1, 8]


def test_the_fastest_batch_size_is_found_where_none_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "TABLES", (1, 64))
    (result,) = measure("engine", Rules(), seconds=0.0)
    assert result.tables == 64


def test_passing_and_moon_choices_are_part_of_the_engine_layer() -> None:
    work = find_layer("engine")(Rules(), 400)(0)
    # Three deals of four pass three cards a seat; a moon adds one decision.
    assert work.decisions == 400 * 52 + 300 * 12 + (work.deals - work.scored)
    assert work.points == 26 * work.scored


@pytest.mark.parametrize(
    "work",
    [Work(1000, 52_000, 1000, 20_000), Work(1000, 52_000, 1000, 40_000), Work(1000, 51_000, 1000, 26_000)],
)
def test_a_broken_engine_is_not_timed(work: Work) -> None:
    check(Rules(), [Work(1000, 61_000, 1000, 26_000)])
    with pytest.raises(BenchError, match="a deal"):
        check(Rules(), [work])


def test_memory_is_that_of_the_state() -> None:
    info = bench.lookup(Rules())
    told = memory(Rules())
    assert told["state_bytes"] * 10 == State.empty(info, 10).nbytes
    assert told["state_mib"] == pytest.approx(told["state_bytes"] / 16, abs=0.1)


def test_the_json_file_says_what_was_measured_on_what(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "deep" / "bench.json"
    assert (
        Bench(quick=True, layers=("engine",), players=(2, 3), executors=("numpy",), tables=(16,), json=path).run() == 0
    )
    content = json.loads(path.read_text())
    assert set(content) == {"commit", "machine", "versions", "results", "memory"}
    assert content["commit"]
    assert {"cpu", "cores", "load_average"} <= content["machine"].keys()
    assert {"python", "numpy"} <= content["versions"].keys()
    keys = {"layer", "executor", "tables", "rules", "num_players", "deals_per_s", "decisions_per_s"}
    assert all(keys <= result.keys() for result in content["results"])
    assert [result["num_players"] for result in content["results"]] == [2, 3]
    assert "engine" in capsys.readouterr().out


def test_every_executor_there_is_is_measured(tmp_path: Path) -> None:
    path = tmp_path / "bench.json"
    before = chosen()
    assert Bench(quick=True, layers=("engine",), tables=(16,), json=path).run() == 0
    assert tuple(result["executor"] for result in json.loads(path.read_text())["results"]) == available()
    assert chosen() == before


def test_a_layer_whose_module_is_missing_is_left_out_with_a_note(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(rules: Rules, tables: int) -> bench.Batch:
        raise ImportError("no such module")

    monkeypatch.setitem(bench.LAYERS, "aec", missing)
    assert Bench(quick=True, layers=("aec",)).run() == 0
    assert "aec left out: no such module" in capsys.readouterr().err
