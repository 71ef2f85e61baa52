"""The loops of the compiled executor that show a table: view, encode."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import fields
from functools import lru_cache
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np

from hearts_env.cards import BLACK_MARIA, NO_CARD, NO_SEAT, NUM_SUITS, Bytes, Sets, bit, count
from hearts_env.encode import (
    MAX_PICKS,
    ONE_HOT,
    POINT_BITS,
    POINT_STEPS,
    TRICK_BITS,
    WORD_BITS,
    layout,
    rule_bits,
    score_table,
)
from hearts_env.kernel import Number, inner, kernel
from hearts_env.kernels import NONE_BAD, Game, legal_at, offset_of
from hearts_env.lookup import Lookup
from hearts_env.state import DEAL_OVER, MOON, PASS, PLAY, State
from hearts_env.view import ALL_SUITS, View

_ARRAYS = [field.name for field in fields(View) if field.name != "lookup"]
Views: Any = namedtuple("Views", _ARRAYS)  # type: ignore[misc]
_arrays_of = attrgetter(*_ARRAYS)


def views(view: View) -> View:
    """The arrays of a View as kernels take them: seat by seat in a row, where numpy's lie the other way round."""
    return cast(View, Views._make(map(np.ascontiguousarray, _arrays_of(view))))


# -- view --------------------------------------------------------------------------------------------------------------


@kernel
def view(game: Game, tables: State, of_actor: bool, views: View) -> int:
    """Fill what `views` does not share with a table as it is.

    of_actor: the seats are those that act.  Else `views.seat` holds them.  Returns a row whose seat is out of range,
    at which it stops, or NONE_BAD.
    """
    seats = game.num_players
    for n in range(len(tables.phase)):
        phase, turn = tables.phase[n], tables.turn[n]
        if of_actor:
            views.seat[n] = max(turn, 0)
        me = views.seat[n]
        if not 0 <= me < seats:
            return n
        offset = offset_of(game, tables.deal_no[n])
        over = phase >= DEAL_OVER
        acts = turn == me or of_actor
        views.hand[n] = tables.hands[n, me]
        views.legal[n] = legal_at(game, tables, n) if acts else 0
        views.picks[n] = tables.picks[n, me]
        views.got[n] = 0 if phase == PASS or offset == 0 else tables.picks[n, (me - offset) % seats]
        for column in range(seats):
            seat = me + column
            if seat >= seats:
                seat -= seats
            taken = tables.taken[n, seat]
            views.played[n, column] = tables.start[n, seat] & ~tables.hands[n, seat]
            views.taken[n, column] = taken
            views.voids[n, column] = tables.voids[n] >> NUM_SUITS * seat & ALL_SUITS
            views.points[n, column] = tables.points[n, seat] if over else card_points_of(game, taken)
            views.scores[n, column] = tables.scores[n, seat]
        views.turn[n] = NO_SEAT if over else _relative(game, turn, me)
        views.offset[n] = offset
        views.count[n] = tables.count[n]
        views.best_seat[n] = _relative(game, tables.best_seat[n], me)
        views.shooter[n] = _relative(game, tables.shooter[n], me)
        views.deal_no[n] = tables.deal_no[n]
    return NONE_BAD


@inner
def card_points_of(game: Game, taken: Number) -> Number:
    """Points of the cards in a set."""
    points = 0
    for k in range(len(game.point_sets)):
        points += count(taken & game.point_sets[k]) * game.point_values[k]
    return points


@inner
def _relative(game: Game, seat: Number, me: Number) -> Number:
    return NO_SEAT if seat < 0 else (seat - me) % game.num_players


Pen: TypeAlias = tuple[Number, Number, Number]


# -- encode ------------------------------------------------------------------------------------------------------------


class Sizes(NamedTuple):
    """Bits of each block of the layout, in its order; of one seat in a block about seats."""

    hand: int
    out: int
    picks: int
    got: int
    kept: int
    trick: int
    best: int
    played: int
    legal: int
    phase: int
    pick_no: int
    trick_no: int
    position: int
    led: int
    winning: int
    offset: int
    voids: int
    points: int
    queen: int
    bonus: int
    scores: int
    broken: int
    rules: int


class Shape(NamedTuple):
    """A layout as kernels take it."""

    size: Sizes
    absent: int
    """Columns of the seat blocks for seats that are not there."""
    words: int
    bits: int
    rule_bits: int
    score_bits: Sets  # int64 [target + 1]


@lru_cache(maxsize=1024)
def shape(lookup: Lookup, seats: int) -> Shape:
    """The Shape of the layouts with so many columns under these rules."""
    made = layout(lookup, pad=seats != lookup.num_players)
    assert tuple(block.name for block in made) == Sizes._fields, "the writer goes through the blocks in their order"
    return Shape(
        size=Sizes(*(block.per_seat or block.size for block in made)),
        absent=seats - lookup.num_players,
        words=made.words,
        bits=made.bits,
        rule_bits=rule_bits(lookup),
        score_bits=score_table(lookup.rules.target),
    )


@kernel
def encode_packed(game: Game, shape: Shape, views: View, words: Sets, packed: Sets) -> None:
    """Fill `packed`, int64 [N, words].  words: int64 [words] to work in."""
    for n in range(len(packed)):
        _write(game, shape, views, n, words)
        for word in range(shape.words):
            packed[n, word] = words[word]


