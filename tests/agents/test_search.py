"""The search agent keeps the contract of an agent, sees no hidden card, and finds what the rule agent misses."""

from __future__ import annotations

import numpy as np
import pytest

from deals import VARIANTS, dealt
from hearts_agents import AgentError, make
from hearts_agents.rule.agent import RuleAgent
from hearts_agents.search.agent import SearchAgent
from hearts_agents.search.candidates import CandidateActions, kinds
from hearts_agents.search.rollouts import RolloutPolicies, outcomes, roll_out
from hearts_env.cards import CARD_NAMES, NUM_ACTIONS, card_set, cards_in, parse_card
from hearts_env.executor import use_threads, using
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.engine import legal, step
from hearts_env.game.rewards import payoff
from hearts_env.game.rules import Rules
from hearts_env.game.state import PASS
from hearts_env.game.view import view
from hearts_env.game.worlds import worlds
from hearts_env.match.agent import Agent, check_actions
from hearts_env.match.play_match import play
from hearts_env.text.notation import parse_position

QUICK = "search:6"


def test_search_chooses_the_same_in_threads_and_under_both_executors(threads: None) -> None:
    pytest.importorskip("numba")
    rules = compiled_rules(Rules())
    state = dealt(Rules(), np.arange(8))
    for count in (0, 18):
        for _ in range(count):
            step(rules, state, RuleAgent().act(view(rules, state)))
        seen = view(rules, state)
        use_threads(1)
        alone = make("search:16").act(seen)
        use_threads(3)
        assert np.array_equal(make("search:16").act(seen), alone)
        use_threads(1)
        with using("numpy"):
            part = seen.take(slice(2))
            assert np.array_equal(make("search:16").act(part), alone[:2])


def test_all_picks_of_a_pass_are_one_plan_and_need_no_memory() -> None:
    rules, agent = compiled_rules(Rules()), SearchAgent(16)
    state = dealt(Rules(), np.array([4, 5, 6]))
    plan = [agent.explain(one) for one in (view(rules, state.take([row])) for row in range(3))]
    while (state.phase == PASS).all():
        seen = view(rules, state)
        actions = SearchAgent(16).act(seen)  # a fresh one at every pick
        for row in np.flatnonzero(seen.seat == 0):
            chosen = next(each for each in plan[row][0] if each.chosen)
            assert actions[row] in chosen.actions
        step(rules, state, actions)


