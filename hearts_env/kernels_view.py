"""The loops of the compiled executor that show a table: view, encode."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import fields
from functools import lru_cache
from operator import attrgetter
from typing import Any, NamedTuple, cast

import numpy as np

from hearts_env.cards import BLACK_MARIA, NO_SEAT, NUM_SUITS, Bytes, Sets, bit, count
from hearts_env.encode import MAX_PICKS, ONE_HOT, POINT_BITS, POINT_STEPS, TRICK_BITS, layout, rule_bits, score_table
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


# -- encode ------------------------------------------------------------------------------------------------------------


class Places(NamedTuple):
    """At which bit each block of the layout begins; its fields are the names of the blocks."""

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
    """A layout as kernels take it: where each block begins, and what one seat takes up of a block about seats."""

    at: Places
    per_seat: Places
    words: int
    bits: int
    rule_bits: int
    score_bits: Sets  # int64 [target + 1]


@lru_cache(maxsize=1024)
def shape(lookup: Lookup, seats: int) -> Shape:
    """The Shape of the layouts with so many columns under these rules."""
    made = layout(lookup, pad=seats != lookup.num_players)
    return Shape(
        at=Places(**{block.name: block.offset for block in made}),
        per_seat=Places(**{block.name: block.per_seat for block in made}),
        words=made.words,
        bits=made.bits,
        rule_bits=rule_bits(lookup),
        score_bits=score_table(lookup.rules.target),
    )


@kernel
def encode_packed(game: Game, shape: Shape, views: View, words: Sets, packed: Sets) -> None:
    """Fill `packed`, int64 [N, words].  words: int64 [words + 1] to work in."""
    for n in range(len(packed)):
        _write(game, shape, views, n, words)
        for word in range(shape.words):
            packed[n, word] = words[word]


@kernel
def encode(game: Game, shape: Shape, views: View, words: Sets, out: Bytes) -> None:
    """Fill the first `shape.bits` columns of `out`, uint8 [N, F].  words: int64 [words + 1] to work in."""
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
    words[:] = 0
    at, phase, offset = shape.at, views.phase[n], views.offset[n]
    passing = phase == PASS
    _place(words, at.hand, views.hand[n])
    _place(words, at.picks, views.picks[n])
    _place(words, at.got, views.got[n])
    if not passing and offset != 0:
        _place(words, at.kept, views.picks[n] & ~views.played[n, offset])
    _place(words, at.trick, views.table[n])
    if views.best[n] >= 0:
        _place(words, at.best, bit(views.best[n]))
    _place(words, at.legal, views.legal[n])
    if phase <= MOON:
        _place(words, at.phase, ONE_HOT[phase])
    if passing:
        picked: Number = min(count(views.picks[n]), MAX_PICKS - 1)
        _place(words, at.pick_no, ONE_HOT[picked])
    else:
        _place(words, at.trick_no, TRICK_BITS[views.count[n] // game.num_players])
    if phase == PLAY:
        _place(words, at.position, ONE_HOT[count(views.table[n])])
    _place(words, at.led, ONE_HOT[views.led[n]])
    _place(words, at.winning, ONE_HOT[views.best_seat[n]])
    _place(words, at.offset, ONE_HOT[offset])
    _place(words, at.broken, np.int64(views.broken[n]))
    _place(words, at.rules, shape.rule_bits)
    _write_seats(game, shape, views, n, words)


@inner
def _write_seats(game: Game, shape: Shape, views: View, n: int, words: Sets) -> None:
    """The blocks about seats, and the cards not seen."""
    at, step = shape.at, shape.per_seat
    target: Number = len(shape.score_bits) - 1
    seen = views.hand[n]
    for seat in range(game.num_players):
        played, taken = views.played[n, seat], views.taken[n, seat]
        seen |= played
        _place(words, at.played + seat * step.played, played)
        _place(words, at.voids + seat * step.voids, views.voids[n, seat])
        points: Number = min(max(views.points[n, seat], 0), POINT_STEPS[-1])
        score: Number = min(max(views.scores[n, seat], 0), target)
        _place(words, at.points + seat * step.points, POINT_BITS[points])
        _place(words, at.queen + seat * step.queen, taken >> BLACK_MARIA & 1)
        _place(words, at.bonus + seat * step.bonus, np.int64(taken & game.bonus != 0))
        _place(words, at.scores + seat * step.scores, shape.score_bits[score])
    _place(words, at.out, game.deck & ~seen)


@inner
def _place(words: Sets, offset: int, bits: Number) -> None:
    """Put bits at bit `offset` of the row of words, into the next word too."""
    word, shift = offset >> 6, offset & 63
    words[word] |= bits << shift
    words[word + 1] |= bits >> 1 >> (63 - shift)
