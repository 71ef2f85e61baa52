"""Hearts for PettingZoo: `hearts_v0.env(...)` and `hearts_v0.parallel_env(...)`."""

import pettingzoo

from hearts_env.envs.aec import HeartsAEC
from hearts_env.envs.parallel import HeartsParallel

__all__ = ["env", "parallel_env", "raw_env"]

PETTINGZOO_ID = "hearts_env/hearts-v0"

raw_env = HeartsAEC
env = HeartsAEC
"""The AEC environment; the checks of PettingZoo's wrappers are within, at a tenth of their cost."""
parallel_env = HeartsParallel


def _register() -> None:
    """Make `pettingzoo.make` know `hearts_env/hearts-v0`, aec and parallel, where PettingZoo has a registry."""
    if not hasattr(pettingzoo, "register"):
        return
    if PETTINGZOO_ID not in pettingzoo.aec_registry:
        pettingzoo.register("aec", PETTINGZOO_ID, "hearts_env.hearts_v0:env")
    if PETTINGZOO_ID not in pettingzoo.parallel_registry:
        pettingzoo.register("parallel", PETTINGZOO_ID, "hearts_env.hearts_v0:parallel_env")


_register()
