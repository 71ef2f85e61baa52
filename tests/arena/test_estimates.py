"""The statistics of tournaments: sums, intervals, p-values, power, sequential tests, controls and ratings."""

from __future__ import annotations

import numpy as np
import pytest

from hearts_agents.registry import make
from hearts_arena.run import Options, hold
from hearts_arena.stats import estimates
from hearts_arena.stats.control_variate import POOL, features
from hearts_arena.stats.estimates import Estimate, Sums, deals_needed, detectable, holm, p_value
from hearts_arena.stats.ratings import MISSING
from hearts_arena.stats.sequential import LEAST, Question, Sequential, UntilError
from hearts_arena.tournament_plan import plan_tournament
from hearts_env import Rules
from hearts_env.match.play_match import play

MEAN = (np.array([1.0, 0.0]), np.array([0.0, 1.0]))
"""Weights of a plain mean: the first column over the second, which counts."""


def sums(values: np.ndarray, first: int = 0, seed: int = 0) -> Sums:
    result = Sums(seed)
    result.add(first, np.stack([values, np.ones_like(values)], axis=1), [0, 1])
    return result


def estimate(values: np.ndarray) -> Estimate:
    return sums(values).estimate(*MEAN, len(values))


def skewed(rng: np.random.Generator, size: int) -> np.ndarray:
    """Whole numbers like the payoffs of deals: mostly small, now and then a moon."""
    return rng.integers(-9, 10, size) + np.where(rng.random(size) < 0.06, 60, 0)


def test_mean_and_standard_error_are_those_of_the_values() -> None:
    values = np.array([3, -7, 12, 0, 5])
    found = estimate(values)
    assert found.mean == pytest.approx(values.mean())
    assert found.se == pytest.approx(values.std(ddof=1) / 5**0.5)
    assert found.sd == pytest.approx(values.std(ddof=1))


def test_a_single_value_has_no_error() -> None:
    assert estimate(np.array([3])) == Estimate(3.0, None, None, None, 1)


def test_pieces_of_any_size_add_up_to_the_same_bits() -> None:
    values = skewed(np.random.default_rng(1), 700)
    whole = sums(values)
    pieces = Sums(0)
    for first in (*range(0, 300, 7), 300, 650):
        last = min(first + 7, 300) if first < 300 else {300: 650, 650: 700}[first]
        part = values[first:last]
        pieces.add(first, np.stack([part, np.ones_like(part)], axis=1), [0, 1])
    assert (pieces.replicates == whole.replicates).all()
    assert pieces.estimate(*MEAN, 700) == whole.estimate(*MEAN, 700)


def test_the_bootstrap_interval_is_about_two_standard_errors_wide() -> None:
    found = estimate(skewed(np.random.default_rng(2), 2000))
    assert found.se is not None
    assert found.low == pytest.approx(found.mean - 1.96 * found.se, abs=0.2 * found.se)
    assert found.high == pytest.approx(found.mean + 1.96 * found.se, abs=0.2 * found.se)


def test_bootstrap_intervals_cover_and_p_values_are_uniform() -> None:
    rng = np.random.default_rng(3)
    truth = 60 * 0.06
    found = [sums(skewed(rng, 200), seed=seed).estimate(*MEAN, 200) for seed in range(400)]
    covered = np.mean([one.low <= truth <= one.high for one in found])
    assert 0.92 <= covered <= 0.975
    p_values = np.array([p_value((one.mean - truth) / one.se, 199) for one in found])
    # Kolmogorov's bound at the level of one in a thousand.
    assert np.abs(np.sort(p_values) - (np.arange(400) + 0.5) / 400).max() < 1.95 / 20


def test_quantiles_of_students_t_are_those_of_the_tables() -> None:
    for freedom, quantile in ((10, 2.228), (30, 2.042), (100, 1.984), (10**6, 1.960)):
        assert estimates._student(freedom) == pytest.approx(quantile, abs=4e-3)


