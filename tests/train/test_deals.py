"""The deals of a training run: each new, and none that evaluations play."""

import numpy as np

from hearts_arena.duplicate_evaluation import TRAINING_IDS
from hearts_train.learn.deals import drawn_ids


def test_no_deal_is_played_twice_in_a_run_nor_is_one_that_evaluations_play() -> None:
    seen = [drawn_ids(seed, played, 40) for seed in (0, 1) for played in (0, 40, 80)]
    assert len(np.unique(np.concatenate(seen))) == 6 * 40
    assert min(ids.min() for ids in seen) >= TRAINING_IDS
