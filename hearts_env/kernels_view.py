"""The loops of the compiled executor that show a table: view, encode."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import fields
from functools import lru_cache
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from hearts_env.cards import BLACK_MARIA, NO_CARD, NO_SEAT, NUM_SUITS, Bytes, Ints, Sets
from hearts_env.encode import (
    MAX_PICKS,
    ONE_HOT,
    POINT_BITS,
    POINT_STEPS,
    SPECS,
    TRICK_BITS,
    WORD_BITS,
    layout,
    rule_bits,
    score_table,
)
from hearts_env.kernel import Number, bit, count, inner, kernel, set_eight
from hearts_env.kernels import NONE_BAD, Game, legal_at, offset_of
from hearts_env.lookup import Lookup
from hearts_env.state import DEAL_OVER, MOON, PASS, PLAY, State
from hearts_env.view import ALL_SUITS, View

_ARRAYS = [field.name for field in fields(View) if field.name != "lookup"]
Views: Any = namedtuple("Views", _ARRAYS)  # type: ignore[misc]
_arrays_of = attrgetter(*_ARRAYS)
_SMALL = dict.fromkeys(("phase", "led", "best", "plays", "leaders"), np.int8) | {"broken": np.bool_}
_DTYPES = [_SMALL.get(name, np.int64) for name in _ARRAYS]


def views(view: View) -> View:
    """The arrays of a View as kernels take them: seat by seat in a row, where numpy's lie the other way round."""
    return cast(View, Views._make(map(np.ascontiguousarray, _arrays_of(view))))


def blank(lookup: Lookup, size: int) -> View:
    """The arrays of `size` views as kernels take them, to be filled."""
    seats = dict.fromkeys(("played", "taken", "voids", "points", "scores"), lookup.num_players)
    columns = {**seats, "plays": lookup.num_plays, "leaders": lookup.hand_size}
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
def see(game: Game, tables: State, n: int, me: Number, views: View, at: int) -> None:
    """Fill view number `at` with what seat `me` knows of table n."""
    seats, phase, turn = game.num_players, tables.phase[n], tables.turn[n]
    offset = offset_of(game, tables.deal_no[n])
    over = phase >= DEAL_OVER
    views.seat[at] = me
    views.hand[at] = tables.hands[n, me]
    views.legal[at] = legal_at(game, tables, n) if turn == me else 0
    views.picks[at] = tables.picks[n, me]
    views.got[at] = (
        0 if phase == PASS or offset == 0 else tables.picks[n, me - offset if me >= offset else me - offset + seats]
    )
    views.table[at] = tables.table[n]
    for column in range(seats):
        seat = me + column
        if seat >= seats:
            seat -= seats
        taken = tables.taken[n, seat]
        views.played[at, column] = tables.start[n, seat] & ~tables.hands[n, seat]
        views.taken[at, column] = taken
        views.voids[at, column] = tables.voids[n] >> NUM_SUITS * seat & ALL_SUITS
        views.points[at, column] = tables.points[n, seat] if over else card_points_of(game, taken)
        views.scores[at, column] = tables.scores[n, seat]
    views.phase[at] = phase
    views.turn[at] = NO_SEAT if over else _relative(game, turn, me)
    views.offset[at] = offset
    views.count[at] = tables.count[n]
    views.led[at] = tables.led[n]
    views.best[at] = tables.best[n]
    views.best_seat[at] = _relative(game, tables.best_seat[n], me)
    views.broken[at] = tables.broken[n]
    views.shooter[at] = _relative(game, tables.shooter[n], me)
    views.deal_no[at] = tables.deal_no[n]
    views.table_key[at] = tables.key[n]


@inner
def card_points_of(game: Game, taken: Number) -> Number:
    """Points of the cards in a set."""
    points = 0
    for k in range(len(game.point_sets)):
        points += count(taken & game.point_sets[k]) * game.point_values[k]
    return points


@inner
def _relative(game: Game, seat: Number, me: Number) -> Number:
    if seat < 0:
        return NO_SEAT
    return seat - me if seat >= me else seat - me + game.num_players


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


SIZES = Sizes(*(spec.size for spec in SPECS))


class Shape(NamedTuple):
    """A layout as kernels take it."""

    size: Sizes
    absent: int
    """Columns of the seat blocks for seats that are not there."""
    words: int
    bits: int
    rule_bits: int
    score_bits: Sets  # int64 [target + 1]
    one_hot: Sets = ONE_HOT
    point_bits: Sets = POINT_BITS
    trick_bits: Sets = TRICK_BITS  # by cards played


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
        trick_bits=TRICK_BITS[np.arange(lookup.num_plays + 1) // lookup.num_players],
    )