def test_after_picks_that_were_not_its_own_the_pass_goes_on() -> None:
    rules, state = compiled_rules(Rules()), dealt(Rules(), np.array([4]))
    for _ in range(12):
        lowest = legal(rules, state) & -legal(rules, state)
        actions = np.bitwise_count(lowest - 1).astype(np.int64)
        seen = view(rules, state)
        check_actions(seen, make(QUICK).act(seen), QUICK)
        step(rules, state, actions)


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
    rules = compiled_rules(Rules())
    state = dealt(Rules(), np.arange(40))
    for count in (0, 25, 30):
        for _ in range(count):
            step(rules, state, RuleAgent().act(view(rules, state)))
        seen, end, tried = view(rules, state), state.copy(), state.copy()
        RuleAgent().play_on(rules, end, np.ones(end.hands.shape, np.bool_))
        if count:
            policies = RolloutPolicies.of(RuleAgent())
            actions = RuleAgent().act(seen)[:, None]
            roll_out(rules, tried, seen.seat, actions, np.zeros(40, np.bool_), policies)
            assert np.array_equal(tried.points, end.points)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_compiled_play_outs_end_as_those_that_step_through_the_deal(variant: str) -> None:
    """Candidates at random times of random deals, for the moon and not, in worlds that fit."""
    pytest.importorskip("numba")
    rules = Rules.parse(variant)
    compiled, policies = compiled_rules(rules), RolloutPolicies.of(RuleAgent())
    state = dealt(rules, np.arange(6) * len(rules.pass_cycle))
    line = np.repeat(np.arange(12), 3)
    world = line // 2 * 3 + np.tile(np.arange(3), 12)
    for count in range(1000):
        seen = view(compiled, state)
        if state.over.any():
            break
        if count % 13 == 0:
            passing = bool((seen.phase == PASS).all())
            picks = [cards_in(int(hand))[-compiled.pass_count :] for hand in seen.hand]
            actions = np.array(picks) if passing else policies.base.act(seen)[:, None]
            moon = np.tile([False, True], 6)
            candidates = CandidateActions(np.repeat(np.arange(6), 2), np.repeat(actions, 2, axis=0), moon, ~moon)
            asked = (compiled, policies, worlds(seen, 3), world, seen.seat[line // 2], candidates, line)
            quick = outcomes(*asked)
            with using("numpy"):
                assert np.array_equal(outcomes(*asked), quick)
        step(compiled, state, make("random:2").act(seen))


def test_a_candidates_payoff_is_the_mean_over_the_worlds() -> None:
    """Worked out a second time, world by world."""
    rules, agent = compiled_rules(Rules()), SearchAgent(16)
    state = dealt(Rules(), np.array([11]))
    for _ in range(12 + 22):
        step(rules, state, RuleAgent().act(view(rules, state)))
    seen = view(rules, state)
    (found,) = agent.explain(seen)
    drawn = worlds(seen, 16)
    for each in [each for each in found if not each.moon]:
        total = 0.0
        for world in range(16):
            one = drawn.take([world])
            step(rules, one, np.array(each.actions))
            while not one.over.all():
                step(rules, one, RuleAgent().act(view(rules, one)))
            total += float(payoff(rules, one.points)[0, seen.seat[0]])
        assert each.payoff == pytest.approx(total / 16)
        assert each.worlds == 16


def test_search_beats_the_rule_agent() -> None:
    """40 duplicate deals: the difference is several of their standard errors."""
    rules, ids = Rules(), np.repeat(np.arange(40) + 77_000, 2)
    lineup = np.tile([[0, 1, 0, 1], [1, 0, 1, 0]], (40, 1))
    result = play(rules, [SearchAgent(16), RuleAgent()], lineup, ids)
    gains = payoff(compiled_rules(rules), result.points)[lineup == 0]
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
    rules, state = compiled_rules(Rules()), dealt(Rules(), np.arange(16))
    agent = make("search:2ms")
    for _ in range(20):
        seen = view(rules, state)
        actions = agent.act(seen)
        check_actions(seen, actions, agent.name)
        step(rules, state, actions)


def test_what_explains_a_decision_is_what_is_played() -> None:
    rules, state, agent = compiled_rules(Rules()), dealt(Rules(), np.arange(6)), make("search:12")
    assert isinstance(agent, SearchAgent)
    while not state.over.all():
        seen = view(rules, state)
        actions = agent.act(seen)
        if state.count[0] % 9 == 0:
            for row, found in enumerate(agent.explain(seen)):
                assert bool(found) == (int(seen.legal[row]).bit_count() > 1)
                if found and seen.phase[row] != PASS:
                    assert [each.actions[0] for each in found if each.chosen] == [actions[row]]
                    assert found[0].gain == 0
                    kinds_of = {each.actions[0] for each in found if not each.moon}
                    assert kinds_of <= set(cards_in(int(seen.legal[row])))
        step(rules, state, actions)


POSITIONS = (
    (
        "deal 3 | scores 0 0 0 0 | "
        "hands C29A D9 H24578Q S47T / C48TJQK DKA H9 S3589 / C56 D57TQ H36TKA SJQ / C37 D23468J HJ S26KA | "
        "plays 2C KC 6C 7C KD QD JD 9D AD TD 8D AC 9S JS 6S TS 5C 3C 9C 8C 4S 3S QS 2S 7D 6D 7S 9H 5D 2D QH "
        "8S AH JH 8H 5S KH 4D 7H QC | key 50335",
        "3H",
    ),
    (
        "deal 3 | scores 0 0 0 0 | "
        "hands C234QA DQ H8TQK S237 / C79 D469 H4679JA S58 / C58K D78J H235 S69KA / C6TJ D235TKA S4TJQ | "
        "plays 2C 9C KC JC JD TD QD 9D 7S 5S 6S 4S 2S 8S 9S TS TC 4C 7C 8C 6C 3C AH 5C AD 8H 6D 7D | key 50071",
        "KD",
    ),
    (
        "deal 3 | scores 0 0 0 0 | "
        "hands C7TJQ D59 H458TQ S8Q / C3A D26JA HA S24679K / C59 D378T H679 S35TA / C2468K D4QK H23JK SJ | "
        "plays 2C QC AC 9C 3C 5C 4C JC 9D 6D 8D QD JS 8S 9S AS 3S KD QS KS AD TD 4D 5D JD 3D KH QH AH 6H JH "
        "4H 7S TS 2H 5H 5S 3H TH 4S | key 50139",
        "7H",
    ),
    (
        "deal 3 | scores 0 0 0 0 | "
        "hands C345 D4TK H89KA S4TK / C6QKA D59Q H5Q S678J / CTJ D68JA H246J S35Q / C2789 D237 H37T S29A | "
        "plays 2C 3C AC TC 6S 5S 9S KS 4S 7S 3S AS 2S TS 8S QS JC 7C 4C QC QD JD 7D TD 9D 6D 3D KD 4D 5D 8D "
        "2D 2H 3H 8H 5H 5C KC AD 8C | key 50251",
        "QH",
    ),
    (
        "deal 3 | scores 0 0 0 0 | "
        "hands C234Q D7 H589T S27TA / C59A D349J H67JK S68 / C8JK D258 H24QA S34K / C67T D6TQKA H3 S59JQ | "
        "plays 2C AC KC TC 8S 4S JS AS 7D 9D 8D 6D 6S 3S 5S TS 2S KH KS QS 8C 6C QC 9C 7S 5C 2D 9S 3H 5H 6H "
        "QH JC 7C 3C JH | key 50211",
        "2H",
    ),
    (
        "deal 3 | scores 0 0 0 0 | "
        "hands C2467K D79T H69 S58J / C3JQA D248K H2K S27K / C58T D36QA H3578 S69 / C9 D5J H4TJQA S34TQA | "
        "plays 2C AC TC 9C KD QD JD TD 3C 5C | key 50651",
        "3S",
    ),
    (
        "deal 3 | scores 0 0 0 0 | "
        "hands C3459T D2 H46 S2357J / CQKA D479T H3789Q S9 / C26 D568JK HTK S468Q / C78J D3QA H25JA STKA | "
        "plays 2C JC TC QC 9S 8S TS 7S AD 2D TD KD 7C 5C KC 6C 4D JD QD 6H 3D 4H 7D 5D 3H TH 5H 9C 6D AS JS "
        "9D 7H KH JH 5S | key 50375",
        "QS",
    ),
)
"""Positions in which the rule agent erred, and the card that search found with most certainty."""


@pytest.mark.parametrize(("text", "best"), POSITIONS)
def test_search_finds_the_card(text: str, best: str) -> None:
    rules = compiled_rules(Rules())
    seen = view(rules, parse_position(rules, text))
    assert CARD_NAMES[make("search:32").act(seen)[0]] == best
