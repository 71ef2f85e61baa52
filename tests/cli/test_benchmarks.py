"""The comparing benchmarks: the C program plays our game, ratios are taken in one run, what is missing is left out."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest

import benchmark_tables
import comparison
import deals_per_second
import guard
import limit
import overhead
import peers
from comparison import Entry
from hearts_bench import plan as bench_plan
from hearts_bench.layers import BenchError, check
from hearts_bench.timing import Contender, TimedRun, Work, by_turns, median_ratio, repeat
from hearts_env import Rules
from hearts_env.executor import available

needs_numba = pytest.mark.skipif("compiled" not in available(), reason="no numba")
needs_compiler = pytest.mark.skipif(limit.compiler() is None, reason="no C compiler")


def pretend(name: str, deals_per_s: list[float], decisions: int = 61) -> Contender:
    """Somebody who plays that many deals in a second, from round to round."""
    speeds = iter([1.0, *deals_per_s])

    def run(first: int, seconds: float) -> TimedRun:
        deals = int(next(speeds))
        return TimedRun(Work(deals, decisions * deals, deals, 26 * deals), 2.0, 1.0)

    return Contender(name, run)


# -- timing ----------------------------------------------------------------------------------------------------------


def test_contenders_take_turns_and_the_order_is_turned_round() -> None:
    order: list[str] = []

    def named(name: str) -> Contender:
        def run(first: int, seconds: float) -> TimedRun:
            order.append(name)
            return TimedRun(Work(1, 1, 1, 1), 1.0, 1.0)

        return Contender(name, run)

    told: list[str] = []
    by_turns([named("a"), named("b"), named("c")], 0.0, runs=3, tell=told.append)
    assert "".join(order) == "abc" + "abc" + "cba" + "abc"
    assert told == order


def test_every_round_plays_other_deals() -> None:
    begun: list[int] = []

    def run(first: int, seconds: float) -> TimedRun:
        begun.append(first)
        return TimedRun(Work(1, 1, 1, 1), 1.0, 1.0)

    by_turns([Contender("", run)], 0.0)
    assert len(set(begun)) == len(begun) == 6


def test_a_ratio_is_the_median_of_ratios_of_the_same_round() -> None:
    # The machine is ten times as slow in the last two rounds: the ratio is 2 throughout.
    assert median_ratio([200, 200, 200, 20, 20], [100, 100, 100, 10, 10]) == 2
    assert median_ratio([200, 200, 20], [10, 100, 10]) == 2


def test_a_run_counts_the_work_of_a_core_and_not_the_turns_of_others() -> None:
    def batch(first: int) -> Work:
        time.sleep(0.02)
        sum(range(20_000))
        return Work(1, 2, 1, 26)

    run = repeat(batch, 0, 0.005)
    assert run.clock >= 0.02 * run.work.deals
    assert 0.005 <= run.core < run.clock
    assert run.core_share < 1
    assert run.deals_per_s() > run.deals_per_s(clock=True)


def test_a_run_plays_each_deal_id_once() -> None:
    firsts: list[int] = []

    def batch(first: int) -> Work:
        firsts.append(first)
        return Work(7, 1, 1, 1)

    run = repeat(batch, 100, 0.001)
    assert firsts == list(range(100, 100 + run.work.deals, 7))


def test_the_work_of_another_thread_count_is_done_in_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(bench_plan.THREADS, raising=False)
    plans = [bench_plan.Plan("engine", Rules(), "numpy", 64, threads) for threads in (1, 2)]
    one, two = bench_plan.measure(plans, 0.01)
    assert (one.threads, two.threads) == (1, 2)
    assert two.deals_per_s == two.clock_deals_per_s
    assert one.slowest_deals_per_s <= one.deals_per_s <= one.fastest_deals_per_s


# -- the limit -------------------------------------------------------------------------------------------------------


@needs_compiler
def test_the_c_program_gives_the_points_of_the_engine_deal_by_deal() -> None:
    agreed = limit.check(limit.build(), 2000)
    assert agreed["deals"] == 2000
    assert agreed["moons"] > 0


@needs_compiler
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("broken || !plain ? hand : plain", "hand"),
        ("first && safe ? safe : hand", "hand"),
        ("{1, 3, 2, 0}", "{1, 2, 3, 0}"),
        ("(BIT(card) & suit) && card > best", "card > best"),
        ("(table & PENALTY) != 0", "(table & HEARTS) != 0"),
        ("if (!out->moon) return;", "return;"),
    ],
)
def test_a_c_program_that_plays_another_game_is_found_out(right: str, wrong: str, tmp_path: Path) -> None:
    text = limit.SOURCE.read_text(encoding="utf-8")
    assert text.count(right) == 1
    source = tmp_path / "wrong.c"
    source.write_text(text.replace(right, wrong), encoding="utf-8")
    with pytest.raises(limit.LimitError, match=r"deal \d+: the engine gives"):
        limit.check(limit.build(source), 2000)


@needs_compiler
def test_the_random_play_of_the_c_program_is_that_of_the_rules() -> None:
    works = [limit.random_batch(limit.build())(seed) for seed in (1, 2)]
    check(Rules(), works)
    moons = [work.deals - work.scored for work in works]
    assert all(work.points == 26 * work.scored for work in works)
    assert all(work.decisions == 61 * work.deals + shot for work, shot in zip(works, moons, strict=True))
    assert 20 < sum(moons) < 400


def test_without_a_compiler_the_limit_is_left_out_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    assert limit.Limit(quick=True, json=tmp_path / "limit.json").run() == 0
    assert "left out: no C compiler" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


# -- comparing -------------------------------------------------------------------------------------------------------


def test_a_comparison_names_what_was_asked_and_how_many_times_as_fast_ours_is(tmp_path: Path) -> None:
    mine = Entry(pretend("mine", [100, 300, 200, 100, 50]), "all of it", rules=Rules())
    other = Entry(pretend("other", [50, 100, 20, 50, 10]), "half of it", against=("mine", "not here"))
    path = tmp_path / "compared.json"
    comparison.run([mine, other], path, quick=True, left_out=["somebody: not here"])
    content = json.loads(path.read_text())
    assert {"commit", "machine", "versions", "results", "left_out"} <= content.keys()
    assert {"load_average", "load_average_after"} <= content["machine"].keys()
    first, second = content["results"]
    assert (second["asked"], second["ours_is_times"]) == ("half of it", {"mine": 3})
    assert (first["deals_per_s"], first["decisions_per_s"], first["core_share"]) == (100, 6100, 0.5)
    assert (first["slowest_deals_per_s"], first["fastest_deals_per_s"]) == (50, 300)


def test_another_game_is_compared_in_decisions() -> None:
    mine = Entry(pretend("mine", [100] * 5), "", rules=Rules())
    other = Entry(pretend("other", [100] * 5, decisions=5), "", against=("mine",), unit="decisions")
    assert comparison.compare([mine, other], 0.0)[1]["ours_is_times"] == {"mine": 12.2}


def test_one_that_should_play_our_rules_and_does_not_is_not_timed() -> None:
    with pytest.raises(BenchError, match="decisions a deal"):
        comparison.compare([Entry(pretend("other", [100] * 5, decisions=11), "", rules=Rules())], 0.0)


@pytest.mark.parametrize("peer", peers.PEERS, ids=lambda peer: peer.name)
def test_a_peer_plays_whole_deals_or_is_left_out(peer: peers.Peer) -> None:
    try:
        entry = peers.entry(peer)
    except ImportError as error:
        pytest.skip(str(error))
    work = entry.contender.run(1, 0.0).work
    assert work.deals >= 1
    assert work.decisions >= work.deals
    assert set(entry.against) <= {ours.name for ours in comparison.ours("engine", "encode", "aec")}
    if entry.rules:
        check(entry.rules, [work])


def test_a_peer_that_is_not_installed_is_left_out_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> peers.Batch:
        raise ImportError("No module named 'elsewhere'")

    monkeypatch.setattr(peers, "PEERS", (peers.Peer("elsewhere", missing, "nothing", ("engine",)),))
    _, left_out = peers.entries()
    assert "elsewhere: No module named 'elsewhere'" in left_out


def test_every_environment_among_the_layers_is_compared_with_the_core() -> None:
    found, left_out = overhead.entries()
    names = {entry.name for entry in found}
    for entry in found:
        assert set(entry.against) <= names
    seen = {re.split(r"[ ,]", text)[0].removesuffix(":") for text in (*names, *left_out)}
    environments = {"aec", "parallel", "single", "vector", "sb3", "sb3-tutorial", "torchrl", "torchrl-wrapper"}
    assert seen == {"engine", "encode", *environments}
    assert f"aec {available()[0]}, 1 table" in names


def test_every_layer_player_count_and_size_is_planned() -> None:
    plans = deals_per_second.every_layer(256)
    assert {plan.rules.num_players for plan in plans} == {2, 3, 4, 5, 6, 7}
    assert {plan.executor for plan in plans} == set(available())
    sizes = deals_per_second.every_size(deals_per_second.SIZES)
    assert {plan.tables for plan in sizes} >= {1, 65536}


# -- the documents ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["bench", "players", "threads", "memory", "limit", "peers", "ratios", "overhead"])
def test_without_results_the_documents_say_how_to_get_some(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(benchmark_tables, "RESULTS", tmp_path)
    assert getattr(benchmark_tables, name)() in (benchmark_tables.MISSING, "Not measured here yet.")


def test_the_table_of_threads_compares_with_one_thread_on_the_clock(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    row = {"layer": "engine", "executor": "compiled", "tables": 64, "num_players": 4}
    rows = [
        {**row, "threads": 1, "deals_per_s": 999.0, "clock_deals_per_s": 100.0},
        {**row, "threads": 2, "deals_per_s": 180.0, "clock_deals_per_s": 180.0},
    ]
    (tmp_path / "deals_per_second.json").write_text(json.dumps({"results": rows}))
    monkeypatch.setattr(benchmark_tables, "RESULTS", tmp_path)
    assert "| `engine` | 64 | 2 | 100 | 180 | 1.80 |" in benchmark_tables.threads()


def test_the_plots_are_drawn_from_the_results(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    import plots

    speed = {"deals_per_s": 10.0, "slowest_deals_per_s": 9.0, "fastest_deals_per_s": 11.0, "clock_deals_per_s": 9.0}
    row = {"layer": "engine", "executor": "compiled", "num_players": 4, **speed}
    rows = [{**row, "tables": tables, "threads": threads} for tables in (1, 64) for threads in (1, 2)]
    results = tmp_path / "results.json"
    results.write_text(json.dumps({"results": rows}))
    assert plots.Plots(results, tmp_path).run() == 0
    assert {path.name for path in tmp_path.glob("*.png")} == {"deals_by_tables.png", "deals_by_threads.png"}
    results.write_text(json.dumps({"results": rows[:1]}))
    (tmp_path / "deals_by_threads.png").unlink()
    assert plots.Plots(results, tmp_path).run() == 0
    assert not (tmp_path / "deals_by_threads.png").exists()


# -- the guard -------------------------------------------------------------------------------------------------------


def test_no_layer_has_become_twice_as_slow_beside_a_loop_that_never_changes() -> None:
    kept = guard.kept()
    assert {each.name for each in guard.GUARDED} == kept.keys()
    complaints = guard.slower(guard.ratios(), kept)
    if complaints:
        # Whoever shares the machine may have pushed our arrays out of its caches: once is chance.
        complaints = guard.slower(guard.ratios(), kept)
    assert not complaints


def test_the_guard_notices_a_layer_that_has_become_slower(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "GUARDED", guard.GUARDED[:1])
    name = guard.GUARDED[0].name
    now = guard.ratios(2)
    assert guard.slower(now, {name: now[name] * 2.1}) == [
        f"{name} plays {now[name]:g} deals a unit of its loop, less than 0.5 of the {now[name] * 2.1:g} of before"
    ]
    assert guard.slower(now, {name: now[name] * 1.9}) == []
