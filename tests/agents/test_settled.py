"""Play that arithmetic decides: dominated choices are found, proofs hold, and no agent of ours takes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hearts_agents import make
from hearts_agents.settled.guard import BOOK, undominated
from hearts_agents.settled.patterns import PATTERNS, dominated_choices
from hearts_agents.win_chance import payoff_at
from hearts_env.cards import Ints, Sets, bit, choose, names_in
from hearts_env.executor import EXECUTORS, Executor, available, using
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.engine import deal, shuffle, step
from hearts_env.game.rules import Rules
from hearts_env.game.state import State
from hearts_env.game.variants import PRESETS
from hearts_env.game.view import View, view
from hearts_env.game.worlds import worlds
from hearts_env.match.agent import policy
from hearts_env.text.notation import parse_action, parse_position
from positions import moon_choice, to_act

Payoffs = NDArray[np.float64]
STANDARD = Rules()
EXAMPLES: list[dict[str, Any]] = json.loads(
    (Path(__file__).resolve().parent.parent / "data" / "dominated.json").read_text(encoding="utf-8")
)
"""A position for each pattern, found in play: the dominated actions, and those that are left."""
PROOFS = [name for name, pattern in PATTERNS.items() if pattern.grounds == "proof"]


def seen(example: dict[str, Any]) -> View:
    rules = compiled_rules(Rules.parse(example["rules"]))
    return view(rules, parse_position(rules, example["position"]))


def names(actions: Ints | Sets) -> list[str]:
    return names_in(int(actions[0]))


def test_every_pattern_has_a_position_and_a_reason() -> None:
    assert len(PATTERNS) >= 25
    assert [example["pattern"] for example in EXAMPLES] == list(PATTERNS)
    assert all(pattern.reason.endswith(".") for pattern in PATTERNS.values())


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["pattern"])
def test_the_predicate_finds_the_dominated_actions(example: dict[str, Any], executor: Executor) -> None:
    if executor not in available():
        pytest.skip("the compiled executor needs numba, from the extra fast")
    with using(executor):
        one = seen(example)
        assert names(dominated_choices(one)[example["pattern"]]) == example["dominated"]
        assert names(undominated(one)) == example["right"]


@pytest.mark.parametrize("name", ["net", "search:2", "net+search:2"])
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["pattern"])
def test_agents_take_one_of_the_others(example: dict[str, Any], name: str) -> None:
    one, agent = seen(example), make(name)
    assert names_in(int(bit(agent.act(one))[0]))[0] in example["right"]
    chances = policy(agent, one)[0]
    assert chances[[parse_action(action) for action in example["right"]]].sum() == pytest.approx(1)


def test_whoever_draws_from_a_network_gets_the_policy_as_it_was_learned() -> None:
    one = to_act(Rules.preset("omnibus"), "3D 4D 5D 6D 8D JD AD", "7D JS 4S", taken=("", "5H", "8H"))
    assert (policy(make("net?sample"), one)[0] > 0).sum() == 7


# -- the positions of a report from outside --------------------------------------------------------------------------


def test_net_takes_a_free_jack_of_omnibus() -> None:
    one = to_act(Rules.preset("omnibus"), "3D 4D 5D 6D 8D JD AD", "7D JS 4S", taken=("", "5H", "8H"))
    assert names(bit(make("net").act(one))) == ["JD"]


@pytest.mark.parametrize(("hand", "trick"), [("5S 6S QS", "2S KS JH"), ("3C 8C QS", "2D KD 4D")])
def test_net_does_not_give_the_queen_to_its_partner(hand: str, trick: str) -> None:
    one = to_act(Rules.preset("partnership"), hand, trick, taken=("", "2H 3H 4H", "", "5H"))
    assert names(bit(make("net").act(one))) != ["QS"]


@pytest.mark.parametrize("name", ["rule", "net", "search:2"])
@pytest.mark.parametrize(
    ("scores", "right"),
    [
        ((20, 80, 60, 50), "add"),  # 106 ends it, and 20 is lowest
        ((50, 80, 10, 40), "subtract"),  # 106 would end it with 36 in front of 50
        ((50, 80, 24, 40), "add"),  # it ends with 50 each, and half a game is more than 24 : 24 with more to come
        ((90, 10, 10, 10), "subtract"),  # nothing ends, and 64 is far from the target
    ],
)
def test_the_moon_choice_is_arithmetic(name: str, scores: tuple[int, ...], right: str) -> None:
    one = moon_choice(STANDARD, scores)
    if name == "rule" and scores[0] == 90:
        pytest.skip("where the game goes on rule always adds")
    assert names(bit(make(name).act(one))) == [right]


def test_points_that_end_a_lost_game_go_elsewhere() -> None:
    # Seat 3 is winning the trick; the last heart would take it to 100 with seat 2 in front.
    one = to_act(
        STANDARD,
        "9H 4C",
        "2D 7C KD",
        taken=("2H", "3H 4H 5H 6H 7H 8H", "TH JH QH KH AH QS", ""),
        scores=(60, 20, 5, 99),
    )
    assert names(undominated(one)) == ["4C"]


# -- the guard -------------------------------------------------------------------------------------------------------


def positions(rules: Rules, tables: int, seed: int, scores: bool) -> list[View]:
    """All decisions of some deals of random play, from the middle of a game if `scores`."""
    compiled, rng = compiled_rules(rules), np.random.default_rng(seed)
    state, found = State.empty(compiled, tables), []
    before = rng.integers(0, max(rules.target // (2 if compiled.teams else 1) - 1, 1), (tables, compiled.num_players))
    ids = rng.integers(1 << 40, size=tables)
    deal(compiled, state, shuffle(compiled, ids), deal_no=ids % 4, key=ids, scores=before * scores)
    while not state.over.all():
        rows = np.flatnonzero(~state.over)
        part = state.take(rows)
        found.append(view(compiled, part))
        step(compiled, part, choose(found[-1].legal, rng.random(len(rows))))
        state.put(rows, part)
    return found


@pytest.mark.parametrize("preset", PRESETS)
def test_the_guard_leaves_an_action_and_dominated_actions_are_legal(preset: str) -> None:
    for one in positions(Rules.preset(preset), 12, 1, scores=False) + positions(Rules.preset(preset), 12, 2, True):
        left = undominated(one)
        assert ((left & ~one.legal) == 0).all()
        assert (left != 0).all()
        for name, dominated in dominated_choices(one).items():
            assert ((dominated & ~one.legal) == 0).all()
            assert name not in PROOFS or (dominated != one.legal).all()


def test_the_guard_does_not_depend_on_the_batch() -> None:
    for one in positions(Rules.preset("omnibus"), 20, 3, scores=True)[-12:]:
        alone = [undominated(one.take(np.array([row])))[0] for row in range(len(one))]
        assert undominated(one).tolist() == alone


def test_the_guard_knows_every_pattern_of_the_book() -> None:
    found = {name for family in BOOK for name in family(positions(STANDARD, 1, 0, False)[0])}
    assert {name for name, pattern in PATTERNS.items() if pattern.grounds == "book"} == found


# -- proofs ----------------------------------------------------------------------------------------------------------


def sampled_payoffs(one: View, card: int, samples: int, seed: int, salt: int) -> Payoffs:
    """The viewer's payoffs when it plays `card` and all play on at random, each in a random world.

    float64 [samples].  salt: other worlds for another one.
    """
    rules, rng = one.rules, np.random.default_rng(seed)
    state = worlds(one, samples, salt)
    before = state.scores.astype(np.int64)
    step(rules, state, np.full(samples, card))
    while not state.over.all():
        rows = np.flatnonzero(~state.over)
        part = state.take(rows)
        seen_now = view(rules, part)
        step(rules, part, choose(seen_now.legal, rng.random(len(rows))))
        state.put(rows, part)
    seat = int(one.seat[0])
    return payoff_at(rules, before, state.points.astype(np.int64))[:, seat]


@pytest.mark.parametrize(
    "variant", ["standard", "omnibus", "partnership", "two_player", "three", "omnibus_bicycle", "small_four_twenty"]
)
@pytest.mark.parametrize("scores", [False, True])
def test_no_world_and_no_play_makes_a_card_better_than_the_one_that_bounds_prove_better(
    variant: str, scores: bool
) -> None:
    rules = Rules.parse(variant)
    if scores and rules.target > 100:
        rules = Rules.parse(f"{variant},target=100")
    checked = 0
    for one in positions(rules, 30, 4, scores):
        found = dominated_choices(one)
        for name in PROOFS:
            if name.startswith(("ending", "moon")):
                continue
            for row in np.flatnonzero(found[name])[:2]:
                part = one.take(np.array([row]))
                worse = [parse_action(action) for action in names_in(int(found[name][row]))]
                better = [parse_action(action) for action in names_in(int(one.legal[row] & ~found[name][row]))]
                best = max(sampled_payoffs(part, card, 24, row, salt=0).min() for card in better)
                for card in worse:
                    assert best >= sampled_payoffs(part, card, 24, row + 1, salt=1).max() - 1e-9
                checked += 1
    assert checked


def test_of_two_cards_the_better_one_is_better_in_each_world() -> None:
    checked = 0
    for rules in (STANDARD, Rules.preset("three"), Rules.preset("partnership")):
        for one in positions(rules, 60, 5, scores=False):
            found = dominated_choices(one)
            for row in np.flatnonzero(found["ending_last_to_play"]):
                part = one.take(np.array([row]))
                worse, better = (
                    next(parse_action(name) for name in names_in(int(cards)))
                    for cards in (
                        found["ending_last_to_play"][row],
                        one.legal[row] & ~found["ending_last_to_play"][row],
                    )
                )
                ways = [sampled_payoffs(part, card, 40, int(row), salt=0) for card in (worse, better)]
                assert (ways[1] >= ways[0] - 1e-9).all()
                assert (ways[1] > ways[0] + 1e-9).any()
                checked += 1
    assert checked > 5
