"""Random play to the end of the deal at all tables in one call."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hearts_env.cards import Bools, choose
from hearts_env.executor import executed
from hearts_env.game.compiled_rules import CompiledRules
from hearts_env.game.engine import legal, mix, step
from hearts_env.game.rulebook import Column
from hearts_env.game.state import State

_PHASE_SHIFT, _COUNT_SHIFT = np.uint64(16), np.uint64(8)
FRACTION_BITS = 47
"""A float64 has room for as many times the size of any set of actions, so that nothing is rounded."""
_FRACTION_SHIFT = np.uint64(64 - FRACTION_BITS)


def decision_key(table: Column, phase: Column, count: Column, seat: Column) -> Column:
    """A random number for a decision: a pure function of its table, phase, count and seat.

    All are uint64, arrays or single numbers.  table: `mix` of the table's key.
    """
    return mix(table + ((phase << _PHASE_SHIFT) | (count << _COUNT_SHIFT) | seat))


def unit(key: Column, salt: Column) -> Column:
    """A number in [0, 1) from a decision's key, float64; another one for another salt.  salt: `mix` of a uint64."""
    return fraction(key, salt) * 2.0**-FRACTION_BITS


def fraction(key: Column, salt: Column) -> Column:
    """A random whole number of FRACTION_BITS bits from a decision's key, uint64.  salt: `mix` of a uint64."""
    return mix(key ^ salt) >> _FRACTION_SHIFT


def salted(seed: int) -> NDArray[np.uint64]:
    """The salt for `unit` that belongs to a seed, uint64 [1]."""
    return mix(np.array([seed], np.int64).view(np.uint64))


@executed
def play_random(rules: CompiledRules, state: State, seats: Bools | None = None, seed: int = 0) -> int:
    """Play random legal actions at every table for as long as a seat of `seats` is to act.  Changes `state`.

    seats: bool [N, P]; None for all, which plays every deal to its end, moon choice and scoring included.  Returns
    how many actions were played.  They are those of the agent `random:SEED`, and depend on nothing but the seed, the
    key of the table and the decision: not on the other tables, the executor, or the number of threads.  Raises
    ValueError for seats of another shape.
    """
    check_seats(rules, state, seats)
    table, salt = mix(state.key.view(np.uint64)), salted(seed)
    made = 0
    while len(rows := _to_act(state, seats)):
        everywhere = len(rows) == len(state)
        part = state if everywhere else state.take(rows)
        numbers = (array.astype(np.uint64) for array in (part.phase, part.count, part.turn))
        chance = unit(decision_key(table if everywhere else table[rows], *numbers), salt)
        step(rules, part, choose(legal(rules, part), chance))
        if not everywhere:
            state.put(rows, part)
        made += len(rows)
    return made


def check_seats(rules: CompiledRules, state: State, seats: Bools | None) -> None:
    """Raise ValueError unless `seats` is None or bool [N, P]."""
    shape = (len(state), rules.num_players)
    if seats is not None and (seats.shape != shape or seats.dtype != np.bool_):
        raise ValueError(f"seats are {seats.dtype} {seats.shape}: must be bool, one for each seat of a table, {shape}")


def _to_act(state: State, seats: Bools | None) -> NDArray[np.intp]:
    waits = ~state.over
    if seats is not None:
        waits &= seats[np.arange(len(state)), state.turn]
    return np.flatnonzero(waits)
