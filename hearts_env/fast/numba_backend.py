"""All that is known here of numba's inner parts: instructions of the processor, arguments in memory, files on disk.

They may change with any version of numba.  Where the version is not one of KNOWN, or a name has gone, importing this
module fails, and `compiler` does without.
"""

from __future__ import annotations

import hashlib
import logging
import pickle
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numba
import numpy as np

from hearts_env import cards
from hearts_env.fast import jit

KNOWN = (0, 60), (0, 68)
"""The first and the last version of numba whose inner parts are as they are taken to be here."""
_version = tuple(int(number) for number in numba.__version__.split(".")[:2])
if not KNOWN[0] <= _version <= KNOWN[1]:
    raise ImportError("known are {}.{} to {}.{}".format(*KNOWN[0], *KNOWN[1]))

from llvmlite import ir  # noqa: E402  # only after the version has been seen
from llvmlite.binding import get_host_cpu_features, get_host_cpu_name  # noqa: E402
from numba import typeof, types  # noqa: E402
from numba.core.caching import FunctionCache, IndexDataCacheFile  # noqa: E402
from numba.core.registry import cpu_target  # noqa: E402
from numba.extending import intrinsic, overload  # noqa: E402

OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True, "_nrt": False, "no_cfunc_wrapper": True}
"""No counting of references to arrays: with it, every access to one would count for all arrays of its tuple, at twenty
times the cost of the loops.  So kernels make no arrays of their own: they are handed what they need.
"""
CALLED_OPTIONS = {**OPTIONS, "no_cpython_wrapper": True}
PART_OPTIONS = {**CALLED_OPTIONS, "forceinline": True}
_log = logging.getLogger("hearts_env")


# -- instructions of the processor -------------------------------------------------------------------------------------


def _ones(typing: Any, bits: Any) -> Any:
    return types.int64(types.int64), lambda context, builder, signature, args: builder.ctpop(args[0])


def _zeros_below(typing: Any, bits: Any) -> Any:
    whole = ir.Constant(ir.IntType(1), 0)
    return types.int64(types.int64), lambda context, builder, signature, args: builder.cttz(args[0], whole)


def _zeros_above(typing: Any, bits: Any) -> Any:
    whole = ir.Constant(ir.IntType(1), 0)
    return types.int64(types.int64), lambda context, builder, signature, args: builder.ctlz(args[0], whole)


