"""Environments by kind: `make("vector", num_envs=1024)`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from hearts_env.envs.options import EnvError

if TYPE_CHECKING:
    from hearts_env.envs.aec import HeartsAEC
    from hearts_env.envs.parallel import HeartsParallel
    from hearts_env.envs.single import HeartsEnv
    from hearts_env.envs.vector import HeartsVectorEnv

KINDS = ("aec", "parallel", "gymnasium", "vector")
"""PettingZoo's AEC and Parallel; gymnasium's Env with one learning seat; its VectorEnv over many tables."""


@overload
def make(kind: Literal["aec"], **options: Any) -> HeartsAEC: ...
@overload
def make(kind: Literal["parallel"], **options: Any) -> HeartsParallel: ...
@overload
def make(kind: Literal["gymnasium"], **options: Any) -> HeartsEnv: ...
@overload
def make(kind: Literal["vector"], **options: Any) -> HeartsVectorEnv: ...
@overload
def make(kind: str, **options: Any) -> HeartsAEC | HeartsParallel | HeartsEnv | HeartsVectorEnv: ...
def make(kind: str, **options: Any) -> HeartsAEC | HeartsParallel | HeartsEnv | HeartsVectorEnv:
    """The environment of one kind.

    Args:
        kind: "aec" or "parallel" (PettingZoo), "gymnasium" (one learning seat), or "vector" (gymnasium, many tables).
        options: those of the environment, such as `rules`, `episode`, `reward`, `opponents`, `num_envs`.

    Raises:
        EnvError: for another kind, or an option that cannot be; RulesError for rules that cannot be.
    """
    if kind == "aec":
        from hearts_env.envs.aec import HeartsAEC

        return HeartsAEC(**options)
    if kind == "parallel":
        from hearts_env.envs.parallel import HeartsParallel

        return HeartsParallel(**options)
    if kind == "gymnasium":
        from hearts_env.envs.single import HeartsEnv

        return HeartsEnv(**options)
    if kind == "vector":
        from hearts_env.envs.vector import HeartsVectorEnv

        return HeartsVectorEnv(**options)
    raise EnvError(
        f"kind={kind!r:.60}: environments are {', '.join(map(repr, KINDS))}; agents are made by hearts_agents.make"
    )
