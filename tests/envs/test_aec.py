"""The PettingZoo AEC environment: the library's own contract tests, the oracle as referee, and every option."""

from __future__ import annotations

import copy
import pickle
import re
import sys
import warnings
from random import Random
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import api_test, seed_test
from pettingzoo.test.state_test import test_state as check_state
from pettingzoo.test.state_test import test_state_space as check_state_space

import oracle
from hearts_agents import make
from hearts_env import Rules, hearts_v0
from hearts_env.cards import ACTION_NAMES, NUM_ACTIONS
from hearts_env.envs.aec import HeartsAEC
from hearts_env.envs.options import EnvError
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.engine import shuffle
from hearts_env.game.rewards import foul_reward
from hearts_env.game.state import MOON, PASS, PHASE_NAMES, PLAY
from hearts_env.match.agent import IllegalActionError
from hearts_env.match.play_match import play
from hearts_env.text.render import coloured, show_view

VARIANTS = ["omnibus", "partnership", "black_maria", "two_player,pass_count=1,pass_cycle=[1,0]"]
MOON_HANDS = ["S23456789TJQKA", "H23456789TJQKA", "D23456789TJQKA", "C23456789TJQKA"]


def legal(env: HeartsAEC) -> list[int]:
    """The legal actions of the seat to act, from the names that people read."""
    return [ACTION_NAMES.index(name) for name in env.infos[env.agent_selection]["legal"]]


def rollout(env: HeartsAEC, rng: Random, steps: int = 10**6) -> list[Any]:
    """Random legal play, at most so many steps: what a learner would see of it."""
    seen: list[Any] = []
    for agent in env.agent_iter(steps):
        observation, reward, terminated, truncated, info = env.last()
        mask = observation["action_mask"] if isinstance(observation, dict) else info["action_mask"]
        row = observation["observation"] if isinstance(observation, dict) else observation
        seen.append((agent, row.tobytes(), mask.tobytes(), reward, terminated, truncated, list(info.items())))
        env.step(None if terminated or truncated else rng.choice(np.flatnonzero(mask).tolist()))
    return [(*head, [(k, v.tolist() if k == "action_mask" else v) for k, v in items]) for *head, items in seen]


def play_out(env: HeartsAEC, rng: Random) -> np.ndarray[Any, Any]:
    """Random legal play to the end; the sum of the rewards of each seat."""
    total = np.zeros(len(env.possible_agents))
    while not any(env.terminations.values()) and not any(env.truncations.values()):
        env.step(rng.choice(legal(env)))
        total += list(env.rewards.values())
    return total


# -- the library's own tests -----------------------------------------------------------------------------------------


