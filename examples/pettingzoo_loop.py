"""PettingZoo: a linear policy learns from whole deals in the AEC loop, with numpy alone; its result against `random`.

python examples/pettingzoo_loop.py
"""

import sys

import numpy as np

from hearts_agents import PolicyAgent
from hearts_arena import duplicate
from hearts_env import hearts_v0

TOTAL = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000  # deals
EXPLORE, RATE = 0.2, 0.002

env = hearts_v0.env(reward="tricks")
seat = env.possible_agents[0]
features, actions = env.observation_space(seat)["observation"].shape[0], env.action_space(seat).n
weights = np.zeros((actions, features), np.float32)  # what an action is worth, in points still to come
random = np.random.default_rng(1)


def greedy(encodings, masks):
    return np.where(masks, encodings @ weights.T, -np.inf).argmax(-1)


env.reset(seed=1)
for _ in range(TOTAL):
    env.reset()
    steps = {agent: [] for agent in env.possible_agents}  # (encoding, action, paid before it)
    paid = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        paid[agent] += reward
        if terminated or truncated:
            env.step(None)
            continue
        encoding, mask = observation["observation"], observation["action_mask"]
        if random.random() < EXPLORE:
            action = int(random.choice(np.flatnonzero(mask)))
        else:
            action = int(greedy(encoding, mask.astype(bool)))
        steps[agent].append((encoding, action, paid[agent]))
        env.step(action)
    for agent, decisions in steps.items():
        for encoding, action, before in decisions:
            error = (paid[agent] - before) - weights[action] @ encoding
            weights[action] += RATE * error * encoding
print(f"{TOTAL:,} deals")
print(duplicate(PolicyAgent(greedy, "linear")))
