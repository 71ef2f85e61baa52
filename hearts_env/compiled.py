"""The compiled executor: functions of the same names as those that it replaces, with the same results."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hearts_env import kernels, kernels_view
from hearts_env.cards import Bytes, Ints, Sets
from hearts_env.encode import Layout, write_order
from hearts_env.kernels import NONE_BAD, ROOM, game, tables
from hearts_env.kernels_view import shape, views
from hearts_env.lookup import Lookup
from hearts_env.state import Rows, State
from hearts_env.view import View


def choose(sets: Sets, uniform: NDArray[np.float64]) -> Ints:
    """See `cards.choose`."""
    chosen = np.empty(sets.shape, np.int64)
    if uniform.shape != sets.shape:
        raise ValueError(f"uniform has shape {uniform.shape}: must be one for each set, {sets.shape}")
    flat = np.ascontiguousarray(sets, np.int64).reshape(-1), np.ascontiguousarray(uniform, np.float64).reshape(-1)
    kernels.choose(*flat, chosen.reshape(-1))
    return chosen


def shuffle(lookup: Lookup, deal_ids: ArrayLike) -> Sets:
    """See `engine.shuffle`."""
    ids = np.asarray(deal_ids, np.int64).astype(np.uint64)
    hands = np.empty((len(ids), lookup.num_players), np.int64)
    kernels.shuffle(game(lookup), ids, hands, np.empty((3, ROOM), np.uint64))
    return hands


def begin_deal(lookup: Lookup, state: State, rows: Rows, hands: Sets) -> None:
    """See `engine.begin_deal`.  Raises IndexError for a row that is not there."""
    numbers = np.arange(len(state))[rows]
    shape = (len(numbers), lookup.num_players)
    kernels.begin_deal(
        game(lookup), tables(state), numbers, np.ascontiguousarray(np.broadcast_to(hands, shape), np.int64)
    )


def legal(lookup: Lookup, state: State) -> Sets:
    """See `engine.legal`."""
    sets = np.empty(len(state), np.int64)
    kernels.legal(game(lookup), tables(state), sets)
    return sets


def step(lookup: Lookup, state: State, actions: Ints) -> None:
    """See `engine.step`.  Raises IndexError for an action that is no action of the phase."""
    size = len(state)
    if actions.shape != (size,):
        raise ValueError(f"actions have shape {actions.shape}: must be one for each table, ({size},)")
    actions = np.ascontiguousarray(actions, np.int64)
    bad = kernels.step(game(lookup), tables(state), actions)
    if bad != NONE_BAD:
        raise IndexError(f"action {actions[bad]} at table {bad} is out of range in phase {state.phase[bad]}")


def view(lookup: Lookup, state: State, seats: ArrayLike | None = None) -> View:
    """See `view.view`.  Raises IndexError for a seat that is not at the table."""
    size, by_seat = len(state), (len(state), lookup.num_players)
    seat = np.empty(size, np.int64) if seats is None else np.array(seats, np.int64)
    if seat.shape != (size,):
        raise ValueError(f"seats have shape {seat.shape}: must be one for each table, ({size},)")
    seen = View(
        lookup=lookup,
        seat=seat,
        hand=np.empty(size, np.int64),
        legal=np.empty(size, np.int64),
        picks=np.empty(size, np.int64),
        got=np.empty(size, np.int64),
        table=state.table.copy(),
        played=np.empty(by_seat, np.int64),
        taken=np.empty(by_seat, np.int64),
        voids=np.empty(by_seat, np.int64),
        points=np.empty(by_seat, np.int64),
        scores=np.empty(by_seat, np.int64),
        phase=state.phase.copy(),
        turn=np.empty(size, np.int64),
        offset=np.empty(size, np.int64),
        count=np.empty(size, np.int64),
        led=state.led.copy(),
        best=state.best.copy(),
        best_seat=np.empty(size, np.int64),
        broken=state.broken.copy(),
        shooter=np.empty(size, np.int64),
        deal_no=np.empty(size, np.int64),
        plays=state.plays.copy(),
        leaders=state.leaders.copy(),
        table_key=state.key.copy(),
    )
    bad = kernels_view.view(game(lookup), tables(state), seats is None, views(seen))
    if bad != NONE_BAD:
        raise IndexError(f"seat {seat[bad]} at table {bad}: seats are 0 to {lookup.num_players - 1}")
    return seen


def encode_packed(layout: Layout, view: View) -> Sets:
    """See `encode.encode_packed`."""
    made = shape(view.lookup, layout.seats)
    packed = np.empty((len(view), made.words), np.int64)
    kernels_view.encode_packed(game(view.lookup), made, views(view), np.empty(made.words, np.int64), packed)
    return packed


def encode(layout: Layout, view: View, out: Bytes | None = None) -> Bytes:
    """See `encode.encode`.  Raises ValueError for a buffer of another shape."""
    size = (len(view), layout.size)
    if out is not None and out.shape != size:
        raise ValueError(f"out has shape {out.shape}: must be {size}")
    direct = out is not None and out.dtype == np.uint8 and out.flags.c_contiguous
    rows = out if out is not None and direct else np.empty(size, np.uint8)
    made = shape(view.lookup, layout.seats)
    kernels_view.encode(game(view.lookup), made, views(view), np.empty(made.words, np.int64), rows)
    if layout.order:
        write_order(view, rows[:, made.bits :])
    if out is None:
        return rows
    if rows is not out:
        out[...] = rows
    return out