def quiet_api_test(env: HeartsAEC, cycles: int = 25) -> set[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(env, num_cycles=cycles)
    return {str(warning.message) for warning in caught}


@pytest.mark.parametrize("mask_in", ["observation", "info", "both"])
@pytest.mark.parametrize("players", [2, 3, 4, 5, 6, 7])
def test_pettingzoo_s_api_and_seed_tests_pass(players: int, mask_in: Any, capsys: Any) -> None:
    rules = Rules(num_players=players)
    warned = quiet_api_test(hearts_v0.env(rules, mask_in=mask_in))
    # PettingZoo says these of every dict observation that it does not know by name.
    allowed = {"Observation is not a NumPy array"} if mask_in != "info" else set()
    assert {text for text in warned if "should be gymnasium.spaces" not in text} <= allowed
    seed_test(lambda: hearts_v0.env(rules, mask_in=mask_in), num_cycles=20)


@pytest.mark.parametrize("text", VARIANTS)
def test_pettingzoo_s_tests_pass_for_variants(text: str, capsys: Any) -> None:
    quiet_api_test(hearts_v0.env(text, mask_in="info", order=True, pad=True))
    seed_test(lambda: hearts_v0.env(text), num_cycles=20)


@pytest.mark.parametrize("episode", ["deal", "game"])
@pytest.mark.parametrize("reward", ["points", "tricks", "zero_sum", "rank"])
def test_pettingzoo_s_api_test_passes_for_each_reward(reward: Any, episode: Any, capsys: Any) -> None:
    quiet_api_test(hearts_v0.env("target=10", episode, reward=reward), cycles=40)


@pytest.mark.parametrize("on_illegal", ["terminate", "random"])
def test_pettingzoo_s_state_test_passes_though_it_plays_illegal_actions(on_illegal: Any) -> None:
    env = hearts_v0.env(on_illegal=on_illegal, pad=True)
    check_state_space(env)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_state(env, num_cycles=20)


# -- the game --------------------------------------------------------------------------------------------------------


def oracle_deal(env: HeartsAEC, fields: dict[str, Any], totals: list[int]) -> oracle.Deal:
    info = env.infos[env.agent_selection]
    hands = shuffle(compiled_rules(env.rules), [info["deal_id"]])[0].tolist()
    cards = [[c for c in range(52) if hand >> c & 1] for hand in hands]
    return oracle.Deal(oracle.rules(**fields), cards, info["deal_no"], totals)


def follow(env: HeartsAEC, fields: dict[str, Any], rng: Random, episode: str = "deal") -> int:
    """Play an episode at random beside the oracle; the number of deals."""
    env.reset()
    totals, deals = [0] * len(env.possible_agents), 0
    while True:
        deal, paid = oracle_deal(env, fields, totals), np.zeros(len(totals))
        while deal.phase != "over":
            info = env.infos[env.agent_selection]
            assert env.agent_selection == f"seat_{deal.turn}"
            assert PHASE_NAMES[info["phase"]] == deal.phase
            assert legal(env) == deal.legal()
            assert info["scores"] == totals
            assert info["points"] == oracle.raw_points(deal.r, deal.taken)
            action = rng.choice(deal.legal())
            env.step(action)
            deal.step(action)
            paid += list(env.rewards.values())
        assert paid.tolist() == [-points for points in deal.points]
        totals, deals = deal.scores, deals + 1
        assert env.infos["seat_0"]["scores"] == totals
        assert not any(env.truncations.values())
        if episode == "deal" or deal.game_over:
            assert set(env.terminations.values()) == {True}
            assert env.infos["seat_0"]["points"] == deal.points
            return deals
        assert set(env.terminations.values()) == {False}


@pytest.mark.parametrize("reward", ["points", "tricks"])
def test_whole_deals_agree_with_the_oracle(reward: Any) -> None:
    rng = Random(5)
    for _ in range(12):
        fields = oracle.random_rules(rng)
        follow(hearts_v0.env(Rules.from_dict(fields), reward=reward, deal_id_in_info=True), fields, rng)


@pytest.mark.parametrize("fields", [{"target": 60}, {"num_players": 2, "target": 40}, {"teams": "fixed", "target": 60}])
def test_whole_games_agree_with_the_oracle(fields: dict[str, Any]) -> None:
    env = hearts_v0.env(Rules.from_dict(fields), "game", reward="tricks", deal_id_in_info=True)
    assert follow(env, fields, Random(6), "game") > 1


def test_a_game_replays_as_match_play_deals_it() -> None:
    """The same deal id gives the same later deals, so a match can be looked at turn by turn."""
    agent, rules = make("random"), Rules(target=40)
    env = hearts_v0.env(rules, "game", on_illegal="raise", deal_id_in_info=True)
    ids: list[int] = []
    play(rules, [agent], [0] * 4, [123], games=True, on_deals=lambda deals: ids.extend(deals.deal_ids.tolist()))
    env.reset(options={"deal_id": 123})
    seen = []
    while not env.terminations[env.agent_selection]:
        seen.append(env.infos[env.agent_selection]["deal_id"])
        env.step(int(agent.act(env.view(env.agent_selection))[0]))
    assert list(dict.fromkeys(seen))[: len(ids)] == ids[: len(set(seen))]
    assert ids[0] == 123


def test_the_moon_choice_is_a_turn_of_the_shooter() -> None:
    env = hearts_v0.env("pass_count=0,first_lead=any,first_leader=left_of_dealer", reward="tricks")
    env.reset(options={"hands": MOON_HANDS, "deal_no": 3})
    total = np.zeros(4)
    while env.infos["seat_0"]["phase"] == PLAY:
        env.step(legal(env)[0])
        total += list(env.rewards.values())
    assert total.tolist() == [-26, 0, 0, 0]
    assert env.agent_selection == "seat_0"
    assert env.infos["seat_0"]["phase"] == MOON
    assert env.infos["seat_0"]["legal"] == ["add", "subtract"]
    other = env.clone()
    for copied, action, points in ((env, 52, [0, -26, -26, -26]), (other, 53, [26, 0, 0, 0])):
        copied.step(action)
        assert (total + list(copied.rewards.values())).tolist() == points
        assert set(copied.terminations.values()) == {True}


def test_forced_decisions_are_turns() -> None:
    env = hearts_v0.env("pass_count=0")
    env.reset(seed=1)
    assert env.infos[env.agent_selection]["legal"] == ["2C"]
    steps = 0
    while not any(env.terminations.values()):
        env.step(legal(env)[0])
        steps += 1
    assert steps in (52, 53)


def test_rank_is_paid_at_the_end_of_the_game_only() -> None:
    env = hearts_v0.env("target=30", "game", reward="rank")
    env.reset(seed=2)
    total = play_out(env, Random(2))
    scores = env.infos["seat_0"]["scores"]
    assert total[int(np.argmin(scores))] == max(total) > 0
    assert abs(total.sum()) < 1e-9


def test_a_game_is_truncated_after_max_deals() -> None:
    env = hearts_v0.env("target=1000", "game", max_deals=2)
    env.reset(seed=3)
    total = play_out(env, Random(3))
    assert set(env.truncations.values()) == {True}
    assert set(env.terminations.values()) == {False}
    assert [-reward for reward in total] == env.infos["seat_0"]["scores"]
    assert env.infos["seat_0"]["deal_no"] == 1


def test_seats_that_are_done_step_with_none_and_leave() -> None:
    env = hearts_v0.env()
    env.reset(seed=4)
    play_out(env, Random(4))
    for left in (4, 3, 2, 1):
        assert env.num_agents == left
        observation, _, terminated, _, _ = env.last()
        assert terminated
        assert not observation["action_mask"].any()
        with pytest.raises(ValueError, match="None"):
            env.step(0)
        env.step(None)
    assert env.observation_space("seat_0").contains(env.observe("seat_0"))
    with pytest.raises(EnvError, match=r"call reset\(\)"):
        env.step(None)
    with pytest.raises(EnvError, match=r"call reset\(\)"):
        env.last()
    env.reset()
    assert env.num_agents == 4


# -- observations and infos ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mask_in", ["observation", "info", "both"])
def test_the_mask_is_where_it_should_be_and_only_the_seat_to_act_has_one(mask_in: Any) -> None:
    env = hearts_v0.env(mask_in=mask_in)
    env.reset(seed=5)
    for _ in range(20):
        for agent in env.agents:
            observation, info = env.observe(agent), env.infos[agent]
            assert env.observation_space(agent).contains(observation)
            assert isinstance(observation, dict) == (mask_in != "info")
            assert ("action_mask" in info) == (mask_in != "observation")
            for mask in (
                observation["action_mask"] if isinstance(observation, dict) else None,
                info.get("action_mask"),
            ):
                if mask is not None:
                    assert (mask.dtype, mask.shape) == (np.int8, (NUM_ACTIONS,))
                    named = [ACTION_NAMES[action] for action in np.flatnonzero(mask)]
                    assert named == info["legal"]
                    assert bool(named) == (agent == env.agent_selection)
        env.step(legal(env)[-1])


def test_infos_have_the_same_numeric_keys_at_every_step() -> None:
    """So that libraries can make tensors of them; the names of legal actions are there for who asks."""
    env = hearts_v0.env("target=30", "game", mask_in="info", deal_id_in_info=True)
    env.reset(seed=6)
    keys = ["points", "scores", "deal_no", "phase", "deal_id", "action_mask"]
    while env.agents:
        for info in env.infos.values():
            assert list(info) == keys
            assert [np.asarray(value).shape for value in info.values()] == [(4,), (4,), (), (), (), (NUM_ACTIONS,)]
            assert all(np.issubdtype(np.asarray(value).dtype, np.integer) for value in info.values())
        done = env.terminations[env.agent_selection]
        env.step(None if done else legal(env)[0])
    info = copy.deepcopy(pickle.loads(pickle.dumps(hearts_v0.env("pass_count=0"))))
    info.reset(seed=1)
    kept = pickle.loads(pickle.dumps(info.infos[info.agent_selection]))
    assert kept["legal"] == kept.get("legal") == ["2C"]
    assert kept.get("no such key") is None
    with pytest.raises(KeyError, match="no such key"):
        kept["no such key"]


def test_every_observation_is_a_fresh_array() -> None:
    env = hearts_v0.env()
    env.reset(seed=7)
    first = env.observe("seat_0")
    kept = copy.deepcopy(first)
    first["observation"][:] = 7
    first["action_mask"][:] = 7
    again = env.observe("seat_0")
    assert all((again[key] == kept[key]).all() for key in kept)
    env.state()[:] = 7
    assert env.state().max() == 1
    env.infos["seat_0"]["points"][0] = 99
    assert env.infos["seat_1"]["points"] == [0, 0, 0, 0]


def test_spaces_are_the_same_objects_at_each_call_and_hold_their_own_generators() -> None:
    env = hearts_v0.env()
    for agent in env.possible_agents:
        assert env.observation_space(agent) is env.observation_space(agent)
        assert env.action_space(agent) is env.action_space(agent)
    assert env.action_space("seat_0") is not env.action_space("seat_1")
    assert env.observation_space("seat_0")["observation"].dtype == np.uint8


def swap_hidden_card(env: HeartsAEC, viewer: int, rng: Random) -> bool:
    """Exchange two cards of other hands; False where there are none."""
    state = env._table.state
    seats = [seat for seat in range(len(env.possible_agents)) if seat != viewer and state.hands[0, seat]]
    if len(seats) < 2:
        return False
    one, two = rng.sample(seats, 2)
    cards = [
        rng.choice([c for c in range(52) if int(state.hands[0, seat] & ~state.picks[0, seat]) >> c & 1])
        for seat in (one, two)
    ]
    for array in (state.hands, state.start):
        array[0, one] ^= (1 << cards[0]) | (1 << cards[1])
        array[0, two] ^= (1 << cards[0]) | (1 << cards[1])
    return True


@pytest.mark.parametrize("text", ["standard", "num_players=3", "omnibus"])
def test_an_observation_does_not_depend_on_hidden_cards(text: str) -> None:
    rng = Random(8)
    env = hearts_v0.env(text, mask_in="both", order=True)
    changed = 0
    env.reset(seed=0)
    while not any(env.terminations.values()):
        viewer = env._seat_of[env.agent_selection]
        other = env.clone()
        if rng.random() < 0.5 and swap_hidden_card(other, viewer, rng):
            other.set_state(other.get_state())
            mine, theirs = env.last()[0], other.last()[0]
            assert (mine["observation"] == theirs["observation"]).all()
            assert (mine["action_mask"] == theirs["action_mask"]).all()
            assert dict(env.infos[env.agent_selection], action_mask=0) == dict(
                other.infos[env.agent_selection], action_mask=0
            )
            assert show_view(env.view(env.agent_selection)) == show_view(other.view(env.agent_selection))
            assert (env.state() != other.state()).any()
            changed += 1
        env.step(rng.choice(legal(env)))
    assert changed > 15


def test_the_global_state_tells_who_holds_what() -> None:
    env = hearts_v0.env()
    env.reset(options={"deal_id": 9, "deal_no": 0})
    env.step(legal(env)[0])
    hidden = env.state()[-4 * (52 + 52 + 1) :]
    assert (hidden[: 4 * 52].reshape(4, 52).sum(axis=1) == 13).all()
    assert hidden[4 * 52 : 8 * 52].reshape(4, 52).sum(axis=1).tolist() == [1, 0, 0, 0]
    assert hidden[-4:].tolist() == [0, 1, 0, 0]
    assert env.state_space.contains(env.state())


# -- seeds and starts ------------------------------------------------------------------------------------------------


def test_a_seed_fixes_this_and_all_following_deals() -> None:
    one = hearts_v0.env(deal_id_in_info=True)
    two = hearts_v0.env("omnibus", "game", on_illegal="random", deal_id_in_info=True)
    ids = []
    for env in (one, two):
        env.reset(seed=11)
        ids.append([env.infos["seat_0"]["deal_id"]])
        env.step(env.action_space("seat_0").sample() if env is two else legal(env)[0])
        for _ in range(3):
            env.reset()
            ids[-1].append(env.infos["seat_0"]["deal_id"])
    assert ids[0] == ids[1]
    assert len(set(ids[0])) == 4
    assert ids[0][0] == np.random.default_rng(11).integers(2**63)


def test_without_a_seed_each_environment_has_deals_of_its_own() -> None:
    np.random.seed(0)  # noqa: NPY002  the global generator must not matter
    first = hearts_v0.env(deal_id_in_info=True)
    first.reset()
    np.random.seed(0)  # noqa: NPY002
    second = hearts_v0.env(deal_id_in_info=True)
    second.reset()
    assert first.infos["seat_0"]["deal_id"] != second.infos["seat_0"]["deal_id"]


def test_reset_options_give_an_exact_start() -> None:
    env = hearts_v0.env("moon=auto", "game", deal_id_in_info=True)
    env.reset(options={"deal_id": np.int64(77), "deal_no": 3, "scores": (1, 2, 3, -4), "no such option": 1})
    info = env.infos["seat_0"]
    assert (info["deal_id"], info["deal_no"], info["scores"], info["phase"]) == (77, 3, [1, 2, 3, -4], PLAY)
    for hands in (MOON_HANDS, [[f"{rank}{hand[0]}" for rank in hand[1:]] for hand in MOON_HANDS]):
        env.reset(options={"hands": hands})
        assert env.infos["seat_0"]["deal_id"] == -1
        assert env.infos["seat_0"]["phase"] == PASS
        assert env.infos["seat_0"]["legal"] == [f"{rank}S" for rank in "23456789TJQKA"]
    env.reset(options={"options": 1})
    env.reset(options={})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"deal_id": -1}, "option deal_id=-1: must be a whole number from 0"),
        ({"deal_id": 2**63}, "option deal_id"),
        ({"deal_id": 1.5}, r"option deal_id=1\.5"),
        ({"deal_id": True}, "option deal_id=True"),
        ({"deal_no": "2"}, "option deal_no='2'"),
        ({"scores": [1, 2, 3]}, r"option scores=\[1, 2, 3\]: must be 4 whole numbers"),
        ({"scores": 5}, "option scores=5"),
        ({"scores": [1, 2, 3, 0.5]}, r"option scores=0\.5"),
        ({"scores": [100, 0, 0, 0]}, "the game is over at these scores, target 100"),
        ({"deal_id": 3, "hands": MOON_HANDS}, "give one of the two"),
        ({"hands": MOON_HANDS[:3]}, "3 hands"),
        ({"hands": "2C"}, "must be 4 hands"),
        ({"hands": [1, 2, 3, 4]}, "a hand is text or a list of cards"),
        ({"hands": [["2C", "2C"], [], [], []]}, "twice"),
        ({"hands": [["2X"], [], [], []]}, "'2X' is no card"),
        ({"hands": [[52], [], [], []]}, "option hands=52"),
        ({"hands": [MOON_HANDS[0], *MOON_HANDS[:3]]}, "another seat holds"),
        ({"hands": ["2C", "3C", "4C", "5C"]}, "holds 1 cards"),
        (["deal_id"], "must be a mapping"),
    ],
)
def test_a_start_that_cannot_be_is_refused_with_the_reason(options: Any, message: str) -> None:
    env = hearts_v0.env()
    with pytest.raises(ValueError, match=message):
        env.reset(options=options)
    with pytest.raises(EnvError, match="call reset"):
        env.step(0)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"episode": "round"}, "episode='round': must be one of 'deal', 'game'"),
        ({"mask_in": None}, "mask_in=None: must be one of 'observation'"),
        ({"reward": "score"}, "reward='score': must be one of 'points'"),
        ({"on_illegal": "ignore"}, "on_illegal='ignore'"),
        ({"render_mode": "svg"}, "render_mode='svg'"),
        ({"max_deals": 0}, "max_deals=0"),
        ({"rules": 4}, "rules=4: must be Rules"),
        ({"rules": "omnibus,moon=maybe"}, "moon='maybe'"),
    ],
)
def test_a_parameter_that_cannot_be_is_refused_with_the_choices(parameters: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        hearts_v0.env(**parameters)


@pytest.mark.parametrize("call", ["step", "observe", "state", "render", "last", "agent_iter", "view"])
def test_before_reset_every_call_says_so(call: str) -> None:
    env = hearts_v0.env(render_mode="ansi")
    arguments = {"step": [0], "observe": ["seat_0"], "view": ["seat_0"]}.get(call, [])
    with pytest.raises(EnvError, match=rf"{call}: no cards are dealt yet: call reset\(\) first"):
        getattr(env, call)(*arguments)


@pytest.mark.parametrize("call", ["observe", "observation_space", "action_space", "view"])
def test_an_unknown_agent_is_refused(call: str) -> None:
    env = hearts_v0.env()
    env.reset()
    with pytest.raises(EnvError, match="agent 'north': agents are seat_0, seat_1, seat_2, seat_3"):
        getattr(env, call)("north")


# -- illegal actions -------------------------------------------------------------------------------------------------

ILLEGAL = [54, -1, 10**30, np.uint64(2**64 - 1), np.array([3]), 51]


def hold_deal(**parameters: Any) -> HeartsAEC:
    """Seat 3 must lead the two of clubs."""
    env = hearts_v0.env("pass_count=0", **parameters)
    env.reset(options={"hands": MOON_HANDS})
    return env


@pytest.mark.parametrize("reward", ["points", "tricks", "zero_sum", "rank"])
@pytest.mark.parametrize("action", ILLEGAL, ids=repr)
def test_an_illegal_action_ends_the_episode_at_the_offender_s_cost(action: Any, reward: Any) -> None:
    env = hold_deal(reward=reward)
    with pytest.warns(UserWarning, match="illegal action .* by seat 3: legal are 2C in deal 0"):
        env.step(action)
    foul = foul_reward(compiled_rules(env.rules), reward)
    assert env.rewards == {"seat_0": 0, "seat_1": 0, "seat_2": 0, "seat_3": foul}
    assert set(env.terminations.values()) == {True}
    assert set(env.truncations.values()) == {False}


def test_the_offender_reads_its_reward_in_its_last_turn() -> None:
    env = hold_deal()
    with pytest.warns(UserWarning, match="illegal action"):
        env.step(0 if legal(env) != [0] else 1)
    seen = {}
    for agent in env.agent_iter():
        seen[agent] = env.last()[1]
        env.step(None)
    assert seen == {"seat_0": 0, "seat_1": 0, "seat_2": 0, "seat_3": -26}


@pytest.mark.parametrize("action", ILLEGAL, ids=repr)
def test_an_illegal_action_can_raise_and_leave_the_table_as_it_is(action: Any) -> None:
    env = hold_deal(on_illegal="raise")
    before = env.state()
    with pytest.raises(IllegalActionError, match=r"illegal action .* by seat 3: legal are 2C in deal 0 .* hands S234"):
        env.step(action)
    assert (env.state() == before).all()
    env.step(0)
    assert env.agent_selection == "seat_0"


def test_the_error_names_the_action() -> None:
    env = hold_deal(on_illegal="raise")
    with pytest.raises(IllegalActionError, match=re.escape("illegal action 12 ('AC') by seat 3: legal are 2C in deal")):
        env.step(12)


def test_an_illegal_action_can_be_replaced_by_a_random_legal_one() -> None:
    plays = []
    for seed in (1, 1, 2):
        env = hearts_v0.env(on_illegal="random")
        env.reset(seed=seed, options={"deal_id": 5})
        while not any(env.terminations.values()):
            env.step(99)
        plays.append(env._table.state.plays.tolist())
    assert plays[0] == plays[1] != plays[2]


# -- copies ----------------------------------------------------------------------------------------------------------


def by_state(env: HeartsAEC) -> HeartsAEC:
    other = hearts_v0.env(env.rules, "game", mask_in=env.mask_in)
    other.set_state(pickle.loads(pickle.dumps(env.get_state())))
    return other


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env)), HeartsAEC.clone, by_state]
)
@pytest.mark.parametrize("steps", [0, 5, 45, 120])
def test_a_copy_goes_on_as_the_original_does(copied: Any, steps: int) -> None:
    env = hearts_v0.env("target=26", "game", mask_in="both")
    env.reset(seed=13)
    rollout(env, Random(1), steps)
    other = copied(env)
    first = rollout(env, Random(2), 45)
    assert first == rollout(other, Random(2), 45)
    for one in (env, other):
        one.reset()
    assert rollout(env, Random(3), 5) == rollout(other, Random(3), 5)


