"""What each library's own checker and training loop say of our environments, without warnings of ours or theirs."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest

import hearts_env  # noqa: F401  gymnasium knows its names
from hearts_env.envs.options import EnvError
from hearts_env.envs.spaces import sample_masked
from hearts_env.envs.vector import HeartsVectorEnv


@pytest.fixture(autouse=True)
def no_warnings() -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("error", category=UserWarning)
        yield


every_size = pytest.mark.parametrize("players", [2, 3, 4, 5, 6, 7])


@every_size
def test_sb3_checks_the_single_environment(players: int) -> None:
    check = pytest.importorskip("stable_baselines3.common.env_checker")
    options: Any = {"opponents": "random", "on_illegal": "random", "rules": f"num_players={players}"}
    check.check_env(gymnasium.make("hearts_env/Hearts-v0", **options).unwrapped)


def test_maskable_ppo_trains_and_is_evaluated_without_illegal_actions() -> None:
    sb3 = pytest.importorskip("sb3_contrib")
    from sb3_contrib.common.maskable.evaluation import evaluate_policy

    from hearts_env.adapters.sb3 import HeartsVecEnv

    env = HeartsVecEnv(16, opponents="random", on_illegal="raise")
    model = sb3.MaskablePPO("MlpPolicy", env, n_steps=8, batch_size=64, n_epochs=1, seed=1, device="cpu")
    model.learn(512)
    returns, lengths = evaluate_policy(model, env, n_eval_episodes=20, return_episode_rewards=True)
    assert min(returns) >= -26
    assert set(lengths) <= {13, 14, 16, 17}


def test_the_sb3_environment_answers_for_each_table() -> None:
    pytest.importorskip("stable_baselines3")
    from stable_baselines3.common.monitor import Monitor

    from hearts_env.adapters.sb3 import HeartsVecEnv
    from hearts_env.envs.options import EnvError

    env = HeartsVecEnv(3, opponents="random", render_mode="rgb_array")
    env.seed(1)
    env.reset()
    assert env.has_attr("action_masks")
    (method,) = env.get_attr("action_masks", indices=[1])
    assert method().tolist() == env.env_method("action_masks", indices=[1])[0].tolist()
    assert env.env_is_wrapped(Monitor) == [True] * 3
    env.set_attr("on_illegal", "raise")
    with pytest.raises(EnvError, match="all tables have it in common"):
        env.set_attr("on_illegal", "raise", indices=0)
    assert len(env.get_images()) == 3
    infos: Any = [{}]
    while not any(infos):
        _, _, dones, infos = env.step(env.action_masks().argmax(axis=1))
    row = int(dones.argmax())
    told = infos[row]
    assert told["terminal_observation"].shape == env.observation_space.shape
    assert told["episode"]["r"] == told["summary"]["return"] == -told["summary"]["points"][0]
    assert told["TimeLimit.truncated"] is False


@pytest.mark.parametrize("seat", [0, "all"])
@every_size
def test_torchrl_checks_its_specs(players: int, seat: Any) -> None:
    envs = pytest.importorskip("torchrl.envs")
    from hearts_env.adapters.torchrl import HeartsTorchRLEnv

    options: Any = {"rules": f"num_players={players}", "seat": seat, "reward": "zero_sum", "on_illegal": "raise"}
    env = HeartsTorchRLEnv(4, opponents="random", **options)
    envs.check_env_specs(env, seed=1)
    rolled = env.rollout(200, break_when_any_done=False)
    assert int(rolled["next", "done"].sum()) >= 8
    if seat == "all":
        assert rolled["next", "rewards"].sum(-1).abs().max() < 1e-4
    # Tables whose episode is over wait for the others.
    waited = env.rollout(200, break_when_any_done=False, break_when_all_done=True)
    assert waited["next", "done"][:, -1].all()


def test_tianshou_collects_whole_episodes_by_the_mask() -> None:
    pytest.importorskip("tianshou")
    from tianshou.algorithm.random import MARLRandomDiscreteMaskedOffPolicyAlgorithm
    from tianshou.data import Collector, VectorReplayBuffer

    from hearts_env.adapters.tianshou import HeartsTianshouEnv

    env = HeartsTianshouEnv(4, opponents="random", on_illegal="raise")
    algorithm = MARLRandomDiscreteMaskedOffPolicyAlgorithm(action_space=env.action_space[0])
    collector = Collector(algorithm, env, VectorReplayBuffer(2000, 4))
    collector.reset()
    told = collector.collect(n_episode=30)
    assert told.n_collected_episodes == 30
    assert set(told.lens) <= {13, 14, 16, 17}
    assert -26 <= min(told.returns) <= max(told.returns) <= 0
    assert collector.collect(n_step=400).n_collected_steps == 400


def test_pufferlib_vectorises_it_and_writes_into_its_arrays() -> None:
    vector = pytest.importorskip("pufferlib.vector")
    from hearts_env.adapters.pufferlib import HeartsPufferEnv

    env = vector.make(HeartsPufferEnv, env_kwargs={"num_envs": 8, "opponents": "random"}, backend=vector.PufferEnv)
    env.async_reset(1)
    seen, *_ = env.recv()
    over, told = 0, []
    for _ in range(40):
        env.send(seen[:, env.mask_slice].argmax(axis=1))
        again, rewards, terminals, truncations, _, infos, _, _ = env.recv()
        assert again is seen
        assert np.abs(rewards).max() <= 1
        over += int((terminals | truncations).sum())
        told += infos
    assert over >= 16
    assert all(info["episode_length"] in range(13, 18) for info in told)


@every_size
def test_rllib_checks_the_multi_agent_environment(players: int) -> None:
    pytest.importorskip("ray.rllib")
    from ray.rllib.utils.pre_checks.env import check_multiagent_environments

    from hearts_env.adapters.rllib import HeartsMultiAgentEnv

    env = HeartsMultiAgentEnv({"rules": f"num_players={players}", "on_illegal": "random", "reward": "zero_sum"})
    check_multiagent_environments(env)
    total = dict.fromkeys(env.possible_agents, 0.0)
    seen, _ = env.reset(seed=1)
    over = False
    while not over:
        ((agent, shown),) = seen.items()
        assert env.get_observation_space(agent).contains(shown)
        seen, rewards, terminated, truncated, infos = env.step({agent: int(shown["action_mask"].argmax())})
        total = {name: total[name] + rewards[name] for name in total}
        over = terminated["__all__"] or truncated["__all__"]
    assert list(seen) == env.possible_agents
    assert all(env.get_observation_space(agent).contains(shown) for agent, shown in seen.items())
    assert abs(sum(total.values())) < 1e-9 < sum(map(abs, total.values()))
    assert len(infos["seat_0"]["points"]) == players


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_of_the_multi_agent_environment_goes_on_as_the_original_does(copied: Any) -> None:
    pytest.importorskip("ray.rllib")
    from hearts_env.adapters.rllib import HeartsMultiAgentEnv

    def trace(env: Any, seen: Any, steps: int) -> list[Any]:
        told = []
        for _ in range(steps):
            ((agent, shown),) = seen.items()
            seen, rewards, *_ = env.step({agent: int(shown["action_mask"].argmax())})
            told.append(([part.tobytes() for shown in seen.values() for part in shown.values()], rewards))
        return told

    env = HeartsMultiAgentEnv({"reward": "tricks", "on_illegal": "raise"})
    seen, _ = env.reset(seed=5)
    begun = trace(env, seen, 20)
    other = copied(env)
    seat = env.env.agent_selection
    seen = {seat: {"action_mask": env.env.observe(seat)["action_mask"]}}
    assert trace(env, seen, 20) == trace(other, seen, 20)
    again, _ = env.reset(seed=5)
    assert trace(env, again, 20) == begun


def test_rllib_s_runner_plays_many_tables_by_the_mask() -> None:
    pytest.importorskip("ray.rllib")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # RLlib's of itself
        from ray.rllib.algorithms.ppo import PPOConfig
        from ray.rllib.core.rl_module import RLModuleSpec
        from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner
        from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

        from hearts_env.adapters.rllib import HeartsRLlibVectorEnv

        options = {"opponents": "random", "seat": "rotating", "on_illegal": "raise"}
        small = {"head_fcnet_hiddens": [16], "fcnet_hiddens": [16]}
        config = (
            PPOConfig()
            .environment(HeartsRLlibVectorEnv, env_config=options)
            .env_runners(num_envs_per_env_runner=64, gym_env_vectorize_mode="vector_entry_point")
            .rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config=small))
        )
        # Without the rest of the algorithm, which takes a cluster of processes to start.
        episodes = SingleAgentEnvRunner(config=config).sample(num_timesteps=2000, random_actions=False)
    over = [episode for episode in episodes if episode.is_terminated]
    assert len(over) >= 64  # an illegal action raises
    assert sum(map(len, episodes)) >= 2000
    assert {len(episode) for episode in over} <= {13, 14, 16, 17}
    assert -26 <= min(episode.get_return() for episode in over) < 0


@every_size
def test_rllib_s_tables_show_what_those_of_the_vector_environment_do(players: int) -> None:
    pytest.importorskip("ray.rllib")
    from hearts_env.adapters.rllib import HeartsRLlibVectorEnv

    options: Any = {"num_envs": 20, "opponents": "random", "rules": f"num_players={players}", "reward": "zero_sum"}
    env = HeartsRLlibVectorEnv(options)
    bare = HeartsVectorEnv(**options)
    (seen, infos), (expected, _) = env.reset(seed=3), bare.reset(seed=3)
    random, over = np.random.default_rng(1), 0
    for _ in range(80):
        assert env.observation_space.contains(seen)
        assert (seen["observations"] == expected).all()
        assert (seen["action_mask"] == bare.masks()).all()
        assert set(infos) <= {"summary", "_summary"}
        actions = sample_masked(bare.masks(), random)
        seen, rewards, terminated, _, infos = env.step(actions)
        expected, due, *_ = bare.step(actions)
        assert (rewards == due).all()
        assert ("summary" in infos) == terminated.any()
        over += int(terminated.sum())
    assert over >= 20
    with pytest.raises(EnvError, match="seat='all': RLlib"):
        HeartsRLlibVectorEnv({"seat": "all"})
