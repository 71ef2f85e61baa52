"""What holds for every batched adapter: the game of the vector environment, and nothing lost in a copy."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from faces import FACES, TABLES, Bare, Face
from hearts_env.envs.options import EnvError
from hearts_env.game.rules import Rules

every_face = pytest.mark.parametrize("face", FACES)
every_size = pytest.mark.parametrize("players", [2, 3, 4, 5, 6, 7])
MANY = 100


@every_face
@every_size
def test_the_same_seed_is_the_same_game_in_every_library(face: type[Face], players: int) -> None:
    traces = []
    for kind, seed in ((Bare, 7), (face, 7), (face, 7), (face, 8)):
        one = kind(rules=Rules(num_players=players), reward="tricks", seat="rotating")
        one.begin(seed)
        traces.append(one.trace(np.random.default_rng(0), 40))
    assert traces[0] == traces[1] == traces[2] != traces[3]


@every_face
@every_size
def test_ten_thousand_random_decisions_by_the_mask_are_legal_and_sum_to_zero(face: type[Face], players: int) -> None:
    one, random = face(MANY, rules=Rules(num_players=players), reward="zero_sum"), np.random.default_rng(1)
    one.begin(1)
    legal_block, episodes, paid = one.envs.layout["legal"], 0, 0.0
    for _ in range(10_000 // MANY):  # an illegal action raises
        masks = one.masks()
        assert (np.array(one.seen)[:, legal_block] == masks).all()
        rewards, done = one.send(np.argmax(random.random(masks.shape) * masks, axis=1))
        paid += float(np.abs(np.asarray(rewards)).sum())
        assert np.abs(one.envs.tables.paid.sum(axis=1)).max() < 1e-9
        episodes += int(np.asarray(done).sum())
    assert episodes > 300
    assert paid > episodes


@every_face
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda face: pickle.loads(pickle.dumps(face))])
def test_a_copy_goes_on_as_the_original_does(face: type[Face], copied: Any) -> None:
    one = face(rules="target=26", episode="game")
    one.begin(3)
    one.trace(np.random.default_rng(1), 17)
    other = copied(one)
    trace = other.trace(np.random.default_rng(2), 40)
    assert one.trace(np.random.default_rng(2), 40) == trace


@every_face
def test_an_illegal_action_ends_the_episode_at_the_offender_s_cost(face: type[Face]) -> None:
    one = face(on_illegal="terminate")
    one.begin(5)
    legal = np.argmax(one.masks(), axis=1)
    illegal = np.argmin(one.masks(), axis=1)
    rewards, done = one.send(np.where(np.arange(TABLES) == 2, illegal, legal))
    assert np.asarray(rewards).tolist() == [0, 0, -26, 0, 0]
    assert np.asarray(done).tolist() == [False, False, True, False, False]


@every_face
def test_an_unknown_option_is_named_with_those_there_are(face: type[Face]) -> None:
    with pytest.raises((EnvError, TypeError), match=r"'no_such_option'") as error:
        face(no_such_option=1)
    assert face is Bare or "options are rules, episode, reward" in str(error.value)


@pytest.mark.parametrize("face", [face for face in FACES if face.__name__ not in ("Bare", "TorchRL")])
def test_a_library_that_knows_one_learner_refuses_every_seat(face: type[Face]) -> None:
    with pytest.raises(EnvError, match="seat='all'"):
        face(seat="all")
