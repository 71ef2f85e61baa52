"""How a kernel becomes machine code: numba, and what it keeps on disk."""

from __future__ import annotations

import contextlib
import hashlib
import logging
from collections.abc import Callable
from inspect import isfunction
from pathlib import Path
from typing import Any

import numpy as np
from llvmlite import ir
from llvmlite.binding import get_host_cpu_features, get_host_cpu_name
from numba import njit, types
from numba.core import event
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.registry import cpu_target
from numba.extending import intrinsic, overload, register_jitable

from hearts_env import cards
from hearts_env.fast import jit as kernel
from hearts_env.game import engine, rulebook
from hearts_env.game import random_play as playout

_SOURCES = (
    "cards",
    "game/rules",
    "game/compiled_rules",
    "game/rulebook",
    "game/state",
    "game/engine",
    "game/random_play",
    "game/view",
    "observe/encode",
    "fast/jit",
    "fast/step",
    "fast/rollout",
    "fast/view",
    "fast/encode",
    "fast/worlds",
    "fast/numba_backend",
    "fast/unpacked",
)
"""The modules from which machine code is made."""
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True, "_nrt": False, "no_cfunc_wrapper": True}
"""No counting of references to arrays: with it, every access to one would count for all arrays of its tuple, at twenty
times the cost of the loops.  So kernels make no arrays of their own: they are handed what they need.
"""
_CALLED_OPTIONS = {**_OPTIONS, "no_cpython_wrapper": True}
"""For what kernels call."""
_PART_OPTIONS = {**_CALLED_OPTIONS, "forceinline": True}
"""For what becomes a part of the kernels that call it."""


def compiled(function: Callable[..., Any]) -> Any:
    """The kernel as a function that numba compiles for each kind of call, and keeps on disk for later processes.

    Where numba finds no folder that it may write to (NUMBA_CACHE_DIR names one), every process compiles anew.
    """
    _let_kernels_call(kernel.inner_functions)
    _let_kernels_call(kernel.called_functions, _CALLED_OPTIONS)
    _let_kernels_call_instead(kernel.stand_ins)
    dispatcher = njit(**_OPTIONS)(function)
    with contextlib.suppress(RuntimeError):  # there is no such folder
        dispatcher._cache = _Cache(function)
    _kernels.add(dispatcher)
    return dispatcher


def _let_kernels_call(functions: list[Callable[..., Any]], options: dict[str, Any] = _PART_OPTIONS) -> None:
    """These become a part of the kernels, since passing tuples of arrays costs more than most of them do."""
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


