"""Advantages and returns along each seat's own decisions in a deal, where only the end of the deal pays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hearts_agents.net.weights import Floats
from hearts_env.cards import Ints


def advantages(values: Floats, lengths: Ints, reward: NDArray[np.floating[Any]], gae_lambda: float) -> Floats:
    """Return generalised advantage estimates (Schulman et al., arXiv 1506.02438) with gamma 1, float32 [K, D].

    values: float32 [K, D]  value at each decision of K trajectories (one seat in one deal each), in order.
    lengths: int64 [K]  decisions in each trajectory; what lies beyond is not read, and 0 in the result.
    reward: float [K]  paid after the last decision; nothing is paid before.
    """
    result = np.zeros_like(values)
    following = reward.astype(np.float32)
    carried = np.zeros_like(following)
    for timestep in reversed(range(values.shape[1])):
        here = timestep < lengths
        carried = np.where(here, following - values[:, timestep] + gae_lambda * carried, np.float32(0))
        following = np.where(here, values[:, timestep], following)
        result[:, timestep] = carried
    return result


def explained_variance(values: Floats, outcomes: Floats) -> float:
    """Return the share of the variance of `outcomes` [n] that `values` [n] explain.

    1 is all, 0 none, and below 0 it is worse than the mean.
    """
    variance = float(np.var(outcomes))
    return 1 - float(np.var(outcomes - values)) / variance if variance else 0.0
