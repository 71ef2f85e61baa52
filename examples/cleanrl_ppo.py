"""PPO in one file, in the manner of CleanRL: one learning seat at 256 tables, and its result against `random`.

pip install "hearts_env[train,fast]"; python examples/cleanrl_ppo.py
"""

import sys

import gymnasium
import torch
from torch import nn
from torch.distributions import Categorical

import hearts_env  # noqa: F401  gymnasium knows its names
from hearts_agents import PolicyAgent
from hearts_arena import duplicate

TOTAL = int(sys.argv[1]) if len(sys.argv) > 1 else 300_000
TABLES, STEPS, EPOCHS, MINIBATCHES, GAE, CLIP, ENTROPY = 256, 16, 3, 4, 0.95, 0.2, 0.01

torch.manual_seed(1)
# SameStep: the step that ends an episode shows the next one, so that every step is a decision.
envs = gymnasium.make_vec(
    "hearts_env/Hearts-v0",
    num_envs=TABLES,
    opponents="random",
    seat="rotating",
    reward="tricks",
    autoreset_mode="SameStep",
)
size, actions = envs.single_observation_space.shape[0], envs.single_action_space.n
body = nn.Sequential(nn.Linear(size, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, actions + 1))
optimizer = torch.optim.Adam(body.parameters(), lr=1e-3, eps=1e-5)


def policy_and_value(seen, masks):
    out = body(seen.float())
    # -1e9 and not -inf: the probability is exactly 0, and the entropy stays finite.
    return Categorical(logits=out[..., :-1].masked_fill(~masks, -1e9)), out[..., -1]


def tensors(seen, infos):
    return torch.from_numpy(seen), torch.from_numpy(infos["action_mask"]).bool()


seen, masks = tensors(*envs.reset(seed=1))
steps = 0
while steps < TOTAL:
    rollout = []
    for _ in range(STEPS):
        with torch.no_grad():
            policy, value = policy_and_value(seen, masks)
        action = policy.sample()
        next_seen, reward, terminated, truncated, infos = envs.step(action.numpy())
        done = torch.from_numpy(terminated | truncated)
        rollout.append((seen, masks, action, policy.log_prob(action), value, torch.tensor(reward / 26).float(), done))
        seen, masks = tensors(next_seen, infos)
    with torch.no_grad():
        later, advantage, advantages = policy_and_value(seen, masks)[1], 0.0, []
        for *_, value, reward, done in reversed(rollout):
            delta = reward + later * ~done - value
            advantage = delta + GAE * advantage * ~done
            advantages.insert(0, advantage)
            later = value
    old = [torch.stack(column).flatten(0, 1) for column in zip(*rollout, strict=True)]
    gain = torch.stack(advantages).flatten()
    returns, gain = gain + old[4], (gain - gain.mean()) / (gain.std() + 1e-8)
    for _ in range(EPOCHS):
        for part in torch.randperm(len(gain)).chunk(MINIBATCHES):
            policy, value = policy_and_value(old[0][part], old[1][part])
            ratio = (policy.log_prob(old[2][part]) - old[3][part]).exp()
            surrogate = torch.min(ratio * gain[part], ratio.clamp(1 - CLIP, 1 + CLIP) * gain[part]).mean()
            loss = -surrogate + (value - returns[part]).square().mean() - ENTROPY * policy.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(body.parameters(), 0.5)
            optimizer.step()
    steps += STEPS * TABLES
print(f"{steps:,} steps")


@torch.no_grad()
def choose(encodings, masks):
    return policy_and_value(torch.from_numpy(encodings), torch.from_numpy(masks))[0].probs.argmax(1).numpy()


print(duplicate(PolicyAgent(choose, "ppo")))
