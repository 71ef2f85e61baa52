"""The deals of a worker's iteration: which, how many of them for a moon, and within which games."""

from __future__ import annotations

import numpy as np

from hearts_agents.rule.moon import heart_losses, other_losses
from hearts_agents.rule.tables import rule_tables
from hearts_agents.rule.weights import Weights
from hearts_arena.duplicate import TRAINING_IDS
from hearts_env.cards import Ints, Sets
from hearts_env.game.compiled_rules import Lookup
from hearts_env.game.engine import shuffle
from hearts_env.game.scoring import is_over

_IDS_PER_SEED = 1 << 40
_MOON_IDS = 1 << 39
"""Where the ids begin, within those of a seed, among which hands for a moon are looked for."""
MOON_CHOICE = 8
"""Deals that are looked through for each one with a hand for a moon."""


def drawn_ids(lookup: Lookup, seed: int, played: int, tables: int, same_deal: int = 1, moon_share: float = 0) -> Ints:
    """Deal ids for so many tables that no other call has for this seed and other `played`, int64 [tables].

    played: deals of the run before these.  same_deal: tables in a row that get the same.  moon_share: of the deals,
    which are the best for a moon of MOON_CHOICE times as many (see `moon_losses`).
    """
    base, size = TRAINING_IDS + seed * _IDS_PER_SEED, -(-tables // same_deal)
    ids: Ints = base + played + np.arange(size)
    moons = round(moon_share * size)
    if moons:
        candidates = base + _MOON_IDS + MOON_CHOICE * played + np.arange(MOON_CHOICE * moons)
        losses = moon_losses(lookup, shuffle(lookup, candidates)).min(axis=1)
        # Anywhere among the others, since the first tables may be those with an opponent.
        places = np.arange(moons) * size // moons
        ids[places] = candidates[np.argsort(losses, kind="stable")[:moons]]
    return np.repeat(ids, same_deal)[:tables]


def moon_losses(lookup: Lookup, hands: Sets) -> Ints:
    """The tricks that hands int64 [N, P] as they are dealt expect to lose on the way to a moon, as `rule` counts them.

    [N, P], in its unit.
    """
    lut = rule_tables(lookup, Weights())
    out = lookup.deck & ~hands
    losses: Ints = heart_losses(lut, hands, out) + other_losses(lut, hands, out)
    return losses


def drawn_scores(lookup: Lookup, tables: int, share: float, rng: np.random.Generator) -> Ints:
    """Scores of games that are not over, at about so large a share of the tables; int64 [tables, P], 0 at the others.

    Each seat's is uniform below a limit, itself below the target and the likelier the larger: leads and distances of
    all sizes, and many late in a game, where they count most.
    """
    limits = lookup.rules.target * np.sqrt(rng.random((tables, 1))) * (rng.random((tables, 1)) < share)
    scores: Ints = (rng.random((tables, lookup.num_players)) * limits).astype(np.int64)
    scores[is_over(lookup, scores)] = 0
    return scores
