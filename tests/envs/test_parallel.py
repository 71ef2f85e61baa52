"""The PettingZoo Parallel environment: the library's tests, and the AEC environment as its measure."""

from __future__ import annotations

import warnings
from random import Random
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import parallel_api_test, parallel_seed_test, render_test, state_test

from hearts_agents import make
from hearts_env import Rules, hearts_v0
from hearts_env.cards import NOOP
from hearts_env.envs.options import EnvError
from hearts_env.game.rewards import foul_reward
from hearts_env.game.state import PASS
from hearts_env.match.agent import IllegalActionError

PASSING = ["simultaneous", "sequential"]


@pytest.mark.parametrize("passing", PASSING)
@pytest.mark.parametrize("mask_in", ["observation", "info", "both"])
@pytest.mark.parametrize("players", [2, 3, 4, 5, 6, 7])
def test_pettingzoo_s_parallel_tests_pass_without_a_warning(
    players: int, mask_in: Any, passing: Any, capsys: Any
) -> None:
    def env() -> Any:
        # Both tests act at random, and read masks only in observations.
        return hearts_v0.parallel_env(Rules(num_players=players), mask_in=mask_in, passing=passing, on_illegal="random")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parallel_api_test(env(), num_cycles=70)
        parallel_seed_test(env, num_cycles=20)


@pytest.mark.parametrize("players", [2, 3, 4, 5, 6, 7])
def test_pettingzoo_s_state_test_passes_on_both_environments(players: int) -> None:
    options: Any = {"rules": Rules(num_players=players), "on_illegal": "random"}  # it plays any action
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        state_test(hearts_v0.env(**options), hearts_v0.parallel_env(**options), num_cycles=30)


@pytest.mark.parametrize("players", [2, 4, 7])
def test_pettingzoo_s_render_test_passes(players: int, capsys: Any) -> None:
    def env(render_mode: Any) -> Any:
        return hearts_v0.env(Rules(num_players=players), on_illegal="random", render_mode=render_mode)

    render_test(env, custom_tests={"human": lambda shown: shown is None, "ansi": lambda shown: "deal" in shown})
    assert "deal" in capsys.readouterr().out


@pytest.mark.parametrize("passing", PASSING)
@pytest.mark.parametrize("reward", ["points", "tricks", "zero_sum", "rank"])
@pytest.mark.parametrize(
    ("rules", "episode"),
    [("standard", "deal"), ("num_players=3,target=40", "game"), ("omnibus,target=40", "game"), ("partnership", "deal")],
)
def test_it_is_the_game_of_the_aec_environment(rules: str, episode: Any, reward: Any, passing: Any) -> None:
    options: dict[str, Any] = {"episode": episode, "reward": reward, "mask_in": "both", "on_illegal": "raise"}
    parallel = hearts_v0.parallel_env(rules, passing=passing, **options)
    aec = hearts_v0.env(rules, **options)
    chance, together = Random(1), 0
    for seed in (5, None):
        observations, infos = parallel.reset(seed=seed)
        aec.reset(seed=seed)
        while parallel.agents:
            actions, paid, acting = {}, np.zeros(len(parallel.agents)), 0
            for agent in parallel.agents:
                mask = observations[agent]["action_mask"]
                actions[agent] = chance.choice(np.flatnonzero(mask).tolist())
            for agent, action in actions.items():
                if action == NOOP:
                    assert agent != aec.agent_selection or acting
                    continue
                assert aec.agent_selection == agent
                seen = aec.observe(agent)
                assert (seen["observation"] == observations[agent]["observation"]).all()
                assert (seen["action_mask"] == observations[agent]["action_mask"][:NOOP]).all()
                assert aec.infos[agent]["legal"] == infos[agent]["legal"]
                assert {k: v for k, v in aec.infos[agent].items() if k != "action_mask"} == {
                    k: v for k, v in infos[agent].items() if k != "action_mask"
                }
                aec.step(action)
                paid += list(aec.rewards.values())
                acting += 1
            together += acting > 1
            observations, rewards, terminations, truncations, infos = parallel.step(actions)
            assert list(rewards.values()) == paid.tolist()
            assert terminations == aec.terminations
            assert truncations == aec.truncations
            assert (parallel.state() == aec.state()).all()
    assert (together > 0) == (passing == "simultaneous")