def test_weights_of_the_bootstrap_are_poissons() -> None:
    counts = np.bincount(estimates._weights(0, 0).ravel(), minlength=4) / estimates._weights(0, 0).size
    assert counts[:4] == pytest.approx([np.exp(-1), np.exp(-1), np.exp(-1) / 2, np.exp(-1) / 6], abs=0.005)
    assert (estimates._weights(0, 0) != estimates._weights(0, 1)).any()
    assert (estimates._weights(0, 0) != estimates._weights(1, 0)).any()


def test_holm_agrees_with_a_worked_example() -> None:
    # Holm 1979 by hand: 0.01*4, 0.02*3, 0.03*2, 0.04*1, none below the one before.
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_p_values_are_students() -> None:
    pytest.importorskip("scipy")
    assert p_value(2.262157, 9) == pytest.approx(0.05, abs=1e-6)
    assert p_value(-1.959964, 10**7) == pytest.approx(0.05, abs=1e-6)


def test_the_number_of_deals_is_the_textbooks_and_the_inverse_of_what_can_be_found() -> None:
    assert deals_needed(0.3, 4.27) == 1591  # ((1.959964 + 0.841621) * 4.27 / 0.3) ** 2
    assert detectable(4.27 / 1591**0.5) == pytest.approx(0.3, abs=1e-3)


def test_a_planted_difference_is_found_as_often_as_promised() -> None:
    rng = np.random.default_rng(4)
    needed = deals_needed(1.0, 4.0, power=0.8)
    found = [estimate(rng.normal(100, 400, needed).round().astype(np.int64)).p < 0.05 for _ in range(400)]
    assert 0.73 < np.mean(found) < 0.87


# -- sequential ------------------------------------------------------------------------------------------------------


def test_a_sequential_test_decides_alike_in_pieces_of_any_size() -> None:
    values = np.random.default_rng(5).normal(0.5, 4, 5000)
    whole = Sequential()
    looked = whole.feed(values)
    assert whole.verdict == "more"
    assert LEAST <= looked < 5000
    pieces = Sequential()
    for value in values[:looked]:
        pieces.feed(np.array([value]))
    assert pieces == whole


def test_a_sequential_test_keeps_its_error_rate_though_it_looks_all_the_time() -> None:
    rng = np.random.default_rng(6)
    wrong = 0
    for _ in range(400):
        test = Sequential(alpha=0.05)
        test.feed((skewed(rng, 4 * 2000) - 3.6).reshape(4, -1).mean(axis=0))  # of four seatings
        wrong += test.verdict is not None
    assert wrong / 400 <= 0.05


def test_a_sequential_test_can_decide_that_agents_are_level() -> None:
    test = Sequential(margin=0.5)
    test.feed(np.random.default_rng(7).normal(0, 1, 2000))
    assert test.verdict == "level"


@pytest.mark.parametrize("text", ["A", "A>", "A>A", "A>C", "A<B"])
def test_a_question_about_nobody_is_refused(text: str) -> None:
    with pytest.raises(UntilError, match="needed is A>B"):
        Question.parse(text, ("A", "B"), 0.05, 0.0)


@pytest.mark.parametrize("question", ["rule>random", "random>rule"])
def test_a_tournament_stops_when_it_is_decided_and_counts_no_deal_after_that(question: str, tmp_path) -> None:
    planned = plan_tournament(Rules(), ["rule", "random"], 2000)
    outcome = hold(planned, tmp_path, Options(until=question))
    content = outcome.content
    assert outcome.finished
    assert content is not None
    assert content["until"]["verdict"] == ("more" if question == "rule>random" else "less")
    assert LEAST <= content["deals"] < 500
    assert (np.load(tmp_path / "deals.npz")["number"] < content["deals"]).all()
    again = hold(plan_tournament(Rules(), ["rule", "random"], content["deals"])).content
    assert again is not None
    assert again["differences"] == content["differences"]


# -- control variate -------------------------------------------------------------------------------------------------


def test_controls_average_to_zero_and_do_not_depend_on_their_neighbours() -> None:
    ids = np.arange(2000) * 7919
    found = features(Rules(), make("random"), ids, seed=0)
    error = found.std(axis=0) / len(ids) ** 0.5
    assert (np.abs(found.mean(axis=0)) < 4 * error).all()
    assert (features(Rules(), make("random"), ids[5:9], seed=0) == found[5:9]).all()
    assert POOL > 1


