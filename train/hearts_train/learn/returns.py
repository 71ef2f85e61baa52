"""Advantages and returns along each seat's own decisions in a deal, where only the end of the deal pays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hearts_agents.net.weights import Floats
from hearts_env.cards import Bools, Ints


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


def luck(beyond: NDArray[np.floating[Any]], counted: Bools, deal_ids: Ints) -> NDArray[np.float64]:
    """What the same seats got beyond what was expected at the other tables with the same deal, float64 [N, P].

    beyond: float [N, P]  what a seat got more than its first value said.  counted: bool [N, P]  where that is known.
    deal_ids: int64 [N].  The mean over the other tables where it is known; 0 if there is none.
    """
    _, deal = np.unique(deal_ids, return_inverse=True)
    sums, tables = np.zeros((2, deal.max(initial=0) + 1, beyond.shape[1]))
    known = np.where(counted, beyond, 0)
    np.add.at(sums, deal, known)
    np.add.at(tables, deal, counted)
    result: NDArray[np.float64] = (sums[deal] - known) / np.maximum(1, tables[deal] - counted)
    return result


def without_luck(advantages: Floats, luck: Floats, place: Ints) -> Floats:
    """Advantages [n] less the part that the luck of the deal explains, by the number of the decision in its chain.

    luck: float32 [n]  independent of the decision, so that what is expected of an advantage stays.  place: int64 [n].
    The factor at a place is the one that leaves least variance.
    """
    together, alone = (np.bincount(place, weights) for weights in (advantages * luck, luck * luck))
    factor = together / np.maximum(alone, np.finfo(np.float32).tiny)
    result: Floats = advantages - (factor[place] * luck).astype(np.float32)
    return result


def explained_variance(guess: Floats, truth: Floats) -> float:
    """The share of the variance of `truth` [n] that `guess` [n] explains: 1 all, 0 none, below 0 worse than none."""
    variance = float(np.var(truth))
    return 1 - float(np.var(truth - guess)) / variance if variance else 0.0
