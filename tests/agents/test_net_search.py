"""Search on top of a network: its play-outs are the network's games, and a judge ends them where it should."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from deals import dealt
from hearts_agents import AgentError, make
from hearts_agents.net.agent import SHIPPED, Net, NetAgent
from hearts_agents.net.weights import read_net
from hearts_agents.search.agent import SearchAgent
from hearts_agents.search.candidates import CandidateActions
from hearts_agents.search.rollouts import LEAF_TRICKS, RolloutPolicies, outcomes, roll_out
from hearts_env.cards import cards_in, count
from hearts_env.executor import use_threads
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.engine import step
from hearts_env.game.rewards import payoff
from hearts_env.game.rules import Rules
from hearts_env.game.state import PASS, State
from hearts_env.game.view import View, view
from hearts_env.match.agent import Agent

INFO = compiled_rules(Rules())


def net() -> NetAgent:
    return NetAgent(Net.load(SHIPPED))


def after(state: State, plays: int) -> State:
    """The same tables some plays (or picks) of the rule agent later."""
    for _ in range(plays):
        step(INFO, state, make("rule").act(view(INFO, state)))
    return state


def to_the_end(state: State, agent: Agent) -> State:
    """One action after the other, forced ones asked for too."""
    end = state.copy()
    while not end.over.all():
        rows = np.flatnonzero(~end.over)
        part = end.take(rows)
        step(INFO, part, agent.act(view(INFO, part)))
        end.put(rows, part)
    return end


@pytest.mark.parametrize("plays", [0, 13, 30])
def test_play_outs_of_a_network_are_the_games_that_it_plays(plays: int) -> None:
    """Forced cards are not asked for, and once no points are left anybody may play on: the payoffs are the same."""
    state, agent = after(dealt(Rules(), np.arange(24) * 4 + 3), plays), net()
    seen, tried = view(INFO, state), state.copy()
    actions = agent.act(seen)[:, None]
    at_leaf = roll_out(INFO, tried, seen.seat, actions, np.zeros(24, np.bool_), RolloutPolicies.of(agent))
    assert np.isnan(at_leaf).all()
    assert payoff(INFO, tried.points) == pytest.approx(payoff(INFO, to_the_end(state, agent).points))


@pytest.mark.parametrize("games", [True, False])
def test_a_line_that_ends_the_deal_is_worth_what_the_network_has_learned_a_deal_to_be_worth(
    games: bool, tmp_path: Path
) -> None:
    spec, tensors = read_net(SHIPPED)
    header = {"hearts": json.dumps(replace(spec, games=games).to_json())}
    save_file(tensors, tmp_path / "net.safetensors", header)
    state = after(dealt(Rules(), np.arange(24) * 4 + 3), 40)
    state.scores[:] = [90, 3, 95, 40]
    seen = view(INFO, state)
    choices = np.flatnonzero(count(seen.legal) > 1)
    with_scores, search = seen.take(choices), make(f"net+search:4:{tmp_path}")
    found = [each.payoff for row in search.explain(with_scores) for each in row]  # type: ignore[attr-defined]
    points = SearchAgent(4, base=net(), leaf_value=net().values, to_win=False).explain(with_scores)
    assert (found == [each.payoff for row in points for each in row]) is not games


def test_a_judge_is_asked_at_the_viewers_next_choice_after_the_tricks_and_its_word_counts() -> None:
    state, agent = after(dealt(Rules(), np.arange(24) * 4 + 3), 14), net()
    seat, asked = view(INFO, state).seat, []

    def judge(seen: View) -> np.ndarray:
        asked.append(seen)
        return 1000.0 + seen.seat

    candidates = CandidateActions(
        np.arange(24), agent.act(view(INFO, state))[:, None], np.arange(24) % 2 == 1, np.zeros(24, np.bool_)
    )
    every = np.arange(24)
    found = outcomes(INFO, RolloutPolicies.of(agent, judge), state, every, seat, candidates, every)
    told = found >= 1000
    assert (told & ~candidates.moon).any()
    assert not (told & candidates.moon).any(), "a plan for the moon is played to its end"
    assert (found[told] == 1000 + seat[told]).all()
    for seen in asked:
        assert (seen.count // INFO.num_players >= 14 // INFO.num_players + LEAF_TRICKS).all()
        assert (count(seen.legal) > 1).all()
        assert (seen.turn == 0).all()


def test_in_a_pass_the_judge_is_asked_some_tricks_into_the_play() -> None:
    state, agent, asked = dealt(Rules(), np.arange(8) * 4), net(), []

    def judge(seen: View) -> np.ndarray:
        asked.append(seen)
        return np.zeros(len(seen))

    assert (state.phase == PASS).all()
    picks = np.array([cards_in(int(hand))[:3] for hand in state.hands[:, 0]])
    roll_out(INFO, state, np.zeros(8, np.int64), picks, np.zeros(8, np.bool_), RolloutPolicies.of(agent, judge))
    assert sum(map(len, asked)) > 0
    assert all((seen.count // INFO.num_players >= LEAF_TRICKS).all() for seen in asked)
    # The cards that were to be passed are gone, but for those that have come back by other hands.
    for seen in asked:
        assert (count(seen.picks) == INFO.pass_count).all()


def test_the_values_of_a_network_are_the_payoffs_it_gets() -> None:
    """In points, and so whatever the scale of the reward that it learned from was."""
    state = after(dealt(Rules(), np.arange(400) * 4 + 3), 36)
    seen, agent = view(INFO, state), net()
    choice = count(seen.legal) > 1
    got = payoff(INFO, to_the_end(state, agent).points)[np.arange(400), seen.seat]
    values = agent.values(seen)
    assert values.shape == (400,)
    slope = np.polyfit(values[choice], got[choice], 1)[0]
    assert 0.6 < slope < 1.4


def test_it_chooses_the_same_in_threads(threads: None) -> None:
    pytest.importorskip("numba")
    seen = view(INFO, after(dealt(Rules(), np.arange(12) * 4 + 3), 20))
    use_threads(1)
    alone = make("net+search:8").act(seen)
    use_threads(3)
    assert np.array_equal(make("net+search:8").act(seen), alone)


def test_it_leaves_what_the_network_would_do_now_and_then() -> None:
    seen = view(INFO, after(dealt(Rules(), np.arange(60) * 4 + 3), 20))
    choice = count(seen.legal) > 1
    differ = (make("net+search:16").act(seen) != make("net").act(seen))[choice]
    assert 0 < differ.mean() < 0.5


def test_it_is_made_by_name_with_worlds_or_a_time_and_a_path() -> None:
    for name in ("net+search", "net+search:8", "net+search:5ms", f"net+search:{SHIPPED}", f"net+search:8:{SHIPPED}"):
        agent = make(name)
        assert isinstance(agent, SearchAgent)
        assert agent.name == name
    seen = view(INFO, after(dealt(Rules(), np.array([3, 7])), 9))
    one, other = (make(name).act(seen) for name in ("net+search:4", f"net+search:4:{SHIPPED}"))
    assert np.array_equal(one, other)
    for wrong in ("0", "99999999", "nowhere", "8:nowhere", "8ms:nowhere", "8?sample"):
        with pytest.raises(AgentError, match=r"agent 'net\+search:"):
            make(f"net+search:{wrong}")
