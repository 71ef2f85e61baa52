"""PufferLib: PPO for about a minute over its vectorisation of 256 tables, and its result against `random`.

    pip install "hearts_env[pufferlib,fast]"; python examples/pufferlib_ppo.py

Its trainer, PuffeRL, takes this environment and this policy too, where its compiled kernel fits the torch installed.
"""

import sys

import torch
from pufferlib import vector
from pufferlib.pytorch import layer_init, sample_logits
from torch import nn

from hearts_agents import PolicyAgent
from hearts_arena import duplicate
from hearts_env.adapters.pufferlib import HeartsPufferEnv

TOTAL = int(sys.argv[1]) if len(sys.argv) > 1 else 300_000
TABLES, STEPS, EPOCHS, MINIBATCHES, GAE, CLIP, ENTROPY = 256, 16, 3, 4, 0.95, 0.2, 0.01


class Policy(nn.Module):
    def __init__(self, env):
        super().__init__()
        self.legal = env.mask_slice
        self.body = nn.Sequential(
            layer_init(nn.Linear(env.layout.size, 128)), nn.ReLU(), nn.Linear(128, 128), nn.ReLU()
        )
        self.policy, self.value = layer_init(nn.Linear(128, env.single_action_space.n), 0.01), nn.Linear(128, 1)

    def forward(self, seen, state=None):
        hidden = self.body(seen.float())
        # PufferLib knows no masks, but the legal actions are a block of the encoding.
        return self.policy(hidden).masked_fill(seen[..., self.legal] == 0, -1e9), self.value(hidden)[..., 0]

    forward_eval = forward


torch.manual_seed(1)
options = {"num_envs": TABLES, "opponents": "random", "seat": "rotating", "reward": "tricks"}
envs = vector.make(HeartsPufferEnv, env_kwargs=options, backend=vector.PufferEnv)
policy = Policy(envs)
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
envs.async_reset(1)
# PufferLib writes into the same arrays at every step: what is kept is copied.
seen = torch.from_numpy(envs.recv()[0]).clone()
steps = 0
while steps < TOTAL:
    rollout = []
    for _ in range(STEPS):
        with torch.no_grad():
            logits, value = policy(seen)
            action, logprob, _ = sample_logits(logits)
        envs.send(action.numpy())
        next_seen, reward, terminal, truncation, *_ = envs.recv()
        done = torch.from_numpy(terminal | truncation)
        rollout.append((seen, action, logprob, value, torch.from_numpy(reward).clone(), done))
        seen = torch.from_numpy(next_seen).clone()
    with torch.no_grad():
        later, advantage, advantages = policy(seen)[1], 0.0, []
        for _, _, _, value, reward, done in reversed(rollout):
            advantage = reward + later * ~done - value + GAE * advantage * ~done
            advantages.insert(0, advantage)
            later = value
    old = [torch.stack(column).flatten(0, 1) for column in zip(*rollout, strict=True)]
    gain = torch.stack(advantages).flatten()
    returns, gain = gain + old[3], (gain - gain.mean()) / (gain.std() + 1e-8)
    for _ in range(EPOCHS):
        for part in torch.randperm(len(gain)).chunk(MINIBATCHES):
            logits, value = policy(old[0][part])
            _, logprob, entropy = sample_logits(logits, action=old[1][part])
            ratio = (logprob - old[2][part]).exp()
            surrogate = torch.min(ratio * gain[part], ratio.clamp(1 - CLIP, 1 + CLIP) * gain[part]).mean()
            optimizer.zero_grad()
            (-surrogate + (value - returns[part]).square().mean() - ENTROPY * entropy.mean()).backward()
            optimizer.step()
    steps += STEPS * TABLES
print(f"{steps:,} steps")


@torch.no_grad()
def choose(encodings, masks):
    return policy(torch.from_numpy(encodings))[0].argmax(1).numpy()


print(duplicate(PolicyAgent(choose, "pufferlib")))
