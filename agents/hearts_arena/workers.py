"""Workers that play the deals of a tournament: this process, others, or a Ray cluster."""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing.connection import Connection
from typing import Any, Literal, Protocol

from hearts_agents.external.agent import limited
from hearts_agents.learned import LOGGER
from hearts_arena.finished_deals import FinishedDeals
from hearts_arena.formats import Seatings
from hearts_arena.tournament_plan import Tournament, plan_tournament

WorkerKind = Literal["processes", "ray"]


@dataclass(frozen=True)
class Task:
    """Some deal ids to play."""

    first: int
    end: int
    seatings: Seatings


@dataclass(frozen=True)
class Spec:
    """A tournament in a form that other processes can be sent: agents by name."""

    names: tuple[str, ...]
    field: tuple[str, ...]
    options: dict[str, Any]
    keep_deals: bool
    records: bool

    @staticmethod
    def of(planned: Tournament, *, keep_deals: bool, records: bool) -> Spec:
        """The spec of this tournament."""
        names = [agent.name for agent in planned.agents]
        plain = "rules deals seed games format splits orders rounds first_id control limits"
        options = {name: getattr(planned, name) for name in plain.split()}
        field = tuple(names[place] for place in planned.field)
        return Spec(tuple(names[: planned.entrants]), field, options, keep_deals, records)

    def tournament(self) -> Tournament:
        """The tournament, its agents made here."""
        options = dict(self.options)
        rules, deals = options.pop("rules"), options.pop("deals")
        return plan_tournament(rules, self.names, deals, field=self.field, **options)


class Workers(Protocol):
    """Plays tasks, some at a time."""

    slots: int
    """The number of tasks that are worked on at a time."""
    lost: tuple[type[Exception], ...]
    """The errors that a future raises when its worker is gone, so that the task should be given out again."""

    def submit(self, task: Task) -> Future[bytes]:
        """Play it some time; the result is the finished deals' bytes."""
        ...

    def close(self) -> None:
        """End it, whatever is still being played."""
        ...


class InProcess:
    """Plays each task at once, here."""

    slots = 1
    lost: tuple[type[Exception], ...] = ()

    def __init__(self, planned: Tournament, *, keep_deals: bool, records: bool) -> None:
        self._play: Callable[[Task], FinishedDeals] = lambda task: planned.play(
            task.first, task.end, task.seatings, keep_deals=keep_deals, records=records
        )

    def submit(self, task: Task) -> Future[bytes]:
        """Play it now.  Raises what the play raises, an interruption at once."""
        future: Future[bytes] = Future()
        try:
            future.set_result(self._play(task).to_bytes())
        except Exception as error:
            future.set_exception(error)
        return future

    def close(self) -> None:
        """Nothing: there is no other process."""


class WorkerLostError(RuntimeError):
    """A worker process has ended in the middle of a task."""


class Processes:
    """Worker processes on this machine; they end with this one, however it ends.

    Each has a thread here and a line of its own to it, so that none that is killed can hold up another.
    """

    def __init__(self, spec: Spec, workers: int) -> None:
        self.slots = workers
        self.lost: tuple[type[Exception], ...] = (WorkerLostError,)
        self._spec = spec
        methods = multiprocessing.get_all_start_methods()
        self._context: Any = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
        self._listening, self._lifeline = self._context.Pipe(duplex=False)
        self._mine = threading.local()
        self._threads = ThreadPoolExecutor(workers, "tournament")
        self.pids: list[int] = []
        """Process ids of the workers that have been started."""

    def submit(self, task: Task) -> Future[bytes]:
        """Hand it to the next process that is free."""
        return self._threads.submit(self._play, task)

    def close(self) -> None:
        """End them at once."""
        self._lifeline.close()
        self._threads.shutdown(wait=True, cancel_futures=True)
        self._listening.close()

    def _play(self, task: Task) -> bytes:
        """Have the worker of this thread play it; runs in that thread."""
        line: Connection | None = getattr(self._mine, "line", None)
        try:
            line = line or self._start()
            line.send(task)
            answer: bytes | Exception = line.recv()
        except (EOFError, OSError):
            self._mine.line = None
            raise WorkerLostError from None
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _start(self) -> Connection:
        ours, theirs = self._context.Pipe()
        with _one_thread_each():
            process = self._context.Process(target=_serve, args=(self._spec, theirs, self._listening), daemon=True)
            process.start()
        theirs.close()
        self.pids.append(process.pid or 0)
        self._mine.line = ours
        line: Connection = ours
        return line


