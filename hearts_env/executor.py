"""Which executor runs: numpy over whole arrays, or compiled loops with the same results.

A function marked `executed` is the numpy one.  Where the compiled executor is chosen, the function of the same name in
`compiled` is called in its place; the first such call loads numba, which takes about a second.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from types import ModuleType
from typing import Literal, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")
Executor = Literal["numpy", "compiled"]
EXECUTORS: tuple[Executor, ...] = ("numpy", "compiled")
VARIABLE = "HEARTS_EXECUTOR"
"""The environment variable that chooses one."""


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


class _Choice:
    made = False
    compiled: ModuleType | None = None


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
    return importlib.import_module("hearts_env.compiled")
