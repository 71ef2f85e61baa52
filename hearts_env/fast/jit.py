"""Marks on the functions that machine code can be made from, and card sets as single numbers.

As they stand they are Python, and run as such on the plain numbers of one table; see `one_table`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeAlias, TypeVar

import numpy as np

from hearts_env.cards import Bytes

P = ParamSpec("P")
R = TypeVar("R")

Number: TypeAlias = Any
"""One number of whatever width, where the rest of the library has an array of them."""
inner_functions: list[Callable[..., Any]] = []
"""What becomes a part of the kernels that call it."""
called_functions: list[Callable[..., Any]] = []
"""What kernels call and what stays a function of its own."""
stand_ins: list[tuple[Callable[..., Any], Callable[..., Any]]] = []
"""Functions over arrays, and those that kernels call in their place."""


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile this function at its first call; as it was, it is its `__wrapped__`."""
    compiled: Callable[P, R] | None = None

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        nonlocal compiled
        if compiled is None:
            # By name, since numba may not be there, and stands to the right of the functions that it compiles.
            compiled = importlib.import_module("hearts_env.fast.numba_backend").compiled(function)
        return compiled(*args, **kwargs)

    return run


def inner(function: Callable[P, R]) -> Callable[P, R]:
    """Let kernels call this function."""
    inner_functions.append(function)
    return function


def called(function: Callable[P, R]) -> Callable[P, R]:
    """Let kernels call this function, which is large and takes no tuples of arrays: it stays one function for all."""
    called_functions.append(function)
    return function


def stands_for(function: Callable[..., Any]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let kernels call the function so marked, which takes single numbers, wherever `function` stands."""

    def mark(scalar: Callable[P, R]) -> Callable[P, R]:
        stand_ins.append((function, scalar))
        return scalar

    return mark


def bit(card: Number) -> Number:
    """The set that holds just this card."""
    return 1 << card


def count(cards: Number) -> Number:
    """How many members the set has."""
    return cards.bit_count()


def zeros_below(cards: Number) -> Number:
    """The lowest member of the set."""
    return (cards & -cards).bit_length() - 1


def nth(cards: Number, at: Number) -> Number:
    """The member of the set that has so many below it; see `cards.nth`."""
    for _ in range(at):
        cards &= cards - 1
    return zeros_below(cards)


def at(place: Number) -> Number:
    """The number as a place in an array that is not counted from its end: kernels need not ask whether it is."""
    return place


def wide(number: Number) -> Number:
    """The number in 64 bits, where it has fewer."""
    return number


def highest(cards: Number) -> Number:
    """The highest member of the set."""
    return cards.bit_length() - 1


def set_bits(array: Bytes, place: Number, word: Number) -> None:
    """Put the 64 bits of a number as bytes of 0 and 1 at this place and the next 63, all within the array."""
    as_bytes = np.array([word & _WORD], "<u8").view(np.uint8)
    array[place : place + 64] = np.unpackbits(as_bytes, bitorder="little")


_WORD = 2**64 - 1
