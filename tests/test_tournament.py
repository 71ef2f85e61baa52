"""Duplicate tournaments: who sits where, which deals, and what the standings say."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

from hearts_agents import make
from hearts_agents.standings import Moments, Standings
from hearts_agents.tournament import Tournament, TournamentError, deal_ids, seatings, tournament
from hearts_agents.tournament_files import TournamentFiles
from hearts_env import Rules
from hearts_env.engine import shuffle
from hearts_env.lookup import lookup
from hearts_env.match import play
from hearts_env.record import Record
from hearts_env.replay import replay
from hearts_env.rewards import payoff


def played(planned: Tournament) -> Standings:
    standings = Standings(planned)
    for chunk in planned.chunks():
        standings.add(chunk)
    return standings


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hearts_agents.tournament.FIRST_TABLES", 12)
    monkeypatch.setattr("hearts_agents.tournament.MAX_TABLES", 24)


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
    assert tournament(Rules(), ["random", "random:1", "random"], 1).labels == ("random", "random:1", "random#2")


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
        tournament(Rules(), names, deals, seed=seed)


def test_the_error_of_a_tournament_is_a_value_error() -> None:
    assert issubclass(TournamentError, ValueError)


# -- standings -------------------------------------------------------------------------------------------------------


def test_an_agent_under_two_names_is_as_good_as_itself() -> None:
    for line in played(tournament(Rules(), ["random", "random:1"], 600)).standings:
        assert line.payoff_se is not None
        assert abs(line.payoff) < 4 * line.payoff_se
        assert line.points == pytest.approx(6.5, abs=0.5)


def test_standard_errors_are_over_deal_ids_and_not_over_seatings() -> None:
    planned = tournament(Rules(), ["random", "random:1"], 50, seed=3)
    ids = np.repeat(deal_ids(3, 0, 50), 6)
    lineup = np.tile(planned.seatings, (50, 1))
    result = play(Rules(), planned.agents, lineup, ids, seed=3)
    mine = lineup == 0
    by_table = np.where(mine, payoff(lookup(Rules()), result.points), 0).sum(axis=1) / 2
    by_id = by_table.reshape(50, 6).mean(axis=1)
    line = next(line for line in played(planned).standings if line.agent == "random")
    assert line.payoff == pytest.approx(by_id.mean())
    assert line.payoff_se == pytest.approx(by_id.std(ddof=1) / 50**0.5)
    assert line.points == pytest.approx(result.points[mine].mean())
    assert line.moons == result.moons[mine].sum()
    assert line.seat_deals == 600


@pytest.mark.usefixtures("small_chunks")
def test_the_size_of_chunks_does_not_change_the_standings(monkeypatch: pytest.MonkeyPatch) -> None:
    planned = tournament(Rules(), ["random", "random:1"], 30)
    assert len(list(planned.chunks())) > 5
    small = played(planned).to_json()
    monkeypatch.setattr("hearts_agents.tournament.FIRST_TABLES", 1000)
    monkeypatch.setattr("hearts_agents.tournament.MAX_TABLES", 1000)
    assert len(list(planned.chunks())) == 1
    large = played(planned).to_json()
    for line in (*small["agents"], *large["agents"]):
        del line["seconds_per_decision"]
    assert small == large


@pytest.mark.parametrize(
    "names", [["random", "random:1"], ["random", "random:1", "random", "random:2"], ["random"] * 3]
)
@pytest.mark.parametrize("preset", ["standard", "partnership", "omnibus", "two_player", "three", "five", "seven"])
def test_payoffs_and_win_shares_add_up_under_every_rules(preset: str, names: list[str]) -> None:
    planned = tournament(Rules.preset(preset), names, 4)
    lines = played(planned).standings
    assert sum(line.payoff for line in lines) == pytest.approx(0)
    assert [line.payoff for line in lines] == sorted((line.payoff for line in lines), reverse=True)
    share = sum(line.win_share * line.seat_deals for line in lines)
    assert share == pytest.approx(4 * len(planned.seatings))
    assert all(line.seat_deals == lines[0].seat_deals for line in lines)


def test_the_paired_difference_of_two_agents_is_twice_the_payoff_of_one() -> None:
    standings = played(tournament(Rules(), ["random", "random:1"], 20))
    best, (difference,) = standings.standings[0], standings.differences
    assert difference.agent == best.agent
    assert difference.payoff == pytest.approx(2 * best.payoff)
    assert best.payoff_se is not None
    assert difference.payoff_se == pytest.approx(2 * best.payoff_se)


def test_every_pair_at_one_table_is_compared() -> None:
    standings = played(tournament(Rules(), ["random"] * 4, 10))
    order = [line.agent for line in standings.standings]
    assert len(standings.differences) == 6
    for pair in standings.differences:
        assert order.index(pair.agent) < order.index(pair.other)
        by_name = {line.agent: line.payoff for line in standings.standings}
        assert pair.payoff == pytest.approx(by_name[pair.agent] - by_name[pair.other])


def test_games_count_final_scores_and_every_deal() -> None:
    planned = tournament(Rules(target=30), ["random", "random:1"], 3, games=True)
    lines = played(planned).standings
    assert sum(line.win_share for line in lines) * 2 == pytest.approx(1)
    assert lines[0].seat_deals > 3 * 6 * 2
    assert max(line.points for line in lines) > 10


def test_one_deal_has_no_standard_error() -> None:
    assert played(tournament(Rules(), ["random", "random:1"], 1)).standings[0].payoff_se is None


def test_moments_are_those_of_the_values() -> None:
    values = np.array([3, -7, 12, 0, 5])
    moments = Moments()
    moments.add(values[:2])
    moments.add(values[2:])
    assert moments.mean(2) == pytest.approx(values.mean() / 2)
    assert moments.standard_error(2) == pytest.approx(values.std(ddof=1) / 5**0.5 / 2)


# -- files -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("tournament")
    planned = tournament(Rules(moon="add", target=40), ["random", "random"], 12, seed=2, games=True)
    standings = Standings(planned)
    with TournamentFiles(folder, planned, records=True) as files:
        for chunk in planned.chunks(keep_deals=True):
            standings.add(chunk)
            files.add(chunk)
        files.save(standings)
    return folder, standings


def test_standings_json_has_what_is_promised(written) -> None:
    folder, standings = written
    content = json.loads((folder / "standings.json").read_text())
    assert content["deals"] == 12
    assert content["rules"] == {"moon": "add", "target": 40}
    keys = "agent points points_se payoff payoff_se win_share moons seat_deals seconds_per_decision failures"
    for line in content["agents"]:
        assert list(line) == keys.split()
    assert sorted(line["agent"] for line in content["agents"]) == ["random", "random#2"]
    assert content == standings.to_json()


def test_no_file_that_was_only_on_the_way_is_left(written) -> None:
    folder, _ = written
    assert sorted(path.name for path in folder.iterdir()) == ["deals.npz", "records.jsonl", "standings.json"]


def test_deals_npz_holds_every_deal_as_it_was_played(written) -> None:
    folder, standings = written
    deals = np.load(folder / "deals.npz")
    assert deals["agents"].tolist() == ["random", "random#2"]
    assert Rules.parse(str(deals["rules"])) == standings.tournament.rules
    rows = len(deals["deal_id"])
    assert rows == sum(line.seat_deals for line in standings.standings) // 4
    assert all(len(deals[name]) == rows for name in deals.files if name not in ("agents", "rules"))
    info = lookup(standings.tournament.rules)
    assert (np.bincount(deals["number"]) >= 6).all()
    hands = shuffle(info, deals["deal_id"])
    cards = np.bitwise_or.reduce(np.left_shift(1, deals["plays"].astype(np.int64)), axis=1)
    assert (cards == hands.sum(axis=1)).all()
    assert (deals["points"].sum(axis=1)[deals["shooter"] < 0] == 26).all()
    assert (deals["totals"][deals["deal_no"] == 0] == 0).all()


def test_every_record_replays_and_names_who_sat_where(written) -> None:
    folder, standings = written
    deals = np.load(folder / "deals.npz")
    lines = (folder / "records.jsonl").read_text().splitlines()
    assert len(lines) == len(deals["deal_id"])
    for row in range(0, len(lines), 25):
        record = Record.parse(lines[row])
        assert replay(record).points == tuple(deals["points"][row].tolist())
        assert record.names == tuple(standings.tournament.labels[agent] for agent in deals["lineup"][row])


def test_an_abandoned_tournament_leaves_the_older_files_alone(written, tmp_path) -> None:
    (tmp_path / "standings.json").write_text("old")
    planned = Tournament(Rules(), (make("random"), make("random:1")), 5)
    with TournamentFiles(tmp_path, planned, records=True) as files:
        files.add(next(planned.chunks(keep_deals=True)))
    assert [path.name for path in tmp_path.iterdir()] == ["standings.json"]
    assert (tmp_path / "standings.json").read_text() == "old"
