"""Hearts for PettingZoo: `hearts_v0.env(...)` and `hearts_v0.parallel_env(...)`."""

from hearts_env.envs.aec import HeartsAEC
from hearts_env.envs.parallel import HeartsParallel

raw_env = HeartsAEC
env = HeartsAEC
"""The same: the checks of PettingZoo's wrappers are within, at a tenth of their cost."""
parallel_env = HeartsParallel

__all__ = ["env", "parallel_env", "raw_env"]
