"""A whole table as bytes, hidden cards too, for a central critic."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from hearts_env.cards import NUM_CARDS, Bytes, members
from hearts_env.encode import Layout, encode
from hearts_env.lookup import Lookup
from hearts_env.spaces import encoding_space
from hearts_env.state import State
from hearts_env.view import view


def whole_state(layout: Layout, lookup: Lookup, state: State) -> Bytes:
    """Everything at the first table of `state`: uint8 [S].

    Seat 0's encoding; then, with P seats as in the encoding, P*52 bytes of hands, P*52 bytes of picks, and P bytes of
    which one is set for the seat to act.
    """
    hidden = np.zeros((2, layout.seats), np.int64)
    hidden[0, : lookup.num_players] = state.hands[0]
    hidden[1, : lookup.num_players] = state.picks[0]
    own = encode(layout, view(lookup, state, [0]))[0]
    turn = (np.arange(layout.seats) == state.turn[0]).astype(np.uint8)
    return np.concatenate([own, members(hidden).ravel(), turn])


def whole_space(layout: Layout) -> spaces.Box:
    """The space of `whole_state`."""
    own = encoding_space(layout)
    high = np.concatenate([own.high, np.ones(layout.seats * (2 * NUM_CARDS + 1), np.uint8)])
    return spaces.Box(np.zeros_like(high), high, dtype=np.uint8)
