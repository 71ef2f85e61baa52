"""Copies of one worker object in several processes, all asked the same thing at the same time."""

from __future__ import annotations

import contextlib
import signal
import traceback
from collections.abc import Callable, Iterator
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar

import torch
from torch import multiprocessing

W = TypeVar("W")
_PATIENCE_S = 5.0
_POLITE = (signal.SIGINT, signal.SIGTERM)


class CrewError(ValueError):
    """A worker process has failed or died."""


class Crew(Generic[W]):
    """Worker 0 lives in this process as `local`, the others in processes of one thread each.

    `make(rank, *args)` makes a worker; it and `args` travel by pickle.  A worker process ends when its pipe closes,
    so that none outlives this process, however that ends.
    """

    def __init__(self, size: int, make: Callable[..., W], *args: Any) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipes: list[Connection] = []
        self._processes: list[Any] = []
        try:
            for rank in range(1, size):
                mine, theirs = context.Pipe()
                process = context.Process(target=_serve, args=(theirs, make, rank, args), daemon=True)
                with _deaf():
                    process.start()
                theirs.close()
                self._pipes.append(mine)
                self._processes.append(process)
            self.local = make(0, *args)
        except BaseException:
            self.close()
            raise

    def each(self, method: str, *args: Any) -> list[Any]:
        """What `method(*args)` returns at each worker, by rank, all working at the same time.

        Raises CrewError where a worker has failed or died.
        """
        for rank, pipe in enumerate(self._pipes, 1):
            try:
                pipe.send((method, args))
            except OSError:
                raise self._death(rank) from None
        return [getattr(self.local, method)(*args), *(self._answer(rank) for rank in range(1, len(self._pipes) + 1))]

    def _answer(self, rank: int) -> Any:
        pipe, process = self._pipes[rank - 1], self._processes[rank - 1]
        wait([pipe, process.sentinel])
        try:
            error, result = pipe.recv()
        except (EOFError, OSError):
            raise self._death(rank) from None
        if error:
            raise CrewError(f"worker {rank} has failed:\n{error}")
        return result

    def _death(self, rank: int) -> CrewError:
        process = self._processes[rank - 1]
        process.join(_PATIENCE_S)
        return CrewError(f"worker {rank} has died (exit code {process.exitcode}); is there enough memory?")

    def close(self) -> None:
        """End all worker processes; those still busy after a few seconds by force."""
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.join(_PATIENCE_S)
            if process.is_alive():
                process.kill()
                process.join()

    def __enter__(self) -> Crew[W]:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """A process that is started meanwhile never sees Ctrl-C or a polite kill, not even before it can ignore it."""
    if not hasattr(signal, "pthread_sigmask"):  # on Windows
        yield
        return
    resource_tracker.ensure_running()  # started with the process, it would let the signal through
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _POLITE)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(pipe: Connection, make: Callable[..., Any], rank: int, args: tuple[Any, ...]) -> None:
    # Ctrl-C reaches every process of the terminal, torchrun's kill every one of a session; only the first one decides
    # what follows.
    for number in _POLITE:
        signal.signal(number, signal.SIG_IGN)
    torch.set_num_threads(1)
    with contextlib.suppress(EOFError, OSError):
        try:
            worker = make(rank, *args)
            while True:
                method, arguments = pipe.recv()
                pipe.send((None, getattr(worker, method)(*arguments)))
        except (EOFError, OSError):
            raise
        except Exception:
            pipe.send((traceback.format_exc(), None))