def test_a_control_that_explains_half_of_the_variance_halves_it_and_keeps_the_mean() -> None:
    rng = np.random.default_rng(8)
    means, plain, errors = [], [], []
    for _ in range(200):
        luck = rng.integers(-50, 51, 300)
        values = luck + rng.integers(-50, 51, 300) + 10
        both = Sums(0)
        both.add(0, np.stack([values, np.ones_like(values), luck], axis=1), [0, 1, 2])
        above, below = np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])
        mean, error = both.controlled(above, below, [2])
        means.append(mean)
        plain.append(values.mean())
        errors.append(error)
    assert np.mean(means) == pytest.approx(10, abs=0.5)
    assert np.var(means) / np.var(plain) == pytest.approx(0.5, abs=0.15)
    assert np.mean(errors) == pytest.approx(np.std(means), rel=0.15)


def test_a_control_is_reported_beside_the_plain_figure() -> None:
    content = hold(plan_tournament(Rules(), ["rule", "random"], 60, control="rule")).content
    assert content is not None
    (pair,) = content["differences"]
    assert pair["controlled"]["payoff"] == pytest.approx(pair["payoff"], abs=4 * pair["payoff_se"])
    assert pair["controlled"]["factor"] == pytest.approx((pair["payoff_se"] / pair["controlled"]["payoff_se"]) ** 2)


# -- ratings ---------------------------------------------------------------------------------------------------------


def rated(**options) -> dict:
    content = hold(plan_tournament(Rules(), ["random", "rule", "random:1", "random:2"], 60, **options)).content
    assert content is not None
    return content["ratings"]


@pytest.mark.parametrize("kind", ["adjusted", "plackett_luce", "openskill"])
def test_every_rating_puts_the_better_agent_first_with_an_interval_around_it(kind: str) -> None:
    pytest.importorskip("choix")
    pytest.importorskip("openskill")
    lines = rated()[kind]
    assert lines[0]["agent"] == "rule"
    assert all(line["low"] < line["rating"] < line["high"] for line in lines)
    if kind != "openskill":
        assert lines[0]["low"] > max(line["high"] for line in lines[1:])
        assert sum(line["rating"] for line in lines) == pytest.approx(0, abs=1e-6)


def test_plackett_luce_of_two_gives_back_the_odds_of_finishing_ahead() -> None:
    pytest.importorskip("choix")
    planned = plan_tournament(Rules(), ["rule", "random"], 100)
    content = hold(planned).content
    assert content is not None
    lines = content["ratings"]["plackett_luce"]
    odds = 10 ** ((lines[0]["rating"] - lines[1]["rating"]) / 400)
    result = play(Rules(), planned.agents, np.tile(planned.seatings, (100, 1)), np.repeat(planned.ids(0, 100), 6))
    mine, theirs = ((result.points * (result.lineup == agent)).sum(axis=1) for agent in (0, 1))
    ahead = ((mine < theirs) + (mine == theirs) / 2).mean()
    assert odds / (1 + odds) == pytest.approx(ahead, abs=0.002)


def test_agents_whom_nothing_links_are_rated_all_the_same() -> None:
    pytest.importorskip("choix")
    for deals in (1, 2, 3):
        planned = plan_tournament(
            Rules(), ["random", "random:1", "random:2", "random:3"], deals, format="swiss", rounds=1
        )
        content = hold(planned).content
        assert content is not None
        lines = content["ratings"]["plackett_luce"]
        assert len(lines) == 4
        assert np.isfinite([[line["low"], line["rating"], line["high"]] for line in lines]).all()


def test_without_the_libraries_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "choix", None)
    monkeypatch.setitem(__import__("sys").modules, "openskill.models", None)
    found = rated()
    assert found["plackett_luce"] == MISSING.format("choix")
    assert found["openskill"] == MISSING.format("openskill")
    assert found["adjusted"][0]["agent"] == "rule"
