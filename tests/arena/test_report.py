"""The report of a tournament, and the benchmark on fixed deals."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from hearts_arena.report.html import html, markdown, write_report
from hearts_arena.run import hold
from hearts_arena.tournament_plan import plan_tournament
from hearts_cli import benchmark as benchmark_command
from hearts_cli.main import main
from hearts_env import Rules


@pytest.fixture(scope="module")
def content() -> dict:
    outcome = hold(plan_tournament(Rules(), ["rule", "random", "random:1", "random:2"], 30))
    assert outcome.content is not None
    return {**outcome.content, "command": "hearts tournament a 'b<c>'", "commit": "c0ffee", "versions": {"numpy": "2"}}


class Loads(HTMLParser):
    """What a page would fetch, and whether its tags are closed."""

    def __init__(self) -> None:
        super().__init__()
        self.sources: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attributes: list) -> None:
        self.sources += [value for name, value in attributes if name in ("src", "href")]
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_stands_alone_and_says_how_to_repeat_it(content: dict, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    write_report(tmp_path, content)
    page = (tmp_path / "report.html").read_text()
    loads = Loads()
    loads.feed(page)
    assert loads.open == []
    assert len(loads.sources) == 6
    assert all(source.startswith("data:image/png;base64,") for source in loads.sources)
    assert "<script" not in page
    assert "b&lt;c&gt;" in page
    assert "c0ffee" in page
    text = (tmp_path / "report.md").read_text()
    pictures = re.findall(r"!\[.*\]\((.*)\)", text)
    assert len(pictures) == 6
    assert all((tmp_path / picture).read_bytes().startswith(b"\x89PNG") for picture in pictures)


def test_without_matplotlib_the_tables_are_there_and_a_sentence_says_why_no_more(content: dict) -> None:
    for text in (html(content, {}), markdown(content, {})):
        assert "pip install" in text
        for line in content["agents"]:
            assert f"{line['payoff']:+.3f}" in text


def test_pictures_show_the_numbers_and_a_curve_where_there_are_checkpoints(content: dict) -> None:
    pytest.importorskip("matplotlib")
    from hearts_arena.report import plots

    figure = plots.standings(content)
    assert figure is not None
    points = figure.axes[0].lines[0].get_xdata()
    assert np.asarray(points).tolist() == [line["payoff"] for line in content["agents"]]
    assert plots.curve(content) is None
    names = ["net:run/checkpoints/0900.safetensors", "net:run/checkpoints/0100.safetensors", "rule", "random"]
    agents = [{**line, "agent": name} for line, name in zip(content["agents"], names, strict=True)]
    curve = plots.curve({**content, "agents": agents})
    assert curve is not None
    assert np.asarray(curve.axes[0].lines[0].get_xdata()).tolist() == [100, 900]


def test_the_command_writes_the_report_and_the_command_that_repeats_it(tmp_path: Path, capsys) -> None:
    arguments = ["tournament", "random", "random:1", "--deals", "4", "--rules", "three", "--workers", "1", "--out"]
    assert main([*arguments, str(tmp_path)]) == 0
    capsys.readouterr()
    written = json.loads((tmp_path / "standings.json").read_text())
    assert written["command"] == "hearts tournament random random:1 --deals 4 --rules three"
    assert (tmp_path / "report.html").exists()
    assert main([*written["command"].split()[1:], "--workers", "1"]) == 0
    assert f"{written['agents'][0]['payoff']:+.3f}" in capsys.readouterr().out


def test_power_tells_how_many_deals_a_difference_needs(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setattr("hearts_cli.tournament.PILOT_DEALS", 20)
    assert main(["tournament", "random", "random:1", "--power", "0.5", "--workers", "1"]) == 0
    out = capsys.readouterr().out
    assert "pilot of 20 other deal ids" in out
    assert "random, random:1" in out or "random:1, random" in out


def test_the_benchmark_prints_one_line_and_says_what_it_leaves_out(monkeypatch, capsys, tmp_path: Path) -> None:
    monkeypatch.setattr(benchmark_command, "DEALS", 5)
    arguments = ["benchmark", "rule", "--opponents", "random", "nobody:7", "--workers", "1"]
    assert main([*arguments, "--out", str(tmp_path / "b"), "--json", str(tmp_path / "line.json")]) == 0
    first = capsys.readouterr()
    assert re.fullmatch(r"hearts-benchmark/1  rule  random \+\d\.\d{3} ± \d\.\d{3}\n", first.out)
    assert "without nobody:7" in first.err
    deals = np.load(tmp_path / "b" / "random" / "deals.npz")
    assert np.unique(deals["deal_id"]).tolist() == [700_000_000 + number for number in range(5)]
    entry = json.loads((tmp_path / "line.json").read_text())
    assert entry["pack"] == "hearts-benchmark/1"
    assert entry["payoff"]["random"]["seconds_per_decision"] > 0
    assert main([*arguments, "--out", str(tmp_path / "b")]) == 0
    assert capsys.readouterr().out == first.out


def test_a_benchmark_of_nobody_is_refused(capsys) -> None:
    assert main(["benchmark", "nobody", "--opponents", "random"]) == 2
    assert "unknown agent 'nobody'" in capsys.readouterr().err


def test_entries_of_the_leaderboard_are_of_one_pack_against_one_network_and_say_what_they_took() -> None:
    folder = Path(__file__).parents[2] / "benchmarks" / "leaderboard"
    entries = [json.loads(path.read_text()) for path in folder.glob("*.json")]
    assert {entry["pack"] for entry in entries} == {benchmark_command.PACK}
    assert len({entry["net"] for entry in entries if "net" in entry["payoff"]}) <= 1
    for entry in entries:
        assert not entry["commit"].endswith("-dirty")
        assert entry["machine"]["cpu"]
        assert all(met["seconds_per_decision"] > 0 for met in entry["payoff"].values())


def test_points_that_nobody_made_are_drawn_as_none_and_moons_far_off_without_a_line() -> None:
    pytest.importorskip("matplotlib")
    from hearts_arena.report import plots

    values, shares = plots._distribution({0: 1, 1: 2, 3: 1, 26: 4})
    assert values.tolist() == list(range(27))
    assert shares[[0, 1, 2, 3, 26]].tolist() == [0.125, 0.25, 0, 0.125, 0.5]
    assert np.isnan(shares[4:26]).all()
