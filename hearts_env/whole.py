"""A whole table as bytes, hidden cards too, for a central critic."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from hearts_env.cards import NUM_CARDS, Bytes, members
from hearts_env.encode import Layout
from hearts_env.spaces import encoding_space
from hearts_env.state import State


def whole_state(layout: Layout, state: State, own: Bytes) -> Bytes:
    """Everything at the one table of `state`: uint8 [S].

    own: uint8 [F], seat 0's encoding, with which it begins; then, with P seats as in the encoding, P*52 bytes of hands,
    P*52 bytes of picks, and P bytes of which one is set for the seat to act.
    """
    hidden = np.zeros((2, layout.seats), np.int64)
    hidden[0, : state.hands.shape[1]] = state.hands[0]
    hidden[1, : state.picks.shape[1]] = state.picks[0]
    turn = (np.arange(layout.seats) == state.turn[0]).astype(np.uint8)
    return np.concatenate([own, members(hidden).ravel(), turn])


def whole_space(layout: Layout) -> spaces.Box:
    """The space of `whole_state`."""
    own = encoding_space(layout)
    high = np.concatenate([own.high, np.ones(layout.seats * (2 * NUM_CARDS + 1), np.uint8)])
    return spaces.Box(np.zeros_like(high), high, dtype=np.uint8)