class _Cache(FunctionCache):  # type: ignore[misc]  # numba has no types
    """What numba keeps is thrown away when a source changes: it would watch only the kernel's own file."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        stamp = (self._impl.locator.get_source_stamp(), _source_hash(Path(function.__code__.co_filename).parent))
        self._cache_file = _Index(
            cache_path=self._cache_path, filename_base=self._impl.filename_base, source_stamp=stamp
        )


class _Index(IndexDataCacheFile):  # type: ignore[misc]  # numba has no types
    """The list of what is kept; empty where it tells of classes that only older sources had: numba fails on these."""

    def _load_index(self) -> Any:
        try:
            return super()._load_index()
        except (AttributeError, ImportError):
            return {}


def _source_hash(folder: Path) -> str:
    """Of _SOURCES, and of all modules beside a kernel of another package."""
    here = Path(__file__).parent.parent
    paths = [here / f"{name}.py" for name in _SOURCES]
    if folder.resolve() != here.resolve() / "fast":
        paths += sorted(folder.glob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()


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

_LONG_RULES = (
    rulebook.shooter,
    rulebook.deal_points,
    rulebook.moon_value,
    rulebook.automatic_choice,
    rulebook.lowest,
    rulebook.is_over,
)
"""Seldom called, and as parts of one function these would take many seconds more to compile."""
_RULES = [rule for rule in vars(rulebook).values() if isfunction(rule) and rule.__module__ == rulebook.__name__]
_let_kernels_call([rule for rule in _RULES if rule not in _LONG_RULES])
_let_kernels_call([engine.mix, playout.decision_key, playout.fraction])
_let_kernels_call([*_LONG_RULES], _CALLED_OPTIONS)


def _ones(typing: Any, bits: Any) -> Any:
    return types.int64(types.int64), lambda context, builder, signature, args: builder.ctpop(args[0])


def _zeros_below(typing: Any, bits: Any) -> Any:
    whole = ir.Constant(ir.IntType(1), 0)
    return types.int64(types.int64), lambda context, builder, signature, args: builder.cttz(args[0], whole)


def _zeros_above(typing: Any, bits: Any) -> Any:
    whole = ir.Constant(ir.IntType(1), 0)
    return types.int64(types.int64), lambda context, builder, signature, args: builder.ctlz(args[0], whole)


ones: Callable[[Any], Any] = intrinsic(_ones)
trailing_zeros: Callable[[Any], Any] = intrinsic(_zeros_below)
zeros_above: Callable[[Any], Any] = intrinsic(_zeros_above)

for _function in (kernel.count, cards.count):
    overload(_function, jit_options=_PART_OPTIONS)(lambda cards: lambda cards: ones(cards))
overload(kernel.highest, jit_options=_PART_OPTIONS)(lambda cards: lambda cards: 63 - zeros_above(cards))
overload(kernel.zeros_below, jit_options=_PART_OPTIONS)(lambda cards: lambda cards: trailing_zeros(cards))
overload(kernel.at, jit_options=_PART_OPTIONS)(lambda place: lambda place: np.uint64(place))
overload(kernel.wide, jit_options=_PART_OPTIONS)(lambda number: lambda number: np.int64(number))
for _maker in (kernel.bit, cards.bit):
    overload(_maker, jit_options=_PART_OPTIONS)(lambda card: lambda card: np.int64(1) << np.int64(card))


def _nth(typing: Any, bits: Any, index: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        number = ir.IntType(64)
        kind = ir.FunctionType(number, (number, number))
        deposit = builder.module.declare_intrinsic("llvm.x86.bmi.pdep.64", fnty=kind)
        place = builder.shl(ir.Constant(number, 1), args[1])
        return builder.cttz(builder.call(deposit, (place, args[0])), ir.Constant(ir.IntType(1), 0))

    return types.int64(types.int64, types.int64), build


nth_deposited: Callable[[Any, Any], Any] = intrinsic(_nth)
_SLOW_DEPOSIT = ("znver1", "znver2", "bdver4")
"""Processors that have the instruction, but in microcode: slower than the loop."""


def _deposits() -> bool:
    """Has this processor a fast instruction that spreads bits over the places set in a mask (x86, BMI2)?"""
    return get_host_cpu_features().get("bmi2", False) and get_host_cpu_name() not in _SLOW_DEPOSIT


if _deposits():
    overload(kernel.nth, jit_options=_PART_OPTIONS)(lambda cards, at: lambda cards, at: nth_deposited(cards, at))
else:
    _let_kernels_call([kernel.nth])


def _set_bits(typing: Any, array: Any, place: Any, word: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        # A vector of 64 bits, widened: a handful of instructions wherever the processor has vectors.
        wide = builder.zext(builder.bitcast(args[2], ir.VectorType(ir.IntType(1), 64)), _SIXTY_FOUR_BYTES)
        address = builder.bitcast(builder.gep(data, [args[1]]), _SIXTY_FOUR_BYTES.as_pointer())
        builder.store(wide, address, align=1)
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64), build


_SIXTY_FOUR_BYTES = ir.VectorType(ir.IntType(8), 64)
store_bits: Callable[[Any, Any, Any], Any] = intrinsic(_set_bits)
overload(kernel.set_bits, jit_options=_PART_OPTIONS)(
    lambda array, place, word: lambda array, place, word: store_bits(array, place, word)
)


# -- arguments that stay unpacked --------------------------------------------------------------------------------------


def _put_down(typing: Any, memory: Any, value: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        builder.store(args[1], builder.bitcast(data, args[1].type.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(memory, value), build


def _pick_up(typing: Any, memory: Any, kind: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        pointer = context.get_value_type(signature.return_type).as_pointer()
        return builder.load(builder.bitcast(data, pointer), align=8)

    return kind.instance_type(memory, kind), build


put_down: Callable[[Any, Any], None] = intrinsic(_put_down)
"""In a kernel: leave a value, such as a tuple of arrays, in `memory` as the processor has it."""
pick_up: Callable[[Any, Any], Any] = intrinsic(_pick_up)
"""In a kernel: the value of this numba type that was put down in `memory`."""


def words_of(kind: Any) -> int:
    """How many 64-bit words of memory a value of this numba type takes."""
    context = cpu_target.target_context
    return -(-int(context.get_abi_sizeof(context.get_value_type(kind))) // 8)
