"""One table played on its own does what it does as a batch of one, and is encoded to the same bytes."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from hearts_env.executor import using
from hearts_env.fast.single import OneTable
from hearts_env.game.compiled_rules import CompiledRules
from hearts_env.game.engine import legal, step
from hearts_env.game.rewards import points_so_far
from hearts_env.game.state import PASS, PLAY, State
from hearts_env.game.view import view
from hearts_env.observe.encode import Layout, encode, layout
from tables import random_actions, random_pair

pytestmark = pytest.mark.both_executors


def check(one: OneTable, batch: State, shape: Layout) -> None:
    """Compare everything that can be asked of a table with what the numpy executor says of a batch of one."""
    rules: CompiledRules = one.rules
    with using("numpy"):
        assert one.legal() == legal(rules, batch)[0]
        assert one.points() == points_so_far(rules, batch)[0].tolist()
        expected = [encode(shape, view(rules, batch, [seat]))[0] for seat in range(rules.num_players)]
    for seat, row in enumerate(expected):
        np.testing.assert_array_equal(one.encode(shape, seat), row)
    for mine, theirs in zip(one.state, batch, strict=True):
        assert mine.dtype == theirs.dtype
        np.testing.assert_array_equal(mine, theirs)


def test_every_turn_is_that_of_a_batch_of_one_under_random_rules() -> None:
    chance, phases = random.Random(11), set()
    for deal in range(40):
        pair = random_pair(chance, 1)
        batch, one = pair.state, OneTable(pair.compiled, pair.state.copy())
        # In some deals nothing is encoded before the end, and a table stays with Python.
        shown = layout(pair.compiled, pad=chance.random() < 0.5, order=chance.random() < 0.5)
        often = 0.0 if deal % 4 == 0 else 0.1
        while not batch.over[0]:
            phases.add(int(batch.phase[0]))
            if chance.random() < often:
                check(one, batch, shown)
            action = random_actions(chance, pair.compiled, batch)
            with using("numpy"):
                step(pair.compiled, batch, action)
            one.step(int(action[0]))
        check(one, batch, shown)
    assert phases >= {PASS, PLAY}


def moved(one: OneTable) -> int:
    """The lowest legal action, carried out."""
    action = (one.legal() & -one.legal()).bit_length() - 1
    one.step(action)
    return action


def test_a_copy_goes_on_alone_and_changes_made_to_the_state_count() -> None:
    pair = random_pair(random.Random(3), 1)
    shape, one = layout(pair.compiled), OneTable(pair.compiled, pair.state)
    one.encode(shape, 0)
    other = one.copy()
    before = other.state.copy()
    moved(one)
    check(other, before, shape)
    one.state.put(slice(None), before)
    check(one, before, shape)


def test_an_action_of_no_phase_is_an_index_error() -> None:
    pair = random_pair(random.Random(3), 1)
    one: Any = OneTable(pair.compiled, pair.state)
    for encoded in (False, True):
        if encoded:
            one.encode(layout(pair.compiled), 0)
        with pytest.raises(IndexError, match="action 99 is out of range"):
            one.step(99)