def test_a_copy_can_be_taken_before_reset_and_while_seats_leave() -> None:
    env = hearts_v0.env()
    assert env.clone().agents == copy.deepcopy(env).agents == []
    env.reset(seed=1)
    play_out(env, Random(1))
    env.step(None)
    other = env.clone()
    assert rollout(env, Random(1)) == rollout(other, Random(1))


def test_a_state_can_be_set_again_and_again() -> None:
    env = hearts_v0.env(mask_in="info")
    env.reset(seed=14)
    rollout(env, Random(1), 30)
    state = env.get_state()
    runs = []
    for _ in range(3):
        env.set_state(state)
        runs.append(rollout(env, Random(4)))
    assert runs[0] == runs[1] == runs[2]


def test_a_state_of_other_rules_is_refused() -> None:
    env = hearts_v0.env("omnibus")
    env.reset()
    with pytest.raises(EnvError, match="set_state: the state is of a deal under rules bonus_card"):
        hearts_v0.env().set_state(env.get_state())


# -- rendering -------------------------------------------------------------------------------------------------------

GOLDEN = """\
deal 3, hold, trick 2 of 13
  seat score points trick hand
>    0     1      0       ♣6QK ♥58TA ♠579JA
     1     2      0    ♦2 ♦49KA ♥49J ♠68QK
     2     3      0    ♦3 ♣9TJ ♥367QK ♠34T
     3     4      0    ♦8 ♣478 ♦567TJQ ♥2 ♠2
seat 0 may play 6C QC KC 5H 8H TH AH 5S 7S 9S JS AS"""


