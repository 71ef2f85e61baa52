"""How many deals a second each layer of the library plays, on one core."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np

from hearts_env.cards import NO_SEAT, NUM_ACTIONS, Sets, choose
from hearts_env.encode import action_mask, encode_tables, layout
from hearts_env.engine import deal, legal, shuffle, single_deal_no, step
from hearts_env.executor import chosen
from hearts_env.lookup import Lookup, lookup
from hearts_env.match import play
from hearts_env.rules import Rules
from hearts_env.state import State
from hearts_env.view import view
from hearts_train.machine import commit, machine, versions

TABLES = (1, 256, 1024, 4096, 16384)
"""Batch sizes that are tried where none is asked for."""
ONE_TABLE = (1,)
MANY_TABLES = 65_536
"""Tables for which the memory is told."""
RUNS = 5
_MEBIBYTE = 1 << 20


class BenchError(ValueError):
    """Something that cannot be measured, or whose results cannot be right."""


@dataclass(frozen=True)
class Work:
    """What was done."""

    deals: int
    decisions: int
    scored: int
    """Deals whose points are counted: those without a moon, where that is known."""
    points: int
    """Of all seats together in these."""


@dataclass(frozen=True)
class Measured:
    """One layer's speed: the median of several runs."""

    layer: str
    executor: str
    tables: int
    rules: str
    num_players: int
    deals_per_s: float
    decisions_per_s: float
    runs: int


Batch = Callable[[int], Work]
"""Plays the deals with ids from the given one on, one at each table."""
Layer = Callable[[Rules, int], Batch]
"""Gets ready to play so many tables at once by these rules."""


# -- the layers ------------------------------------------------------------------------------------------------------


def engine_layer(rules: Rules, tables: int) -> Batch:
    """Deal, legal actions, a random choice, step."""
    info = lookup(rules)
    return _arrays(info, tables, lambda state: legal(info, state))


def view_layer(rules: Rules, tables: int) -> Batch:
    """The same, and a View at every decision."""
    info = lookup(rules)
    return _arrays(info, tables, lambda state: view(info, state).legal)


def encode_layer(rules: Rules, tables: int) -> Batch:
    """The same, and an encoding and a mask at every decision."""
    info = lookup(rules)
    shape = layout(info)
    rows = np.empty((tables, shape.size), np.uint8)

    def seen(state: State) -> Sets:
        actions = legal(info, state)
        encode_tables(shape, info, state, out=rows)
        action_mask(actions)
        return actions

    return _arrays(info, tables, seen)


def match_layer(agent: str) -> Layer:
    """`match.play` with this agent in every seat."""
    from hearts_agents import make

    player = make(agent)

    def layer(rules: Rules, tables: int) -> Batch:
        def batch(first: int) -> Work:
            ids = np.arange(first, first + tables)
            result = play(rules, [player], np.zeros(rules.num_players, np.int64), ids, tables=tables)
            plain = ~result.moons.any(axis=1)
            return Work(tables, int(result.decisions.sum()), int(plain.sum()), int(result.points[plain].sum()))

        return batch

    return layer


def aec_layer(rules: Rules, tables: int) -> Batch:
    """The PettingZoo AEC environment, one table, with the observation and mask of every decision."""
    from hearts_env import hearts_v0

    env: Any = hearts_v0.env(rules=rules)
    random = np.random.default_rng(0)

    def batch(first: int) -> Work:
        env.reset(options={"deal_id": first})
        decisions, points = 0, 0.0
        for _ in env.agent_iter():
            observation, reward, terminated, truncated, _ = env.last()
            if terminated or truncated:
                points -= reward
                env.step(None)
                continue
            actions = observation["action_mask"].nonzero()[0]
            env.step(int(actions[int(random.random() * len(actions))]))
            decisions += 1
        return Work(1, decisions, 1, round(points))

    return batch


def _arrays(info: Lookup, tables: int, see: Callable[[State], Sets]) -> Batch:
    random = np.random.default_rng(0)

    def batch(first: int) -> Work:
        ids = np.arange(first, first + tables)
        state = State.empty(info, tables)
        deal(info, state, shuffle(info, ids), deal_no=single_deal_no(info, ids))
        decisions = 0
        while active := tables - int(np.count_nonzero(state.over)):
            step(info, state, choose(see(state), random.random(tables)))
            decisions += active
        plain = state.shooter == NO_SEAT
        return Work(tables, decisions, int(plain.sum()), int(state.points[plain].sum()))

    return batch


LAYERS: dict[str, Layer] = {
    "engine": engine_layer,
    "view": view_layer,
    "encode": encode_layer,
    "aec": aec_layer,
}
"""Layers by name; `match:AGENT` is one too for every agent."""
DEFAULT_LAYERS = (*LAYERS, "match:random", "match:rule")


