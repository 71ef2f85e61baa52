"""Rewards: their numbers, and that what is paid step by step adds up to what the deal was worth."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

import oracle
from hearts_env import Rules
from hearts_env.cards import ADD, MOON_CHOICES, SUBTRACT, Bools, card_set, choose
from hearts_env.game.compiled_rules import CompiledRules, compiled_rules
from hearts_env.game.engine import deal, legal, shuffle, step
from hearts_env.game.rewards import (
    EPISODES,
    REWARDS,
    Episode,
    Reward,
    Rewards,
    foul_reward,
    payoff,
    points_so_far,
    rank,
    step_rewards,
)
from hearts_env.game.state import MOON, State

FOUR = compiled_rules(Rules())
SIDES = compiled_rules(Rules.preset("partnership"))


def test_a_payoff_is_the_mean_of_the_others_minus_ones_own() -> None:
    assert payoff(FOUR, np.array([[5, 17, 4, 0]]))[0].tolist() == pytest.approx([2, -14, 10 / 3, 26 / 3])


def test_a_payoff_with_teams_is_the_other_side_s_sum_minus_ones_own() -> None:
    assert payoff(SIDES, np.array([[5, 17, 4, 0]])).tolist() == [[8, -8, 8, -8]]


def test_ranks_are_evenly_spaced_from_1_to_minus_1() -> None:
    assert rank(FOUR, np.array([[5, 17, 4, 0]])).tolist() == [pytest.approx([-1 / 3, -1, 1 / 3, 1])]
    assert rank(compiled_rules(Rules(num_players=2)), np.array([[3, 10]])).tolist() == [[1, -1]]


def test_level_seats_share_the_mean_of_their_places() -> None:
    assert rank(FOUR, np.array([[0, 26, 0, 0]])).tolist() == [pytest.approx([1 / 3, -1, 1 / 3, 1 / 3])]
    assert rank(FOUR, np.array([[3, 3, 3, 3]])).tolist() == [[0, 0, 0, 0]]


def test_partners_share_the_rank_of_their_side() -> None:
    assert rank(SIDES, np.array([[5, 17, 4, 0], [13, 0, 0, 13]])).tolist() == [[1, -1, 1, -1], [0, 0, 0, 0]]


@pytest.mark.parametrize(
    "rules", [FOUR, SIDES, compiled_rules(Rules(num_players=7)), compiled_rules(Rules(num_players=2))]
)
def test_payoffs_and_ranks_sum_to_zero(rules: CompiledRules) -> None:
    points = np.random.default_rng(1).integers(-26, 30, (500, rules.num_players))
    for amounts in (payoff(rules, points), rank(rules, points)):
        assert amounts.dtype == np.float64
        assert np.abs(amounts.sum(axis=1)).max() < 1e-9
    assert np.abs(rank(rules, points)).max() == 1


def random_tables(rules: Rules, tables: int, rng: np.random.Generator) -> tuple[CompiledRules, State]:
    compiled = compiled_rules(rules)
    state = State.empty(compiled, tables)
    ids = rng.integers(2**40, size=tables)
    scores = rng.integers(0, rules.target // compiled.num_players, (tables, compiled.num_players))
    deal(compiled, state, shuffle(compiled, ids), deal_no=ids % 4, scores=scores)
    return compiled, state


def play_at_random(
    rules: CompiledRules, state: State, rng: np.random.Generator, kinds: list[tuple[Reward, Episode]]
) -> dict[tuple[Reward, Episode], tuple[Rewards, Bools]]:
    """For each kind of reward the sum of what is paid, and where anything was paid before the deal was over."""
    sums = {kind: np.zeros(state.points.shape) for kind in kinds}
    early = {kind: np.zeros(len(state), np.bool_) for kind in kinds}
    before = points_so_far(rules, state)
    active = ~state.over
    while active.any():
        actions = choose(legal(rules, state), rng.random(len(state)))
        step(rules, state, actions)
        for reward, episode in kinds:
            paid = step_rewards(rules, state, before, reward=reward, episode=episode) * active[:, None]
            sums[reward, episode] += paid
            early[reward, episode] |= paid.any(axis=1) & ~state.over
        before = points_so_far(rules, state)
        active = ~state.over
    return {kind: (sums[kind], early[kind]) for kind in kinds}


def changes(seed: int, count: int) -> list[dict[str, Any]]:
    rng = Random(seed)
    return [oracle.random_rules(rng) for _ in range(count)]


KINDS: list[tuple[Reward, Episode]] = [(reward, episode) for reward in REWARDS for episode in EPISODES]


@pytest.mark.parametrize("fields", [{}, {"moon": "subtract"}, *changes(5, 25)], ids=lambda f: Rules.from_dict(f).show())
def test_what_is_paid_in_a_deal_is_what_it_was_worth(fields: dict[str, Any]) -> None:
    rng = np.random.default_rng(7)
    info, state = random_tables(Rules.from_dict(fields), 40, rng)
    paid = play_at_random(info, state, rng, KINDS)
    ended = state.phase == 4
    for episode in EPISODES:
        assert (paid["points", episode][0] == -state.points).all()
        assert (paid["tricks", episode][0] == -state.points).all()
        assert (paid["zero_sum", episode][0] == payoff(info, state.points)).all()
        for reward in ("points", "zero_sum", "rank"):
            assert not paid[reward, episode][1].any()
    assert (paid["rank", "deal"][0] == rank(info, state.points)).all()
    assert (paid["rank", "game"][0] == rank(info, state.scores) * ended[:, None]).all()
    for reward in REWARDS:
        assert paid[reward, "deal"][0].min() >= foul_reward(info, reward) - 1e-9


def test_tricks_pay_when_they_are_taken() -> None:
    rng = np.random.default_rng(3)
    info, state = random_tables(Rules(), 50, rng)
    _, early = play_at_random(info, state, rng, [("tricks", "deal")])["tricks", "deal"]
    assert early.all()


@pytest.mark.parametrize(("choice", "points"), [(ADD, [0, 26, 26, 26]), (SUBTRACT, [-26, 0, 0, 0])])
def test_the_moon_choice_pays_back_what_the_tricks_cost(choice: int, points: list[int]) -> None:
    """Source: SC, 26 points to the others or 26 off the shooter's own score."""
    state = State.empty(FOUR, 1)
    deal(FOUR, state, shuffle(FOUR, [1]), deal_no=[3])
    penalties = FOUR.play.penalty
    state.taken[:] = [[penalties, 0, 0, FOUR.deck & ~penalties]]
    state.phase[:], state.turn[:], state.shooter[:] = MOON, 0, 0
    assert legal(FOUR, state).tolist() == [MOON_CHOICES]
    before = points_so_far(FOUR, state)
    assert before.tolist() == [[26, 0, 0, 0]]
    step(FOUR, state, np.array([choice]))
    paid = step_rewards(FOUR, state, before, reward="tricks", episode="deal")
    assert (before - paid).tolist() == [points]


