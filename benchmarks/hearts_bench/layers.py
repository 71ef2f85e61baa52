"""How many deals a second each layer of the library plays, on one core."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hearts_arena.provenance import commit, machine, versions
from hearts_bench.env_layers import (
    aec_layer,
    parallel_layer,
    sb3_layer,
    sb3_tutorial_layer,
    single_layer,
    torchrl_layer,
    torchrl_wrapper_layer,
    vector_layer,
)
from hearts_bench.timing import Batch, Work
from hearts_env.cards import NO_SEAT, NUM_ACTIONS, Sets, choose
from hearts_env.executor import executed, override
from hearts_env.game.compiled_rules import CompiledRules, compiled_rules
from hearts_env.game.engine import deal, legal, shuffle, single_deal_no, step
from hearts_env.game.random_play import play_random
from hearts_env.game.rules import Rules
from hearts_env.game.state import State
from hearts_env.game.view import view
from hearts_env.match.play_match import play
from hearts_env.observe.encode import action_mask, encode_tables, layout

MANY_TABLES = 65_536
"""Tables for which the memory is told."""
_MEBIBYTE = 1 << 20
_SPREAD = 9
"""Points of one seat in a deal of random play: their standard deviation, at most."""


class BenchError(ValueError):
    """Something that cannot be measured, or whose results cannot be right."""


Layer = Callable[[Rules, int], Batch]
"""Gets ready to play so many tables at once by these rules."""


# -- the layers ------------------------------------------------------------------------------------------------------


def engine_layer(rules: Rules, tables: int) -> Batch:
    """Shuffle, deal, and random play to the end: legal actions, a random choice, step.

    The compiled executor does so in one call, `playout.play_random`; the numpy one by turns, with numpy's generator.
    """
    return _random_deals(compiled_rules(rules), tables)


@executed
def _random_deals(rules: CompiledRules, tables: int) -> Batch:
    return _arrays(rules, tables, lambda state: legal(rules, state))


@override(_random_deals)
def _random_deals_in_one_call(rules: CompiledRules, tables: int) -> Batch:
    state = State.empty(rules, tables)

    def batch(first: int) -> Work:
        ids = np.arange(first, first + tables)
        deal(rules, state, shuffle(rules, ids), deal_no=single_deal_no(rules, ids), key=ids)
        return _work(state, play_random(rules, state))

    return batch


def view_layer(rules: Rules, tables: int) -> Batch:
    """Shuffle, deal, and at every decision a View, a random choice, a step."""
    compiled = compiled_rules(rules)
    return _arrays(compiled, tables, lambda state: view(compiled, state).legal)


def encode_layer(rules: Rules, tables: int) -> Batch:
    """The same, and an encoding and a mask at every decision."""
    compiled = compiled_rules(rules)
    shape = layout(compiled)
    rows = np.empty((tables, shape.size), np.uint8)

    def seen(state: State) -> Sets:
        actions = legal(compiled, state)
        encode_tables(shape, compiled, state, out=rows)
        action_mask(actions)
        return actions

    return _arrays(compiled, tables, seen)


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


def _arrays(rules: CompiledRules, tables: int, see: Callable[[State], Sets]) -> Batch:
    random = np.random.default_rng(0)

    def batch(first: int) -> Work:
        ids = np.arange(first, first + tables)
        state = State.empty(rules, tables)
        deal(rules, state, shuffle(rules, ids), deal_no=single_deal_no(rules, ids))
        decisions = 0
        while active := tables - int(np.count_nonzero(state.over)):
            step(rules, state, choose(see(state), random.random(tables)))
            decisions += active
        return _work(state, decisions)

    return batch


def _work(state: State, decisions: int) -> Work:
    plain = state.shooter == NO_SEAT
    return Work(len(state), decisions, int(plain.sum()), int(state.points[plain].sum()))


LAYERS: dict[str, Layer] = {
    "engine": engine_layer,
    "view": view_layer,
    "encode": encode_layer,
    "aec": aec_layer,
    "parallel": parallel_layer,
    "single": single_layer,
    "vector": vector_layer,
    "sb3": sb3_layer,
    "sb3-tutorial": sb3_tutorial_layer,
    "torchrl": torchrl_layer,
    "torchrl-wrapper": torchrl_wrapper_layer,
}
"""Layers by name; `match:AGENT` is one too for every agent."""
ONE_TABLE = {"aec", "parallel", "single", "sb3-tutorial", "torchrl-wrapper"}
"""Layers that play one table at a time."""
LIBRARIES = ("sb3", "sb3-tutorial", "torchrl", "torchrl-wrapper")
"""Layers that need another library each; benchmarks/overhead.py measures those that are installed."""
DEFAULT_LAYERS = (*(name for name in LAYERS if name not in LIBRARIES), "match:random", "match:rule")


def find_layer(name: str) -> Layer:
    """The layer of that name.  Raises BenchError, or AgentError for the agent of a match."""
    kind, _, agent = name.partition(":")
    if kind == "match" and agent:
        return match_layer(agent)
    if name not in LAYERS:
        raise BenchError(f"unknown layer {name!r:.40}; layers are {', '.join(LAYERS)} and match:AGENT")
    return LAYERS[name]


# -- what is right -----------------------------------------------------------------------------------------------------


def check(rules: Rules, works: Sequence[Work]) -> None:
    """Raise BenchError unless decisions and points per deal are what these rules must give."""
    compiled = compiled_rules(rules)
    deals = sum(work.deals for work in works)
    if deals == 0:
        raise BenchError("no deal was finished")
    share = (works[0].seats or compiled.num_players) / compiled.num_players
    decisions = sum(work.decisions for work in works) / deals
    fewest = compiled.num_plays * share
    most = fewest + compiled.num_players * compiled.pass_count * share + 1
    # Environments that deal anew by themselves are cut off in the middle of deals.
    begun = 0.0 if share == 1 else 0.1 * most
    if not fewest - begun <= decisions <= most + begun:
        raise BenchError(f"{decisions:.2f} decisions a deal: must lie between {fewest:g} and {most:g}")
    scored = sum(work.scored for work in works)
    points = sum(work.points for work in works) / max(1, scored)
    dealt = compiled.num_plays / len(compiled.deck_cards)
    expected = share * dealt * sum(int(cards).bit_count() * value for cards, value in compiled.point_sets)
    # A moon that is not known of is worth up to P times the penalty points, and a small sample may hold some.
    chance = share * compiled.num_players * compiled.penalty_points * (0.02 + 3 / deals)
    if share < 1:
        chance += 5 * _SPREAD / math.sqrt(deals)
    bonuses = compiled.num_players * abs(rules.no_tricks_bonus)
    if not expected - chance - bonuses <= points <= expected + chance:
        raise BenchError(f"{points:.2f} points a deal under {rules.show()}: about {expected:.2f} are right")


def memory(rules: Rules) -> dict[str, Any]:
    """Bytes that one table takes, and MiB that many take with the encoding and the mask of each."""
    compiled = compiled_rules(rules)
    state = State.empty(compiled, MANY_TABLES).nbytes // MANY_TABLES
    encoding = layout(compiled).size
    return {
        "num_players": rules.num_players,
        "state_bytes": state,
        "encoding_bytes": encoding,
        "tables": MANY_TABLES,
        "state_mib": round(state * MANY_TABLES / _MEBIBYTE, 1),
        "state_and_encoding_mib": round((state + encoding + NUM_ACTIONS) * MANY_TABLES / _MEBIBYTE, 1),
    }


def origin() -> dict[str, Any]:
    """Commit, machine and versions, to be asked before anything is measured."""
    return {"commit": commit(), "machine": machine(), "versions": versions()}


def describe(origin: dict[str, Any], results: Sequence[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """The content of a JSON file: what was measured, and its origin.

    The load average is told from before, when it is that of others, and from after, when it holds the benchmark itself.
    """
    after = machine()["load_average"]
    return {**origin, "machine": {**origin["machine"], "load_average_after": after}, "results": list(results), **more}
