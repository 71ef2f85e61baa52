"""The wrappers of the AEC environment, and recorded deals as arrays."""

from __future__ import annotations

import io
import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from pettingzoo.test import api_test, seed_test

from hearts_agents import make
from hearts_env import Rules, hearts_v0
from hearts_env.cards import names_in
from hearts_env.envs.aec import HeartsAEC
from hearts_env.envs.options import EnvError
from hearts_env.envs.wrappers import RecordDeals, SampleRules, write_records
from hearts_env.match.play_match import play
from hearts_env.match.tables import NO_DEAL_ID
from hearts_env.text.dataset import DatasetError, decisions, export, parsed
from hearts_env.text.record import Record
from hearts_env.text.replay import check_lines, replay

RECORDS = Path(__file__).parents[1] / "data" / "records"


def play_out(env: RecordDeals | SampleRules | HeartsAEC, chance: np.random.Generator) -> int:
    steps = 0
    for _ in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        legal = np.flatnonzero(observation["action_mask"])  # type: ignore[index,call-overload]
        env.step(None if terminated or truncated else int(chance.choice(legal)))
        steps += 1
    return steps


# -- records written while playing -------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["two_player,target=40", "goldsmith,target=60", "omnibus,moon=auto,target=40"])
def test_every_deal_of_a_game_is_written_as_a_record_that_replays(text: str) -> None:
    file = io.StringIO()
    env = RecordDeals(hearts_v0.raw_env(rules=Rules.parse(text), episode="game"), file, names=None)
    chance = np.random.default_rng(0)
    deals = []
    for seed in range(2):
        env.reset(seed=seed)
        play_out(env, chance)
        deals.append(env.unwrapped.finished_deal.state.deal_no[0] + 1)  # type: ignore[attr-defined]
    lines = file.getvalue().splitlines()
    answers = list(check_lines(lines))
    assert all(answer["ok"] for answer in answers), answers
    assert [answer["over"] for answer in answers].count(True) == 2
    assert len(lines) == sum(deals)
    for line, following in itertools.pairwise(lines):
        one, two = json.loads(line), json.loads(following)
        assert two["totals"] == (one["scores"] if two["deal_no"] else [0] * len(one["scores"]))


def test_given_hands_are_recorded_without_a_deal_id_and_clones_write_nothing() -> None:
    file = io.StringIO()
    env = RecordDeals(hearts_v0.raw_env(rules="small_three"), file, names=["a", "b", "c"])
    env.reset(options={"hands": ["C2 H2 SJ", "C3 H3 SQ", "C4 H4 SK"]})
    copied = env.unwrapped.clone()  # type: ignore[attr-defined]
    play_out(copied, np.random.default_rng(0))
    assert file.getvalue() == ""
    play_out(env, np.random.default_rng(1))
    record = Record.parse(file.getvalue())
    assert record.deal_id is None
    assert record.names == ("a", "b", "c")
    assert replay(record).next is None


def test_an_episode_that_an_illegal_action_ends_is_not_recorded() -> None:
    file = io.StringIO()
    env = RecordDeals(hearts_v0.raw_env(rules="small_three", on_illegal="terminate"), file)
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="illegal action"):
        env.step(53)
    assert file.getvalue() == ""


def test_a_match_writes_its_deals() -> None:
    file, rules = io.StringIO(), Rules.preset("three")
    names = [["rule", "random", "random"]]
    play(
        rules,
        [make("rule"), make("random")],
        [0, 1, 1],
        np.arange(5),
        on_deals=lambda deals: write_records(file, rules, deals, names * len(deals.deal_ids)),
    )
    answers = list(check_lines(file.getvalue().splitlines()))
    assert len(answers) == 5
    assert all(answer["ok"] for answer in answers)


# -- rules drawn for each episode --------------------------------------------------------------------------------------


def growing(chance: np.random.Generator, episode: int) -> str:
    return f"num_players={chance.integers(2, 3 + min(episode, 4))}"


def test_rules_are_drawn_anew_for_each_episode_and_spaces_stay() -> None:
    env = SampleRules(growing, num_players=6)
    spaces = {agent: env.observation_space(agent) for agent in env.possible_agents}
    chance, seats = np.random.default_rng(0), set()
    env.reset(seed=5)
    for _ in range(12):
        seats.add(len(env.agents))
        observation = env.observe(env.agent_selection)
        assert spaces[env.agent_selection].contains(observation)
        assert env.observation_space(env.agent_selection) is spaces[env.agent_selection]
        play_out(env, chance)
        env.reset()
    assert seats == {2, 3, 4, 5, 6}