class Ray:
    """Tasks on a Ray cluster, or on this machine's cores if Ray knows of none.  Ray itself replaces lost workers."""

    def __init__(self, spec: Spec, workers: int = 0) -> None:
        """workers: tasks at a time; 0 for as many as the cluster has cores.

        Raises ModuleNotFoundError without the extra `dist`.
        """
        import ray

        self._ray = ray
        self._ours = not ray.is_initialized()
        if self._ours:
            ray.init(num_cpus=workers or None, log_to_driver=False, include_dashboard=False)
        self.slots = workers or int(ray.cluster_resources().get("CPU", 1))
        gone = ray.exceptions
        self.lost: tuple[type[Exception], ...] = (
            gone.WorkerCrashedError,
            gone.NodeDiedError,
            gone.ObjectLostError,
            gone.OutOfMemoryError,
        )
        self._spec = ray.put(spec)
        self._play = ray.remote(max_retries=5)(_ray_work)

    def submit(self, task: Task) -> Future[bytes]:
        """Hand it to the cluster."""
        future: Future[bytes] = Future()

        def done(theirs: Future[bytes]) -> None:
            error = theirs.exception()
            if error is None:
                future.set_result(theirs.result())
            else:
                # An agent's own error comes wrapped, with a traceback for a message.
                cause = getattr(error, "cause", None)
                future.set_exception(cause if isinstance(cause, Exception) else error)

        self._play.remote(self._spec, task).future().add_done_callback(done)
        return future

    def close(self) -> None:
        """Leave the cluster; end it if it was begun here."""
        if self._ours:
            self._ray.shutdown()


@contextlib.contextmanager
def workers_for(
    planned: Tournament, workers: int, name: WorkerKind, *, keep_deals: bool, records: bool
) -> Iterator[Callable[[], Workers]]:
    """A function that starts the workers, since starting processes is not worth it for a short tournament.

    workers: processes; 1 plays here.  With agents that a person plays, only this process can be used.
    """
    made: list[Workers] = []

    def start() -> Workers:
        spec = Spec.of(planned, keep_deals=keep_deals, records=records)
        one: Workers = Ray(spec, workers) if name == "ray" else Processes(spec, workers)
        made.append(one)
        return one

    try:
        yield start
    finally:
        for one in made:
            one.close()


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _serve(spec: Spec, line: Connection, lifeline: Connection) -> None:
    """Play tasks in a worker process.  Ctrl-C is the parent's business; when its end of the lifeline goes, we go."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    LOGGER.setLevel(logging.ERROR)  # the standings say it once for all processes
    threading.Thread(target=_hang_on, args=(lifeline,), daemon=True).start()
    with contextlib.suppress(EOFError, OSError):  # the other end of the line may go before the lifeline does
        try:
            planned = spec.tournament()
        except ValueError as error:
            line.recv()
            line.send(error)
            return
        with limited(planned.agents, planned.limits):
            while True:
                line.send(_answer(planned, spec, line.recv()))


def _answer(planned: Tournament, spec: Spec, task: Task) -> bytes | Exception:
    try:
        return _play(planned, spec, task)
    except Exception as error:
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            return ValueError(f"{type(error).__name__}: {error}")
        return error


def _hang_on(lifeline: Connection) -> None:
    with contextlib.suppress(EOFError, OSError):
        lifeline.recv()
    os._exit(1)


def _play(planned: Tournament, spec: Spec, task: Task) -> bytes:
    finished = planned.play(task.first, task.end, task.seatings, keep_deals=spec.keep_deals, records=spec.records)
    return finished.to_bytes()


def _ray_work(spec: Spec, task: Task) -> bytes:
    return _play(_ray_tournament(spec.names, spec.field, tuple(sorted(spec.options.items()))), spec, task)


@lru_cache(maxsize=1)
def _ray_tournament(names: tuple[str, ...], field: tuple[str, ...], options: tuple[tuple[str, Any], ...]) -> Tournament:
    """Made once a worker, since agents may be slow to make."""
    return Spec(names, field, dict(options), keep_deals=False, records=False).tournament()


@contextlib.contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes that are started within it use one thread each, unless the environment says otherwise."""
    names = [name for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS") if name not in os.environ]
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name in names:
            del os.environ[name]
