"""The game tree of small Hearts, exact values and best responses, against the oracle and against brute force."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import fields

import numpy as np
import pytest

import oracle
from hearts_agents import make
from hearts_cli.main import main
from hearts_env.cards import NUM_ACTIONS, Ints, cards_in, members
from hearts_env.exact.best_response import best_response, evaluate, tabulate, values
from hearts_env.exact.game_tree import TreeError, all_deals, count_deals, grow
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.rules import Rules
from hearts_env.game.view import View
from hearts_env.match.agent import Policy, PolicyError

SMALL = ("small_two", "small_three", "small_four")
SMALLER = (
    "num_players=2,deck=C246 H8A SQ",
    "num_players=2,deck=C246 H8A SQ,pass_count=1,pass_cycle=[1]",
    "num_players=3,deck=C23 H2 SJQK,pass_count=0",
    "num_players=3,deck=C23 H2 SJQK,pass_count=1,pass_cycle=[1]",
    "num_players=3,deck=D23 H2 SJQK,pass_count=0,first_leader=left_of_dealer,teams=null,moon=subtract",
    "num_players=4,deck=C2 D2 H23,pass_count=0,teams=fixed",
)
TREES = {text: grow(Rules.parse(text)) for text in SMALLER}


@pytest.mark.parametrize("text", SMALL + SMALLER)
def test_every_deal_of_the_pack_is_listed_once(text: str) -> None:
    rules = compiled_rules(Rules.parse(text))
    hands = all_deals(rules)
    assert len(hands) == count_deals(rules) == len({tuple(row) for row in hands.tolist()})
    assert (np.bitwise_count(hands) == rules.hand_size).all()
    assert (np.bitwise_or.reduce(hands, axis=1) == hands.sum(axis=1)).all()
    assert (hands & ~rules.deck == 0).all()


def walk(deal: oracle.Deal) -> tuple[int, int, list[float]]:
    """Endings, positions, and the mean points with all actions equally likely, from here on."""
    if deal.phase == "over":
        return 1, 1, [float(points) for points in deal.points]
    ends, positions, total = 0, 1, np.zeros(deal.n)
    actions = deal.legal()
    for action in actions:
        other = copied(deal)
        other.step(action)
        more, below, points = walk(other)
        ends, positions, total = ends + more, positions + below, total + points
    return ends, positions, list(total / len(actions))


def copied(deal: oracle.Deal) -> oracle.Deal:
    other = oracle.Deal.__new__(oracle.Deal)
    other.__dict__.update(deal.__dict__)
    for name in ("hands", "picks", "taken", "voids"):
        setattr(other, name, [type(part)(part) for part in getattr(deal, name)])
    for name in ("plays", "table", "tricks_won", "trick_winners"):
        setattr(other, name, list(getattr(deal, name)))
    return other


@pytest.mark.parametrize("text", SMALLER)
def test_the_tree_and_the_values_of_random_play_are_those_that_the_oracle_finds(text: str) -> None:
    rules, tree = Rules.parse(text), TREES[text]
    plain = oracle.rules(**{**rules.changes(), "num_players": rules.num_players})
    found = [walk(oracle.Deal(plain, [cards_in(hand) for hand in row])) for row in all_deals(tree.rules).tolist()]
    assert tree.endings == sum(ends for ends, _, _ in found)
    assert tree.positions == sum(positions for _, positions, _ in found)
    points = np.mean([points for _, _, points in found], axis=0)
    payoffs = (points.sum() - points) / (rules.num_players - 1) - points
    if rules.teams:
        sides = points[:2] + points[2:]
        payoffs = np.tile(sides[::-1] - sides, 2)
    assert values(tree, tabulate(tree, make("random"))) == pytest.approx(payoffs, abs=1e-12)


@pytest.mark.parametrize("text", SMALLER)
def test_an_information_set_holds_just_the_positions_with_equal_views(text: str) -> None:
    for level in TREES[text].levels:
        seen = level.views
        keys = [
            tuple(np.asarray(getattr(seen, field.name)[row]).tobytes() for field in fields(View)[1:])
            for row in range(len(seen))
        ]
        assert len(set(keys)) == len(seen)
        going = level.infoset[level.seat >= 0]
        assert set(going.tolist()) == set(range(len(seen)))
        assert (seen.seat[going] == level.seat[level.seat >= 0]).all()


def brute_force(tree_of: str, policies: list[Policy], seat: int) -> float:
    """The best value over every pure policy of a seat, each of which is played out."""
    tree = TREES[tree_of]
    places = [
        (index, row, cards_in(int(level.views.legal[row])))
        for index, level in enumerate(tree.levels)
        for row in np.flatnonzero(level.views.seat == seat).tolist()
    ]
    # Climb from many starts: change one information set at a time to what is better, which ends in the best response
    # wherever all information sets can be reached.
    chance = random.Random(0)
    mine = [np.array(table) for table in policies]
    for index, row, actions in places:
        mine[index][row] = 0
        mine[index][row, chance.choice(actions)] = 1
    best = values(tree, mine)[seat]
    better = True
    while better:
        better = False
        for index, row, actions in places:
            if len(actions) > 1:
                before = mine[index][row].copy()
                for action in actions:
                    mine[index][row] = 0
                    mine[index][row, action] = 1
                    value = values(tree, mine)[seat]
                    if value > best + 1e-12:
                        best, better, before = value, True, mine[index][row].copy()
                mine[index][row] = before
    return float(best)


def test_no_pure_policy_found_by_trying_them_beats_the_best_response() -> None:
    text = "num_players=2,deck=C246 H8A SQ"
    policies = tabulate(TREES[text], make("random"))
    for seat in range(2):
        value, _ = best_response(TREES[text], policies, seat)
        assert brute_force(text, policies, seat) == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("agent", ["random", "rule"])
@pytest.mark.parametrize("text", SMALLER)
def test_a_best_response_earns_what_it_promises_and_no_other_policy_tried_earns_more(text: str, agent: str) -> None:
    tree = TREES[text]
    policies = tabulate(tree, make(agent))
    chance = np.random.default_rng(0)
    for seat in range(tree.rules.num_players):
        value, answer = best_response(tree, policies, seat)
        assert values(tree, answer)[seat] == pytest.approx(value, abs=1e-12)
        for level, before, after in zip(tree.levels, policies, answer, strict=True):
            others = level.views.seat != seat
            assert (before[others] == after[others]).all()
        for _ in range(5):
            tried = [np.array(table) for table in answer]
            for level, table in zip(tree.levels, tried, strict=True):
                rows = np.flatnonzero((level.views.seat == seat) & (chance.random(len(level.views)) < 0.3))
                legal = members(level.views.legal[rows], NUM_ACTIONS) * chance.random((len(rows), NUM_ACTIONS))
                table[rows] = legal / legal.sum(axis=1, keepdims=True)
            assert values(tree, tried)[seat] <= value + 1e-12


@pytest.mark.parametrize("text", SMALL)
def test_payoffs_sum_to_zero_and_a_best_response_never_loses_by_it(text: str) -> None:
    found = evaluate(Rules.parse(text), make("rule"))
    assert found.values.sum() == pytest.approx(0, abs=1e-9)
    assert (found.gains >= -1e-12).all()
    assert found.nash_conv == pytest.approx(found.exploitability * len(found.values))


def test_the_best_response_to_the_best_response_of_the_other_seat_gains_nothing_more_in_its_own_seat() -> None:
    tree = TREES[SMALLER[0]]
    policies = tabulate(tree, make("random"))
    _, answer = best_response(tree, policies, 0)
    again, _ = best_response(tree, answer, 0)
    assert again == pytest.approx(values(tree, answer)[0], abs=1e-12)


def test_agents_may_differ_from_seat_to_seat() -> None:
    tree = TREES["num_players=3,deck=C23 H2 SJQK,pass_count=0"]
    mixed = evaluate(tree, [make("rule"), make("random"), make("random")])
    plain = evaluate(tree, make("random"))
    assert mixed.values[0] > plain.values[0]
    assert mixed.best[0] == pytest.approx(plain.best[0])  # the others are the same
    with pytest.raises(ValueError, match="2 agents for 3 seats"):
        evaluate(tree, [make("rule"), make("random")])


def test_a_tree_that_is_too_large_is_refused_with_its_width() -> None:
    with pytest.raises(TreeError, match="11,732,745,024 positions after 0 actions, more than 4,000,000"):
        grow(Rules.preset("small_four_twenty"))


class Cheat:
    name = "cheat"

    def __init__(self, change: Callable[[Policy], Policy]) -> None:
        self.change = change

    def act(self, view: View) -> Ints:
        return make("random").act(view)

    def probabilities(self, view: View) -> Policy:
        legal = members(view.legal, NUM_ACTIONS)
        return self.change(legal / legal.sum(axis=1, keepdims=True))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda table: table * 0.9, "must not be negative and sum to 1"),
        (lambda table: np.roll(table, 1, axis=1), "gives an illegal action"),
        (lambda table: table[:, :52], "probabilities must be"),
    ],
)
def test_probabilities_that_are_none_are_refused(change: Callable[[Policy], Policy], sentence: str) -> None:
    with pytest.raises(PolicyError, match=f"agent 'cheat'.*{sentence}"):
        evaluate(TREES[SMALLER[0]], Cheat(change))


def test_the_program_prints_what_the_best_response_gains(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["exploit", "random", "rule", "--rules", "small_two"]) == 0
    out = capsys.readouterr().out
    assert "560 deals, 11,920 positions" in out
    assert "random  3.019643" in out
    assert "rule    3.635714" in out
    assert main(["exploit", "rule", "--rules", "small_four_twenty"]) == 2
    assert "positions after 0 actions" in capsys.readouterr().err


def test_moons_are_chosen_in_some_positions_of_small_three() -> None:
    tree = grow(Rules.preset("small_three"))
    phases = Counter(phase for level in tree.levels for phase in level.views.phase.tolist())
    assert phases[2] > 0
