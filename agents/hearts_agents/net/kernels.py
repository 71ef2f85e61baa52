"""The loops of a network's forward pass: what is done to its numbers between the matrix products.

An encoding is packed (`hearts_env.observe.encode.encode_packed`), eight bytes to one, and only a tenth of its bits are
set: the first layer adds up the weights of these, instead of multiplying by all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hearts_agents.net.weights import Floats
from hearts_env.cards import Sets
from hearts_env.fast.jit import Number, inner, kernel, zeros_below
from hearts_env.observe.encode import WORD_BITS

Places = NDArray[np.uint64]
"""Numbers of input bits; unsigned, so that no loop has to look for negative indices."""
_ONE, _TWO, _THREE, _FOUR = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
ZERO = np.float32(0)


@kernel
def stem(packed: Sets, weights: Floats, bias: Floats, places: Places, out: Floats) -> None:
    """The first layer: fill `out`, float32 [n, C].

    packed: int64 [n, words].  weights: float32 [F, C].  places: [F] to work in.
    """
    units = weights.shape[1]
    for n in range(len(packed)):
        found = members_of(packed[n], places)
        row = out[n]
        for c in range(units):
            row[c] = bias[c]
        j = np.uint64(0)
        while j + _FOUR <= found:
            one, two = weights[places[j]], weights[places[j + _ONE]]
            three, four = weights[places[j + _TWO]], weights[places[j + _THREE]]
            for c in range(units):
                row[c] += (one[c] + two[c]) + (three[c] + four[c])
            j += _FOUR
        while j < found:
            one = weights[places[j]]
            for c in range(units):
                row[c] += one[c]
            j += _ONE
        for c in range(units):
            row[c] = max(row[c], ZERO)


@inner
def members_of(words: Sets, places: Places) -> Number:
    """Write the numbers of the bits that are set; how many."""
    found = np.uint64(0)
    for word in range(len(words)):
        rest = words[word]
        while rest != 0:
            places[found] = np.uint64(word * WORD_BITS + zeros_below(rest))
            found += _ONE
            rest &= rest - 1
    return found


@kernel
def residual(product: Floats, bias: Floats, hidden: Floats, out: Floats) -> None:
    """Add the bias to `product`, and fill `out` with hidden + relu(product).  All float32 [n, C] but the bias [C]."""
    for n in range(len(product)):
        for c in range(len(bias)):
            product[n, c] += bias[c]
            out[n, c] = hidden[n, c] + max(product[n, c], ZERO)


@kernel
def add_bias(product: Floats, bias: Floats) -> None:
    """Add the bias [C] to `product`, float32 [n, C]."""
    for n in range(len(product)):
        for c in range(len(bias)):
            product[n, c] += bias[c]
