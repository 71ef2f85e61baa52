"""Hearts as a game of OpenSpiel: OpenSpiel's own tests, and its NashConv against our best responses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("pyspiel", reason="OpenSpiel is not installed: pip install open_spiel")

import pyspiel
from open_spiel.python import policy as spiel_policy
from open_spiel.python.algorithms import exploitability, mcts
from open_spiel.python.bots.uniform_random import UniformRandomBot

from hearts_agents import make
from hearts_env.adapters.openspiel import AgentPolicy, BotAgent, PolicyAgent, load_game, states_of
from hearts_env.cards import names_in
from hearts_env.exact.best_response import evaluate
from hearts_env.exact.game_tree import grow
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.engine import deal, legal, shuffle, step
from hearts_env.game.rules import Rules, RulesError
from hearts_env.game.state import State
from hearts_env.game.view import view
from hearts_env.match.agent import policy
from hearts_env.match.play_match import play

TWO = "num_players=2,deck=C246 H8A SQ"
THREE = "num_players=3,deck=C23 H2 SJQK,pass_count=0"
PASSING = TWO + ",pass_count=1,pass_cycle=[1]"
EQUAL = 1e-9


class Solved(spiel_policy.Policy):
    """The policy of a C++ solver for OpenSpiel's Python tools."""

    def __init__(self, game: Any, solved: Any) -> None:
        super().__init__(game, list(range(game.num_players())))
        self.solved = solved

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        return dict(self.solved.action_probabilities(state))


@pytest.mark.parametrize("text", ["small_two_pass", "small_three", "standard", "partnership", "seven,pass_count=1"])
def test_openspiels_simulation_test_passes(text: str) -> None:
    pyspiel.random_sim_test(load_game(text), num_sims=2, serialize=True, verbose=False)


@pytest.mark.parametrize(
    ("text", "agent"),
    [(TWO, "random"), (TWO, "rule"), (THREE, "random"), (THREE, "rule"), (PASSING, "rule")],
)
def test_nash_conv_of_our_agents_is_openspiels(text: str, agent: str) -> None:
    game = load_game(text)
    theirs = exploitability.nash_conv(game, AgentPolicy(game, make(agent)), return_only_nash_conv=False)
    ours = evaluate(Rules.parse(text), make(agent))
    assert ours.nash_conv == pytest.approx(theirs.nash_conv, abs=EQUAL)
    assert ours.gains == pytest.approx(theirs.player_improvements, abs=EQUAL)


def test_openspiels_uniform_random_policy_is_our_random_agent() -> None:
    game = load_game(THREE)
    uniform = exploitability.nash_conv(game, spiel_policy.UniformRandomPolicy(game))
    assert evaluate(Rules.parse(THREE), make("random")).nash_conv == pytest.approx(uniform, abs=EQUAL)


@pytest.mark.parametrize("text", [TWO, THREE])
def test_cfr_brings_nash_conv_down_and_both_measure_the_same(text: str) -> None:
    game, tree = load_game(text), grow(Rules.parse(text))
    solver = pyspiel.CFRSolver(game)
    found = [evaluate(tree, make("random")).nash_conv]
    for iterations in (10, 40):
        for _ in range(iterations):
            solver.evaluate_and_update_policy()
        solved = Solved(game, solver.average_policy())
        found.append(evaluate(tree, PolicyAgent(solved)).nash_conv)
        assert found[-1] == pytest.approx(exploitability.nash_conv(game, solved), abs=EQUAL)
        assert found[-1] == pytest.approx(pyspiel.nash_conv(game, solver.average_policy()), abs=EQUAL)
    assert found[0] > found[1] > found[2]
    assert found[2] < found[0] / 10


def test_a_state_of_openspiel_made_from_a_view_shows_that_view() -> None:
    """Nothing hidden gets through: in the true state the seat knows just what it knows in the state that is drawn."""
    for text in ("small_two_pass", "small_three_pass", "standard", "omnibus"):
        rules = compiled_rules(Rules.parse(text))
        table = State.empty(rules, 2)
        deal(rules, table, shuffle(rules, np.arange(2)), deal_no=0)
        chance = make("random")
        while not table.over.any():
            seen = view(rules, table)
            for row, state in enumerate(states_of(seen)):
                assert state.current_player() == seen.seat[row]
                assert names_in(seen.legal[row]) == [state.action_to_string(action) for action in state.legal_actions()]
                again = state.position.seen(int(seen.seat[row]))
                for name in ("hand", "legal", "picks", "got", "plays", "leaders", "phase", "points"):
                    assert (getattr(again, name)[0] == getattr(seen, name)[row]).all(), name
            step(rules, table, chance.act(seen))
        assert (legal(rules, table)[table.over] == 0).all()


def test_bots_of_openspiel_sit_at_our_table() -> None:
    chance = np.random.RandomState(0)
    uniform = BotAgent(lambda game, seat: UniformRandomBot(seat, chance), name="uniform")
    searching = BotAgent(
        lambda game, seat: mcts.MCTSBot(game, 2.0, 20, mcts.RandomRolloutEvaluator(1, chance), random_state=chance),
        name="mcts",
    )
    rules = Rules.preset("small_three")
    result = play(rules, [uniform, searching, make("rule")], [0, 1, 2], np.arange(4))
    assert result.agents == ("uniform", "mcts", "rule")
    assert (result.deals == 1).all()


def test_a_policy_agent_says_the_probabilities_that_it_draws_from() -> None:
    game = load_game("small_two")
    agent = PolicyAgent(spiel_policy.UniformRandomPolicy(game))
    rules = compiled_rules(Rules.preset("small_two"))
    table = State.empty(rules, 200)
    deal(rules, table, shuffle(rules, np.zeros(200, np.int64)), deal_no=0, key=np.arange(200))
    seen = view(rules, table)
    assert policy(agent, seen) == pytest.approx(policy(make("random"), seen))
    assert set(names_in(int(seen.legal[0]))) == {str(names_in(1 << int(action))[0]) for action in agent.act(seen)}


def test_rules_with_commas_go_through_the_text_of_a_game() -> None:
    game = load_game("omnibus,target=50,pass_cycle=[1,0]")
    again = pyspiel.load_game(str(game))
    assert again.rules.rules == Rules.parse("omnibus,target=50,pass_cycle=[1,0]")
    assert str(again) == str(game)


def test_wrong_rules_and_foreign_observers_are_refused() -> None:
    with pytest.raises(RulesError, match="unknown rules preset"):
        load_game("none_such")
    kind = pyspiel.IIGObservationType(perfect_recall=True, private_info=pyspiel.PrivateInfoType.NONE)
    with pytest.raises(ValueError, match="tell what one seat knows"):
        load_game(TWO).make_py_observer(kind)