def find_layer(name: str) -> Layer:
    """The layer of that name.  Raises BenchError, or AgentError for the agent of a match."""
    kind, _, agent = name.partition(":")
    if kind == "match" and agent:
        return match_layer(agent)
    if name not in LAYERS:
        raise BenchError(f"unknown layer {name!r:.40}; layers are {', '.join(LAYERS)} and match:AGENT")
    return LAYERS[name]


# -- measuring -------------------------------------------------------------------------------------------------------


def measure(name: str, rules: Rules, sizes: Sequence[int] = (), *, seconds: float = 1.0) -> Iterator[Measured]:
    """Measure one layer at each of these batch sizes, or at the best of TABLES if there are none.

    The executor is the one that is chosen (`hearts_env.executor.using`).
    seconds: how long each of the RUNS runs takes, at least.  Raises BenchError where the points per deal are out
    of range: a broken engine is not timed.
    """
    layer = find_layer(name)
    if name == "aec":
        sizes = ONE_TABLE
    elif not sizes:
        sizes = [max(TABLES, key=lambda tables: _speed(layer(rules, tables), seconds / 4))]
    for tables in sizes:
        if tables < 1:
            raise BenchError(f"tables={tables}: must be a positive whole number")
        batch = layer(rules, tables)
        _run(batch, 0, 0.0)
        runs = [_run(batch, number << 32, seconds) for number in range(1, RUNS + 1)]
        check(rules, [work for work, _ in runs])
        yield Measured(
            layer=name,
            executor=chosen(),
            tables=tables,
            rules=rules.show(),
            num_players=rules.num_players,
            deals_per_s=round(statistics.median(work.deals / elapsed for work, elapsed in runs), 1),
            decisions_per_s=round(statistics.median(work.decisions / elapsed for work, elapsed in runs), 1),
            runs=RUNS,
        )


def check(rules: Rules, works: Sequence[Work]) -> None:
    """Raise BenchError unless decisions and points per deal are what these rules must give."""
    info = lookup(rules)
    deals = sum(work.deals for work in works)
    decisions = sum(work.decisions for work in works) / deals
    fewest = info.num_plays
    most = fewest + info.num_players * info.pass_count + 1
    if not fewest <= decisions <= most:
        raise BenchError(f"{decisions:.2f} decisions a deal: must lie between {fewest} and {most}")
    scored = sum(work.scored for work in works)
    points = sum(work.points for work in works) / max(1, scored)
    dealt = info.num_plays / len(info.deck_cards)
    expected = dealt * sum(int(cards).bit_count() * value for cards, value in info.point_sets)
    # A moon that is not known of is worth up to P times the penalty points, and a small sample may hold some.
    chance = info.num_players * info.penalty_points * (0.02 + 3 / deals)
    bonuses = info.num_players * abs(rules.no_tricks_bonus)
    if not expected - chance - bonuses <= points <= expected + chance:
        raise BenchError(f"{points:.2f} points a deal under {rules.show()}: about {expected:.2f} are right")


def memory(rules: Rules) -> dict[str, Any]:
    """Bytes that one table takes, and MiB that many take with the encoding and the mask of each."""
    info = lookup(rules)
    state = State.empty(info, MANY_TABLES).nbytes // MANY_TABLES
    encoding = layout(info).size
    return {
        "num_players": rules.num_players,
        "state_bytes": state,
        "encoding_bytes": encoding,
        "tables": MANY_TABLES,
        "state_mib": round(state * MANY_TABLES / _MEBIBYTE, 1),
        "state_and_encoding_mib": round((state + encoding + NUM_ACTIONS) * MANY_TABLES / _MEBIBYTE, 1),
    }


def describe(results: Sequence[dict[str, Any]], memories: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The content of the JSON file: results and memory with commit, machine and versions."""
    return {
        "commit": commit(),
        "machine": machine(),
        "versions": versions(),
        "results": list(results),
        "memory": list(memories),
    }


def _speed(batch: Batch, seconds: float) -> float:
    work, elapsed = _run(batch, 0, seconds)
    return work.deals / elapsed


def _run(batch: Batch, first: int, seconds: float) -> tuple[Work, float]:
    """Play batches for at least so long, at least one; what was done, and the seconds."""
    done = Work(0, 0, 0, 0)
    start = time.perf_counter()
    while True:
        work = batch(first + done.deals)
        done = Work(*(a + b for a, b in zip(astuple(done), astuple(work), strict=True)))
        elapsed = time.perf_counter() - start
        if elapsed >= seconds:
            return done, elapsed
