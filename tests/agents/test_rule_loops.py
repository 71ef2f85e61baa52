"""The rule agent plays the same cards as arrays, as compiled loops over views, and as one loop over the tables."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from hearts_agents.rule.agent import RuleAgent
from hearts_agents.rule.weights import Weights, limits
from hearts_env.executor import Executor, using
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.engine import deal, shuffle, single_deal_no, step
from hearts_env.game.rules import PRESETS, Rules
from hearts_env.game.state import State
from hearts_env.game.view import view

VARIANTS = (
    *PRESETS,
    *(f"num_players={seats}" for seats in range(2, 8)),
    "moon=none,bonus_card=JD",
    "bonus_card=TD,teams=fixed,team_moon=team",
    "moon=auto,target=26",
    "num_players=5,first_trick_points=allowed,pass_cycle=[2,0]",
    "num_players=7,pass_count=5,no_tricks_bonus=-5",
    'scoring={"7C":10,"AD":-4}',
    "num_players=2,pass_count=1,pass_cycle=[1],trump=null",
)
SEEDS = 25


def dealt(rules: Rules, tables: int) -> State:
    compiled, ids = compiled_rules(rules), np.arange(tables)
    state = State.empty(compiled, tables)
    scores = (ids[:, None] * 7 + np.arange(rules.num_players) * 11) % rules.target
    deal(compiled, state, shuffle(compiled, ids), deal_no=single_deal_no(compiled, ids), scores=scores, key=ids)
    return state


def by_views(rules: Rules, executor: Executor, weights: Weights | None = None) -> tuple[State, int]:
    """The deals played with `act` alone, and how many actions that took."""
    compiled, state, made = compiled_rules(rules), dealt(rules, SEEDS), 0
    with using(executor):
        while len(rows := np.flatnonzero(~state.over)):
            part = state.take(rows)
            step(compiled, part, RuleAgent(weights).act(view(compiled, part)))
            state.put(rows, part)
            made += len(rows)
    return state, made


def in_one_loop(rules: Rules) -> tuple[State, int]:
    state = dealt(rules, SEEDS)
    with using("compiled"):
        return state, RuleAgent().play_on(compiled_rules(rules), state, np.ones(state.hands.shape, np.bool_))


def same(first: State, second: State) -> bool:
    return all(np.array_equal(getattr(first, name), getattr(second, name)) for name in ("plays", "picks", "points"))


@pytest.mark.parametrize("variant", VARIANTS)
def test_rule_plays_the_same_cards_as_arrays_as_loops_and_in_one_loop_over_the_tables(variant: str) -> None:
    """So the one loop, which is handed all hands, looks at none that it may not see."""
    pytest.importorskip("numba")
    rules = Rules.parse(variant)
    arrays, made = by_views(rules, "numpy")
    assert same(arrays, by_views(rules, "compiled")[0])
    state, made_in_loop = in_one_loop(rules)
    assert same(arrays, state)
    assert made == made_in_loop


@pytest.mark.parametrize("seed", range(8))
def test_rule_plays_the_same_cards_under_both_executors_with_weights_at_their_limits(seed: int) -> None:
    """So nothing that the arrays multiply in 32 bits outgrows them."""
    pytest.importorskip("numba")
    chance = np.random.default_rng(seed)
    drawn = {field.name: float(chance.choice(limits(field.name))) for field in fields(Weights)}
    if seed % 2:
        drawn = {name: value * float(chance.random()) for name, value in drawn.items()}
    weights, rules = Weights(**drawn), Rules.parse(VARIANTS[seed * 7 % len(VARIANTS)])
    assert same(by_views(rules, "numpy", weights)[0], by_views(rules, "compiled", weights)[0])


def test_rule_plays_on_for_its_own_seats_only() -> None:
    rules = Rules()
    state = dealt(rules, SEEDS)
    seats = np.tile([True, False, True, True], (SEEDS, 1))
    made = RuleAgent().play_on(compiled_rules(rules), state, seats)
    assert (state.turn == 1).all()
    assert made == (state.count * (state.phase == 0)).sum() + (state.count * (state.phase == 1)).sum()