class Room(NamedTuple):
    """Memory to work in."""

    words: Sets  # int64 [words]
    bytes: Bytes  # uint8 [words * 8]  the same memory
    spread: NDArray[np.uint64]  # uint64 [words * 8]
    spread_bytes: Bytes  # uint8 [words * 64]  the same memory


def room(shape: Shape) -> Room:
    """Memory for encodings of this shape."""
    words, spread = np.empty(shape.words, np.int64), np.empty(shape.words * 8, np.uint64)
    return Room(words, words.view(np.uint8), spread, spread.view(np.uint8))


@kernel
def encode_packed(game: Game, shape: Shape, views: View, room: Room, packed: Sets) -> None:
    """Fill `packed`, int64 [N, words]."""
    for n in range(len(packed)):
        write(game, shape, views, n, room.words)
        for word in range(shape.words):
            packed[n, word] = room.words[word]


@kernel
def encode(game: Game, shape: Shape, views: View, room: Room, out: Bytes) -> None:
    """Fill the first `shape.bits` columns of `out`, uint8 [N, F]."""
    for n in range(len(out)):
        write(game, shape, views, n, room.words)
        unpack(shape, room, out[n])


@kernel
def encode_tables(
    game: Game, shape: Shape, tables: State, of_actor: bool, seats: Ints, one: View, room: Room, out: Bytes
) -> int:
    """Fill the first `shape.bits` columns of `out`, uint8 [N, F].

    seats: int64 [N] unless `of_actor`, see `view`.  one: room for one view.
    """
    for n in range(len(out)):
        seat = max(tables.turn[n], 0) if of_actor else seats[n]
        if not 0 <= seat < game.num_players:
            return n
        see(game, tables, n, seat, one, 0)
        write(game, shape, one, 0, room.words)
        unpack(shape, room, out[n])
    return NONE_BAD


@inner
def unpack(shape: Shape, room: Room, row: Bytes) -> None:
    """The bits of `room.words` as bytes of 0 and 1, eight at a time in one number."""
    whole = shape.bits >> 6
    for word in range(whole):
        bits: Number = np.uint64(room.words[word])
        for place in range(0, 64, 8):
            set_eight(row, word * 64 + place, _EIGHT_BYTES[bits & _LOWEST_BYTE])
            bits >>= _BYTE
    for place in range(whole * 64, shape.bits):
        row[place] = room.words[whole] >> (place & 63) & 1


_LOWEST_BYTE, _BYTE = np.uint64(255), np.uint64(8)
_EIGHT_BYTES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little").view("<u8").ravel()
"""uint64 [256]: each byte as eight bytes of 0 and 1."""


@inner
def write(game: Game, shape: Shape, views: View, n: int, words: Sets) -> None:
    """The packed encoding of view n."""
    size, seats, phase = shape.size, game.num_players, views.phase[n]
    playing = phase == PLAY
    pen = _write_cards(game, shape, views, n, words)
    pen = _put(words, pen, views.legal[n], size.legal)
    pen = _put(words, pen, shape.one_hot[phase if phase <= MOON else -1], size.phase)
    picked: Number = min(count(views.picks[n]), MAX_PICKS - 1)
    pen = _put(words, pen, shape.one_hot[picked if phase == PASS else -1], size.pick_no)
    pen = _put(words, pen, shape.trick_bits[0 if phase == PASS else views.count[n]], size.trick_no)
    pen = _put(words, pen, shape.one_hot[count(views.table[n]) if playing else -1], size.position)
    pen = _put(words, pen, shape.one_hot[views.led[n]], size.led)
    pen = _put(words, pen, shape.one_hot[views.best_seat[n]], (seats + shape.absent) * size.winning)
    pen = _put(words, pen, shape.one_hot[views.offset[n]], size.offset)
    pen = _write_seats(game, shape, views, n, words, pen)
    pen = _put(words, pen, int(views.broken[n]), size.broken)
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
    pen = _put(words, (0, 0, 0), views.hand[n], size.hand)
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
        pen = _put(words, pen, shape.point_bits[points], size.points)
    pen = _skip(words, pen, shape.absent, size.points)
    for seat in range(seats):
        pen = _put(words, pen, views.taken[n, seat] >> BLACK_MARIA & 1, size.queen)
    pen = _skip(words, pen, shape.absent, size.queen)
    for seat in range(seats):
        pen = _put(words, pen, int(views.taken[n, seat] & game.bonus != 0), size.bonus)
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