def mid_deal(render_mode: Any) -> HeartsAEC:
    env = hearts_v0.env(render_mode=render_mode)
    env.reset(options={"deal_id": 5, "deal_no": 3, "scores": [1, 2, 3, 4]})
    return env


def test_the_text_shows_all_hands_and_what_may_be_played() -> None:
    env = mid_deal("ansi")
    for name in ("2C", "3C", "AC", "5C", "2D", "3D", "8D"):
        env.step(ACTION_NAMES.index(name))
    assert env.render() == GOLDEN


def test_a_view_shows_other_hands_by_their_size_only() -> None:
    env = hearts_v0.env()
    env.reset(options={"deal_id": 5, "deal_no": 0})
    while env.infos["seat_0"]["phase"] == PASS:
        env.step(legal(env)[0])
    text = show_view(env.view("seat_2"))
    assert "     3     0      0       13 cards, among them ♣59T" in text
    assert "     1     0      0       13 cards\n" in text
    assert "may" not in text or env.agent_selection == "seat_2"


def test_human_mode_prints_every_step(capsys: Any, monkeypatch: Any) -> None:
    env = mid_deal("human")
    assert env.render() is None
    env.step(legal(env)[0])
    text = capsys.readouterr().out
    assert text.count("deal 3, hold, trick 1 of 13") == 3
    assert "\x1b" not in text
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    env.render()
    assert "\x1b[31m♥" in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    env.render()
    assert "\x1b" not in capsys.readouterr().out


