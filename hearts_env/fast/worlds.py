"""The loop of the compiled executor that deals the hidden cards of worlds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hearts_env.cards import NUM_CARDS, Bools, Ints, Sets, bit
from hearts_env.fast.jit import Number, inner, kernel
from hearts_env.game.engine import mix

_FRACTION_SHIFT = np.uint64(11)


@kernel
def spread(
    allowed: Sets, room: Ints, seed: NDArray[np.uint64], hands: Sets, fits: Bools, left: Ints, order: Ints
) -> None:
    """Fill `hands` (zeros) and `fits` as `worlds.spread` returns them.

    left: int64 [places] and order: int64 [52], to work in.
    """
    places, cards = room.shape[1], 0
    for n in range(len(room)):
        if n == 0 or not _same(allowed, n):
            cards = _ordered(allowed[n], order)
        fits[n] = True
        for place in range(places):
            left[place] = room[n, place]
        for turn in range(cards):
            card = order[turn]
            total = np.int64(0)
            for place in range(places):
                total += left[place] * (allowed[n, place] >> card & 1)
            if total <= 0:
                fits[n] = False
                continue
            number: Number = np.uint64(turn)
            chance = np.float64(mix(seed[n] + number) >> _FRACTION_SHIFT) * 2.0**-53
            mark, place, weight = chance * total, 0, left[0] * (allowed[n, 0] >> card & 1)
            while weight <= mark and place < places - 1:
                place += 1
                weight += left[place] * (allowed[n, place] >> card & 1)
            hands[n, place] |= bit(card)
            left[place] -= 1
        for place in range(places):
            fits[n] &= left[place] == 0


@inner
def _same(allowed: Sets, n: Number) -> bool:
    """Is row n as the row before it?"""
    differ: Number = np.int64(0)
    for place in range(allowed.shape[1]):
        differ |= allowed[n, place] ^ allowed[n - 1, place]
    return bool(differ == 0)


@inner
def _ordered(allowed: Sets, order: Ints) -> int:
    """Fill `order` with the cards that have a place, those with the fewest first; how many there are."""
    cards = 0
    for wanted in range(1, len(allowed) + 1):
        for card in range(NUM_CARDS):
            spots = 0
            for place in range(len(allowed)):
                spots += allowed[place] >> card & 1
            if spots == wanted:
                order[cards] = card
                cards += 1
    return cards
