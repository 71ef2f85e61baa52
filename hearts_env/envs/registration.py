"""The name under which gymnasium finds the environments."""

from __future__ import annotations

GYMNASIUM_ID = "hearts_env/Hearts-v0"


def register() -> None:
    """Make `gymnasium.make` and `make_vec` know `hearts_env/Hearts-v0`; `import hearts_env` has done it."""
    from gymnasium.envs import registration

    if GYMNASIUM_ID not in registration.registry:
        registration.register(
            GYMNASIUM_ID,
            entry_point="hearts_env.envs.single:HeartsEnv",
            vector_entry_point="hearts_env.envs.vector:HeartsVectorEnv",
        )
