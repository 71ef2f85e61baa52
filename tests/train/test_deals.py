"""The deals of a training run: each new, the same one at several tables, and those with a hand for a moon."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from hearts_arena.duplicate import TRAINING_IDS  # noqa: E402
from hearts_env.cards import parse_hand  # noqa: E402
from hearts_env.game.compiled_rules import lookup  # noqa: E402
from hearts_env.game.engine import shuffle  # noqa: E402
from hearts_env.game.rules import Rules  # noqa: E402
from hearts_train import train  # noqa: E402
from hearts_train.learn.deals import drawn_ids, moon_losses  # noqa: E402
from hearts_train.learn.returns import luck, without_luck  # noqa: E402
from hearts_train.ppo import Learner  # noqa: E402
from hearts_train.run.config import TrainConfig, TrainError  # noqa: E402
from hearts_train.run.log import read_metrics  # noqa: E402

STANDARD = lookup(Rules())
TINY = TrainConfig(decisions=600, workers=1, tables=8, width=8, blocks=1, minibatch=64, eval_ids=4)


def test_no_deal_is_played_twice_in_a_run_nor_is_one_that_evaluations_play() -> None:
    seen = [drawn_ids(STANDARD, seed, played, 40, 2, 0.5) for seed in (0, 1) for played in (0, 40, 80)]
    assert len(np.unique(np.concatenate(seen))) == 6 * 20
    assert min(ids.min() for ids in seen) >= TRAINING_IDS


@pytest.mark.parametrize(("tables", "same", "groups"), [(8, 1, 8), (8, 4, 2), (9, 4, 3), (3, 4, 1)])
def test_so_many_tables_in_a_row_play_the_same_deal(tables: int, same: int, groups: int) -> None:
    ids = drawn_ids(STANDARD, 0, 0, tables, same)
    assert (ids - ids[0]).tolist() == [table // same for table in range(tables)]
    assert len(np.unique(ids)) == groups


def test_a_hand_of_top_cards_loses_fewest_tricks_on_the_way_to_a_moon() -> None:
    strong = parse_hand("AS KS QS JS AH KH QH JH AD KD AC KC QC")
    middling = parse_hand("AS 9S 4S AH KH 7H 3H AD 8D 5D KC 9C 2C")
    weak = parse_hand("5S 4S 2S 9H 6H 4H 2H 8D 6D 3D 7C 5C 3C")
    losses = moon_losses(STANDARD, np.array([[strong, middling, weak]]))[0]
    assert 0 <= losses[0] < losses[1] < losses[2]


def test_the_share_of_deals_for_a_moon_is_chosen_for_the_best_hand_in_it() -> None:
    plain, some, all_ = (drawn_ids(STANDARD, 3, 0, 2000, moon_share=share) for share in (0, 0.25, 1))
    best = [moon_losses(STANDARD, shuffle(STANDARD, ids)).min(axis=1) for ids in (plain, some, all_)]
    assert np.isin(some, plain).mean() == 0.75
    limit = np.quantile(best[0], 0.25)
    assert best[2].max() < limit, "the best one of eight"
    assert best[1][~np.isin(some, plain)].max() < limit
    first = slice(0, 400)
    assert np.isin(some[first], plain).mean() == 0.75, "they are spread over all tables"


# -- the luck of a deal ------------------------------------------------------------------------------------------------


def test_the_luck_of_a_deal_is_what_the_seat_got_at_the_other_tables() -> None:
    beyond = np.array([[1.0, 5], [2, 6], [4, 9], [8, 7]])
    counted = np.array([[True, True], [True, False], [True, True], [True, True]])
    found = luck(beyond, counted, np.array([7, 7, 7, 9]))
    assert found.tolist() == [[3, 9], [2.5, 7], [1.5, 5], [0, 0]]


def test_without_luck_advantages_are_as_large_on_average_and_vary_less() -> None:
    rng = np.random.default_rng(0)
    place, chance = rng.integers(0, 3, 60_000), rng.normal(size=60_000).astype(np.float32)
    signal = rng.normal(size=60_000).astype(np.float32)
    noisy = (signal + np.array([0.0, 0.5, 2.0])[place] * chance).astype(np.float32)
    freed = without_luck(noisy, chance, place)
    assert freed == pytest.approx(signal, abs=0.1), "the factor is found for each place"
    assert without_luck(noisy, np.zeros_like(chance), place).tolist() == noisy.tolist()


def test_tables_with_the_same_deal_take_noise_from_the_advantages_of_a_rollout() -> None:
    config = dataclasses.replace(TINY, tables=400, same_deal=4)
    learner = Learner(config)
    learner.rollout.collect(drawn_ids(STANDARD, 0, 0, 400, 4), learner._policy(np.random.default_rng(0)))
    batch = learner.rollout.batch(1.0, 0.1)
    freed = learner.rollout.without_luck(batch.advantages, 0.1)
    assert freed.var() < 0.98 * batch.advantages.var()
    assert np.corrcoef(freed, batch.advantages)[0, 1] > 0.8
    alone = dataclasses.replace(learner.rollout, tables=400)
    alone.collect(drawn_ids(STANDARD, 0, 0, 400), learner._policy(np.random.default_rng(0)))
    plain = alone.batch(1.0, 0.1).advantages
    assert (alone.without_luck(plain, 0.1) == plain).all(), "no other table tells anything"


def test_a_run_tells_how_much_of_the_advantages_was_luck(tmp_path: Path) -> None:
    lines = [
        [line for line in read_metrics(train(config)) if line["kind"] == "iteration"]
        for config in (
            dataclasses.replace(TINY, out=tmp_path / "plain"),
            dataclasses.replace(TINY, out=tmp_path / "same", same_deal=4, moon_share=0.5),
        )
    ]
    assert ["luck" in each[0] for each in lines] == [False, True]
    assert all(0 <= line["luck"] < 1 for line in lines[1])


@pytest.mark.parametrize(("name", "value"), [("same_deal", 0), ("moon_share", 1.5), ("moon_share", -0.1)])
def test_settings_that_make_no_sense_are_named(name: str, value: float) -> None:
    with pytest.raises(TrainError, match=f"{name}={value}"):
        dataclasses.replace(TINY, **{name: value})
