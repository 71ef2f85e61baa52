"""Plans of what to measure of the layers, and their measurement by turns."""

from __future__ import annotations

import multiprocessing
import os
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import hearts_env
from hearts_bench.layers import ONE_TABLE, BenchError, Layer, check, find_layer
from hearts_bench.timing import RUNS, Contender, TimedRun, by_turns, median_deals, median_decisions, repeat
from hearts_env.executor import Executor, using
from hearts_env.game.rules import Rules

TABLES = (1, 256, 1024, 4096, 16384)
"""Batch sizes that are tried where none is asked for."""
THREADS = "HEARTS_THREADS"
"""The environment variable that says how many threads the compiled executor may use."""


@dataclass(frozen=True)
class Plan:
    """One thing to measure: a layer under one executor."""

    layer: str
    rules: Rules
    executor: Executor
    tables: int
    threads: int = 1

    @property
    def name(self) -> str:
        """As it is told to people."""
        threads = f", {self.threads} threads" if self.threads > 1 else ""
        return f"{self.layer} {self.executor}, {self.rules.num_players} players, {self.tables:,} tables{threads}"


@dataclass(frozen=True)
class Measured:
    """One layer's speed: the median of several runs, and the slowest and the fastest of them.

    Seconds are those that one core worked; on the clock where there are more threads than one.
    """

    layer: str
    executor: str
    tables: int
    rules: str
    num_players: int
    deals_per_s: float
    decisions_per_s: float
    runs: int
    threads: int
    slowest_deals_per_s: float
    fastest_deals_per_s: float
    clock_deals_per_s: float
    """By the clock on the wall."""
    core_share: float
    """How much of a core it got."""


def measure(
    plans: Sequence[Plan], seconds: float, *, tell: Callable[[str], None] = lambda name: None
) -> list[Measured]:
    """Measure these by turns: RUNS rounds in which each has a run of at least so many seconds.

    tell: see `timing.by_turns`.  Raises BenchError where decisions or points per deal are out of range: a broken
    engine is not timed.
    """
    with ExitStack() as stack:
        elsewhere = {
            threads: stack.enter_context(_process(threads))
            for threads in sorted({plan.threads for plan in plans} - {threads_here()})
        }
        contenders = [
            _remote(plan, elsewhere[plan.threads]) if plan.threads in elsewhere else contender(plan) for plan in plans
        ]
        results = by_turns(contenders, seconds, tell=tell)
    for plan, runs in zip(plans, results, strict=True):
        check(plan.rules, [run.work for run in runs])
    return [_measured(plan, runs) for plan, runs in zip(plans, results, strict=True)]


def contender(plan: Plan) -> Contender:
    """Someone who measures this plan in this process.  Raises BenchError, AgentError, or ImportError."""
    # What is measured in this process is one core.
    os.environ.setdefault(THREADS, "1")
    if plan.tables < 1:
        raise BenchError(f"tables={plan.tables}: must be a positive whole number")
    return under(plan.executor, plan.name, find_layer(plan.layer), plan.rules, plan.tables)


def under(executor: Executor, name: str, layer: Layer, rules: Rules, tables: int) -> Contender:
    """Someone who plays a layer's batches under that executor, and gets ready under it too: layers may ask which."""
    with using(executor):
        batch = layer(rules, tables)

    def run(first: int, seconds: float) -> TimedRun:
        with using(executor):
            return repeat(batch, first, seconds)

    return Contender(name, run)


def best_tables(layer: str, rules: Rules, executor: Executor, seconds: float) -> int:
    """The fastest number of TABLES for a layer.  Raises ImportError where a module that it needs is missing."""
    if layer in ONE_TABLE:
        return 1
    made: Layer = find_layer(layer)
    contenders = [under(executor, "", made, rules, tables) for tables in TABLES]
    speeds = [median_deals(runs) for runs in by_turns(contenders, seconds, runs=1)]
    return TABLES[speeds.index(max(speeds))]


def _measured(plan: Plan, runs: Sequence[TimedRun]) -> Measured:
    clock = plan.threads > 1
    speeds = [run.deals_per_s(clock=clock) for run in runs]
    return Measured(
        layer=plan.layer,
        executor=plan.executor,
        tables=plan.tables,
        rules=plan.rules.show(),
        num_players=plan.rules.num_players,
        deals_per_s=round(median_deals(runs, clock=clock), 1),
        decisions_per_s=round(median_decisions(runs, clock=clock), 1),
        runs=RUNS,
        threads=plan.threads,
        slowest_deals_per_s=round(min(speeds), 1),
        fastest_deals_per_s=round(max(speeds), 1),
        clock_deals_per_s=round(median_deals(runs, clock=True), 1),
        core_share=round(statistics.median(run.core_share for run in runs), 2),
    )


# -- threads: how many there are is settled when a process starts ------------------------------------------------------


def threads_here() -> int:
    """How many threads this process may use."""
    text = os.environ.get(THREADS, "1")
    return int(text) if text.isdecimal() and int(text) else 1


def threads_matter() -> bool:
    """Does any module of the library read THREADS?"""
    folder = Path(hearts_env.__file__).parent
    return any(THREADS in path.read_text(encoding="utf-8") for path in folder.rglob("*.py"))


@contextmanager
def _process(threads: int) -> Iterator[Connection]:
    """A process of so many threads that measures plans when it is asked to."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    before = os.environ.get(THREADS)
    os.environ[THREADS] = str(threads)
    try:
        worker = context.Process(target=_serve, args=(there,), daemon=True)
        worker.start()
    finally:
        if before is None:
            del os.environ[THREADS]
        else:
            os.environ[THREADS] = before
    there.close()
    try:
        yield here
    finally:
        here.close()
        worker.join()


def _serve(connection: Connection) -> None:
    contenders: dict[Plan, Contender] = {}
    while True:
        try:
            plan, first, seconds = connection.recv()
        except EOFError:
            return
        if plan not in contenders:
            contenders[plan] = contender(plan)
        connection.send(contenders[plan].run(first, seconds))


def _remote(plan: Plan, connection: Connection) -> Contender:
    def run(first: int, seconds: float) -> TimedRun:
        connection.send((plan, first, seconds))
        try:
            answer: TimedRun = connection.recv()
        except EOFError:
            raise BenchError(f"the process that measured {plan.name} has died") from None
        return answer

    return Contender(plan.name, run)
