"""Kernels that run as Python, for a debugger: where NUMBA_DISABLE_JIT is set."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np


class _Numbers(np.ndarray[Any, Any]):
    """An array whose numbers are as wide as a kernel's: of 64 bits, so that shifts stay within them."""

    def __getitem__(self, place: Any) -> Any:
        return _wide(super().__getitem__(place))


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel, which takes arrays and tuples of arrays as the compiled one does."""

    @wraps(function)
    def run(*args: Any) -> Any:
        # Hashes are meant to run over.
        with np.errstate(over="ignore"):
            result = function(*map(_wide, args))
        return result.item() if isinstance(result, np.generic) else result

    return run


def unpacked(arguments: Any) -> Any:
    """The arguments themselves."""
    return arguments


class _Record:
    """A row of an array of records, whose fields a kernel reads as attributes."""

    def __init__(self, row: np.void) -> None:
        self._row = row

    def __getattr__(self, name: str) -> Any:
        return _wide(self._row[name])


def _wide(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.view(_Numbers)
    if isinstance(value, tuple):
        return type(value)(*map(_wide, value)) if hasattr(value, "_fields") else tuple(map(_wide, value))
    if isinstance(value, np.void):
        return _Record(value)
    if isinstance(value, bool | np.bool_):
        return bool(value)
    return np.int64(value) if isinstance(value, int | np.signedinteger) else value
