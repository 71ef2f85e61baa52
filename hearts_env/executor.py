"""Which executor runs, numpy over whole arrays or compiled loops with the same results, and in how many threads.

A function marked `executed` is the numpy one.  `override` registers the compiled function that runs in its place where
the compiled executor is chosen.  Neither is known here: `hearts_env.fast` registers its own when `hearts_env` is
imported, and so do packages that stand on it.
"""

from __future__ import annotations

import importlib.util
import inspect
import logging
import os
from collections.abc import Callable, Iterator, Sized
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache, wraps
from itertools import pairwise
from threading import current_thread
from typing import Any, Generic, Literal, ParamSpec, TypeVar

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
WARM_UP = 2000
"""Tables that numpy handles before numba is loaded, where nobody asked for an executor: about as long as that takes."""


class ExecutorError(ValueError):
    """A name that is no executor, one that cannot run here, or a function that cannot take another's place."""


# -- choosing ----------------------------------------------------------------------------------------------------------


def use(name: Executor | None) -> Executor:
    """Choose the executor of this process; None leaves it to HEARTS_EXECUTOR, or else to whether numba is there.

    An executor that is named is loaded at once.  Where none is, "compiled" runs if numba is installed; to load it takes
    a second of a processor, so the first WARM_UP tables are handled by numpy: a short program never waits for it.

    Returns the one that runs from now on.  Raises ExecutorError.
    """
    wanted = name or os.environ.get(VARIABLE) or None
    if wanted is not None and wanted not in EXECUTORS:
        raise ExecutorError(f"executor {wanted!r:.40}: must be one of {', '.join(EXECUTORS)} (see {VARIABLE})")
    if wanted == "compiled":
        _load()
    chosen: Executor = "compiled" if wanted is None and "compiled" in available() else wanted or "numpy"
    _switch(chosen, loaded=chosen == wanted or chosen == "numpy")
    _keep_memory()
    return chosen


def chosen() -> Executor:
    """The executor that runs.  Raises ExecutorError where HEARTS_EXECUTOR names one that cannot."""
    return _choice.name or use(None)


def available() -> tuple[Executor, ...]:
    """The executors that can run here."""
    return EXECUTORS if importlib.util.find_spec("numba") else ("numpy",)


@contextmanager
def using(name: Executor | None) -> Iterator[Executor]:
    """Choose an executor for a while, as `use` does."""
    before, loaded = _choice.name, _choice.loaded
    try:
        yield use(name)
    finally:
        _switch(before, loaded)


class _Choice:
    name: Executor | None = None
    loaded = False
    """The functions of the chosen executor run; else those of numpy do for a while."""
    rows = 0
    """Handled in the meantime."""
    threads: int | None = None


_choice = _Choice()


def _switch(name: Executor | None, loaded: bool) -> None:
    _choice.name, _choice.loaded = name, loaded
    for place in _places.values():
        place.choose()


def _load() -> None:
    try:
        for load in _loaders:
            load()
    except ImportError as error:
        raise ExecutorError(
            f"executor 'compiled' needs numba ({error}): install the extra, pip install 'hearts_env[fast]'"
        ) from None


def _warm_up(rows: int) -> None:
    """Count the rows of a call, and load what was chosen once there have been enough of them."""
    chosen()
    _choice.rows += rows
    if not _choice.loaded and _choice.rows >= WARM_UP:
        try:
            _load()
            _switch(_choice.name, loaded=True)
        except ExecutorError as error:
            logging.getLogger("hearts_env").warning("hearts_env: numpy runs in place of compiled loops: %s", error)
            _switch("numpy", loaded=True)


# -- the registry ------------------------------------------------------------------------------------------------------


def executed(function: Callable[P, R]) -> Callable[P, R]:
    """Let the compiled executor run another function in place of this one, if `override` registers one."""
    place = _Place(function)

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        return place.runs(*args, **kwargs)

    _places[run] = place
    return run


def override(function: Callable[P, R]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Register the function so marked as what the compiled executor runs in place of `function`.

    Raises ExecutorError unless `function` is marked `executed` and has the same parameters, in names, order, kinds and
    defaults, and no other override.
    """
    place = _places.get(function)
    if place is None:
        raise ExecutorError(f"{_name_of(function)} is not marked executed: nothing can take its place")

    def register(compiled: Callable[P, R]) -> Callable[P, R]:
        wanted, given = _parameters(function), _parameters(compiled)
        if wanted != given:
            raise ExecutorError(f"{_name_of(compiled)}{given} cannot take the place of {_name_of(function)}{wanted}")
        if place.compiled is not None:
            raise ExecutorError(f"{_name_of(function)} has been overridden by {_name_of(place.compiled)} already")
        place.compiled = compiled
        place.choose()
        return compiled

    return register


def provide(load: Callable[[], object]) -> None:
    """Have this called when the compiled executor is to run; it raises ImportError where that cannot run."""
    _loaders.append(load)


class _Place(Generic[P, R]):
    """The dispatcher of one executed function: runs its numpy or its compiled form, by the chosen executor."""

    def __init__(self, function: Callable[P, R]) -> None:
        self.numpy = function
        self.compiled: Callable[P, R] | None = None
        self.runs: Callable[P, R]
        self.choose()

    def choose(self) -> None:
        """Run what belongs to the chosen executor."""
        if not _choice.loaded:
            self.runs = self._first
        elif _choice.name == "compiled" and self.compiled is not None:
            self.runs = self.compiled
        else:
            self.runs = self.numpy

    def _first(self, *args: P.args, **kwargs: P.kwargs) -> R:
        _warm_up(_rows(args))
        return self.runs(*args, **kwargs) if _choice.loaded else self.numpy(*args, **kwargs)


_places: dict[Callable[..., Any], _Place[..., Any]] = {}
_loaders: list[Callable[[], object]] = []


def _rows(args: tuple[object, ...]) -> int:
    """How many tables (or views, or sets) a call is about: the length of its longest argument."""
    return max(
        (len(each) for each in args if isinstance(each, Sized) and getattr(each, "shape", None) != ()), default=1
    )


def _parameters(function: Callable[..., Any]) -> str:
    """The parameters with their defaults; types are for mypy to compare."""
    empty = inspect.Parameter.empty
    parameters = inspect.signature(function).parameters.values()
    return str(inspect.Signature([each.replace(annotation=empty) for each in parameters]))


def _name_of(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}"


# -- memory -----------------------------------------------------------------------------------------------------------


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
