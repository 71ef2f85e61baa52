"""The benchmark: what it measures, what it writes, and that it does not time a broken engine."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from hearts_bench import layers as bench
from hearts_bench import plan as bench_plan
from hearts_bench.layers import DEFAULT_LAYERS, ONE_TABLE, BenchError, check, find_layer, memory
from hearts_bench.plan import Plan, best_tables, measure
from hearts_bench.timing import Work
from hearts_cli import bench as bench_command
from hearts_cli.bench import Bench
from hearts_env import Rules
from hearts_env.executor import available, chosen
from hearts_env.game.rules import PRESETS
from hearts_env.game.state import State


@pytest.fixture(autouse=True)
def shorter_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_command, "QUICK_SECONDS", 0.01)


def made(name: str, rules: Rules, tables: int) -> bench.Batch:
    try:
        return find_layer(name)(rules, tables)
    except ImportError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("name", DEFAULT_LAYERS)
def test_every_layer_is_measured(name: str) -> None:
    tables = 1 if name in ONE_TABLE else 32
    made(name, Rules(), tables)
    (result,) = measure([Plan(name, Rules(), chosen(), tables)], 0.01)
    assert (result.layer, result.executor, result.tables) == (name, chosen(), tables)
    assert result.runs >= 5
    assert result.deals_per_s > 0
    whole = name not in ("single", "vector")
    fewest, most = (52, 66) if whole else (12, 18)
    assert fewest <= result.decisions_per_s / result.deals_per_s <= most


def test_a_layer_gets_ready_under_the_executor_that_plays_it(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def layer(rules: Rules, tables: int) -> bench.Batch:
        seen.append(chosen())
        return bench.engine_layer(rules, tables)

    monkeypatch.setitem(bench.LAYERS, "engine", layer)
    measure([Plan("engine", Rules(), executor, 32) for executor in available()], 0.01)
    best_tables("engine", Rules(), "numpy", 0.001)
    assert seen == [*available(), *["numpy"] * (len(seen) - len(available()))]


@pytest.mark.parametrize("players", [2, 3, 7])
@pytest.mark.parametrize("name", [name for name in DEFAULT_LAYERS if ":" not in name])
def test_every_layer_plays_whole_deals_for_any_number_of_players(name: str, players: int) -> None:
    rules = Rules(num_players=players)
    batch = made(name, rules, 32)
    check(rules, [batch(number) for number in range(3 if name in ONE_TABLE else 1)])


@pytest.mark.parametrize("preset", PRESETS)
def test_random_play_is_in_range_under_every_preset(preset: str) -> None:
    rules = Rules.preset(preset)
    check(rules, [find_layer("engine")(rules, 200)(0), find_layer("match:random")(rules, 20)(0)])


def test_every_batch_size_asked_for_is_measured(tmp_path: Path) -> None:
    path = tmp_path / "bench.json"
    Bench(quick=True, layers=("engine",), executors=("numpy",), tables=(1, 8), json=path).run()
    assert [result["tables"] for result in json.loads(path.read_text())["results"]] == [1, 8]


def test_the_fastest_batch_size_is_found_where_none_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_plan, "TABLES", (1, 64))
    assert best_tables("engine", Rules(), "numpy", 0.0) == 64
    assert best_tables("aec", Rules(), "numpy", 0.0) == 1


def test_a_batch_of_no_tables_is_refused() -> None:
    with pytest.raises(BenchError, match="tables=0"):
        measure([Plan("engine", Rules(), "numpy", 0)], 0.0)


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
    info = bench.compiled_rules(Rules())
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
    assert {"cpu", "cores", "load_average", "load_average_after"} <= content["machine"].keys()
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


def test_learning_is_a_layer_and_tells_where_the_time_goes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    path = tmp_path / "bench.json"
    assert Bench(quick=True, layers=("train",), executors=("numpy",), json=path).run() == 0
    (row,) = json.loads(path.read_text(encoding="utf-8"))["results"]
    assert (row["layer"], row["executor"], row["num_players"]) == ("train", "numpy", 4)
    # Of the 68 decisions in a deal of four, those with a choice.
    assert 40 < row["decisions_per_s"] / row["deals_per_s"] < 60
    assert sum(row["microseconds"].values()) == pytest.approx(1e6 / row["decisions_per_s"], rel=0.5)
    assert "update: backward" in capsys.readouterr().out


def test_without_torch_learning_is_left_out_with_a_note(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "hearts_bench.learning", None)
    assert Bench(quick=True, layers=("train",)).run() == 0
    assert "train left out" in capsys.readouterr().err
