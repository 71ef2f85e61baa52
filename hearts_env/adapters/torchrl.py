"""Hearts as a batched environment of TorchRL, with observation and mask in the tensordict."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from hearts_env.adapters import MissingLibraryError
from hearts_env.cards import NUM_ACTIONS, action_numbers
from hearts_env.envs.learner_tables import vector_options
from hearts_env.envs.vector import HeartsVectorEnv

try:
    import torch
    from tensordict import TensorDict, TensorDictBase
    from torchrl.data import Binary, Bounded, Categorical, Composite, Unbounded
    from torchrl.envs import EnvBase
except ModuleNotFoundError as error:
    raise MissingLibraryError(str(error.name), "torchrl") from None


class HeartsTorchRLEnv(EnvBase):  # type: ignore[misc]
    """`num_envs` tables of a `HeartsVectorEnv` as one EnvBase of batch size [N].

    Entries: `observation` uint8 [N, F], `action_mask` bool [N, A], `action` int64 [N], `reward` float32 [N, 1], `done`,
    `terminated` and `truncated`.  With seat="all" also `seat` int64 [N], whose decision it is, and `rewards` float32
    [N, P], what the step paid to every seat.  `rand_action` draws legal actions.

    num_envs, options: of `HeartsVectorEnv`, but for `mask_in` and `autoreset_mode`.  device: where tensors are put; the
        game is played on the CPU.

    Raises EnvError or RulesError, both ValueErrors.
    """

    batch_locked = True

    def __init__(self, num_envs: int = 64, *, device: Any = "cpu", **options: Any) -> None:
        super().__init__(device=device, batch_size=torch.Size([num_envs]))
        given = vector_options("HeartsTorchRLEnv", options, "mask_in", "autoreset_mode")
        self.envs = HeartsVectorEnv(num_envs, autoreset_mode=AutoresetMode.DISABLED, mask_in="info", **given)
        self._make_specs()
        self._seed: int | None = None
        self._begun = False

    def rand_action(self, tensordict: TensorDictBase | None = None) -> TensorDictBase:
        """Put a random legal action for each table into the tensordict."""
        if tensordict is None:
            tensordict = TensorDict({}, batch_size=self.batch_size, device=self.device)
        return tensordict.set("action", torch.from_numpy(self.envs.sample()).to(self.device))

    # -- what EnvBase calls ------------------------------------------------------------------------------------------

    def _reset(self, tensordict: TensorDictBase | None = None, **options: Any) -> TensorDictBase:
        given = dict(options)
        mask = None if tensordict is None else tensordict.get("_reset", None)
        if mask is not None and self._begun:
            given["reset_mask"] = mask.cpu().numpy().reshape(-1)
        self.envs.reset(seed=self._seed, options=given)
        self._seed, self._begun = None, True
        return self._shown()

    def _step(self, tensordict: TensorDictBase) -> TensorDictBase:
        tables = self.envs.tables
        rows, actors = np.arange(len(tables)), tables.seat.copy()
        alive = rows[~tables.over]
        actions = action_numbers(tensordict["action"].cpu(), len(tables), "step: actions must be")
        self.envs.act(alive, actions[alive])
        shown = self._shown()
        paid = np.where(np.isin(rows, alive), tables.paid[rows, actors], 0.0)
        shown["reward"] = self._tensor(paid[:, None].astype(np.float32))
        return shown

    def _set_seed(self, seed: int | None) -> None:
        self._seed = seed
        self.envs.action_space.seed(seed)

    def _shown(self) -> TensorDictBase:
        """All but the reward, as it is now."""
        tables = self.envs.tables
        observations, masks = self.envs.observe()
        shown: dict[str, Any] = {
            "observation": observations,
            "action_mask": masks.view(np.bool_),
            "terminated": tables.terminated[:, None],
            "truncated": tables.truncated[:, None],
            "done": tables.over[:, None],
        }
        if tables.all_seats:
            shown |= {"seat": tables.seat.copy(), "rewards": tables.paid.astype(np.float32)}
        tensors = {name: self._tensor(array) for name, array in shown.items()}
        return TensorDict(tensors, batch_size=self.batch_size, device=self.device)

    def _tensor(self, array: Any) -> torch.Tensor:
        return torch.from_numpy(array).to(self.device)

    def _make_specs(self) -> None:
        size: Any = self.batch_size
        space: Any = self.envs.single_observation_space
        entries = {
            "observation": Bounded(
                torch.from_numpy(space.low).expand(*size, -1),
                torch.from_numpy(space.high).expand(*size, -1),
                dtype=torch.uint8,
            ),
            "action_mask": Binary(NUM_ACTIONS, shape=(*size, NUM_ACTIONS), dtype=torch.bool),
        }
        if self.envs.tables.all_seats:
            seats = self.envs.rules.num_players
            entries["seat"] = Categorical(seats, shape=size)
            entries["rewards"] = Unbounded((*size, seats))
        self.observation_spec = Composite(entries, shape=size)
        self.action_spec = Categorical(NUM_ACTIONS, shape=size)
        self.reward_spec = Unbounded((*size, 1))
        flag = Categorical(2, shape=(*size, 1), dtype=torch.bool)
        self.done_spec = Composite(done=flag, terminated=flag.clone(), truncated=flag.clone(), shape=size)
