"""The names under which gymnasium and PettingZoo find the environments."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType

GYMNASIUM_ID = "hearts_env/Hearts-v0"
PETTINGZOO_ID = "hearts_env/hearts-v0"


def register() -> None:
    """Make `gymnasium.make` and `make_vec` know `hearts_env/Hearts-v0`; imports gymnasium.

    Called when gymnasium and `hearts_env` are both imported, in either order, and by the environment modules.
    """
    from gymnasium.envs import registration

    if GYMNASIUM_ID not in registration.registry:
        registration.register(
            GYMNASIUM_ID,
            entry_point="hearts_env.envs.single:HeartsEnv",
            vector_entry_point="hearts_env.envs.vector:HeartsVectorEnv",
        )


def register_pettingzoo() -> None:
    """Make `pettingzoo.make` know `hearts_env/hearts-v0`, aec and parallel, where PettingZoo has a registry."""
    import pettingzoo

    if not hasattr(pettingzoo, "register"):
        return
    if PETTINGZOO_ID not in pettingzoo.aec_registry:
        pettingzoo.register("aec", PETTINGZOO_ID, "hearts_env.hearts_v0:env")
    if PETTINGZOO_ID not in pettingzoo.parallel_registry:
        pettingzoo.register("parallel", PETTINGZOO_ID, "hearts_env.hearts_v0:parallel_env")


def register_with_gymnasium() -> None:
    """Register now if gymnasium is imported, else as soon as it is: importing it costs more than all of the core."""
    if "gymnasium" in sys.modules:
        register()
    else:
        sys.meta_path.insert(0, _WhenGymnasium())


class _WhenGymnasium(MetaPathFinder):
    """Is asked first when gymnasium is imported, lets the usual finders find it, and registers once it is loaded."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != "gymnasium":
            return None
        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _ThenRegister(spec.loader)
        return spec


class _ThenRegister(Loader):
    """Another loader, and `register` after it."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        register()