def test_points_so_far_are_those_of_the_cards_captured() -> None:
    rules = compiled_rules(Rules.preset("omnibus"))
    state = State.empty(rules, 1)
    deal(rules, state, shuffle(rules, [1]), deal_no=[3])
    cards = {name: number for number, name in enumerate(oracle.name(c) for c in range(52))}
    state.taken[:] = [[card_set([cards["QS"]]), card_set([cards["JD"], cards["2H"]]), 0, 0]]
    assert points_so_far(rules, state).tolist() == [[13, -9, 0, 0]]


@pytest.mark.parametrize(
    ("text", "points", "zero_sum"),
    [
        ("standard", -26, -26),
        ("two_player", -20, -20),
        ("spot", -129, -129),
        ("moon=none", -26, -26),
        ("moon=add,sun_value=26", -52, -26),
        ("omnibus", -26, -26 - 10 / 3),
        ("partnership", -26, -52),
    ],
)
def test_a_foul_costs_the_worst_that_a_deal_could_bring(text: str, points: float, zero_sum: float) -> None:
    rules = compiled_rules(Rules.parse(text))
    assert foul_reward(rules, "points") == foul_reward(rules, "tricks") == points
    assert foul_reward(rules, "zero_sum") == pytest.approx(zero_sum)
    assert foul_reward(rules, "rank") == -1
