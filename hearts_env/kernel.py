"""How a loop becomes machine code: numba, what it keeps on disk, and card sets as single numbers."""

from __future__ import annotations

import contextlib
import hashlib
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeAlias, TypeVar, cast

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import event
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.extending import intrinsic, overload, register_jitable

from hearts_env import cards, engine, rulebook, tally

P = ParamSpec("P")
R = TypeVar("R")

Number: TypeAlias = Any
"""One number of whatever width, where the rest of the library has an array of them."""
_SOURCES = (
    "cards",
    "lookup",
    "rulebook",
    "tally",
    "state",
    "engine",
    "view",
    "encode",
    "kernel",
    "kernels",
    "kernels_view",
)
"""The modules from which machine code is made."""
_OPTIONS = {"error_model": "numpy", "nogil": True, "_nrt": False}
"""No counting of references to arrays: with it, every access to one would count for all arrays of its tuple, at twenty
times the cost of the loops.  So kernels make no arrays of their own: they are handed what they need.
"""


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile this function at its first call, and keep the machine code on disk for later processes.

    Where numba finds no folder that it may write to (NUMBA_CACHE_DIR names one), every process compiles anew.
    """
    dispatcher = njit(**_OPTIONS)(function)
    with contextlib.suppress(RuntimeError):  # there is no such folder
        dispatcher._cache = _Cache(function)
    _kernels.add(dispatcher)
    return cast(Callable[P, R], dispatcher)


def inner(function: Callable[P, R]) -> Callable[P, R]:
    """Let kernels call this function; it becomes a part of them, since passing tuples of arrays costs more than it."""
    return cast(Callable[P, R], register_jitable(**_OPTIONS, forceinline=True)(function))


class _Cache(FunctionCache):  # type: ignore[misc]  # numba has no types
    """What numba keeps is thrown away when any of _SOURCES changes: it would watch only the kernel's own file."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        stamp = (self._impl.locator.get_source_stamp(), _source_hash())
        self._cache_file = IndexDataCacheFile(
            cache_path=self._cache_path, filename_base=self._impl.filename_base, source_stamp=stamp
        )


def _source_hash() -> str:
    folder = Path(__file__).parent
    return hashlib.sha256(b"".join((folder / f"{name}.py").read_bytes() for name in _SOURCES)).hexdigest()


# -- saying that it takes a while --------------------------------------------------------------------------------------

_kernels: set[Any] = set()
_log = logging.getLogger("hearts_env")


class _Told(event.Listener):  # type: ignore[misc]  # numba has no types
    """Says, once a process, that a kernel is being compiled."""

    told = False

    def on_start(self, event: Any) -> None:
        if not self.told and event.data["dispatcher"] in _kernels:
            self.told = True
            _log.warning("hearts_env: compiling loops, once for this version: a few seconds for each kind of call")

    def on_end(self, event: Any) -> None:
        """Nothing to say."""


event.register("numba:compile", _Told())


# -- the formulas and the set functions, on single numbers -------------------------------------------------------------

for _formula in (
    rulebook.empty,
    rulebook.either,
    rulebook.less,
    rulebook.same,
    rulebook.select,
    rulebook.legal_follow,
    rulebook.legal_lead,
    rulebook.breaks,
    tally.points_in,
    tally.everything,
    tally.side_cards,
    tally.shooter,
    tally.deal_points,
    tally.moon_value,
    tally.automatic_choice,
    tally.reset_exact,
    tally.side_score,
    tally.lowest,
    tally.is_over,
    engine.mix,
):
    inner(_formula)


def _ones(typing: Any, bits: Any) -> Any:
    return types.int64(types.int64), lambda context, builder, signature, args: builder.ctpop(args[0])


def _zeros_below(typing: Any, bits: Any) -> Any:
    whole = ir.Constant(ir.IntType(1), 0)
    return types.int64(types.int64), lambda context, builder, signature, args: builder.cttz(args[0], whole)


ones: Callable[[Number], Number] = intrinsic(_ones)
"""How many bits are set."""
zeros_below: Callable[[Number], Number] = intrinsic(_zeros_below)
"""How many bits lie below the lowest that is set."""

overload(cards.count, jit_options=_OPTIONS)(lambda sets: lambda sets: ones(sets))
overload(cards.bit, jit_options=_OPTIONS)(lambda cards: lambda cards: np.int64(1) << np.int64(cards))
