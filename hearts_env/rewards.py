"""Rewards from points and scores: what the environments pay out."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hearts_env.lookup import Lookup
from hearts_env.scoring import side_scores

Reward = Literal["points", "tricks", "zero_sum", "rank"]
REWARDS: tuple[Reward, ...] = ("points", "tricks", "zero_sum", "rank")


def payoff(lookup: Lookup, points: NDArray[np.integer]) -> NDArray[np.float64]:
    """Zero-sum payoff: the mean of the opponents' points minus one's own; with teams, of the sides' sums.

    points: integers [..., P]; float64 [..., P].
    """
    if lookup.teams:
        side = side_scores(lookup, points.astype(np.int64))
        result: NDArray[np.float64] = side.sum(axis=-1, keepdims=True) / 2 - 2 * side
    else:
        total = points.sum(axis=-1, keepdims=True)
        result = (total - points) / (lookup.num_players - 1) - points
    return result
