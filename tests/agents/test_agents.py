"""Every agent keeps the contract of `Agent`: one set of tests for all that need nothing from outside."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import fields
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from deals import VARIANTS, dealt
from hearts_agents import AGENTS, AgentError, make
from hearts_agents.explain import explain
from hearts_agents.search.agent import SearchAgent
from hearts_env.cards import bit, card_set, cards_in
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.engine import step
from hearts_env.game.rules import Rules
from hearts_env.game.state import PASS, State
from hearts_env.game.view import View, view
from hearts_env.match.agent import Agent, StochasticAgent, check_actions
from hearts_env.match.play_match import play
from hearts_env.testing import check_agent
from tables import random_pair

NAMES = ("random", "random:1", "rule", "search:3", "net", "net?sample", "net+search:3")
"""The agents that need nothing from outside; `net` is here one for any number of players, that has learned nothing."""
SEARCHING = ("search:3", "net+search:3")
"""Those that take seconds a deal: of their many variants a few are quick tests, the rest are slow ones."""
NEEDING = {"exec", "human"}
"""Kinds of agents that need a program or a person: tests of their own."""


def cases(variants: Sequence[str], quick: Sequence[str]) -> list[Any]:
    """Every agent in every variant, as parameters `name` and `variant`.  quick: the variants for those that search."""
    return [
        pytest.param(name, each, marks=pytest.mark.slow if name in SEARCHING and each not in quick else ())
        for each in variants
        for name in NAMES
    ]


EVERY = [*VARIANTS, *(f"num_players={seats}" for seats in range(2, 8))]
FIVE = ["standard", "two_player", "omnibus", "partnership", "six"]


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


def agent_of(name: str) -> Agent:
    """A fresh agent, which remembers nothing."""
    if not name.startswith("net"):
        return make(name)
    pytest.importorskip("torch")
    from hearts_agents.net.agent import Net, NetAgent
    from hearts_agents.net.weights import NetSpec
    from hearts_train.learn.network import HeartsNet

    fresh = HeartsNet.fresh(NetSpec(rules=Rules(), pad=True, width=8, blocks=1), seed=0)
    net = Net(fresh.spec, {key: tensor.detach().numpy() for key, tensor in fresh.state_dict().items()})
    agent = NetAgent(net, name, sample=name.endswith("?sample"))
    return SearchAgent(3, name, base=agent, leaf_value=agent.values) if "search" in name else agent


def same(one: View, other: View) -> bool:
    return all(np.array_equal(getattr(one, f.name), getattr(other, f.name)) for f in fields(View)[1:])


def test_every_kind_of_agent_is_held_to_the_contract() -> None:
    assert {name.split(":")[0].split("?")[0] for name in NAMES} == set(AGENTS) - NEEDING


@pytest.mark.parametrize(("name", "variant"), cases(EVERY, [*FIVE, *VARIANTS[-8:]]))
def test_an_agent_plays_only_legal_actions_in_every_variant(name: str, variant: str) -> None:
    rules = Rules.parse(variant)
    agents = [agent_of(name), make("random:2")]
    lineup = np.arange(rules.num_players) % 2
    result = play(rules, agents, np.array([lineup, 0 * lineup]), np.arange(2))
    assert (result.deals == 1).all()


@pytest.mark.parametrize("name", [*NAMES[:-1], pytest.param(NAMES[-1], marks=pytest.mark.slow)])
def test_an_agent_plays_only_legal_actions_from_hands_of_nothing_but_hearts_and_other_corners(name: str) -> None:
    """Random rules, and packs dealt so that a seat may have no suit but one: see `oracle.random_hands`."""
    agent, players = agent_of(name), set()
    for seed in range(20):
        pair = random_pair(random.Random(seed), 1 if "search" in name else 3)
        players.add(pair.rules.num_players)
        while not pair.state.over.all():
            rows = np.flatnonzero(~pair.state.over)
            seen = view(pair.compiled, pair.state).take(rows)
            chosen = np.zeros(len(pair.state), np.int64)
            chosen[rows] = agent.act(seen)
            check_actions(seen, chosen[rows], name)
            step(pair.compiled, pair.state, chosen)
    assert players == set(range(2, 8))


@pytest.mark.parametrize("name", NAMES)
def test_an_agent_plays_whole_games(name: str) -> None:
    result = play(Rules(target=40), [agent_of(name)], [0] * 4, np.arange(2), games=True)
    assert result.winners.any(axis=1).all()


@pytest.mark.parametrize(("name", "variant"), cases(FIVE, ["standard", "two_player"]))
def test_an_agent_keeps_the_contract(name: str, variant: str) -> None:
    check_agent(lambda: agent_of(name), [variant], tables=4)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("variant", ["standard", "two_player", "omnibus", "partnership", "six"])
def test_an_agent_acts_the_same_whatever_the_hidden_cards(name: str, variant: str) -> None:
    rules = Rules.parse(variant)
    compiled, rng = compiled_rules(rules), np.random.default_rng(1)
    state = dealt(rules, np.arange(4))
    while not state.over.all():
        rows = np.flatnonzero(~state.over)
        seen = view(compiled, state).take(rows)
        if rng.random() < 0.15:
            blind = view(compiled, redealt(state, rng)).take(rows)
            assert same(seen, blind)
            assert np.array_equal(agent_of(name).act(blind), agent_of(name).act(seen))
        chosen = np.zeros(len(state), np.int64)
        chosen[rows] = make("random").act(seen)
        step(compiled, state, chosen)


def process_generators() -> list[object]:
    """The state of the generators that everybody in a process shares."""
    return [random.getstate(), *map(str, np.random.get_state(legacy=False).items())]  # noqa: NPY002


def halfway(variant: str, tables: int) -> View:
    """Views of the play phase, some cards into a deal by rule."""
    rules = Rules.parse(variant)
    compiled, state = compiled_rules(rules), dealt(rules, np.arange(tables) * len(rules.pass_cycle))
    for _ in range(compiled.num_players * (compiled.pass_count + 3) + 1):
        step(compiled, state, make("rule").act(view(compiled, state)))
    return view(compiled, state)


@pytest.mark.parametrize("name", NAMES)
def test_an_agent_shares_no_generator_with_anybody(name: str) -> None:
    """Whatever others draw before, it acts the same, and it leaves the generators of the process as they were."""
    seen = halfway("standard", 16)
    first = agent_of(name).act(seen)
    before = process_generators()
    agent = agent_of(name)
    for other in ("random:5", name):
        agent_of(other).act(seen)
        assert np.array_equal(agent.act(seen), first)
    assert process_generators() == before


@pytest.mark.parametrize(("one", "other"), list(combinations(NAMES, 2)))
def test_agents_of_different_names_play_differently(one: str, other: str) -> None:
    seen = halfway("standard", 64)
    choices = np.bitwise_count(seen.legal) > 1
    differ = agent_of(one).act(seen)[choices] != agent_of(other).act(seen)[choices]
    assert differ.any()
    if "search" not in one + other:  # which leaves what rule would do now and then
        assert differ.mean() > 0.2


@pytest.mark.parametrize("name", NAMES)
def test_what_an_agent_draws_from_is_legal_and_what_it_explains_is_what_it_does(name: str) -> None:
    seen = halfway("standard", 8)
    agent = agent_of(name)
    actions = agent.act(seen)
    for row, found in enumerate(explain(agent, seen)):
        assert bool(found) == (int(seen.legal[row]).bit_count() > 1)
        assert not found or [each.actions for each in found if each.chosen] == [(actions[row],)]
    if isinstance(agent, StochasticAgent):
        table = agent.probabilities(seen)
        legal = seen.legal[:, None] & bit(np.arange(table.shape[1]))
        assert (table[legal == 0] == 0).all()
        assert table.sum(axis=1) == pytest.approx(1)
    passing = view(compiled_rules(Rules()), dealt(Rules(), np.array([0, 4])))
    assert (passing.phase == PASS).all()
    for row, found in enumerate(explain(agent_of(name), passing)):
        (picks,) = (each.actions for each in found if each.chosen)
        assert agent_of(name).act(passing)[row] in picks


def test_agents_are_made_by_name_and_wrong_names_are_refused() -> None:
    for name in (
        "random",
        "random:3",
        "rule",
        "search",
        "search:5",
    ):
        agent = make(name)
        assert isinstance(agent, Agent)
        assert agent.name == name
    for wrong in ("", "rul", "rule:x", "random:x", "search:x"):
        with pytest.raises(AgentError):
            make(wrong)