def test_colour_changes_nothing_but_colour() -> None:
    assert re.sub(r"\x1b\[\d+m", "", coloured(GOLDEN)) == GOLDEN


def test_render_without_a_mode_warns() -> None:
    env = mid_deal(None)
    with pytest.warns(UserWarning, match="render_mode"):
        assert env.render() is None


def test_every_phase_can_be_rendered() -> None:
    env = hearts_v0.env("pass_count=0,first_lead=any,first_leader=left_of_dealer", render_mode="ansi")
    env.reset(options={"hands": MOON_HANDS, "deal_no": 3})
    heads = []
    while not any(env.terminations.values()):
        heads.append(str(env.render()).splitlines()[0])
        env.step(legal(env)[0])
    heads.append(str(env.render()).splitlines()[0])
    assert heads[0] == "deal 3, hold, trick 1 of 13"
    assert heads[-2] == "deal 3, hold, moon choice, hearts broken"
    assert heads[-1] == "deal 3, hold, deal over, hearts broken"


def test_the_name_and_metadata_are_those_pettingzoo_asks_for() -> None:
    env = hearts_v0.env()
    assert str(env) == "hearts_v0"
    assert env.metadata["render_modes"] == ["human", "ansi", "rgb_array"]
    assert env.metadata["is_parallelizable"] is False
    assert env.metadata["render_fps"] > 0
    assert env.render_mode is None
    assert env.unwrapped is env
    assert env.possible_agents == ["seat_0", "seat_1", "seat_2", "seat_3"]
