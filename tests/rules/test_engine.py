"""The engine against the oracle, decision by decision, and what a State promises."""

from __future__ import annotations

import random

import numpy as np
import pytest

from hearts_env.cards import card_set, cards_in, choose, count, highest, lowest, members, nth
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.engine import deal, legal, shuffle, step
from hearts_env.game.rules import PRESETS, Rules
from hearts_env.game.state import GAME_OVER, State
from hearts_env.match.play_match import play
from tables import random_actions, random_pair
from witness import play_out

pytestmark = pytest.mark.both_executors

GROUPS = 150
TABLES = 8


@pytest.mark.parametrize("seed", range(4))
def test_every_decision_and_every_score_is_the_oracles_under_random_rules(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(GROUPS):
        play_out(random_pair(chance, TABLES), chance)


def test_tables_in_any_mix_of_phases_and_tricks_play_as_they_do_alone() -> None:
    chance = random.Random(5)
    for _ in range(40):
        pair = random_pair(chance, TABLES)
        alone = pair.state.copy()
        while not pair.state.over.all():
            actions = random_actions(chance, pair.compiled, pair.state)
            late = np.array([chance.random() < 0.5 for _ in range(TABLES)])
            rows = np.flatnonzero(~late & ~pair.state.over)
            for row in rows:
                one = alone.take([row])
                step(pair.compiled, one, actions[[row]])
                alone.put([row], one)
            moved = pair.state.take(rows)
            step(pair.compiled, moved, actions[rows])
            pair.state.put(rows, moved)
            mixed, single = (
                legal(pair.compiled, pair.state),
                [legal(pair.compiled, alone.take([r]))[0] for r in range(TABLES)],
            )
            assert list(mixed) == single
        for ours, theirs in zip(pair.state, alone, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_a_step_leaves_tables_alone_whose_deal_is_over() -> None:
    chance = random.Random(1)
    pair = random_pair(chance, 2)
    while not pair.state.over.all():
        step(pair.compiled, pair.state, random_actions(chance, pair.compiled, pair.state))
    before = pair.state.copy()
    step(pair.compiled, pair.state, np.zeros(2, np.int64))
    for ours, theirs in zip(pair.state, before, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("players", range(2, 8))
def test_a_deal_is_the_same_in_a_batch_of_1_and_of_65536(players: int) -> None:
    rules = compiled_rules(Rules(num_players=players))
    many = shuffle(rules, np.arange(65_536))
    for deal_id in (0, 1, 4095, 65_535):
        np.testing.assert_array_equal(shuffle(rules, [deal_id])[0], many[deal_id])
    assert (count(many) == rules.hand_size).all()
    assert (np.bitwise_or.reduce(many, axis=1) & ~rules.deck == 0).all()
    assert (many.sum(axis=1) == np.bitwise_or.reduce(many, axis=1)).all(), "no card twice"


def test_known_deal_ids_give_known_hands_on_every_platform() -> None:
    hands = shuffle(compiled_rules(Rules()), [0, 81723, 2**63 - 1])
    assert hands.tolist() == KNOWN_HANDS


def test_every_card_is_equally_likely_in_every_seat() -> None:
    hands = shuffle(compiled_rules(Rules()), np.arange(40_000))
    share = members(hands).mean(axis=0)
    assert abs(share - 0.25).max() < 0.01


def test_four_random_players_take_about_six_and_a_half_points_and_shoot_one_moon_in_ninety() -> None:
    """With moons as 26 to the others, four random players average 6.6 points and 1.1 % of deals are moons."""
    from hearts_agents import make

    result = play(Rules(moon="add"), [make("random")], [0, 0, 0, 0], np.arange(20_000))
    assert abs(result.points.mean() - 6.6) < 0.1
    assert abs(result.moons.sum() / 20_000 - 0.011) < 0.003


@pytest.mark.parametrize("name", PRESETS)
def test_whole_games_of_every_preset_end_and_somebody_wins(name: str) -> None:
    from hearts_agents import make

    rules = Rules.preset(name)
    seats = rules.num_players
    result = play(rules, [make("random")], [0] * seats, np.arange(40), games=True)
    assert result.winners.any(axis=1).all()
    lowest_score = result.points.min(axis=1, keepdims=True)
    if rules.teams is None:
        np.testing.assert_array_equal(result.winners, result.points == lowest_score)
        assert (result.points.max(axis=1) >= rules.target).all()


def test_a_state_takes_at_most_400_bytes_a_table() -> None:
    for players in range(2, 8):
        assert State.empty(compiled_rules(Rules(num_players=players)), 1000).nbytes / 1000 <= 400


def test_a_new_game_begins_where_one_is_over_and_scores_stay_where_it_is_not() -> None:
    rules = Rules(target=1, moon="add")
    compiled = compiled_rules(rules)
    chance = random.Random(2)
    state = State.empty(compiled, 2)
    deal(compiled, state, shuffle(compiled, [1, 2]), scores=[[0, 0, 0, 0], [-90, -90, -90, -90]])
    while not state.over.all():
        step(compiled, state, random_actions(chance, compiled, state))
    assert (state.phase == GAME_OVER).tolist() == [True, False]
    scores = state.scores[1].copy()
    deal(compiled, state, shuffle(compiled, [3, 4]))
    assert state.scores[0].tolist() == [0, 0, 0, 0]
    assert state.scores[1].tolist() == scores.tolist()
    assert state.deal_no.tolist() == [0, 1]


def test_set_functions_agree_with_plain_python() -> None:
    chance = np.random.default_rng(0)
    sets = chance.integers(0, 1 << 52, 500) & chance.integers(0, 1 << 52, 500)
    sets[0] = 0
    listed = [cards_in(cards) for cards in sets]
    assert [card_set(cards) for cards in listed] == sets.tolist()
    assert count(sets).tolist() == [len(cards) for cards in listed]
    assert lowest(sets).tolist() == [cards[0] if cards else -1 for cards in listed]
    assert highest(sets).tolist() == [cards[-1] if cards else -1 for cards in listed]
    assert [np.flatnonzero(row).tolist() for row in members(sets)] == listed
    index = (chance.random(499) * count(sets[1:])).astype(np.int64)
    assert nth(sets[1:], index).tolist() == [cards[i] for cards, i in zip(listed[1:], index, strict=True)]
    picked = choose(sets, chance.random(500))
    assert picked[0] == -1
    assert all(card in cards for card, cards in zip(picked[1:], listed[1:], strict=True))


def test_a_random_choice_is_uniform() -> None:
    sets = np.full(60_000, card_set([0, 13, 14, 40, 51, 53]), np.int64)
    picked = choose(sets, np.random.default_rng(0).random(60_000))
    _, counts = np.unique(picked, return_counts=True)
    assert len(counts) == 6
    assert abs(counts / 10_000 - 1).max() < 0.05


KNOWN_HANDS = [
    [2674843959433248, 668650575005060, 15393185948171, 1144711906984016],
    [90298516800864, 1125930979361412, 2851310691031042, 436059440177177],
    [563071840178700, 1260590215496963, 141852074909872, 2538085496784960],
]
