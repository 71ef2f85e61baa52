"""Hearts for PettingZoo: `hearts_v0.env(...)`."""

from hearts_env.aec import HeartsAEC

raw_env = HeartsAEC
env = HeartsAEC
"""The same: the checks of PettingZoo's wrappers are within, at a tenth of their cost."""

__all__ = ["env", "raw_env"]
