"""The gymnasium spaces of encodings, masks and actions."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from hearts_env.cards import NUM_ACTIONS, NUM_CARDS, Ints, choose
from hearts_env.observe.encode import Layout

_WORD = 8
"""Bytes of a set."""


def encoding_space(layout: Layout) -> spaces.Box:
    """uint8 [F]: 0 or 1 everywhere but in the `order` block, which holds numbers up to 52."""
    high = np.ones(layout.size, np.uint8)
    for block in layout:
        if block.name == "order":
            high[block.offset : block.offset + block.size] = NUM_CARDS
    return spaces.Box(np.zeros(layout.size, np.uint8), high, dtype=np.uint8)


def whole_space(layout: Layout) -> spaces.Box:
    """The space of `global_state.whole_state`."""
    own = encoding_space(layout)
    high = np.concatenate([own.high, np.ones(layout.seats * (2 * NUM_CARDS + 1), np.uint8)])
    return spaces.Box(np.zeros_like(high), high, dtype=np.uint8)


def mask_space(size: int = NUM_ACTIONS) -> spaces.Box:
    """int8 [A] of 0 and 1."""
    return spaces.Box(0, 1, (size,), np.int8)


def masked_space(layout: Layout, size: int = NUM_ACTIONS) -> spaces.Dict:
    """An encoding and the mask that goes with it: keys `observation` and `action_mask`."""
    return spaces.Dict({"observation": encoding_space(layout), "action_mask": mask_space(size)})


def action_space(size: int = NUM_ACTIONS) -> spaces.Discrete[Any]:
    """The actions: cards 0 to 51, moon: add 52, moon: subtract 53 (and NOOP 54 where `size` has room for it)."""
    return spaces.Discrete(size)


def sample_masked(masks: NDArray[np.int8], random: np.random.Generator) -> Ints:
    """A random legal action for each mask, all equally likely: int8 [N, A] to int64 [N]; NO_CARD where a mask is empty.

    The whole batch at once, where `space.sample(mask=...)` goes through the tables one by one.
    """
    sets = np.zeros((len(masks), _WORD), np.uint8)
    packed = np.packbits(masks.view(np.uint8), axis=1, bitorder="little")
    sets[:, : packed.shape[1]] = packed
    return choose(sets.view("<i8")[:, 0], random.random(len(masks)))
