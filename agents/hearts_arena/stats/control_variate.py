"""A control variate: how a fixed agent fared on the same deals, less what it would on any other deals.

Rotation already cancels the luck of a seat, and with it everything linear in what a baseline scores in that seat.
What is left is whether a deal is of the kind that favours one agent over another, so the features describe the deal:
was it one for a moon, how unevenly did the points fall, how many seats escaped.
"""

from __future__ import annotations

import numpy as np

from hearts_env.cards import Ints
from hearts_env.game.engine import mix
from hearts_env.game.rules import Rules
from hearts_env.match.agent import Agent
from hearts_env.match.play_match import play

POOL = 4
"""Other deal ids that are played for each one, to know the features' mean."""
FEATURES = ("moons", "squared points", "seats without points")


def features(rules: Rules, baseline: Agent, ids: Ints, seed: int) -> Ints:
    """Features of each deal as the baseline in all seats plays it, less their mean over POOL other deals, times POOL.

    ids: int64 [K]; int64 [K, F].  The other ids are hashed from these, so that each row has an expectation of exactly
    zero and does not depend on other rows: with any coefficients it can be subtracted from any estimate.
    """
    steps = np.tile(np.arange(1, POOL + 1).astype(np.uint64), len(ids))
    others = mix(np.repeat(ids.astype(np.uint64), POOL) + steps) >> np.uint64(1)
    every = np.concatenate([ids, others.astype(np.int64)])
    result = play(rules, [baseline], np.zeros(rules.num_players, np.int16), every, seed=seed)
    points = result.points.astype(np.int64)
    described = np.stack([result.moons.sum(axis=1), (points**2).sum(axis=1), (points == 0).sum(axis=1)], axis=1)
    mine, pool = described[: len(ids)].astype(np.int64), described[len(ids) :].astype(np.int64)
    centred: Ints = POOL * mine - pool.reshape(len(ids), POOL, -1).sum(axis=1)
    return centred