def _nth(typing: Any, bits: Any, index: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        number = ir.IntType(64)
        kind = ir.FunctionType(number, (number, number))
        deposit = builder.module.declare_intrinsic("llvm.x86.bmi.pdep.64", fnty=kind)
        # A single bit at place `index` is deposited at the place of member number `index`.
        place = builder.shl(ir.Constant(number, 1), args[1])
        return builder.cttz(builder.call(deposit, (place, args[0])), ir.Constant(ir.IntType(1), 0))

    return types.int64(types.int64, types.int64), build


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
ones: Callable[[Any], Any] = intrinsic(_ones)
trailing_zeros: Callable[[Any], Any] = intrinsic(_zeros_below)
zeros_above: Callable[[Any], Any] = intrinsic(_zeros_above)
nth_deposited: Callable[[Any, Any], Any] = intrinsic(_nth)
store_bits: Callable[[Any, Any, Any], Any] = intrinsic(_set_bits)

_SLOW_DEPOSIT = ("znver1", "znver2", "bdver4")
"""Processors that have the instruction, but in microcode: slower than the loop."""


def _deposits() -> bool:
    """Has this processor a fast instruction that spreads bits over the places set in a mask (x86, BMI2)?"""
    return get_host_cpu_features().get("bmi2", False) and get_host_cpu_name() not in _SLOW_DEPOSIT


NTH_IS_AN_INSTRUCTION = _deposits()


def use_instructions(options: dict[str, Any]) -> None:
    """Let kernels have the functions on sets, and `pick_up`, as a few instructions each."""
    for function in (jit.count, cards.count):
        overload(function, jit_options=options)(lambda cards: lambda cards: ones(cards))
    overload(jit.highest, jit_options=options)(lambda cards: lambda cards: 63 - zeros_above(cards))
    overload(jit.zeros_below, jit_options=options)(lambda cards: lambda cards: trailing_zeros(cards))
    if NTH_IS_AN_INSTRUCTION:
        overload(jit.nth, jit_options=options)(lambda cards, index: lambda cards, index: nth_deposited(cards, index))
    overload(jit.set_bits, jit_options=options)(
        lambda array, place, word: lambda array, place, word: store_bits(array, place, word)
    )
    overload(jit.pick_up, jit_options=options)(lambda memory, kind: lambda memory, kind: _picked_up(memory, kind))


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

    return _kinds[kind.instance_class](memory, kind), build


_put_down_in: Callable[[Any, Any], None] = intrinsic(_put_down)
_picked_up: Callable[[Any, Any], Any] = intrinsic(_pick_up)
_kinds: dict[type, Any] = {}
"""The numba type of what is left in memory, by its class: one for all rules."""


def unpacked(arguments: Any) -> Any:
    """Memory, int64, with the arguments as the processor has them: numbers, and addresses and sizes of arrays."""
    kind = typeof(arguments)
    if _kinds.setdefault(type(arguments), kind) != kind:
        raise TypeError(f"{type(arguments).__name__} has been unpacked with arrays of other types: {kind}")
    memory = np.empty(_words_of(kind), np.int64)
    _leave(memory, arguments)
    return memory


@lru_cache(maxsize=64)
def _words_of(kind: Any) -> int:
    """How many 64-bit words of memory a value of this numba type takes."""
    context = cpu_target.target_context
    return -(-int(context.get_abi_sizeof(context.get_value_type(kind))) // 8)


@jit.kernel
def _leave(memory: Any, arguments: Any) -> None:
    _put_down_in(memory, arguments)


# -- what is kept on disk ----------------------------------------------------------------------------------------------

_SOURCES = (
    "cards",
    "game/rules",
    "game/compiled_rules",
    "game/rulebook",
    "game/state",
    "game/engine",
    "game/random_play",
    "game/view",
    "observe/blocks",
    "observe/encode",
    "fast/compiler",
    "fast/encode",
    "fast/formulas",
    "fast/jit",
    "fast/numba_backend",
    "fast/rollout",
    "fast/single",
    "fast/step",
    "fast/view",
    "fast/worlds",
)
"""The modules from which machine code is made."""


def keep(dispatcher: Any, function: Callable[..., Any]) -> None:
    """Let numba keep the machine code of a kernel on disk, and find it there, if there is a folder for it."""
    try:
        dispatcher._cache = _Cache(function)
    except (RuntimeError, OSError) as error:  # there is no such folder
        _warn(f"every process compiles its loops anew, since there is no folder for them ({error})")


class _Cache(FunctionCache):  # type: ignore[misc]  # numba has no types
    """Numba's cache of one kernel on disk, discarded when any source changes, not only the kernel's own file."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        wanted = numba.config.CACHE_DIR
        if wanted and Path(wanted) not in Path(self._cache_path).parents:
            _warn(f"NUMBA_CACHE_DIR={wanted} is no folder that can be written to: {self._cache_path} is used")
        stamp = (
            numba.__version__,
            self._impl.locator.get_source_stamp(),
            _source_hash(Path(function.__code__.co_filename).parent),
        )
        self._cache_file = _Files(
            cache_path=self._cache_path, filename_base=self._impl.filename_base, source_stamp=stamp
        )

    def save_overload(self, signature: Any, data: Any) -> None:
        """Keep a version of the kernel, or say that it cannot be kept."""
        try:
            super().save_overload(signature, data)
        except OSError as error:
            _warn(f"machine code cannot be kept in {self._cache_path} ({error}): it will be compiled anew")


class _Files(IndexDataCacheFile):  # type: ignore[misc]  # numba has no types
    """An index of what is kept of one kernel, and that, in files that tell if they are damaged or of older sources.

    Machine code that is damaged could do anything, so a hash of the content stands before it.
    """

    def _load_index(self) -> Any:
        content = self._read(Path(self._index_path))
        return {} if content is None else pickle.loads(content)

    def _save_index(self, overloads: Any) -> None:
        self._write(Path(self._index_path), overloads)

    def _load_data(self, name: str) -> Any:
        content = self._read(Path(self._data_path(name)))
        if content is None:
            raise OSError("to be compiled anew")
        return pickle.loads(content)

    def _save_data(self, name: str, data: Any) -> None:
        self._write(Path(self._data_path(name)), data)

    def _write(self, path: Path, what: Any) -> None:
        content = self._stamp() + self._dump(what)
        with self._open_for_write(str(path)) as file:
            file.write(_MAGIC + hashlib.sha256(content).digest() + content)

    def _read(self, path: Path) -> bytes | None:
        """The content written to a file; None unless it is whole and made from the present sources."""
        try:
            found = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            _warn(f"{path} cannot be read ({error}): its loop is compiled anew")
            return None
        head = len(_MAGIC)
        digest, content = found[head : head + _HASH], found[head + _HASH :]
        if found.startswith(_PICKLED):  # by numba alone
            return None
        if not found.startswith(_MAGIC) or hashlib.sha256(content).digest() != digest:
            _warn(f"{path} is damaged: its loop is compiled anew")
            return None
        stamp = self._stamp()
        return content[len(stamp) :] if content.startswith(stamp) else None

    def _stamp(self) -> bytes:
        return hashlib.sha256(repr(self._source_stamp).encode()).digest()


_MAGIC, _HASH = b"hearts_env kernel 1\n", hashlib.sha256().digest_size
_PICKLED = b"\x80"


def _source_hash(folder: Path) -> str:
    """Of _SOURCES, and of all modules beside a kernel of another package."""
    here = Path(__file__).parent.parent
    paths = [here / f"{name}.py" for name in _SOURCES]
    if folder.resolve() != here.resolve() / "fast":
        paths += sorted(folder.glob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()


@lru_cache(maxsize=1)
def _warned() -> list[str]:
    return []


def _warn(message: str) -> None:
    """Say, once a process, that something is wrong with what is kept on disk."""
    if not _warned():
        _warned().append(message)
        _log.warning("hearts_env: %s", message)
