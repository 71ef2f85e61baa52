"""How kernels become machine code: by what numba documents, and faster by its inner parts where these are known.

Importing this module raises some exception where numba can do neither.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numba
import numpy as np
from numba import njit
from numba.core import event
from numba.extending import overload, register_jitable

from hearts_env import cards
from hearts_env.fast import formulas as formulas
from hearts_env.fast import jit

_log = logging.getLogger("hearts_env")


def _inner_parts() -> ModuleType | None:
    """The module that knows numba's inner parts, or None and a warning where this version has others."""
    try:
        from hearts_env.fast import numba_backend
    except Exception as error:  # whatever an unknown numba does with names that are its own affair
        _log.warning(
            "hearts_env: compiled loops are slower, since numba %s is not one that they were made for (%s)",
            numba.__version__,
            error,
        )
        return None
    return numba_backend


_inside = _inner_parts()
_OPTIONS: dict[str, Any] = _inside.OPTIONS if _inside else {"error_model": "numpy", "nogil": True}
_CALLED_OPTIONS: dict[str, Any] = _inside.CALLED_OPTIONS if _inside else _OPTIONS
"""For what kernels call."""
_PART_OPTIONS: dict[str, Any] = _inside.PART_OPTIONS if _inside else _OPTIONS
"""For what becomes a part of the kernels that call it: to pass tuples of arrays costs more than most of these do."""


def compiled(function: Callable[..., Any]) -> Any:
    """The kernel as a function that numba compiles for each kind of call, and keeps on disk for later processes.

    Where numba finds no folder that it may write to (NUMBA_CACHE_DIR names one), every process compiles anew.
    """
    _let_kernels_call(jit.inner_functions, _PART_OPTIONS)
    _let_kernels_call(jit.called_functions, _CALLED_OPTIONS)
    _let_kernels_call_instead(jit.stand_ins)
    dispatcher = njit(**_OPTIONS)(function)
    if _inside:
        _inside.keep(dispatcher, function)
    else:
        _keep(dispatcher)
    _kernels.add(dispatcher)
    return dispatcher


def unpacked(arguments: Any) -> Any:
    """The arguments in the form in which a kernel is handed them; numba's form of `jit.unpacked`."""
    return _inside.unpacked(arguments) if _inside else arguments


def _keep(dispatcher: Any) -> None:
    """Let numba keep machine code in its own way, which watches only the source file of the kernel itself."""
    try:
        dispatcher.enable_caching()
    except RuntimeError as error:  # there is no folder
        _log.warning("hearts_env: every process compiles its loops anew: %s", error)


def _let_kernels_call(functions: list[Callable[..., Any]], options: dict[str, Any]) -> None:
    for function in functions:
        if function not in _callable:
            _callable.add(function)
            register_jitable(**options)(function)


def _let_kernels_call_instead(pairs: list[tuple[Callable[..., Any], Callable[..., Any]]]) -> None:
    for function, scalar in pairs:
        if function not in _callable:
            _callable.add(function)
            overload(function, jit_options=_PART_OPTIONS, strict=False)(lambda *_, scalar=scalar: scalar)


_callable: set[Callable[..., Any]] = set()


# -- saying that it takes a while --------------------------------------------------------------------------------------

_kernels: set[Any] = set()


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


# -- the set functions, on single numbers ------------------------------------------------------------------------------


def _count(cards: Any) -> Any:
    """How many bits are 1."""
    result = np.int64(0)
    rest = np.uint64(cards)
    while rest != 0:
        # To take 1 away turns the lowest 1 into 0, and what is below it into 1.
        rest &= rest - np.uint64(1)
        result += 1
    return result


def _zeros_below(cards: Any) -> Any:
    """The place of the lowest 1."""
    result = np.int64(0)
    while cards >> result & 1 == 0:
        result += 1
    return result


def _highest(cards: Any) -> Any:
    """The place of the highest 1, or -1."""
    result = np.int64(-1)
    rest = np.uint64(cards)
    while rest != 0:
        rest >>= np.uint64(1)
        result += 1
    return result


def _set_bits(array: Any, place: Any, word: Any) -> None:
    """Put the 64 bits of a number as bytes of 0 and 1 at this place and the next 63; numba's form of `jit.set_bits`."""
    for bit in range(64):
        array[place + bit] = np.int64(word) >> bit & 1


if _inside:
    _inside.use_instructions(_PART_OPTIONS)
else:
    for _function, _scalar in (
        (jit.count, _count),
        (cards.count, _count),
        (jit.zeros_below, _zeros_below),
        (jit.highest, _highest),
        (jit.set_bits, _set_bits),
    ):
        overload(_function, jit_options=_PART_OPTIONS, strict=False)(lambda *_, scalar=_scalar: scalar)
if not (_inside and _inside.NTH_IS_AN_INSTRUCTION):
    _let_kernels_call([jit.nth], _PART_OPTIONS)
if not _inside:
    _let_kernels_call([jit.pick_up], _PART_OPTIONS)
overload(jit.at, jit_options=_PART_OPTIONS)(lambda place: lambda place: np.uint64(place))
overload(jit.wide, jit_options=_PART_OPTIONS)(lambda number: lambda number: np.int64(number))
for _maker in (jit.bit, cards.bit):
    overload(_maker, jit_options=_PART_OPTIONS)(lambda card: lambda card: np.int64(1) << np.int64(card))


@njit(**_OPTIONS)  # type: ignore[untyped-decorator]
def _tried_out(cards: Any, array: Any) -> Any:
    jit.set_bits(array, jit.at(jit.wide(0)), jit.bit(3))
    return jit.count(cards) + jit.zeros_below(cards) + jit.highest(cards) + jit.nth(cards, 1)


if not _inside and _tried_out(0b1010, np.zeros(64, np.uint8)) != 2 + 1 + 3 + 3:
    raise ImportError("it counts wrongly")