@kernel
def encode(game: Game, shape: Shape, views: View, words: Sets, out: Bytes) -> None:
    """Fill the first `shape.bits` columns of `out`, uint8 [N, F].  words: int64 [words] to work in."""
    whole = shape.bits // 8
    for n in range(len(out)):
        _write(game, shape, views, n, words)
        row = out[n]
        for place in range(whole):
            byte = words[place >> 3] >> ((place & 7) * 8) & 255
            for i in range(8):
                row[place * 8 + i] = _SPREAD[byte, i]
        for place in range(whole * 8, shape.bits):
            row[place] = words[place >> 6] >> (place & 63) & 1


_SPREAD = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
"""Each byte as eight."""


@inner
def _write(game: Game, shape: Shape, views: View, n: int, words: Sets) -> None:
    """The packed encoding of view n."""
    size, seats, phase = shape.size, game.num_players, views.phase[n]
    playing = phase == PLAY
    pen = _write_cards(game, shape, views, n, words)
    pen = _put(words, pen, views.legal[n], size.legal)
    pen = _put(words, pen, ONE_HOT[phase if phase <= MOON else -1], size.phase)
    picked: Number = min(count(views.picks[n]), MAX_PICKS - 1)
    pen = _put(words, pen, ONE_HOT[picked if phase == PASS else -1], size.pick_no)
    pen = _put(words, pen, TRICK_BITS[0 if phase == PASS else views.count[n] // seats], size.trick_no)
    pen = _put(words, pen, ONE_HOT[count(views.table[n]) if playing else -1], size.position)
    pen = _put(words, pen, ONE_HOT[views.led[n]], size.led)
    pen = _put(words, pen, ONE_HOT[views.best_seat[n]], (seats + shape.absent) * size.winning)
    pen = _put(words, pen, ONE_HOT[views.offset[n]], size.offset)
    pen = _write_seats(game, shape, views, n, words, pen)
    pen = _put(words, pen, np.int64(views.broken[n]), size.broken)
    pen = _put(words, pen, shape.rule_bits, size.rules)
    if pen[1] > 0:
        _put(words, pen, 0, WORD_BITS - pen[1])


@inner
def _write_cards(game: Game, shape: Shape, views: View, n: int, words: Sets) -> Pen:
    """The blocks of cards, up to those played."""
    size, offset = shape.size, views.offset[n]
    seen = views.hand[n]
    for seat in range(game.num_players):
        seen |= views.played[n, seat]
    kept = views.picks[n] & ~views.played[n, offset] if views.phase[n] != PASS and offset != 0 else 0
    pen = _put(words, (0, 0, np.int64(0)), views.hand[n], size.hand)
    pen = _put(words, pen, game.deck & ~seen, size.out)
    pen = _put(words, pen, views.picks[n], size.picks)
    pen = _put(words, pen, views.got[n], size.got)
    pen = _put(words, pen, kept, size.kept)
    pen = _put(words, pen, views.table[n], size.trick)
    pen = _put(words, pen, 0 if views.best[n] == NO_CARD else bit(views.best[n]), size.best)
    for seat in range(game.num_players):
        pen = _put(words, pen, views.played[n, seat], size.played)
    return _skip(words, pen, shape.absent, size.played)


@inner
def _write_seats(game: Game, shape: Shape, views: View, n: int, words: Sets, pen: Pen) -> Pen:
    """The blocks about seats from the voids to the scores."""
    size, seats = shape.size, game.num_players
    target: Number = len(shape.score_bits) - 1
    for seat in range(seats):
        pen = _put(words, pen, views.voids[n, seat], size.voids)
    pen = _skip(words, pen, shape.absent, size.voids)
    for seat in range(seats):
        points: Number = min(max(views.points[n, seat], 0), POINT_STEPS[-1])
        pen = _put(words, pen, POINT_BITS[points], size.points)
    pen = _skip(words, pen, shape.absent, size.points)
    for seat in range(seats):
        pen = _put(words, pen, views.taken[n, seat] >> BLACK_MARIA & 1, size.queen)
    pen = _skip(words, pen, shape.absent, size.queen)
    for seat in range(seats):
        pen = _put(words, pen, np.int64(views.taken[n, seat] & game.bonus != 0), size.bonus)
    pen = _skip(words, pen, shape.absent, size.bonus)
    for seat in range(seats):
        score: Number = min(max(views.scores[n, seat], 0), target)
        pen = _put(words, pen, shape.score_bits[score], size.scores)
    return _skip(words, pen, shape.absent, size.scores)


@inner
def _put(words: Sets, pen: Pen, bits: Number, size: Number) -> Pen:
    """Write `bits`, `size` of them: the word that the pen is in, how much of it is filled, and what with."""
    word, filled, begun = pen
    begun |= bits << filled
    filled += size
    if filled >= WORD_BITS:
        words[word] = begun
        word += 1
        filled -= WORD_BITS
        begun = bits >> (size - filled)
    return word, filled, begun


@inner
def _skip(words: Sets, pen: Pen, times: Number, size: Number) -> Pen:
    """Write zeros."""
    for _ in range(times):
        pen = _put(words, pen, 0, size)
    return pen
