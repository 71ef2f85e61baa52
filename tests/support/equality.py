"""Assertions that arrays, states and views are the same: values, shapes and dtypes."""

from __future__ import annotations

import dataclasses

import numpy as np

from hearts_env.game.state import State
from hearts_env.game.view import View


def assert_equal(mine: np.ndarray, theirs: np.ndarray, what: str = "") -> None:
    assert mine.dtype == theirs.dtype, what
    np.testing.assert_array_equal(mine, theirs, what)


def assert_same_states(mine: State, theirs: State, what: object) -> None:
    for field in dataclasses.fields(State):
        assert_equal(getattr(mine, field.name), getattr(theirs, field.name), f"{field.name}: {what}")


def assert_same_views(mine: View, theirs: View) -> None:
    """The rules aside, which both share where the rules are equal."""
    for field in dataclasses.fields(View):
        if field.name != "rules":
            assert_equal(getattr(mine, field.name), getattr(theirs, field.name), field.name)