def test_a_seed_fixes_the_rules_and_deals_of_all_episodes() -> None:
    seen = []
    for _ in range(2):
        env = SampleRules(growing, num_players=6, deal_id_in_info=True)
        env.reset(seed=11)
        episodes = []
        for _ in range(5):
            episodes.append((env.unwrapped.rules, env.infos[env.agents[0]]["deal_id"]))  # type: ignore[attr-defined]
            env.reset()
        seen.append(episodes)
    assert seen[0] == seen[1]
    assert len({deal_id for _, deal_id in seen[0]}) == 5


def test_pettingzoos_tests_pass_on_the_wrappers() -> None:
    api_test(SampleRules(growing, num_players=6, on_illegal="random"), num_cycles=300)
    api_test(RecordDeals(hearts_v0.raw_env(), io.StringIO()), num_cycles=100)
    seed_test(lambda: SampleRules(lambda chance, _: "small_three", num_players=3), num_cycles=50)


def test_more_seats_than_there_are_and_rules_given_twice_are_refused() -> None:
    with pytest.raises(EnvError, match="num_players=4: rules of 5 seats were drawn"):
        SampleRules(lambda chance, episode: "five", num_players=4).reset(seed=0)
    with pytest.raises(EnvError, match="leave rules and pad out"):
        SampleRules(growing, num_players=4, pad=False)


# -- recorded deals as arrays ------------------------------------------------------------------------------------------


def lines_of(*names: str) -> list[str]:
    return [line for name in names for line in (RECORDS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("name", ["standard", "omnibus", "two_player_pass", "partnership", "small_three_pass"])
def test_arrays_hold_what_an_environment_shows_in_the_same_deals(name: str) -> None:
    records = [Record.parse(line) for line in lines_of(name)]
    joined = list(decisions(records))
    columns = {key: np.concatenate([part[key] for part in joined]) for key in joined[0]}
    env, row = hearts_v0.raw_env(rules=records[0].rules, reward="zero_sum"), 0
    for number, record in enumerate(records):
        hands = [" ".join(names_in(hand)) for hand in record.hands]
        env.reset(options={"hands": hands, "deal_no": record.deal_no, "scores": record.totals})
        first = row
        while not env.terminations[env.agent_selection]:
            observation = env.observe(env.agent_selection)
            assert isinstance(observation, dict)
            assert (columns["observation"][row] == observation["observation"]).all()
            assert (columns["action_mask"][row] == observation["action_mask"]).all()
            assert f"seat_{columns['seat'][row]}" == env.agent_selection
            assert (columns["deal"][row], columns["decision"][row]) == (number, row - first)
            assert columns["deal_id"][row] == (NO_DEAL_ID if record.deal_id is None else record.deal_id)
            env.step(int(columns["action"][row]))
            row += 1
        for place in range(first, row):
            assert columns["return"][place] == pytest.approx(env.rewards[f"seat_{columns['seat'][place]}"])
            assert columns["points"][place] == record.points[columns["seat"][place]]  # type: ignore[index]
    assert row == len(columns["action"])


def test_files_hold_the_same_arrays_and_player_counts_mix_when_padded(tmp_path: Path) -> None:
    lines = lines_of("standard", "three", "seven")
    count = export(parsed(lines), tmp_path / "deals.npz", pad=True, order=True)
    with np.load(tmp_path / "deals.npz") as stored:
        parts = list(decisions(parsed(lines), pad=True, order=True))
        assert len(parts) == 3
        for key in stored:
            assert (stored[key] == np.concatenate([part[key] for part in parts])).all(), key
        assert len(stored["action"]) == count
        assert set(stored["num_players"].tolist()) == {3, 4, 7}
    assert [path.name for path in tmp_path.iterdir()] == ["deals.npz"]


def test_parquet_holds_the_same_arrays(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="Parquet needs pyarrow, from the extra parquet")
    lines = lines_of("small_three")
    export(parsed(lines), tmp_path / "deals.parquet")
    table = parquet.read_table(tmp_path / "deals.parquet")
    (columns,) = decisions(parsed(lines))
    for key, array in columns.items():
        assert (np.array(table[key].to_pylist()) == array).all(), key


@pytest.mark.parametrize(
    ("lines", "name", "sentence"),
    [
        (lines_of("standard")[:2] + lines_of("three"), "x.npz", "record 3 has 3 players, those before have 4"),
        ([*lines_of("standard")[:1], "{}"], "x.npz", "record 2: format is None"),
        ([], "x.npz", "no records"),
        (lines_of("standard")[:1], "x.csv", "must end in .npz or .parquet"),
        (
            [json.dumps({**json.loads(lines_of("no_pass")[0]), "plays": [], "points": None, "scores": None})],
            "x.npz",
            "record 1: the deal is not over",
        ),
    ],
)
def test_what_makes_no_arrays_is_refused_and_leaves_nothing(
    lines: list[str], name: str, sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(DatasetError, match=sentence):
        export(parsed(lines), tmp_path / name)
    assert not list(tmp_path.iterdir())
