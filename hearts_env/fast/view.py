"""The loop of the compiled executor that shows tables as a seat sees them."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import fields
from operator import attrgetter
from typing import Any, cast

import numpy as np

from hearts_env.fast.jit import Number, at, count, inner, kernel, wide
from hearts_env.fast.step import NONE_BAD, Game, legal_at
from hearts_env.game.compiled_rules import CompiledRules
from hearts_env.game.rulebook import after_pass, giver, pass_offset, relative, seat_after, voids_of
from hearts_env.game.state import DEAL_OVER, State
from hearts_env.game.view import View

_ARRAYS = [field.name for field in fields(View) if field.name != "rules"]
Views: Any = namedtuple("Views", _ARRAYS)  # type: ignore[misc]
_arrays_of = attrgetter(*_ARRAYS)
_SMALL = dict.fromkeys(("phase", "led", "best", "plays", "leaders"), np.int8) | {"broken": np.bool_}
_DTYPES = [_SMALL.get(name, np.int64) for name in _ARRAYS]


def views(view: View) -> View:
    """The arrays of a View as kernels take them: seat by seat in a row, where numpy's lie the other way round."""
    return cast(View, Views._make(map(np.ascontiguousarray, _arrays_of(view))))


def blank(rules: CompiledRules, size: int) -> View:
    """The arrays of `size` views as kernels take them, to be filled."""
    seats = dict.fromkeys(("played", "taken", "voids", "points", "scores"), rules.num_players)
    columns = {**seats, "plays": rules.num_plays, "leaders": rules.hand_size}
    shapes = ((size, columns[name]) if name in columns else (size,) for name in _ARRAYS)
    return cast(View, Views._make(np.empty(*of) for of in zip(shapes, _DTYPES, strict=True)))


# -- view --------------------------------------------------------------------------------------------------------------


@kernel
def view(game: Game, tables: State, of_actor: bool, views: View) -> int:
    """Fill `views`, all but the plays and their leaders.

    of_actor: the seats are those that act.  Else `views.seat` holds them.  Returns a row whose seat is out of range,
    at which it stops, or NONE_BAD.
    """
    for n in range(len(tables.phase)):
        seat = max(tables.turn[n], 0) if of_actor else views.seat[n]
        if not 0 <= seat < game.num_players:
            return n
        see(game, tables, n, seat, views, n)
    return NONE_BAD


@inner
def see(game: Game, tables: State, n: int, me: Number, views: View, k: int) -> None:
    """Fill view number k with what seat `me` knows of table n."""
    seats, phase, turn = game.num_players, wide(tables.phase[n]), wide(tables.turn[n])
    offset = pass_offset(game.pass_offsets, tables.deal_no[n])
    over = phase >= DEAL_OVER
    views.seat[k] = me
    views.hand[k] = tables.hands[n, at(me)]
    views.legal[k] = legal_at(game, tables, n) if turn == me else 0
    views.picks[k] = tables.picks[n, at(me)]
    views.got[k] = tables.picks[n, at(giver(seats, me, offset))] & after_pass(phase, offset)
    views.table[k] = tables.table[n]
    for column in range(seats):
        seat = seat_after(seats, me, column)
        there = at(seat)
        taken = tables.taken[n, there]
        views.played[k, at(column)] = tables.start[n, there] & ~tables.hands[n, there]
        views.taken[k, at(column)] = taken
        views.voids[k, at(column)] = voids_of(tables.voids[n], seat)
        views.points[k, at(column)] = tables.points[n, there] if over else card_points_of(game, taken)
        views.scores[k, at(column)] = tables.scores[n, there]
    views.phase[k] = phase
    views.turn[k] = relative(seats, turn, me)
    views.offset[k] = offset
    views.count[k] = tables.count[n]
    views.led[k] = tables.led[n]
    views.best[k] = tables.best[n]
    views.best_seat[k] = relative(seats, wide(tables.best_seat[n]), me)
    views.broken[k] = tables.broken[n]
    views.shooter[k] = relative(seats, wide(tables.shooter[n]), me)
    views.deal_no[k] = tables.deal_no[n]
    views.table_key[k] = tables.key[n]


@inner
def card_points_of(game: Game, taken: Number) -> Number:
    """Points of the cards in a set."""
    points = 0
    for k in range(len(game.point_sets)):
        points += count(taken & game.point_sets[k]) * game.point_values[k]
    return points
