"""Duplicate tournaments: who sits where, which deals, and what the standings say."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from hearts_arena import schedule
from hearts_arena.formats import DesignError, compositions
from hearts_arena.results import to_json
from hearts_arena.run import Options, hold
from hearts_arena.schedule import Schedule
from hearts_arena.standings import Standings
from hearts_arena.stats.agreement import agreement
from hearts_arena.tournament_plan import Tournament, TournamentError, deal_ids, named, plan_tournament
from hearts_arena.workers import InProcess
from hearts_env import Rules
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.engine import shuffle
from hearts_env.game.rewards import payoff
from hearts_env.match.play_match import play
from hearts_env.text.record import Record
from hearts_env.text.replay import replay


def played(planned: Tournament) -> Standings:
    standings = Standings(planned)
    engine = InProcess(planned, keep_deals=False, records=False)
    for chunk in Schedule(engine).in_order(0, planned.deals, planned.seatings):
        standings.add(chunk)
    return standings


def seatings(rules: Rules, agents: int, **options) -> np.ndarray:
    return plan_tournament(rules, ["random"] * agents, 1, **options).seatings


def without_times(content: dict) -> dict:
    for line in content["agents"]:
        del line["seconds_per_decision"]
    return content


# -- deal ids and seatings -------------------------------------------------------------------------------------------


def test_the_deal_ids_of_a_short_tournament_begin_those_of_a_long_one() -> None:
    assert (deal_ids(5, 0, 100) == deal_ids(5, 0, 1000)[:100]).all()
    assert (deal_ids(5, 40, 60) == deal_ids(5, 0, 100)[40:60]).all()


def test_deal_ids_are_legal_and_differ_between_numbers_and_seeds() -> None:
    ids = np.concatenate([deal_ids(seed, 0, 1000) for seed in (0, 1, 2**63 - 1)])
    assert ids.min() >= 0
    assert len(np.unique(ids)) == 3000


def test_as_many_agents_as_seats_turn_round_one_table() -> None:
    assert seatings(Rules(), 4).tolist() == [[0, 1, 2, 3], [3, 0, 1, 2], [2, 3, 0, 1], [1, 2, 3, 0]]


def test_two_agents_at_four_seats_halve_them_in_six_ways() -> None:
    rows = {tuple(row) for row in seatings(Rules(), 2).tolist()}
    assert len(rows) == 6
    assert all(sum(row) == 2 for row in rows)


@pytest.mark.parametrize(("players", "agents"), [(p, a) for p in range(2, 8) for a in (2, 3, 4)])
def test_every_agent_sits_in_every_seat_equally_often(players: int, agents: int) -> None:
    rows = seatings(Rules(num_players=players), agents)
    assert len({tuple(row) for row in rows.tolist()}) == len(rows)
    counts = Counter((seat, agent) for row in rows.tolist() for seat, agent in enumerate(row))
    assert len(set(counts.values())) == 1
    assert len(counts) == players * agents


def test_with_teams_each_agent_plays_a_whole_side() -> None:
    rows = seatings(Rules.preset("partnership"), 4)
    assert len(rows) == 12
    assert (rows[:, 0] == rows[:, 2]).all()
    assert (rows[:, 1] == rows[:, 3]).all()


def test_agents_of_the_same_name_get_labels_of_their_own() -> None:
    assert plan_tournament(Rules(), ["random", "random:1", "random"], 1).labels == ("random", "random:1", "random#2")


@pytest.mark.parametrize(
    ("names", "deals", "seed", "sentence"),
    [
        (["random"], 10, 0, "two agents"),
        (["random", "random"], 0, 0, "deals=0"),
        (["random", "random"], 10, -1, "seed=-1"),
        (["random", "random"], 10, 2**63, "seed="),
        (["random", "nobody"], 10, 0, "nobody"),
    ],
)
def test_what_cannot_be_held_is_refused_with_a_sentence(names: list[str], deals: int, seed: int, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        plan_tournament(Rules(), names, deals, seed=seed)


def test_the_error_of_a_tournament_is_a_value_error() -> None:
    assert issubclass(TournamentError, ValueError)


# -- standings -------------------------------------------------------------------------------------------------------


def test_an_agent_under_two_names_is_as_good_as_itself() -> None:
    for line in played(plan_tournament(Rules(), ["random", "random:1"], 600)).standings:
        assert line.payoff.se is not None
        assert abs(line.payoff.mean) < 4 * line.payoff.se
        assert line.points.mean == pytest.approx(6.5, abs=0.5)


def test_standard_errors_are_over_deal_ids_and_not_over_seatings() -> None:
    planned = plan_tournament(Rules(), ["random", "random:1"], 50, seed=3)
    ids = np.repeat(deal_ids(3, 0, 50), 6)
    lineup = np.tile(planned.seatings, (50, 1))
    result = play(Rules(), planned.agents, lineup, ids, seed=3)
    mine = lineup == 0
    by_table = np.where(mine, payoff(compiled_rules(Rules()), result.points), 0).sum(axis=1) / 2
    by_id = by_table.reshape(50, 6).mean(axis=1)
    line = next(line for line in played(planned).standings if line.agent == "random")
    assert line.payoff.mean == pytest.approx(by_id.mean())
    assert line.payoff.se == pytest.approx(by_id.std(ddof=1) / 50**0.5)
    assert line.points.mean == pytest.approx(result.points[mine].mean())
    assert line.moons == result.moons[mine].sum()
    assert line.seat_deals == 600


@pytest.mark.parametrize("games", [False, True])
def test_the_size_of_chunks_changes_nothing(games: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    planned = plan_tournament(Rules(target=26), ["random", "random:1"], 30, games=games, control="random")
    found = []
    for tables in (6, 12, 1000):
        monkeypatch.setattr(schedule, "FIRST_TABLES", tables)
        monkeypatch.setattr(schedule, "MAX_TABLES", tables)
        folder = tmp_path / str(tables)
        outcome = hold(planned, folder, Options(records=True))
        assert outcome.content is not None
        deals = np.load(folder / "deals.npz")
        arrays = {name: deals[name].tobytes() for name in deals.files}
        found.append((without_times(outcome.content), arrays, (folder / "records.jsonl").read_text()))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    "names", [["random", "random:1"], ["random", "random:1", "random", "random:2"], ["random"] * 3]
)
@pytest.mark.parametrize("preset", ["standard", "partnership", "omnibus", "two_player", "three", "five", "seven"])
def test_payoffs_and_win_shares_add_up_under_every_rules(preset: str, names: list[str]) -> None:
    planned = plan_tournament(Rules.preset(preset), names, 4)
    lines = played(planned).standings
    assert sum(line.payoff.mean for line in lines) == pytest.approx(0)
    assert [line.payoff.mean for line in lines] == sorted((line.payoff.mean for line in lines), reverse=True)
    share = sum(line.win_share.mean * line.seat_deals for line in lines)
    assert share == pytest.approx(4 * len(planned.seatings))
    assert all(line.seat_deals == lines[0].seat_deals for line in lines)


def test_the_paired_difference_of_two_agents_is_twice_the_payoff_of_one() -> None:
    standings = played(plan_tournament(Rules(), ["random", "random:1"], 20))
    best, (difference,) = standings.standings[0], standings.differences
    assert difference.agent == best.agent
    assert difference.payoff.mean == pytest.approx(2 * best.payoff.mean)
    assert best.payoff.se is not None
    assert difference.payoff.se == pytest.approx(2 * best.payoff.se)


def test_every_pair_at_one_table_is_compared() -> None:
    standings = played(plan_tournament(Rules(), ["random"] * 4, 10))
    order = [line.agent for line in standings.standings]
    assert len(standings.differences) == 6
    for pair in standings.differences:
        assert order.index(pair.agent) < order.index(pair.other)
        by_name = {line.agent: line.payoff.mean for line in standings.standings}
        assert pair.payoff.mean == pytest.approx(by_name[pair.agent] - by_name[pair.other])


def test_games_count_final_scores_and_every_deal() -> None:
    planned = plan_tournament(Rules(target=30), ["random", "random:1"], 3, games=True)
    lines = played(planned).standings
    assert sum(line.win_share.mean for line in lines) * 2 == pytest.approx(1)
    assert lines[0].seat_deals > 3 * 6 * 2
    assert max(line.points.mean for line in lines) > 10


def test_one_deal_has_no_standard_error() -> None:
    assert played(plan_tournament(Rules(), ["random", "random:1"], 1)).standings[0].payoff.se is None


# -- files -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("tournament")
    planned = plan_tournament(Rules(moon="add", target=40), ["random", "random"], 12, seed=2, games=True)
    outcome = hold(planned, folder, Options(records=True))
    assert outcome.content is not None
    return folder, planned, outcome.content


def test_standings_json_has_what_is_promised(written) -> None:
    folder, _, returned = written
    content = json.loads((folder / "standings.json").read_text())
    assert content["deals"] == 12
    assert content["rules"] == {"moon": "add", "target": 40}
    keys = "agent points points_se payoff payoff_se win_share moons seat_deals seconds_per_decision failures"
    for line in content["agents"]:
        assert list(line)[:10] == keys.split()
    assert sorted(line["agent"] for line in content["agents"]) == ["random", "random#2"]
    assert content == returned


def test_no_file_that_was_only_on_the_way_is_left(written) -> None:
    assert sorted(path.name for path in written[0].iterdir()) == ["deals.npz", "records.jsonl", "standings.json"]


def test_deals_npz_holds_every_deal_as_it_was_played(written) -> None:
    folder, planned, content = written
    deals = np.load(folder / "deals.npz")
    assert deals["agents"].tolist() == ["random", "random#2"]
    assert Rules.parse(str(deals["rules"])) == planned.rules
    rows = len(deals["deal_id"])
    assert rows == sum(line["seat_deals"] for line in content["agents"]) // 4
    assert all(len(deals[name]) == rows for name in deals.files if name not in ("agents", "rules"))
    rules = compiled_rules(planned.rules)
    assert (np.bincount(deals["number"]) >= 6).all()
    hands = shuffle(rules, deals["deal_id"])
    cards = np.bitwise_or.reduce(np.left_shift(1, deals["plays"].astype(np.int64)), axis=1)
    assert (cards == hands.sum(axis=1)).all()
    assert (deals["points"].sum(axis=1)[deals["shooter"] < 0] == 26).all()
    assert (deals["totals"][deals["deal_no"] == 0] == 0).all()


def test_every_record_replays_and_names_who_sat_where(written) -> None:
    folder, planned, _ = written
    deals = np.load(folder / "deals.npz")
    lines = (folder / "records.jsonl").read_text().splitlines()
    assert len(lines) == len(deals["deal_id"])
    for row in range(0, len(lines), 25):
        record = Record.parse(lines[row])
        assert replay(record).points == tuple(deals["points"][row].tolist())
        assert record.names == tuple(planned.labels[agent] for agent in deals["lineup"][row])


def test_parquet_holds_the_same_deals_as_deals_npz(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    hold(plan_tournament(Rules(), ["random", "random:1"], 20), tmp_path, Options(parquet=True))
    table, deals = parquet.read_table(tmp_path / "deals.parquet"), np.load(tmp_path / "deals.npz")
    for name in set(deals.files) - {"agents", "rules"}:
        assert table[name].to_pylist() == deals[name].tolist()
    assert table["names"].to_pylist() == deals["agents"][deals["lineup"]].tolist()


# -- formats ---------------------------------------------------------------------------------------------------------


def test_splits_give_pairs_one_two_and_three_seats() -> None:
    rows = seatings(Rules(), 2, splits=True)
    assert sorted((row == 0).sum() for row in rows) == [1] * 4 + [2] * 6 + [3] * 4
    assert len({tuple(row) for row in rows.tolist()}) == 14


def test_tables_of_four_seat_every_four_in_every_rotation() -> None:
    rows = seatings(Rules(), 6, format="table")
    assert len(rows) == 15 * 4
    assert set(Counter(frozenset(row) for row in rows.tolist()).values()) == {4}


def test_orders_seat_everyone_next_to_everyone() -> None:
    rows = seatings(Rules(), 4, orders=True).tolist()
    assert len(rows) == 24
    lefts = Counter((row[seat], row[(seat + 1) % 4]) for row in rows for seat in range(4))
    assert len(lefts) == 12
    assert set(lefts.values()) == {8}


def test_a_ladder_seats_each_alone_with_the_same_field() -> None:
    planned = plan_tournament(Rules(), ["random:1", "random:2"], 1, format="ladder", field=["random"])
    assert planned.labels == ("random:1", "random:2", "random")
    rows = planned.seatings
    assert len(rows) == 8
    assert {tuple(sorted(row)) for row in rows.tolist()} == {(0, 2, 2, 2), (1, 2, 2, 2)}
    mixed = plan_tournament(Rules(), ["rule"], 1, format="ladder", field=["random", "random", "rule"])
    assert mixed.seatings[0].tolist() == [0, 1, 1, 2]


def test_entrants_of_a_ladder_are_compared_on_the_same_deals_though_they_never_meet() -> None:
    planned = plan_tournament(Rules(), ["rule", "random:1"], 40, format="ladder", field=["random"])
    difference = played(planned).differences[0]
    assert (difference.agent, difference.other) == ("rule", "random:1")
    lines = {line.agent: line.payoff.mean for line in played(planned).standings}
    assert difference.payoff.mean == pytest.approx(lines["rule"] - lines["random:1"])
    assert [line.agent for line in played(planned).standings][-1] == "random"


def test_a_swiss_lets_neighbours_meet_and_nobody_twice() -> None:
    names = ["random", "rule", "random:1", "rule", "random:2"]
    outcome = hold(plan_tournament(Rules(), names, 40, format="swiss", rounds=4))
    content = outcome.content
    assert content is not None
    met = [frozenset(name for name, _ in meeting["seats"]) for meeting in content["meetings"]]
    assert len(met) == len(set(met)) == 8
    games = Counter(name for pair in met for name in pair)
    assert sorted(games.values()) == [3, 3, 3, 3, 4]
    first = [line["agent"] for line in content["ratings"]["adjusted"]]
    assert set(first[:2]) == {"rule", "rule#2"}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"format": "table"}, "4 agents or more"),
        ({"format": "ladder"}, "needs a field"),
        ({"format": "ladder", "field": ["random", "random"]}, "one agent for all other seats or 3"),
        ({"format": "table", "rules": Rules.preset("partnership")}, "with teams"),
        ({"rounds": 3}, "only --format swiss"),
        ({"format": "swiss", "rounds": 11}, "one deal id for each round"),
        ({"first_id": -1}, "first_id=-1"),
        ({"field": ["random"]}, "needs a field"),
    ],
)
def test_a_format_that_does_not_fit_is_refused_with_a_sentence(options: dict, sentence: str) -> None:
    rules = options.pop("rules", Rules())
    with pytest.raises((DesignError, TournamentError), match=sentence):
        plan_tournament(rules, ["random", "random:1"], 10, **options)


@pytest.mark.parametrize("players", range(2, 8))
@pytest.mark.parametrize("options", [{"splits": True}, {"format": "table"}, {"format": "ladder", "field": ["random"]}])
def test_every_design_gives_each_agent_every_seat_equally_often(players: int, options: dict) -> None:
    planned = plan_tournament(Rules(num_players=players), ["random"] * 7, 1, **options)
    rows = planned.seatings
    assert len({tuple(row) for row in rows.tolist()}) == len(rows)
    for agent in range(planned.entrants):
        assert len(set((rows == agent).sum(axis=0).tolist())) == 1
    assert sum(len(where) for where in compositions(rows, len(planned.agents)).values()) == len(rows)


def test_named_deal_ids_are_played_as_named(tmp_path: Path) -> None:
    hold(plan_tournament(Rules(), ["random", "random:1"], 3, first_id=81723), tmp_path)
    assert np.unique(np.load(tmp_path / "deals.npz")["deal_id"]).tolist() == [81723, 81724, 81725]


def test_a_path_stands_for_the_network_there(tmp_path: Path) -> None:
    assert named(str(tmp_path)) == f"net:{tmp_path}"
    assert named("rule") == "rule"
    assert named("nobody") == "nobody"


# -- agents that are the same ----------------------------------------------------------------------------------------


def same(names: list[str], deals: int = 10, **options) -> list[list[str]]:
    content = hold(plan_tournament(Rules(), names, deals, **options)).content
    assert content is not None
    return [found["agents"] for found in content["identical"]]


def test_agents_that_are_silently_the_same_are_reported() -> None:
    assert same(["rule", "rule"]) == [["rule", "rule#2"]]
    assert same(["random:3", "random:03"]) == [["random:3", "random:03"]]
    assert same(["rule", "random", "rule", "random:1"]) == [["rule", "rule#2"]]


def test_agents_that_differ_are_not_reported() -> None:
    assert same(["random", "random:1"]) == []


def test_agreement_is_one_with_oneself_and_counts_only_open_decisions() -> None:
    found = agreement(plan_tournament(Rules(), ["rule", "random"], 5))
    assert found.shares.diagonal().tolist() == [1.0, 1.0]
    assert 0.1 < found.shares[0, 1] < 0.9
    assert found.decisions > 500
    assert found.forced > 100


# -- what the standings say ------------------------------------------------------------------------------------------


def test_meetings_tell_each_split_apart() -> None:
    content = hold(plan_tournament(Rules(), ["rule", "random"], 10, splits=True)).content
    assert content is not None
    assert [meeting["seats"] for meeting in content["meetings"]] == [
        [["rule", 1], ["random", 3]],
        [["rule", 2], ["random", 2]],
        [["rule", 3], ["random", 1]],
    ]
    for meeting in content["meetings"]:
        (_, mine), (_, theirs) = meeting["seats"]
        payoffs = [one["payoff"] for one in meeting["payoffs"]]
        assert payoffs[0] * mine + payoffs[1] * theirs == pytest.approx(0)


def test_points_seats_and_moons_add_up() -> None:
    planned = plan_tournament(Rules(), ["rule", "random"], 30)
    standings = played(planned)
    content = to_json(standings)
    for line in content["agents"]:
        counts = {int(value): count for value, count in content["points"][line["agent"]].items()}
        assert sum(counts.values()) == line["seat_deals"]
        assert sum(v * c for v, c in counts.items()) / line["seat_deals"] == pytest.approx(line["points"])
        assert np.mean(content["seats"][line["agent"]]["payoff"]) == pytest.approx(line["payoff"])
        assert line["moon_rate"] * line["seat_deals"] == pytest.approx(line["moons"])
