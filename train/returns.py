"""Advantages and returns along each seat's own decisions in a deal, where only the end of the deal pays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hearts_agents.net_file import Floats
from hearts_env.cards import Ints


def advantages(values: Floats, counts: Ints, reward: NDArray[np.floating[Any]], gae_lambda: float) -> Floats:
    """Generalised advantage estimates (Schulman et al., arXiv 1506.02438) with gamma 1, float32 [K, D].

    values: float32 [K, D]  value at each decision of K chains (a chain is one seat in one deal), in order.
    counts: int64 [K]  decisions in each chain; what lies beyond is not read, and 0 in the result.
    reward: float [K]  paid after the last decision; nothing is paid before.
    """
    result = np.zeros_like(values)
    following = reward.astype(np.float32)
    running = np.zeros_like(following)
    for place in reversed(range(values.shape[1])):
        here = place < counts
        running = np.where(here, following - values[:, place] + gae_lambda * running, np.float32(0))
        following = np.where(here, values[:, place], following)
        result[:, place] = running
    return result


def explained_variance(guess: Floats, truth: Floats) -> float:
    """The share of the variance of `truth` [n] that `guess` [n] explains: 1 all, 0 none, below 0 worse than none."""
    variance = float(np.var(truth))
    return 1 - float(np.var(truth - guess)) / variance if variance else 0.0
