"""The deals of a worker's iteration: which they are, and at what scores of a game they are played."""

from __future__ import annotations

import numpy as np

from hearts_arena.duplicate_evaluation import TRAINING_IDS
from hearts_env.cards import Ints
from hearts_env.game.compiled_rules import CompiledRules
from hearts_env.game.scoring import is_over

_IDS_PER_SEED = 1 << 40


def drawn_ids(seed: int, played: int, tables: int) -> Ints:
    """Return deal ids that no other call has for this seed and other `played`, int64 [tables].

    played: deals of the run before these.
    """
    ids: Ints = TRAINING_IDS + seed * _IDS_PER_SEED + played + np.arange(tables)
    return ids


def drawn_scores(rules: CompiledRules, tables: int, share: float, rng: np.random.Generator) -> Ints:
    """Return scores of games that are not over, at about that share of the tables: int64 [tables, P], else 0.

    Each seat's is uniform below a limit, itself below the target and the likelier the larger: leads and distances of
    all sizes, and many late in a game, where they count most.
    """
    limits = rules.rules.target * np.sqrt(rng.random((tables, 1))) * (rng.random((tables, 1)) < share)
    scores: Ints = (rng.random((tables, rules.num_players)) * limits).astype(np.int64)
    scores[is_over(rules, scores)] = 0
    return scores
