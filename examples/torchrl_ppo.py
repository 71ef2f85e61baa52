"""TorchRL: PPO for about a minute over 256 tables of the native EnvBase, and its result against `random`.

pip install "hearts_env[torchrl,fast]"; python examples/torchrl_ppo.py
"""

import sys

import torch
from tensordict.nn import TensorDictModule as Module
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import TransformedEnv
from torchrl.envs.transforms import RewardScaling
from torchrl.modules import MaskedCategorical, ProbabilisticActor
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from hearts_agents import PolicyAgent
from hearts_arena import duplicate
from hearts_env.adapters.torchrl import HeartsTorchRLEnv

TOTAL = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
TABLES, STEPS, EPOCHS, MINIBATCHES = 256, 16, 3, 4

torch.manual_seed(1)
hearts = HeartsTorchRLEnv(TABLES, opponents="random", seat="rotating", reward="tricks")
env = TransformedEnv(hearts, RewardScaling(0.0, 1 / 26))
size, actions = hearts.observation_spec["observation"].shape[-1], hearts.action_spec.space.n


class Net(nn.Sequential):
    def __init__(self, out):
        super().__init__(nn.Linear(size, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, out))

    def forward(self, seen):
        return super().forward(seen.float())


logits = Module(Net(actions), in_keys=["observation"], out_keys=["logits"])
actor = ProbabilisticActor(
    logits,
    in_keys={"logits": "logits", "mask": "action_mask"},  # the mask goes to the distribution
    distribution_class=MaskedCategorical,
    spec=hearts.action_spec,
    return_log_prob=True,
)
critic = Module(Net(1), in_keys=["observation"], out_keys=["state_value"])
advantage = GAE(gamma=1.0, lmbda=0.95, value_network=critic, average_gae=True)
loss = ClipPPOLoss(actor, critic, clip_epsilon=0.2, entropy_coeff=0.01, critic_coeff=1.0, loss_critic_type="l2")
optimizer = torch.optim.Adam(loss.parameters(), lr=1e-3)
collector = Collector(
    env, actor, frames_per_batch=TABLES * STEPS, total_frames=-1, auto_register_policy_transforms=False
)

frames = 0
for batch in collector:
    with torch.no_grad():
        advantage(batch)
    rows = batch.reshape(-1)
    for _ in range(EPOCHS):
        for part in torch.randperm(len(rows)).chunk(MINIBATCHES):
            terms = loss(rows[part])
            optimizer.zero_grad()
            (terms["loss_objective"] + terms["loss_critic"] + terms["loss_entropy"]).backward()
            nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
            optimizer.step()
    frames += len(rows)
    if frames >= TOTAL:
        break
collector.shutdown()
print(f"{frames:,} steps")


@torch.no_grad()
def choose(encodings, masks):
    return logits.module(torch.from_numpy(encodings)).masked_fill(~torch.from_numpy(masks), -1e9).argmax(1).numpy()


print(duplicate(PolicyAgent(choose, "torchrl")))
