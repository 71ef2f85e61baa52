"""A whole table as bytes, hidden cards too, for a central critic."""

from __future__ import annotations

import numpy as np

from hearts_env.cards import Bytes, members
from hearts_env.game.state import State
from hearts_env.observe.encode import Layout


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
