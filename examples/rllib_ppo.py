"""RLlib, new API stack: PPO self-play of one shared, masked policy for about a minute, and its result against `random`.

pip install "hearts_env[rllib,fast]"; python examples/rllib_ppo.py
"""

import sys
import time

import numpy as np
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module import MultiRLModuleSpec, RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

from hearts_agents.trained import PolicyAgent, against
from hearts_env.adapters.rllib import MASK, OBSERVATIONS, HeartsMultiAgentEnv

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0

config = (
    PPOConfig()
    # Its check of environments plays actions without asking the mask.
    .environment(HeartsMultiAgentEnv, env_config={"reward": "tricks"}, disable_env_checking=True)
    .multi_agent(policies={"shared"}, policy_mapping_fn=lambda agent, episode, **_: "shared")
    # Learning and playing in this process: on a larger machine give env runners.
    .env_runners(num_env_runners=0, num_envs_per_env_runner=32, rollout_fragment_length=32)
    .rl_module(
        rl_module_spec=MultiRLModuleSpec(
            rl_module_specs={
                "shared": RLModuleSpec(
                    module_class=ActionMaskingTorchRLModule,
                    model_config={"head_fcnet_hiddens": [128], "fcnet_hiddens": [128], "vf_share_layers": True},
                )
            }
        )
    )
    .training(
        train_batch_size=1024,
        minibatch_size=256,
        num_epochs=10,
        lr=1e-3,
        gamma=1.0,
        lambda_=0.95,
        vf_clip_param=1e3,  # values are points: the default clips them all
        vf_loss_coeff=0.02,
        use_kl_loss=False,
        entropy_coeff=0.01,
        grad_clip=0.5,
    )
    .debugging(seed=1, log_level="ERROR")
)
algorithm = config.build_algo()
steps, end = 0, time.monotonic() + SECONDS
while time.monotonic() < end:
    steps += algorithm.train()["env_runners"]["num_env_steps_sampled"]
print(f"{int(steps):,} steps")
module = algorithm.get_module("shared")


@torch.no_grad()
def choose(encodings, masks):
    seen = {OBSERVATIONS: torch.from_numpy(encodings).float(), MASK: torch.from_numpy(masks).float()}
    return np.asarray(module.forward_inference({"obs": seen})["action_dist_inputs"].argmax(1))


print(against(PolicyAgent(choose, "rllib")))
algorithm.stop()
