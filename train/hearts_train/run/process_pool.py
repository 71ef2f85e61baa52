"""A pool of processes that hold one worker object each, all of which run the same task at the same time."""

from __future__ import annotations

import contextlib
import signal
import traceback
from collections.abc import Callable, Iterator
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

import torch
from torch import multiprocessing

W = TypeVar("W")
T = TypeVar("T")
P = ParamSpec("P")
_PATIENCE_S = 5.0
_END_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class WorkerError(ValueError):
    """A worker process has failed or died."""


class ProcessPool(Generic[W]):
    """Worker 0 lives in this process as `local`, the others in processes of one thread each.

    A worker process ends when its pipe closes, so that none outlives this process, however that ends.
    """

    def __init__(self, size: int, make: Callable[Concatenate[int, P], W], *args: P.args, **kwargs: P.kwargs) -> None:
        """Make `size` workers by `make(rank, *args)`; `make` and the arguments travel by pickle."""
        context = multiprocessing.get_context("spawn")
        self._pipes: list[Connection] = []
        self._processes: list[Any] = []
        try:
            for rank in range(1, size):
                mine, theirs = context.Pipe()
                process = context.Process(target=_serve, args=(theirs, make, rank, args, kwargs), daemon=True)
                with _end_signals_blocked():
                    process.start()
                theirs.close()
                self._pipes.append(mine)
                self._processes.append(process)
            self.local = make(0, *args, **kwargs)
        except BaseException:
            self.close()
            raise

    def each(self, task: Callable[Concatenate[W, P], T], *args: P.args, **kwargs: P.kwargs) -> list[T]:
        """Return `task(worker, *args)` of every worker, by rank; all work at the same time.

        task: a function of a module or a method of a class (`Worker.iterate`): it travels by its name, as pickle sends
        functions, and mypy checks its arguments.  Raises WorkerError where a worker has failed or died.
        """
        for rank, pipe in enumerate(self._pipes, 1):
            try:
                pipe.send((task, args, kwargs))
            except OSError:
                raise self._death(rank) from None
        own = task(self.local, *args, **kwargs)
        return [own, *(self._answer(rank) for rank in range(1, len(self._pipes) + 1))]

    def _answer(self, rank: int) -> Any:
        pipe, process = self._pipes[rank - 1], self._processes[rank - 1]
        wait([pipe, process.sentinel])
        try:
            error, result = pipe.recv()
        except (EOFError, OSError):
            raise self._death(rank) from None
        if error:
            raise WorkerError(f"worker {rank} has failed:\n{error}")
        return result

    def _death(self, rank: int) -> WorkerError:
        process = self._processes[rank - 1]
        process.join(_PATIENCE_S)
        return WorkerError(f"worker {rank} has died (exit code {process.exitcode}); is there enough memory?")

    def close(self) -> None:
        """End all worker processes; those still busy after a few seconds by force."""
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.join(_PATIENCE_S)
            if process.is_alive():
                process.kill()
                process.join()

    def __enter__(self) -> ProcessPool[W]:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


@contextlib.contextmanager
def _end_signals_blocked() -> Iterator[None]:
    """Start processes in here that never see Ctrl-C or SIGTERM, not even before they can ignore them."""
    if not hasattr(signal, "pthread_sigmask"):  # on Windows
        yield
        return
    resource_tracker.ensure_running()  # started with the process, it would let the signal through
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _END_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(
    pipe: Connection, make: Callable[..., Any], rank: int, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """Make a worker and run the tasks that come through the pipe, until it closes."""
    # Ctrl-C reaches every process of the terminal, torchrun's kill every one of a session; only the first one decides
    # what follows.
    for number in _END_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    torch.set_num_threads(1)
    with contextlib.suppress(EOFError, OSError):
        try:
            worker = make(rank, *args, **kwargs)
            while True:
                task, arguments, keywords = pipe.recv()
                pipe.send((None, task(worker, *arguments, **keywords)))
        except (EOFError, OSError):
            raise
        except Exception:
            pipe.send((traceback.format_exc(), None))
