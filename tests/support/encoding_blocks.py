"""Encodings read back: the blocks of a row, and the sets of cards in a block of bits."""

from __future__ import annotations

import numpy as np

from hearts_env.cards import Sets
from hearts_env.observe.encode import Layout


def as_sets(block: np.ndarray) -> Sets:
    """The sets of cards in the last axis of 0s and 1s, card by card."""
    return (block.astype(np.int64) << np.arange(block.shape[-1])).sum(axis=-1)


def decoded(shape: Layout, row: np.ndarray, name: str) -> np.ndarray:
    """A block of one encoding, [size], or [seats, size] for a block about seats."""
    block = next(block for block in shape if block.name == name)
    values = row[shape[name]]
    return values.reshape(shape.seats, block.per_seat) if block.per_seat else values
