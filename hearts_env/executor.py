"""Which executor runs, numpy over whole arrays or compiled loops with the same results, and in how many threads.

A function marked `executed` is the numpy one.  Where the compiled executor is chosen, the function of the same name in
`compiled` is called in its place; the first such call loads numba, which takes about a second.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache, wraps
from itertools import pairwise
from threading import current_thread
from types import ModuleType
from typing import Literal, ParamSpec, TypeVar, cast

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")
Executor = Literal["numpy", "compiled"]
EXECUTORS: tuple[Executor, ...] = ("numpy", "compiled")
VARIABLE = "HEARTS_EXECUTOR"
"""The environment variable that chooses one."""
THREADS = "HEARTS_THREADS"
"""The environment variable with the number of threads."""
MAX_THREADS = 1024
LEAST_ROWS = 64
"""Fewer tables are not worth a thread, where each takes a microsecond or more."""


class ExecutorError(ValueError):
    """A name that is no executor, or one that cannot run here."""


def use(name: Executor | None) -> Executor:
    """Choose the executor of this process; None leaves it to HEARTS_EXECUTOR, or else to whether numba is there.

    Returns the one that runs from now on.  Raises ExecutorError.
    """
    wanted = name or os.environ.get(VARIABLE) or None
    if wanted is not None and wanted not in EXECUTORS:
        raise ExecutorError(f"executor {wanted!r:.40}: must be one of {', '.join(EXECUTORS)} (see {VARIABLE})")
    _choice.compiled = None if wanted == "numpy" else _load(required=wanted == "compiled")
    _choice.made = True
    _keep_memory()
    return _name()


def chosen() -> Executor:
    """The executor that runs.  Raises ExecutorError where HEARTS_EXECUTOR names one that cannot."""
    return _name() if _choice.made else use(None)


def available() -> tuple[Executor, ...]:
    """The executors that can run here."""
    return EXECUTORS if importlib.util.find_spec("numba") else ("numpy",)


@contextmanager
def using(name: Executor | None) -> Iterator[Executor]:
    """Choose an executor for a while, as `use` does."""
    made, compiled = _choice.made, _choice.compiled
    try:
        yield use(name)
    finally:
        _choice.made, _choice.compiled = made, compiled


def executed(function: Callable[P, R]) -> Callable[P, R]:
    """Let the chosen executor run this function."""
    name = function.__name__

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        if not _choice.made:
            use(None)
        if _choice.compiled is None:
            return function(*args, **kwargs)
        return cast(R, getattr(_choice.compiled, name)(*args, **kwargs))

    return run


def _keep_memory() -> None:
    """Let the C library keep what arrays leave behind for the next ones.

    Linux's (glibc) gives blocks of 128 KiB and more back to the system at once, and to get each page of them again
    costs more than to compute what is in it.  But it learns: once a larger block has been freed, blocks up to its size
    are kept, and twice as much in all.  The block here is never written to, so it takes no memory.
    """
    np.empty(_KEPT, np.uint8)


_KEPT = 1 << 24
"""Bytes; glibc heeds no more than twice as many."""


# -- threads -----------------------------------------------------------------------------------------------------------


def use_threads(number: int | None) -> int:
    """Let loops share the tables among so many threads; None leaves it to HEARTS_THREADS, or else 1.

    Results do not depend on it.  One is the default because whoever runs many processes has work for every core
    already.  It is for the compiled loops, which let go of Python's lock, and for so many tables that a thread is worth
    it; numpy has one thread.  Returns the number that is used from now on.  Raises ExecutorError.
    """
    given = os.environ.get(THREADS, "") if number is None else str(number)
    if not given.isascii() or not (given or "1").isdigit() or not 1 <= int(given or 1) <= MAX_THREADS:
        where = f" (from {THREADS})" if number is None else ""
        raise ExecutorError(f"threads {given!r:.40}{where}: must be a whole number from 1 to {MAX_THREADS}")
    _choice.threads = int(given or 1)
    return _choice.threads


def threads() -> int:
    """The number of threads.  Raises ExecutorError where HEARTS_THREADS is none."""
    return _choice.threads or use_threads(None)


def in_threads(size: int, some: Callable[[slice], R], least: int = LEAST_ROWS) -> list[R]:
    """Call `some` with slices that make up `size` rows, each in a thread of its own; what they return.

    least: fewer rows are not worth a thread.
    """
    # A thread of the pool that waited for another might wait for itself.
    inside = current_thread().name.startswith(_THREAD_NAME)
    number = 1 if inside else max(1, min(threads(), size // least))
    if number == 1:
        return [some(slice(0, size))]
    cuts = [size * place // number for place in range(number + 1)]
    parts = [slice(begin, end) for begin, end in pairwise(cuts)]
    # A pool for each number and process: threads do not live on in a forked one.
    others = [_pool(number, os.getpid()).submit(some, part) for part in parts[1:]]
    first = some(parts[0])
    return [first, *(other.result() for other in others)]


@lru_cache(maxsize=1)
def _pool(number: int, process: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(number - 1, _THREAD_NAME)


_THREAD_NAME = "hearts_env"


class _Choice:
    made = False
    compiled: ModuleType | None = None
    threads: int | None = None


_choice = _Choice()


def _name() -> Executor:
    return "numpy" if _choice.compiled is None else "compiled"


def _load(required: bool) -> ModuleType | None:
    try:
        importlib.import_module("numba")
    except ImportError as error:
        if required:
            raise ExecutorError(
                f"executor 'compiled' needs numba ({error}): install the extra, pip install 'hearts_env[fast]'"
            ) from None
        return None
    # By name, since it stands to the right of the modules whose functions it replaces.
    return importlib.import_module("hearts_env.fast.compiled")
