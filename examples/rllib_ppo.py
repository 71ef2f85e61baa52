"""RLlib, new API stack: PPO with a masked policy for about a minute over 64 tables, and its result against `random`.

pip install "hearts_env[rllib,fast]"; python examples/rllib_ppo.py
"""

import sys

import numpy as np
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

from hearts_agents import PolicyAgent
from hearts_arena import duplicate
from hearts_env.adapters.rllib import MASK, OBSERVATIONS, HeartsRLlibVectorEnv

TOTAL = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
TABLES, STEPS = 64, 16

config = (
    PPOConfig()
    # Its check of environments plays actions without asking the mask.
    .environment(
        HeartsRLlibVectorEnv,
        env_config={"opponents": "random", "seat": "rotating", "reward": "tricks"},
        disable_env_checking=True,
    )
    # Learning and playing in this process: on a larger machine give env runners.
    .env_runners(
        num_env_runners=0,
        num_envs_per_env_runner=TABLES,
        gym_env_vectorize_mode="vector_entry_point",
        rollout_fragment_length=STEPS,
    )
    .rl_module(
        rl_module_spec=RLModuleSpec(
            module_class=ActionMaskingTorchRLModule,
            model_config={"head_fcnet_hiddens": [128], "fcnet_hiddens": [128], "vf_share_layers": True},
        )
    )
    # A step costs more here than in the other libraries, so each is learned from more often.
    .training(
        train_batch_size=TABLES * STEPS,
        minibatch_size=256,
        num_epochs=8,
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
steps = 0
while steps < TOTAL:
    steps += algorithm.train()["env_runners"]["num_env_steps_sampled"]
print(f"{int(steps):,} steps")
module = algorithm.get_module()


@torch.no_grad()
def choose(encodings, masks):
    seen = {OBSERVATIONS: torch.from_numpy(encodings).float(), MASK: torch.from_numpy(masks).float()}
    return np.asarray(module.forward_inference({"obs": seen})["action_dist_inputs"].argmax(1))


print(duplicate(PolicyAgent(choose, "rllib")))
algorithm.stop()
