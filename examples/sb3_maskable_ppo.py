"""Stable-Baselines3: MaskablePPO for about a minute over 256 tables, and its result against `random`.

pip install "hearts_env[sb3,fast]"; python examples/sb3_maskable_ppo.py
"""

import sys

from sb3_contrib import MaskablePPO

from hearts_agents import PolicyAgent
from hearts_arena import duplicate
from hearts_env.adapters.sb3 import HeartsVecEnv

TOTAL = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000

env = HeartsVecEnv(256, opponents="random", seat="rotating", reward="tricks")
model = MaskablePPO(
    "MlpPolicy",
    env,
    n_steps=16,
    batch_size=1024,
    n_epochs=4,
    learning_rate=1e-3,
    gamma=1.0,
    vf_coef=0.02,  # values are points
    policy_kwargs={"net_arch": [128, 128]},
    seed=1,
    device="cpu",
)
# Masks are asked for at each step, for all tables at once: nothing else is to be done about them.
model.learn(TOTAL)
print(f"{model.num_timesteps:,} steps")


def choose(encodings, masks):
    return model.predict(encodings, action_masks=masks, deterministic=True)[0]


print(duplicate(PolicyAgent(choose, "sb3")))
