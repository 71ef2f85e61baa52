"""The search agent keeps the contract of an agent, sees no hidden card, and finds what the rule agent misses."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from hearts_agents import AgentError, make
from hearts_agents.rule import RuleAgent
from hearts_agents.search import SearchAgent
from hearts_agents.search_lines import kinds, shooting
from hearts_agents.search_race import Policies, play_out
from hearts_env.agent import Agent
from hearts_env.cards import CARD_NAMES, NUM_ACTIONS, bit, card_set, cards_in, parse_card
from hearts_env.engine import legal, step
from hearts_env.executor import threads, use_threads, using
from hearts_env.lookup import lookup
from hearts_env.match import check_actions, play
from hearts_env.notation import parse_position
from hearts_env.rewards import payoff
from hearts_env.rules import Rules
from hearts_env.state import PASS
from hearts_env.view import View, view
from hearts_env.worlds import worlds
from test_agents import VARIANTS, dealt, redealt

QUICK = "search:6"


@pytest.mark.parametrize("variant", [*VARIANTS, *(f"num_players={seats}" for seats in range(2, 8))])
def test_search_plays_only_legal_actions_in_every_variant(variant: str) -> None:
    rules = Rules.parse(variant)
    lineup = np.arange(rules.num_players) % 2
    result = play(rules, [make("search:3"), make("random:1")], lineup, np.arange(2))
    assert (result.deals == 1).all()


def test_search_plays_whole_games() -> None:
    result = play(Rules(target=40), [make("search:2")], [0] * 4, np.arange(2), games=True)
    assert result.winners.any(axis=1).all()


@pytest.mark.parametrize("variant", ["standard", "two_player", "omnibus", "partnership", "six"])
def test_search_acts_the_same_in_any_batch_and_whatever_the_hidden_cards(variant: str) -> None:
    rules = Rules.parse(variant)
    info, rng = lookup(rules), np.random.default_rng(1)
    state, agent = dealt(rules, np.arange(4)), make(QUICK)
    while not state.over.all():
        rows = np.flatnonzero(~state.over)
        seen = view(info, state).take(rows)
        before = seen.take(slice(None))
        actions = agent.act(seen)
        check_actions(seen, actions, agent.name)
        assert all(np.array_equal(getattr(seen, f.name), getattr(before, f.name)) for f in fields(View)[1:])
        alone = int(rng.integers(len(rows)))
        if rng.random() < 0.25:  # other agents, so that nothing is remembered
            assert make(QUICK).act(seen.take(np.array([alone])))[0] == actions[alone]
            blind = view(info, redealt(state, rng)).take(rows)
            assert np.array_equal(make(QUICK).act(blind), actions)
        chosen = np.zeros(len(state), np.int64)
        chosen[rows] = actions
        step(info, state, chosen)


def test_search_chooses_the_same_in_threads_and_under_both_executors() -> None:
    pytest.importorskip("numba")
    info = lookup(Rules())
    state = dealt(Rules(), np.arange(8))
    for count in (0, 18):
        for _ in range(count):
            step(info, state, RuleAgent().act(view(info, state)))
        seen, before = view(info, state), threads()
        alone = make("search:16").act(seen)
        try:
            use_threads(3)
            assert np.array_equal(make("search:16").act(seen), alone)
        finally:
            use_threads(before)
        with using("numpy"):
            part = seen.take(slice(2))
            assert np.array_equal(make("search:16").act(part), alone[:2])


def test_all_picks_of_a_pass_are_one_plan_and_need_no_memory() -> None:
    info, agent = lookup(Rules()), SearchAgent(16)
    state = dealt(Rules(), np.array([4, 5, 6]))
    plan = [agent.explain(one) for one in (view(info, state.take([row])) for row in range(3))]
    while (state.phase == PASS).all():
        seen = view(info, state)
        actions = SearchAgent(16).act(seen)  # a fresh one at every pick
        for row in np.flatnonzero(seen.seat == 0):
            chosen = next(each for each in plan[row][0] if each.chosen)
            assert actions[row] in chosen.actions
        step(info, state, actions)


def test_after_picks_that_were_not_its_own_the_pass_goes_on() -> None:
    info, state = lookup(Rules()), dealt(Rules(), np.array([4]))
    for _ in range(12):
        lowest = legal(info, state) & -legal(info, state)
        actions = np.bitwise_count(lowest - 1).astype(np.int64)
        seen = view(info, state)
        check_actions(seen, make(QUICK).act(seen), QUICK)
        step(info, state, actions)


def test_cards_are_of_one_kind_where_nobody_else_can_play_between_them() -> None:
    points = [int(card_set([card]) & card_set(range(26, 39)) != 0) for card in range(NUM_ACTIONS)]
    points[parse_card("QS")] = 13

    def names(hand: str, others: str, favourite: str = "") -> str:
        sets = [card_set(map(parse_card, text.split())) for text in (hand, others)]
        wanted = parse_card(favourite) if favourite else -1
        return " ".join(CARD_NAMES[card] for card in kinds(*sets, points, wanted))

    assert names("2C 3C 5C", "4C") == "2C 5C"
    assert names("2C 3C 5C", "") == "2C"
    assert names("2C 3C 5C", "4C", favourite="3C") == "3C 5C"
    assert names("JS QS KS AS", "") == "JS QS KS"
    assert names("AC 2D", "") == "AC 2D"
    assert kinds(0b11 << 52, 0, points) == [52, 53]


def test_play_outs_of_the_base_policy_are_the_games_it_plays() -> None:
    """A line of what the rule agent would do anyway, in the true state, ends as its own game does."""
    info = lookup(Rules())
    state = dealt(Rules(), np.arange(40))
    for count in (0, 25, 30):
        for _ in range(count):
            step(info, state, RuleAgent().act(view(info, state)))
        seen, end, tried = view(info, state), state.copy(), state.copy()
        RuleAgent().play_on(info, end, np.ones(end.hands.shape, np.bool_))
        if count:
            policies = Policies(RuleAgent(), shooting(RuleAgent()))
            actions = RuleAgent().act(seen)[:, None]
            play_out(info, tried, seen.seat, actions, np.zeros(40, np.bool_), policies)
            assert np.array_equal(tried.points, end.points)


def test_a_candidates_payoff_is_the_mean_over_the_worlds() -> None:
    """Worked out a second time, world by world."""
    info, agent = lookup(Rules()), SearchAgent(16)
    state = dealt(Rules(), np.array([11]))
    for _ in range(12 + 22):
        step(info, state, RuleAgent().act(view(info, state)))
    seen = view(info, state)
    (found,) = agent.explain(seen)
    drawn = worlds(seen, 16)
    for each in [each for each in found if not each.moon]:
        total = 0.0
        for world in range(16):
            one = drawn.take([world])
            step(info, one, np.array(each.actions))
            while not one.over.all():
                step(info, one, RuleAgent().act(view(info, one)))
            total += float(payoff(info, one.points)[0, seen.seat[0]])
        assert each.payoff == pytest.approx(total / 16)
        assert each.worlds == 16


def test_search_beats_the_rule_agent() -> None:
    """40 duplicate deals: the difference is several of their standard errors."""
    rules, ids = Rules(), np.repeat(np.arange(40) + 77_000, 2)
    lineup = np.tile([[0, 1, 0, 1], [1, 0, 1, 0]], (40, 1))
    result = play(rules, [SearchAgent(16), RuleAgent()], lineup, ids)
    gains = payoff(lookup(rules), result.points)[lineup == 0]
    assert gains.mean() > 0.5


def test_search_is_made_by_name_with_a_number_of_worlds_or_a_time() -> None:
    for name in ("search", "search:32", "search:5ms"):
        agent = make(name)
        assert isinstance(agent, Agent)
        assert agent.name == name
    for wrong in ("search:0", "search:x", "search:ms", "search:-5", "search:5s", "search:99999999"):
        if wrong != "search:":
            with pytest.raises(AgentError):
                make(wrong)


def test_a_search_by_time_ends_in_about_its_time_and_gives_legal_actions() -> None:
    info, state = lookup(Rules()), dealt(Rules(), np.arange(16))
    agent = make("search:2ms")
    for _ in range(20):
        seen = view(info, state)
        actions = agent.act(seen)
        check_actions(seen, actions, agent.name)
        step(info, state, actions)


def test_what_explains_a_decision_is_what_is_played() -> None:
    info, state, agent = lookup(Rules()), dealt(Rules(), np.arange(6)), make("search:12")
    assert isinstance(agent, SearchAgent)
    while not state.over.all():
        seen = view(info, state)
        actions = agent.act(seen)
        if state.count[0] % 9 == 0:
            for row, found in enumerate(agent.explain(seen)):
                assert bool(found) == (int(seen.legal[row]).bit_count() > 1)
                if found and seen.phase[row] != PASS:
                    assert [each.actions[0] for each in found if each.chosen] == [actions[row]]
                    assert found[0].gain == 0
                    kinds_of = {each.actions[0] for each in found if not each.moon}
                    assert kinds_of <= set(cards_in(int(seen.legal[row])))
        step(info, state, actions)


POSITIONS: dict[str, tuple[str, str]] = {}
"""Positions where one card is best by force, and the rule agent plays another."""


@pytest.mark.parametrize("name", POSITIONS)
def test_search_finds_the_card(name: str) -> None:
    text, best = POSITIONS[name]
    seen = view(lookup(Rules()), parse_position(lookup(Rules()), text))
    assert CARD_NAMES[make("search:64").act(seen)[0]] == best
    assert CARD_NAMES[make("rule").act(seen)[0]] != best
    assert seen.legal[0] & bit(np.array(parse_card(best)))
