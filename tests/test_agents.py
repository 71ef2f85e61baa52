"""Every agent keeps the contract of `Agent`, and the rule agent plays the textbook cards."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from hearts_agents import AGENTS, AgentError, make
from hearts_env.agent import Agent
from hearts_env.cards import (
    Ints,
    card_set,
    cards_in,
)
from hearts_env.engine import deal, shuffle, step
from hearts_env.lookup import lookup
from hearts_env.match import check_actions, play
from hearts_env.rules import PRESETS, Rules
from hearts_env.state import State
from hearts_env.view import View, view

NAMES = ("random", "rule")
VARIANTS = (
    *PRESETS,
    "moon=none,bonus_card=JD",
    "bonus_card=TD,teams=fixed,team_moon=team",
    "num_players=5,first_trick_points=allowed,pass_cycle=[2,0]",
    "num_players=7,pass_count=5,no_tricks_bonus=-5",
    'scoring={"7C":10,"AD":-4}',
    'scoring={"QS":0,"KH":3},moon=auto',
    "num_players=2,pass_count=1,pass_cycle=[1],trump=null",
    "trump=H,sun_value=26",
)


def dealt(rules: Rules, ids: Ints) -> State:
    info = lookup(rules)
    state = State.empty(info, len(ids))
    deal(info, state, shuffle(info, ids), deal_no=ids % len(rules.pass_cycle), key=ids)
    return state


def redealt(state: State, rng: np.random.Generator) -> State:
    """The same tables with the hidden cards dealt anew among the hands that the seat to act cannot see."""
    other = state.copy()
    for row in np.flatnonzero(~state.over):
        seats = [seat for seat in range(state.hands.shape[1]) if seat != state.turn[row]]
        hidden = rng.permutation([card for seat in seats for card in cards_in(state.hands[row, seat])])
        for seat in seats:
            size = int(state.hands[row, seat]).bit_count()
            hand, hidden = card_set(map(int, hidden[:size])), hidden[size:]
            other.start[row, seat] = (state.start[row, seat] & ~state.hands[row, seat]) | hand
            other.hands[row, seat] = hand
    return other


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("variant", VARIANTS)
def test_an_agent_plays_only_legal_actions_in_every_variant(name: str, variant: str) -> None:
    rules = Rules.parse(variant)
    agents = [make(name), make("random:1")]
    lineup = np.arange(rules.num_players) % 2
    result = play(rules, agents, np.tile(np.array([lineup, 0 * lineup]), (12, 1)), np.arange(24))
    assert (result.deals == 1).all()


@pytest.mark.parametrize("name", NAMES)
def test_an_agent_plays_whole_games(name: str) -> None:
    result = play(Rules(target=40), [make(name)], [0] * 4, np.arange(3), games=True)
    assert result.winners.any(axis=1).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("variant", ["standard", "two_player", "omnibus", "six"])
def test_an_agent_acts_the_same_in_any_batch_and_whatever_the_hidden_cards(name: str, variant: str) -> None:
    rules = Rules.parse(variant)
    info, agent, rng = lookup(rules), make(name), np.random.default_rng(1)
    state = dealt(rules, np.arange(20))
    while not state.over.all():
        rows = np.flatnonzero(~state.over)
        seen = view(info, state).take(rows)
        actions = agent.act(seen)
        check_actions(seen, actions, name)
        alone = int(rng.integers(len(rows)))
        assert agent.act(seen.take(np.array([alone])))[0] == actions[alone]
        blind = view(info, redealt(state, rng)).take(rows)
        assert all(np.array_equal(getattr(seen, f.name), getattr(blind, f.name)) for f in fields(View)[1:])
        assert np.array_equal(agent.act(blind), actions)
        chosen = np.zeros(len(state), np.int64)
        chosen[rows] = actions
        step(info, state, chosen)


@pytest.mark.parametrize("name", NAMES)
def test_an_agent_leaves_its_view_as_it_was(name: str) -> None:
    seen = view(lookup(Rules()), dealt(Rules(), np.arange(20)))
    before = seen.take(np.arange(20))
    make(name).act(seen)
    assert all(np.array_equal(getattr(seen, f.name), getattr(before, f.name)) for f in fields(View)[1:])


def test_agents_are_made_by_name_and_wrong_names_are_refused() -> None:
    assert set(NAMES) <= set(AGENTS)
    for name in (*NAMES, "random:3"):
        agent = make(name)
        assert isinstance(agent, Agent)
        assert agent.name == name
    for wrong in ("", "rul", "rule:x", "random:x"):
        with pytest.raises(AgentError):
            make(wrong)
