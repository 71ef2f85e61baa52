"""The gymnasium environments, single and vector: their checks, opponents, seats, ends of episodes, registration."""

from __future__ import annotations

import subprocess
import sys
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from hearts_agents import AgentError, make
from hearts_env import hearts_v0
from hearts_env.cards import ActionTypeError
from hearts_env.envs import opponents
from hearts_env.envs.options import EnvError
from hearts_env.envs.spaces import sample_masked
from hearts_env.envs.vector import HeartsVectorEnv
from hearts_env.game.view import View

ID = "hearts_env/Hearts-v0"
MODES = ["NextStep", "SameStep", "Disabled"]


def tables(num_envs: int = 5, opponents: Any = "random", **options: Any) -> HeartsVectorEnv:
    return gymnasium.make_vec(ID, num_envs=num_envs, opponents=opponents, **options)


def lowest(masks: np.ndarray) -> np.ndarray:
    return masks.argmax(axis=1)


# -- the library's checks --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mask_in", ["info", "observation", "both"])
@pytest.mark.parametrize("players", [2, 3, 4, 5, 6, 7])
def test_gymnasium_s_check_passes_without_a_warning(players: int, mask_in: Any, capsys: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(ID, rules=f"num_players={players}", opponents="random", mask_in=mask_in)
        check_env(env.unwrapped, skip_render_check=players != 4)


@pytest.mark.parametrize("mode", MODES)
def test_the_vector_environment_is_one_by_gymnasium_s_measure(mode: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = tables(autoreset_mode=mode)
        assert env.metadata["autoreset_mode"] == AutoresetMode(mode)
        assert env.spec is not None
        seen, infos = env.reset(seed=1)
        for _ in range(40):
            assert env.observation_space.contains(seen)
            assert env.action_space.contains(env.sample())
            for name, value in infos.items():
                if name[0] != "_":
                    assert infos[f"_{name}"].shape == (5,)
                    assert isinstance(value, dict) or len(value) == 5
            seen, rewards, terminated, truncated, infos = env.step(env.sample())
            assert (rewards.dtype, terminated.dtype, truncated.dtype) == (np.float64, np.bool_, np.bool_)
            if mode == "Disabled" and terminated.any():
                env.reset(options={"reset_mask": terminated})
        env.close()


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_gymnasium_s_statistics_agree_with_the_summaries(mode: str) -> None:
    env = RecordEpisodeStatistics(tables(autoreset_mode=mode))
    env.reset(seed=3)
    ends = 0
    for _ in range(60):
        _, _, _, _, infos = env.step(env.unwrapped.sample())
        if "summary" in infos:
            done = infos["_summary"]
            ends += done.sum()
            assert (infos["episode"]["r"][done] == infos["summary"]["return"][done]).all()
            assert (infos["episode"]["l"][done] == infos["summary"]["length"][done]).all()
    assert ends >= 15


def test_gymnasium_s_own_vectorisation_of_the_single_environment_gives_the_same_keys() -> None:
    env = gymnasium.make_vec(ID, num_envs=2, vectorization_mode="sync", opponents="random")
    seen, infos = env.reset(seed=1)
    ours = tables(2)
    ours.reset(seed=1)
    while "summary" not in infos:
        seen, _, _, _, infos = env.step(lowest(infos["action_mask"]))
    told = ours.reset(seed=1)[1]
    while "summary" not in told:
        _, _, _, _, told = ours.step(lowest(told["action_mask"]))
    assert infos.keys() == told.keys()
    assert {name for name in infos["summary"] if name[0] != "_"} == {n for n in told["summary"] if n[0] != "_"}
    assert infos["summary"]["points"].shape == told["summary"]["points"].shape
    assert seen.shape == (2, 822)


# -- the same game as elsewhere --------------------------------------------------------------------------------------


@pytest.mark.parametrize("episode", ["deal", "game"])
@pytest.mark.parametrize("reward", ["points", "tricks", "zero_sum", "rank"])
@pytest.mark.parametrize("seat", [0, 2])
def test_a_learner_sees_and_gets_what_it_would_in_the_aec_environment(seat: int, reward: Any, episode: Any) -> None:
    options: dict[str, Any] = {"rules": "target=40", "episode": episode, "reward": reward}
    env: Any = gymnasium.make(ID, seat=seat, opponents="random", **options)
    aec, agent = hearts_v0.env(**options), make("random")
    for seed in (4, None):
        seen, info = env.reset(seed=seed)
        aec.reset(seed=seed)
        over = False
        while not over:
            owed = 0.0
            while aec.agent_selection != f"seat_{seat}":
                aec.step(int(agent.act(aec.view(aec.agent_selection))[0]))
                owed += aec.rewards[f"seat_{seat}"]
            assert owed == 0 or aec.infos["seat_0"]["deal_no"] or reward == "tricks"
            theirs = aec.observe(f"seat_{seat}")
            assert (theirs["observation"] == seen).all()
            assert (theirs["action_mask"] == info["action_mask"]).all()
            action = int(info["action_mask"].nonzero()[0][-1])
            seen, paid, terminated, truncated, info = env.step(action)
            over = terminated or truncated
            aec.step(action)
            due = aec.rewards[f"seat_{seat}"]
            while not any(aec.terminations.values()) and aec.agent_selection != f"seat_{seat}":
                aec.step(int(agent.act(aec.view(aec.agent_selection))[0]))
                due += aec.rewards[f"seat_{seat}"]
            assert paid == due
        assert all(aec.terminations.values())
        assert info["points"].tolist() == aec.infos["seat_0"]["points"]
        assert info["summary"]["scores"].tolist() == aec.infos["seat_0"]["scores"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("skip_forced", [False, True])
def test_each_table_of_many_plays_as_it_would_alone(mode: str, skip_forced: bool) -> None:
    ids = np.array([11, 5, 2**62, 0, 8])
    env = tables(autoreset_mode=mode, skip_forced=skip_forced, reward="tricks")
    alone: Any = gymnasium.make(ID, opponents="random", skip_forced=skip_forced, reward="tricks").unwrapped
    seen, infos = env.reset(options={"deal_id": ids})
    tracks: list[list[Any]] = [[] for _ in ids]
    done = np.zeros(5, np.bool_)
    while not done.all():
        actions = lowest(infos["action_mask"])
        before = seen
        if mode == "Disabled":
            over = env.tables.over
            if over.any():
                env.reset(options={"reset_mask": over})
            actions = lowest(env.masks())
        seen, rewards, terminated, _, infos = env.step(actions)
        for table in np.flatnonzero(~done):
            tracks[table].append((before[table].tobytes(), rewards[table]))
            if terminated[table]:
                tracks[table].append({k: v[table].tolist() for k, v in infos["summary"].items() if k[0] != "_"})
        done |= terminated
    for table, deal_id in enumerate(ids):
        observation, info = alone.reset(options={"deal_id": deal_id})
        track: list[Any] = []
        over = False
        while not over:
            kept = observation.tobytes()
            observation, paid, over, _, info = alone.step(int(info["action_mask"].argmax()))
            track.append((kept, paid))
        told = {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in info["summary"].items()}
        assert [*track, told] == tracks[table]


# -- ends of episodes ------------------------------------------------------------------------------------------------


def until_an_end(env: HeartsVectorEnv) -> tuple[Any, ...]:
    env.reset(options={"deal_id": np.array([0, 1, 2, 3, 7])})
    while True:
        step = env.step(lowest(env.masks()))
        if (step[2] | step[3]).any():
            return step


def test_next_step_ignores_the_action_after_the_end_and_begins_a_new_episode() -> None:
    env = tables(deal_id_in_info=True)
    _, _, over, _, infos = until_an_end(env)
    assert over.any()
    assert not over.all()
    assert infos["action_mask"][over].all()
    ids = infos["deal_id"]
    actions = lowest(infos["action_mask"])
    actions[over] = 53
    _, rewards, again, _, infos = env.step(actions)
    assert not again.any()
    assert (rewards[over] == 0).all()
    assert not infos["illegal"].any()
    assert ((infos["deal_id"] != ids) == over).all()


@pytest.mark.parametrize("mask_in", ["info", "observation"])
def test_same_step_tells_how_the_episode_ended_and_shows_the_next(mask_in: Any) -> None:
    options: Any = {"mask_in": mask_in, "deal_id_in_info": True}
    env, twin = tables(autoreset_mode="SameStep", **options), tables(autoreset_mode="Disabled", **options)
    seen, _, over, _, infos = until_an_end(env)
    theirs, _, their_over, _, told = until_an_end(twin)
    assert (over == their_over).all()
    assert (infos["_final_obs"] == over).all()
    for table in range(5):
        final = infos["final_obs"][table]
        if not over[table]:
            assert final is None
        elif mask_in == "info":
            assert (final == theirs[table]).all()
        else:
            assert (final["observation"] == theirs["observation"][table]).all()
            assert final["action_mask"].all()
    for name in ("points", "scores", "deal_id", "rewards", "phase"):
        assert (infos["final_info"][name][over] == told[name][over]).all()
        assert (infos["final_info"][f"_{name}"] == over).all()
    assert (infos["points"][over] == 0).all()
    assert (infos["deal_id"][over] != told["deal_id"][over]).all()
    assert (infos["summary"]["points"][over] == told["points"][over]).all()
    assert seen is not theirs


def test_disabled_waits_for_a_reset_of_just_these_tables() -> None:
    env = tables(autoreset_mode="Disabled", deal_id_in_info=True)
    seen, _, over, _, infos = until_an_end(env)
    with pytest.raises(EnvError, match=r"is over: call reset\(options=\{'reset_mask': done\}\)"):
        env.step(lowest(infos["action_mask"]))
    again, told = env.reset(options={"reset_mask": over})
    assert (again[~over] == seen[~over]).all()
    assert (told["deal_id"][~over] == infos["deal_id"][~over]).all()
    assert not (told["deal_id"][over] == infos["deal_id"][over]).any()
    for mask in (over[:3], over.astype(int), np.zeros(5, np.bool_), True):
        with pytest.raises(EnvError, match="option reset_mask"):
            env.reset(options={"reset_mask": mask})


def test_the_summary_is_of_the_learner_s_seat() -> None:
    env = tables(200, seat=1, reward="zero_sum")
    env.reset(seed=2)
    while True:
        _, rewards, over, _, infos = env.step(env.sample())
        if over.any():
            break
    summary = infos["summary"]
    points = summary["points"][over]
    assert (points == infos["points"][over]).all()
    payoff = (points.sum(axis=1) - points[:, 1]) / 3 - points[:, 1]
    assert np.allclose(summary["payoff"][over], payoff)
    assert np.allclose(summary["return"][over], payoff)
    assert np.allclose(rewards[over], payoff)
    assert (summary["won"][over] == (points[:, 1] == points.min(axis=1))).all()
    assert set(summary["length"][over].tolist()) <= {13, 14, 16, 17}
    assert (summary["seat"][over] == 1).all()


# -- opponents, seats, decisions -------------------------------------------------------------------------------------


class Counting:
    """Plays the lowest legal action, and counts how often it is asked for how many views."""

    def __init__(self, name: str) -> None:
        self.name, self.calls, self.views = name, 0, 0
        self.seats: set[int] = set()

    def act(self, view: View) -> Any:
        self.calls += 1
        self.views += len(view)
        self.seats |= set(view.seat.tolist())
        return np.array([int(legal & -legal).bit_length() - 1 for legal in view.legal])


def test_opponents_are_asked_once_a_turn_for_all_tables_and_never_for_forced_actions() -> None:
    agent = Counting("lowest")
    env = tables(64, agent, seat=3)
    env.reset(seed=1)
    for _ in range(16):
        env.step(env.sample())
    assert agent.seats == {0, 1, 2}
    assert agent.views > 20 * agent.calls
    assert agent.views < 64 * 48


def test_a_pool_is_drawn_from_for_each_seat_and_episode() -> None:
    pool = [Counting("one"), Counting("two")]
    env = tables(100, pool)
    env.reset(seed=1)
    lineups = env.tables.lineup[:, 1:].copy()
    assert 0.3 < lineups.mean() < 0.7
    env.reset()
    assert (lineups != env.tables.lineup[:, 1:]).mean() > 0.3
    env.reset(seed=1)
    assert (lineups == env.tables.lineup[:, 1:]).all()
    assert pool[0].views
    assert pool[1].views


@pytest.mark.parametrize(
    ("opponents", "message"),
    [([], r"opponents=\[\]"), (5, "opponents=5: an agent has a name"), ([Counting], "an agent has a name and act")],
)
def test_opponents_that_are_no_agents_are_refused(opponents: Any, message: str) -> None:
    with pytest.raises(EnvError, match=message):
        tables(1, opponents)
    with pytest.raises(AgentError, match="unknown agent 'nobody'"):
        gymnasium.make(ID, opponents="nobody")


def test_names_without_a_package_of_agents_are_explained(monkeypatch: Any) -> None:
    monkeypatch.setattr(opponents, "_makers", tuple)
    with pytest.raises(EnvError, match=r"opponents='rule': no package with agents by name .*hearts_env\.agents"):
        tables(1, "rule")


def test_other_packages_can_offer_agents_by_name_too(monkeypatch: Any) -> None:
    def ours(name: str) -> Counting:
        if name != "counting":
            raise ValueError(name)
        return Counting(name)

    monkeypatch.setattr(opponents, "_makers", lambda: (ours, make))
    assert [agent.name for agent in opponents.opponent_pool(["counting", "random"])] == ["counting", "random"]
    with pytest.raises(AgentError, match="unknown agent 'nobody'"):
        tables(1, "nobody")


def test_a_rotating_seat_moves_on_at_each_episode() -> None:
    env = tables(6, seat="rotating", autoreset_mode="SameStep")
    infos = env.reset(seed=1)[1]
    assert infos["seat"].tolist() == [0, 1, 2, 3, 0, 1]
    env.reset(options={"reset_mask": np.arange(6) < 2})
    assert env.tables.seat.tolist() == [1, 2, 2, 3, 0, 1]
    assert (env.view().seat == env.tables.seat).all()


@pytest.mark.parametrize("seat", [4, -1, True, "north", None, 1.0])
def test_a_seat_that_is_not_there_is_refused(seat: Any) -> None:
    with pytest.raises(EnvError, match=r"seat=.*: must be a whole number from 0 to 3, 'rotating' or 'all'"):
        tables(seat=seat)


def test_with_all_seats_every_decision_is_the_caller_s() -> None:
    env = tables(seat="all", reward="tricks", autoreset_mode="Disabled")
    infos = env.reset(options={"deal_id": 8, "deal_no": 0})[1]
    agent = make("random")
    steps, total = 0, np.zeros((5, 4))
    while not env.tables.over.any():
        view = env.view()
        assert (view.seat == infos["seat"]).all()
        assert view.legal.all()
        acted = infos["seat"]
        _, rewards, _, _, infos = env.step(agent.act(view))
        assert (rewards == infos["rewards"][np.arange(5), acted]).all()
        total += infos["rewards"]
        steps += 1
    assert steps in (64, 65)
    assert (total == -infos["points"]).all()
    assert (infos["summary"]["return"] == total).all()
    assert infos["summary"]["won"].shape == (5, 4)


def test_forced_decisions_can_be_skipped_but_the_first_of_an_episode() -> None:
    env = tables(50, skip_forced=True)
    infos = env.reset(seed=1)[1]
    first = np.ones(50, np.bool_)
    for _ in range(60):
        several = infos["action_mask"].sum(axis=1) > 1
        assert (several | first).all()
        infos = env.step(lowest(infos["action_mask"]))[4]
        first = env.tables.length == 0
    assert env.tables.episodes.max() > 3
    one = tables(20, skip_forced=True, rules="pass_count=0", autoreset_mode="SameStep")
    infos = one.reset(seed=1)[1]
    assert (infos["action_mask"].sum(axis=1) == 1).any()  # the two of clubs


# -- actions, copies of arrays, sampling -----------------------------------------------------------------------------


@pytest.mark.parametrize("actions", [0, [0, 1], np.zeros((1, 5), int), np.zeros((5, 2), int)])
def test_actions_must_be_one_whole_number_a_table(actions: Any) -> None:
    env = tables()
    env.reset(seed=1)
    with pytest.raises(ActionTypeError, match="actions must be 5 whole numbers"):
        env.step(actions)


def test_an_illegal_action_names_the_table() -> None:
    env = tables(on_illegal="raise")
    env.reset(options={"deal_id": 3, "deal_no": 0})
    actions = lowest(env.masks())
    actions[3] = 53
    with pytest.raises(ValueError, match=r"illegal action 53 \('subtract'\) by seat 0 at table 3: legal are "):
        env.step(actions)


def test_illegal_actions_are_told_of() -> None:
    env = tables(autoreset_mode="SameStep")
    env.reset(seed=1)
    actions = lowest(env.masks())
    actions[2] = -7
    _, rewards, over, _, infos = env.step(actions)
    assert infos["illegal"].tolist() == over.tolist() == [False, False, True, False, False]
    assert rewards.tolist() == [0, 0, -26, 0, 0]


def test_without_copies_the_same_arrays_come_back() -> None:
    env, twin = tables(copy=False), tables()
    seen, infos = env.reset(seed=1)
    theirs, told = twin.reset(seed=1)
    for _ in range(20):
        again, _, _, _, next_infos = env.step(lowest(infos["action_mask"]))
        theirs, _, _, _, told = twin.step(lowest(told["action_mask"]))
        assert again is seen
        assert next_infos["action_mask"] is infos["action_mask"]
        assert (again == theirs).all()
        assert (next_infos["action_mask"] == told["action_mask"]).all()


def test_masked_sampling_is_even_and_legal() -> None:
    random = np.random.default_rng(0)
    mask = np.zeros(55, np.int8)
    mask[[0, 17, 54]] = 1
    drawn = sample_masked(np.tile(mask, (30_000, 1)), random)
    numbers, counts = np.unique(drawn, return_counts=True)
    assert numbers.tolist() == [0, 17, 54]
    assert abs(counts / 30_000 - 1 / 3).max() < 0.015
    assert sample_masked(np.zeros((1, 54), np.int8), random).tolist() == [-1]
    env = tables(30)
    env.reset(seed=1)
    for _ in range(30):
        assert env.masks()[np.arange(30), env.sample()].all()
        assert env.masks()[np.arange(30), sample_masked(env.masks(), random)].all()
        env.step(env.sample())


@pytest.mark.parametrize("num_envs", [0, -1, 1.5, True, None])
def test_the_number_of_tables_is_checked(num_envs: Any) -> None:
    with pytest.raises(EnvError, match=r"num_envs=.*: must be a positive whole number"):
        HeartsVectorEnv(num_envs)


def test_deal_ids_are_checked() -> None:
    env = tables()
    for given in ([1, 2], [1.5] * 5, [-1] * 5):
        with pytest.raises(EnvError, match=r"option deal_id=.*: must be a whole number, or 5 of them"):
            env.reset(options={"deal_id": given})


def test_a_state_of_other_tables_is_refused() -> None:
    env = tables()
    env.reset(seed=1)
    for other in (tables(4), tables(rules="omnibus"), tables(seat=1)):
        with pytest.raises(EnvError, match="set_state: the state is of other tables: 5 of a deal"):
            other.set_state(env.get_state())


# -- registration ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "code",
    [
        "import hearts_env, gymnasium",
        "import gymnasium, hearts_env",
        "import gymnasium; from hearts_env import Rules",
        "from hearts_env import Rules; import gymnasium as gym; import gymnasium",
        "import hearts_env; from gymnasium.vector import VectorEnv; import gymnasium",
    ],
)
def test_gymnasium_knows_the_environment_after_either_order_of_imports(code: str) -> None:
    code += f"; print(gymnasium.make({ID!r}).unwrapped, gymnasium.make_vec({ID!r}, num_envs=2).num_envs)"
    assert run(code) == f"<HeartsEnv<{ID}>> 2"


def test_a_name_with_the_module_needs_no_import() -> None:
    assert run(f"import gymnasium; print(gymnasium.make('hearts_env:{ID}').unwrapped)") == f"<HeartsEnv<{ID}>>"


def test_importing_hearts_env_loads_no_library_but_gymnasium_and_leaves_python_s_import_alone() -> None:
    names = "('torch', 'numba', 'matplotlib', 'pettingzoo', 'PIL', 'hearts_agents')"
    assert run(f"import sys, hearts_env; print([m for m in {names} if m in sys.modules])") == "[]"
    kept = "import sys; before = list(sys.meta_path); import hearts_env; print(before == sys.meta_path)"
    assert run(kept) == "True"


def test_pettingzoo_s_registry_has_both_environments_where_there_is_one() -> None:
    pettingzoo = pytest.importorskip("pettingzoo")
    if not hasattr(pettingzoo, "register"):
        pytest.skip("PettingZoo without a registry")
    assert str(pettingzoo.make("aec", "hearts_env/hearts_v0").unwrapped) == "hearts_v0"
    assert pettingzoo.make("parallel", "hearts_env/hearts-v0", mask_in="info").unwrapped.mask_in == "info"


def run(code: str) -> str:
    """What the code prints in a fresh Python, where warnings are errors."""
    command = [sys.executable, "-W", "error::UserWarning", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_some_tables_can_act_alone() -> None:
    envs = tables(autoreset_mode="Disabled")
    envs.reset(seed=1)
    whole = envs.clone()
    actions, rows = envs.sample(), np.array([3, 1])
    seen = envs.observe()[0].copy()
    assert envs.act(rows, actions[rows]).tolist() == [False, False]
    after, _ = envs.observe()
    expected = whole.step(actions)[0]
    for row in range(5):
        assert (after[row] == (expected if row in rows else seen)[row]).all()
    assert envs.act(np.array([0]), np.array([999])).tolist() == [True]
    assert envs.tables.over.tolist() == [True, False, False, False, False]
