"""Tianshou: PPO for about a minute over 256 tables, the mask beside the observation, and its result against `random`.

pip install "hearts_env[tianshou,fast]"; python examples/tianshou_ppo.py
"""

import sys

import torch
from tianshou.algorithm import PPO
from tianshou.algorithm.modelfree.reinforce import DiscreteActorPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Batch, Collector, VectorReplayBuffer
from torch import nn

from hearts_agents import PolicyAgent
from hearts_arena import duplicate
from hearts_env.adapters.tianshou import HeartsTianshouEnv

TOTAL = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
TABLES, STEPS = 256, 16

torch.manual_seed(1)
env = HeartsTianshouEnv(TABLES, opponents="random", seat="rotating", reward="tricks")
env.seed(1)
size, actions = env.envs.layout.size, env.action_space[0].n


def net(out):
    return nn.Sequential(nn.Linear(size, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, out))


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = net(actions)

    def forward(self, obs, state=None, info=None):
        seen, mask = torch.as_tensor(obs.obs), torch.as_tensor(obs.mask)
        return self.net(seen.float()).masked_fill(~mask, -1e9), state


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = net(1)

    def forward(self, obs, state=None, info=None):
        return self.net(torch.as_tensor(obs.obs).float())


policy = DiscreteActorPolicy(actor=Actor(), action_space=env.action_space[0], deterministic_eval=True)
algorithm = PPO(
    policy=policy,
    critic=Critic(),
    optim=AdamOptimizerFactory(lr=1e-3),
    gamma=1.0,
    vf_coef=0.02,
    max_grad_norm=0.5,
    return_scaling=False,
)
buffer = VectorReplayBuffer(TABLES * STEPS, TABLES)
collector = Collector(algorithm, env, buffer)
collector.reset()
steps = 0
while steps < TOTAL:
    policy.is_within_training_step = True
    steps += collector.collect(n_step=TABLES * STEPS).n_collected_steps
    algorithm.update(buffer, 1024, 3)
    collector.reset_buffer(keep_statistics=True)
print(f"{steps:,} steps")


@torch.no_grad()
def choose(encodings, masks):
    return policy.actor(Batch(obs=encodings, mask=masks))[0].argmax(1).numpy()


print(duplicate(PolicyAgent(choose, "tianshou")))
