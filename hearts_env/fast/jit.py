"""Marks on the functions that machine code can be made from, and what these call in place of numpy's functions.

As they stand they are Python, and run as such on the plain numbers of one table: see `single.OneTable`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, Protocol, TypeVar

import numpy as np

from hearts_env.cards import Bytes, card_bit, card_count, highest_card, lowest_card, nth_card
from hearts_env.cards import Number as Number

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

inner_functions: list[Callable[..., Any]] = []
"""Functions that become a part of the kernels that call them."""
called_functions: list[Callable[..., Any]] = []
"""Functions that kernels call and that stay functions of their own."""
stand_ins: list[tuple[Callable[..., Any], Callable[..., Any]]] = []
"""Functions over arrays, and those that kernels call in their place."""


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile this function at its first call; as it was, it is its `__wrapped__`."""
    compiled: Callable[P, R] | None = None

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        nonlocal compiled
        if compiled is None:
            compiled = backend().compiled(function)
        return compiled(*args, **kwargs)

    return run


class Backend(Protocol):
    """A compiler of kernels, or a module that runs them as Python."""

    def compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A kernel as it is to be called."""

    def unpacked(self, arguments: Any) -> Any:
        """The arguments in the form in which a kernel is handed them, see `jit.unpacked`."""


def compile_by(load: Callable[[], Backend]) -> None:
    """Name what loads the backend when a kernel is first called.  It raises ImportError where there is none."""
    _loaders[:] = [load]


def backend() -> Backend:
    """The backend that makes kernels run, loaded at the first call.  Raises ImportError where there is none."""
    if not _backends:
        _backends.append(_loaders[0]())
    return _backends[0]


_loaders: list[Callable[[], Backend]] = []
_backends: list[Backend] = []


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


# -- what kernels call: numba's backend has instructions of the processor for these ------------------------------------

bit, count, zeros_below, highest, nth = card_bit, card_count, lowest_card, highest_card, nth_card


def at(place: Number) -> Number:
    """The number as a place in an array that is not counted from its end: kernels need not ask whether it is."""
    return place


def wide(number: Number) -> Number:
    """The number in 64 bits, where it has fewer."""
    return number


def set_bits(array: Bytes, place: Number, word: Number) -> None:
    """Put the 64 bits of a number as bytes of 0 and 1 at this place and the next 63, all within the array."""
    # A word may have run over: only its lowest 64 bits count.
    as_bytes = np.array([int(word) & _WORD], "<u8").view(np.uint8)
    array[place : place + 64] = np.unpackbits(as_bytes, bitorder="little")


_WORD = 2**64 - 1


# -- arguments that stay unpacked --------------------------------------------------------------------------------------


def unpacked(arguments: T) -> Any:
    """The memory that a kernel is handed in place of `arguments`, a NamedTuple, and passes to `pick_up`.

    To hand over tens of arrays takes longer than the work of a turn, so they are left in memory as the processor has
    them.  It holds addresses of arrays: keep `arguments` as long as it.
    """
    return backend().unpacked(arguments)


def pick_up(memory: Any, kind: type[T]) -> T:
    """In a kernel: the arguments of this class that `unpacked` left in `memory`."""
    return memory  # type: ignore[no-any-return]  # as Python runs it, they are handed over as they are
