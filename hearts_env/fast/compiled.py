"""The functions of the compiled executor, which replace those of the numpy executor and call the kernels."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from threading import get_ident
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hearts_env import cards
from hearts_env.cards import NUM_CARDS, Bools, Bytes, Ints, Sets, action_numbers
from hearts_env.executor import in_threads, override, provide
from hearts_env.fast import encode as encode_kernels
from hearts_env.fast import jit
from hearts_env.fast import rollout as random_kernels
from hearts_env.fast import step as step_kernels
from hearts_env.fast import view as view_kernels
from hearts_env.fast import worlds as world_kernels
from hearts_env.fast.encode import room, shape, unpacked_encoder
from hearts_env.fast.step import NONE_BAD, SOME_END, game, some_tables, tables
from hearts_env.fast.view import Views, blank, views
from hearts_env.game import engine, random_play, worlds
from hearts_env.game import view as game_view
from hearts_env.game.compiled_rules import CompiledRules
from hearts_env.game.random_play import check_seats, salted
from hearts_env.game.state import Rows, State
from hearts_env.game.view import View, seats_of_plays
from hearts_env.observe import encode as observe_encode
from hearts_env.observe.encode import WORD_BITS, Layout, write_order


def _backend() -> jit.Backend:
    """Numba, or for a debugger Python.  Raises ImportError where numba is not there, or can do nothing."""
    numba = importlib.import_module("numba")
    if numba.config.DISABLE_JIT:
        from hearts_env.fast import uncompiled

        return uncompiled
    try:
        from hearts_env.fast import compiler
    except Exception as error:  # whatever an unknown numba does
        raise ImportError(f"numba {numba.__version__} does not compile kernels: {error}") from error
    return compiler


jit.compile_by(_backend)
provide(jit.backend)

FEWEST, FEWEST_STEPPED, FEWEST_SEEN = 512, 4096, 16384
"""Fewer tables are not worth a thread: to deal, to step, and to look, which is held up by memory."""


@override(cards.choose)
def choose(sets: Sets, uniform: NDArray[np.float64]) -> Ints:
    """A member of each set at random, int64, the shape of `sets`; compiled form of `cards.choose`.

    Raises ValueError for `uniform` of another shape.
    """
    chosen = np.empty(sets.shape, np.int64)
    if uniform.shape != sets.shape:
        raise ValueError(f"uniform has shape {uniform.shape}: must be one for each set, {sets.shape}")
    flat = np.ascontiguousarray(sets, np.int64).reshape(-1), np.ascontiguousarray(uniform, np.float64).reshape(-1)
    random_kernels.choose(*flat, chosen.reshape(-1))
    return chosen


@override(cards.members)
def members(sets: Sets, size: int = NUM_CARDS) -> Bytes:
    """The sets spelled out, uint8 [..., size] of 0 and 1; compiled form of `cards.members`."""
    sets = np.ascontiguousarray(sets, np.int64)
    out = (np.empty if size <= WORD_BITS else np.zeros)((*sets.shape, size), np.uint8)
    encode_kernels.members(sets.reshape(-1), size, out.reshape(-1))
    return out


@override(engine.shuffle)
def shuffle(rules: CompiledRules, deal_ids: ArrayLike) -> Sets:
    """The hands of each deal id, int64 [N, P]; compiled form of `engine.shuffle`."""
    ids = np.asarray(deal_ids, np.int64).astype(np.uint64)
    hands = np.empty((len(ids), rules.num_players), np.int64)

    def some(rows: slice) -> None:
        space = np.empty((2, random_kernels.ROOM), np.uint64)
        random_kernels.shuffle(rules.deck, rules.hand_size, ids[rows], hands[rows], space)

    in_threads(len(ids), some, FEWEST)
    return hands


@override(engine.begin_deal)
def begin_deal(rules: CompiledRules, state: State, rows: Rows, hands: Sets) -> None:
    """Begin the deal of the number that stands in `state` at some tables; compiled form of `engine.begin_deal`.

    Changes `state`.  Raises IndexError for a row that is not there.
    """
    numbers = np.arange(len(state))[rows]
    dealt = np.ascontiguousarray(np.broadcast_to(hands, (len(numbers), rules.num_players)), np.int64)

    def some(part: slice) -> None:
        step_kernels.begin_deal(game(rules), tables(state), numbers[part], dealt[part])

    in_threads(len(numbers), some, FEWEST_STEPPED)


@override(engine.legal)
def legal(rules: CompiledRules, state: State) -> Sets:
    """The set of legal actions of the seat to act at each table, int64 [N]; compiled form of `engine.legal`."""
    sets = np.empty(len(state), np.int64)
    step_kernels.legal(game(rules), tables(state), sets)
    return sets


@override(engine.step)
def step(rules: CompiledRules, state: State, actions: Ints) -> None:
    """Carry out one legal action at every table whose deal is not over; compiled form of `engine.step`.

    Changes `state`.  Raises IndexError for an action that is no action of the phase, ActionTypeError unless there is a
    whole number for each table.
    """
    size = len(state)
    actions = np.ascontiguousarray(action_numbers(actions, size))

    def some(rows: slice) -> int:
        part = some_tables(state, rows)
        bad = step_kernels.step(game(rules), part, actions[rows])
        if bad == SOME_END:
            step_kernels.finish(game(rules), part)
        return bad if bad < 0 else rows.start + bad

    bad = max(in_threads(size, some, FEWEST_STEPPED))
    if bad >= 0:
        raise IndexError(f"action {actions[bad]} at table {bad} is out of range in phase {state.phase[bad]}")


@override(random_play.play_random)
def play_random(rules: CompiledRules, state: State, seats: Bools | None = None, seed: int = 0) -> int:
    """Play random legal actions while a seat of `seats` is to act; compiled form of `random_play.play_random`.

    Changes `state`.  Returns how many actions were played.  Raises ValueError for seats of another shape.
    """
    check_seats(rules, state, seats)
    chosen = np.ones((len(state), rules.num_players), np.bool_) if seats is None else np.ascontiguousarray(seats)
    salt = salted(seed)[0]

    def some(rows: slice) -> int:
        part = some_tables(state, rows)
        made = 0
        while True:
            made += random_kernels.play_random(game(rules), part, chosen[rows], salt)
            if not step_kernels.finish(game(rules), part):
                return made

    return sum(in_threads(len(state), some))


@override(game_view.view)
def view(rules: CompiledRules, state: State, seats: ArrayLike | None = None) -> View:
    """The view of one seat at each table; compiled form of `view.view`.

    Raises IndexError for a seat that is not at the table, ValueError for seats of another shape.
    """
    seen = blank(rules, len(state))
    if seats is not None:
        seen.seat[...] = _checked_seats(state, seats)

    def some(rows: slice) -> int:
        part = cast(View, Views._make(array[rows] for array in cast(Iterable[Any], seen)))
        bad = view_kernels.view(game(rules), some_tables(state, rows), seats is None, part)
        return bad if bad < 0 else rows.start + bad

    bad = max(in_threads(len(state), some, FEWEST_SEEN))
    if bad != NONE_BAD:
        raise IndexError(f"seat {seen.seat[bad]} at table {bad}: seats are 0 to {rules.num_players - 1}")
    seen.plays[...], seen.leaders[...] = state.plays, state.leaders
    return View(rules, *cast(Iterable[Any], seen))


def _checked_seats(state: State, seats: ArrayLike) -> Ints:
    seat = np.ascontiguousarray(seats, np.int64)
    if seat.shape != (len(state),):
        raise ValueError(f"seats have shape {seat.shape}: must be one for each table, ({len(state)},)")
    return seat


@override(observe_encode.encode_packed)
def encode_packed(layout: Layout, view: View) -> Sets:
    """The views packed eight bytes to one, int64 [N, layout.words]; compiled form of `encode.encode_packed`."""
    made = shape(view.rules, layout.seats)
    packed = np.empty((len(view), made.words), np.int64)
    encode_kernels.encode_packed(game(view.rules), made, views(view), packed)
    return packed


@override(observe_encode.encode)
def encode(layout: Layout, view: View, out: Bytes | None = None) -> Bytes:
    """The views as uint8 [N, F], F = `layout.size`; compiled form of `encode.encode`.

    Raises ValueError for a buffer of another shape.
    """
    rows = _buffer(layout, len(view), out)
    made = shape(view.rules, layout.seats)
    encode_kernels.encode(game(view.rules), made, views(view), room(made), rows)
    if layout.order:
        write_order(view.plays, view.players, rows[:, made.bits :])
    return _handed_over(rows, out)


@override(observe_encode.encode_tables)
def encode_tables(
    layout: Layout, rules: CompiledRules, state: State, seats: ArrayLike | None = None, out: Bytes | None = None
) -> Bytes:
    """The views of one seat at each table as uint8 [N, F]; compiled form of `encode.encode_tables`.

    Raises IndexError and ValueError as `view` and `encode` do.
    """
    rows = _buffer(layout, len(state), out)
    seat = np.empty(0, np.int64) if seats is None else _checked_seats(state, seats)

    def some(part: slice) -> int:
        memory, _ = unpacked_encoder(rules, layout.seats, get_ident())
        bad = encode_kernels.encode_tables(memory, some_tables(state, part), seats is None, seat[part], rows[part])
        return bad if bad < 0 else part.start + bad

    bad = max(in_threads(len(state), some, FEWEST_SEEN))
    if bad != NONE_BAD:
        raise IndexError(f"seat {seat[bad]} at table {bad}: seats are 0 to {rules.num_players - 1}")
    if layout.order:
        viewers = np.maximum(state.turn, 0).astype(np.int64) if seats is None else seat
        players = seats_of_plays(rules, state.plays, state.leaders, viewers)
        write_order(state.plays, players, rows[:, layout.bits :])
    return _handed_over(rows, out)


def _buffer(layout: Layout, views: int, out: Bytes | None) -> Bytes:
    """The memory for kernels to write in: `out` where they can."""
    size = (views, layout.size)
    if out is not None and out.shape != size:
        raise ValueError(f"out has shape {out.shape}: must be {size}")
    direct = out is not None and out.dtype == np.uint8 and out.flags.c_contiguous
    return out if out is not None and direct else np.empty(size, np.uint8)


def _handed_over(rows: Bytes, out: Bytes | None) -> Bytes:
    """The rows where the caller wants them."""
    if out is None or rows is out:
        return rows
    out[...] = rows
    return out


@override(worlds.spread)
def spread(allowed: Sets, room: Ints, seed: NDArray[np.uint64]) -> tuple[Sets, Bools]:
    """Deal the free cards of M worlds to the places that may hold them; compiled form of `worlds.spread`.

    Returns the sets, int64 [M, places], and which worlds fit, bool [M].
    """
    hands, fits = np.zeros(room.shape, np.int64), np.empty(len(room), np.bool_)
    left, order = np.empty(room.shape[1], np.int64), np.empty(NUM_CARDS, np.int64)
    world_kernels.spread(allowed, room, seed, hands, fits, left, order)
    return hands, fits