def test_every_seat_picks_at_once_and_then_one_acts_at_a_time() -> None:
    env = hearts_v0.parallel_env()
    observations, infos = env.reset(options={"deal_id": 1, "deal_no": 0})
    steps = {"pass": 0, "play": 0}
    while env.agents and infos["seat_0"]["phase"] < 2:
        asked = [agent for agent in env.agents if not observations[agent]["action_mask"][NOOP]]
        passing = infos["seat_0"]["phase"] == PASS
        assert len(asked) == (4 if passing else 1)
        steps["pass" if passing else "play"] += 1
        actions = {agent: int(observations[agent]["action_mask"].argmax()) for agent in asked}
        observations, _, _, _, infos = env.step(actions)  # seats that are not to act may be left out
    assert steps == {"pass": 3, "play": 52}
    assert all(np.flatnonzero(seen["action_mask"]).tolist() == [NOOP] for seen in observations.values())


def test_agents_of_the_library_see_what_they_see_elsewhere() -> None:
    agent = make("random")
    parallel, aec = hearts_v0.parallel_env(on_illegal="raise"), hearts_v0.env()
    for env in (parallel, aec):
        env.reset(options={"deal_id": 9, "deal_no": 1})
    while parallel.agents:
        actions = {}
        for name in parallel.agents:
            seen = parallel.view(name)
            if seen.legal[0]:
                actions[name] = int(agent.act(seen)[0])
                assert actions[name] == int(agent.act(aec.view(aec.agent_selection))[0])
                aec.step(actions[name])
        parallel.step(actions)
    assert all(aec.terminations.values())


def pass_phase(**options: Any) -> Any:
    env = hearts_v0.parallel_env(**options)
    env.reset(options={"deal_id": 1, "deal_no": 0})
    return env


def test_each_seat_that_fouls_pays_and_nobody_s_action_is_carried_out() -> None:
    env = pass_phase()
    before = env.state()
    legal = {agent: int(env.view(agent).legal[0]).bit_length() - 1 for agent in env.agents}
    with pytest.warns(UserWarning, match=r"illegal action .* by seat [13]: legal are .* in deal 0"):
        _, rewards, terminations, _, _ = env.step({**legal, "seat_1": NOOP, "seat_3": -1})
    foul = foul_reward(env._table.rules, "points")
    assert rewards == {"seat_0": 0, "seat_1": foul, "seat_2": 0, "seat_3": foul}
    assert set(terminations.values()) == {True}
    assert (env.state() == before).all()


def test_a_seat_that_is_not_to_act_can_only_do_nothing() -> None:
    env = hearts_v0.parallel_env("pass_count=0", on_illegal="raise")
    env.reset(seed=1)
    turn = env._table.turn
    idle = (turn + 1) % 4
    lead = int(np.flatnonzero([env._table.legal >> card & 1 for card in range(52)])[0])
    with pytest.raises(IllegalActionError, match=rf"illegal action 0 \('2C'\) by seat {idle}: legal are noop in"):
        env.step({f"seat_{turn}": lead, f"seat_{idle}": 0})
    with pytest.raises(IllegalActionError, match=rf"illegal action 54 .* by seat {turn}"):
        env.step({})
    env.step({f"seat_{turn}": lead, f"seat_{idle}": NOOP})


def test_unknown_seats_are_refused() -> None:
    env = pass_phase()
    for call in (lambda: env.step({"north": 0}), lambda: env.view("north"), lambda: env.action_space("north")):
        with pytest.raises(EnvError, match="agent 'north': agents are seat_0, seat_1, seat_2, seat_3"):
            call()
    with pytest.raises(EnvError, match="passing='round': must be one of 'simultaneous', 'sequential'"):
        hearts_v0.parallel_env(passing="round")


def test_a_state_of_other_rules_is_refused() -> None:
    with pytest.raises(EnvError, match="set_state: the state is of a deal under rules bonus_card"):
        hearts_v0.parallel_env().set_state(pass_phase(rules="omnibus").get_state())
