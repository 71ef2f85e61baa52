"""The process group of a run under torchrun, in which every process has a pool of workers of its own."""

from __future__ import annotations

import contextlib
import datetime
import os
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from torch import Tensor
from torch import distributed as dist

from hearts_train.run.process_pool import WorkerError

T = TypeVar("T")
_PATIENCE = datetime.timedelta(minutes=30)
"""For the slowest process: none waits long in a run that goes well, since all have the same to do."""


def is_first_process() -> bool:
    """Tell whether this process reads and writes the files of its run; without torchrun it does."""
    return not _by_torchrun() or os.environ["RANK"] == "0"


def _by_torchrun() -> bool:
    return "TORCHELASTIC_RUN_ID" in os.environ


class ProcessGroup:
    """All processes of a run, over gloo; without torchrun this one alone.

    Each calls the same methods in the same order.  They raise WorkerError where another process has ended.
    """

    def __init__(self) -> None:
        self.rank, self.size = 0, 1
        if _by_torchrun():
            with _others_reachable():
                dist.init_process_group("gloo", timeout=_PATIENCE)
            self.rank, self.size = dist.get_rank(), dist.get_world_size()

    def from_first(self, make: Callable[[], T]) -> T:
        """Return what `make()` gives at the first process, the only one that calls it; it travels by pickle."""
        if self.size == 1:
            return make()
        made: list[Any] = [None]
        try:
            if self.rank == 0:
                made = [(make(),)]
        finally:
            with _others_reachable():
                dist.broadcast_object_list(made)
        if made[0] is None:
            raise WorkerError("the first process of the run has failed")
        result: T = made[0][0]
        return result

    def gather(self, items: list[T]) -> list[T]:
        """Return the items of all processes, in the order of their ranks, at each of them.  They travel by pickle."""
        if self.size == 1:
            return items
        parts: list[Any] = [None] * self.size
        with _others_reachable():
            dist.all_gather_object(parts, items)
        return [item for part in parts for item in part]

    def average(self, vector: Tensor) -> None:
        """Put the mean of all processes' vectors in place of each: the same to the last bit."""
        if self.size > 1:
            with _others_reachable():
                dist.all_reduce(vector)
            vector /= self.size

    def broadcast(self, vector: Tensor) -> None:
        """Put the numbers of the first process in place of everybody's."""
        if self.size > 1:
            with _others_reachable():
                dist.broadcast(vector, 0)

    def close(self) -> None:
        """Leave the group."""
        if self.size > 1:
            dist.destroy_process_group()

    def __enter__(self) -> ProcessGroup:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


@contextlib.contextmanager
def _others_reachable() -> Iterator[None]:
    """Turn an error of the process group into a WorkerError with its reason."""
    try:
        yield
    except RuntimeError as error:
        reason = str(error).partition("\n")[0]
        raise WorkerError(f"another process of the run has ended or cannot be reached: {reason}") from None
