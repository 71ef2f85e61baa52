"""The loops of the compiled executor that encode views."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from hearts_env.cards import BLACK_MARIA, Bytes, Ints, Number, Sets
from hearts_env.fast.jit import at, bit, count, inner, kernel, pick_up, set_bits, unpacked
from hearts_env.fast.step import NONE_BAD, Game, game
from hearts_env.fast.view import blank, see
from hearts_env.game.compiled_rules import Lookup
from hearts_env.game.state import PASS, PLAY, State
from hearts_env.game.view import View
from hearts_env.observe.encode import (
    MAX_PICKS,
    POINT_BITS,
    POINT_STEPS,
    SPECS,
    TRICK_BITS,
    WORD_BITS,
    layout,
    rule_bits,
    score_table,
)


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
"""A constant for kernels: most places in an encoding are known when they are compiled."""
assert tuple(spec.name for spec in SPECS) == Sizes._fields, "the writer goes through the blocks in their order"


class Shape(NamedTuple):
    """A layout as kernels take it."""

    absent: int
    """Columns of the seat blocks for seats that are not there."""
    words: int
    bits: int
    rule_bits: int
    score_bits: Sets  # int64 [target + 1]
    trick_bits: Sets  # int64 [C + 1]  by cards played
    point_bits: Sets = POINT_BITS


@lru_cache(maxsize=1024)
def shape(lookup: Lookup, seats: int) -> Shape:
    """The Shape of the layouts with so many columns under these rules."""
    made = layout(lookup, pad=seats != lookup.num_players)
    return Shape(
        absent=seats - lookup.num_players,
        words=made.words,
        bits=made.bits,
        rule_bits=rule_bits(lookup),
        score_bits=score_table(lookup.rules.target),
        trick_bits=TRICK_BITS[np.arange(lookup.num_plays + 1) // lookup.num_players],
    )


def room(shape: Shape) -> Sets:
    """Memory to work in, for one packed encoding."""
    return np.empty(shape.words, np.int64)


@kernel
def encode_packed(game: Game, shape: Shape, views: View, packed: Sets) -> None:
    """Fill `packed`, int64 [N, words]."""
    for n in range(len(packed)):
        write(game, shape, views, n, packed[n])


@kernel
def encode(game: Game, shape: Shape, views: View, words: Sets, out: Bytes) -> None:
    """Fill the first `shape.bits` columns of `out`, uint8 [N, F].  words: room for one packed encoding."""
    for n in range(len(out)):
        write(game, shape, views, n, words)
        unpack(shape, words, out[n])


class Encoder(NamedTuple):
    """What encodes tables one after the other: the rules, the layout, and memory to work in."""

    game: Game
    shape: Shape
    seen: View
    words: Sets


def encoder(lookup: Lookup, seats: int) -> Encoder:
    """An Encoder for the layouts with so many columns under these rules."""
    made = shape(lookup, seats)
    return Encoder(game(lookup), made, blank(lookup, 1), room(made))


@lru_cache(maxsize=64)
def unpacked_encoder(lookup: Lookup, seats: int, thread: int) -> tuple[Any, Encoder]:
    """What `encode_tables` needs besides tables, as memory and what that points to; one for each thread."""
    made = encoder(lookup, seats)
    return unpacked(made), made


@kernel
def encode_tables(memory: Any, tables: State, of_actor: bool, seats: Ints, out: Bytes) -> int:
    """Fill the columns of `out`, uint8 [N, F], that are bits.

    memory: see `unpacked_encoder`.  seats: int64 [N] unless `of_actor`.  Returns as `view.view` does.
    """
    made = pick_up(memory, Encoder)
    for n in range(len(out)):
        seat = max(tables.turn[n], 0) if of_actor else seats[n]
        if not 0 <= seat < made.game.num_players:
            return n
        see(made.game, tables, n, seat, made.seen, 0)
        write(made.game, made.shape, made.seen, 0, made.words)
        unpack(made.shape, made.words, out[n])
    return NONE_BAD


@kernel
def members(sets: Sets, size: int, out: Bytes) -> None:
    """Fill `out`, uint8 [N * size], with the lowest `size` bits of each set as bytes; those past 64 are left alone."""
    for n in range(len(sets)):
        place = n * size
        if place + WORD_BITS <= len(out):
            # Runs over into the next rows, which are written later.
            set_bits(out, place, sets[n])
        else:
            for k in range(min(size, WORD_BITS)):
                out[place + k] = sets[n] >> k & 1


@inner
def unpack(shape: Shape, words: Sets, row: Bytes) -> None:
    """The bits of the words as bytes of 0 and 1."""
    whole = shape.bits >> 6
    for word in range(whole):
        set_bits(row, word << 6, words[word])
    rest: Number = np.uint64(shape.bits & 63)
    if rest != 0:
        # Not past the end of the row: the last 64 bits, some for the second time.
        last = np.uint64(words[whole]) << _WORD - rest | np.uint64(words[whole - 1]) >> rest
        set_bits(row, shape.bits - WORD_BITS, last)


_WORD = np.uint64(WORD_BITS)


@inner
def write(game: Game, shape: Shape, views: View, n: int, words: Sets) -> None:
    """The packed encoding of view n."""
    pen = _write_cards(game, shape, views, n, words)
    pen = _put(words, pen, views.legal[n], SIZES.legal)
    pen = _write_trick(game, shape, views, n, words, pen)
    pen = _write_seats(game, shape, views, n, words, pen)
    pen = _put(words, pen, int(views.broken[n]) | shape.rule_bits << SIZES.broken, SIZES.broken + SIZES.rules)
    if pen[1] > 0:
        words[at(pen[0])] = pen[2]


Pen: TypeAlias = tuple[Number, Number, Number]
"""The word that is being filled, how many of its bits are, and what with."""


@inner
def _write_cards(game: Game, shape: Shape, views: View, n: int, words: Sets) -> Pen:
    """The blocks of cards, up to those played."""
    offset = views.offset[n]
    seen = views.hand[n]
    for seat in range(game.num_players):
        seen |= views.played[n, at(seat)]
    kept = views.picks[n] & ~views.played[n, at(offset)] if views.phase[n] != PASS and offset != 0 else 0
    pen = _put(words, (0, 0, 0), views.hand[n], SIZES.hand)
    pen = _put(words, pen, game.deck & ~seen, SIZES.out)
    pen = _put(words, pen, views.picks[n], SIZES.picks)
    pen = _put(words, pen, views.got[n], SIZES.got)
    pen = _put(words, pen, kept, SIZES.kept)
    pen = _put(words, pen, views.table[n], SIZES.trick)
    pen = _put(words, pen, _one_hot(views.best[n]), SIZES.best)
    for seat in range(game.num_players):
        pen = _put(words, pen, views.played[n, at(seat)], SIZES.played)
    return _skip(words, pen, shape.absent, SIZES.played)


@inner
def _write_trick(game: Game, shape: Shape, views: View, n: int, words: Sets, pen: Pen) -> Pen:
    """The blocks from the phase to the pass offset: so small that a word has room for all."""
    phase = views.phase[n]
    bits: Number = bit(phase) & bit(SIZES.phase) - 1
    filled = SIZES.phase
    if phase == PASS:
        picked: Number = min(count(views.picks[n]), MAX_PICKS - 1)
        bits |= bit(picked) << filled
    else:
        bits |= shape.trick_bits[at(views.count[n])] << filled + SIZES.pick_no
    filled += SIZES.pick_no + SIZES.trick_no
    if phase == PLAY:
        bits |= bit(count(views.table[n])) << filled
    filled += SIZES.position
    bits |= _one_hot(views.led[n]) << filled
    filled += SIZES.led
    bits |= _one_hot(views.best_seat[n]) << filled
    filled += (game.num_players + shape.absent) * SIZES.winning
    bits |= bit(views.offset[n]) << filled
    return _put(words, pen, bits, filled + SIZES.offset)


@inner
def _one_hot(value: Number) -> Number:
    """One bit by value; none for -1."""
    return bit(value + 1) >> 1


@inner
def _write_seats(game: Game, shape: Shape, views: View, n: int, words: Sets, pen: Pen) -> Pen:
    """The blocks about seats from the voids to the scores."""
    seats, columns = game.num_players, game.num_players + shape.absent
    voids: Number = 0
    queens: Number = 0
    bonuses: Number = 0
    for seat in range(seats):
        taken = views.taken[n, at(seat)]
        voids |= views.voids[n, at(seat)] << seat * SIZES.voids
        queens |= (taken >> BLACK_MARIA & 1) << seat
        bonuses |= bit(seat) * int(taken & game.bonus != 0)
    pen = _put(words, pen, voids, columns * SIZES.voids)
    for seat in range(seats):
        points: Number = min(max(views.points[n, at(seat)], 0), POINT_STEPS[-1])
        pen = _put(words, pen, shape.point_bits[points], SIZES.points)
    pen = _skip(words, pen, shape.absent, SIZES.points)
    pen = _put(words, pen, queens | bonuses << columns, columns * (SIZES.queen + SIZES.bonus))
    target: Number = len(shape.score_bits) - 1
    for seat in range(seats):
        score: Number = min(max(views.scores[n, at(seat)], 0), target)
        pen = _put(words, pen, shape.score_bits[score], SIZES.scores)
    return _skip(words, pen, shape.absent, SIZES.scores)


@inner
def _put(words: Sets, pen: Pen, bits: Number, size: Number) -> Pen:
    """Write `bits`, `size` of them, at most 63."""
    word, filled, begun = pen
    begun |= bits << filled
    filled += size
    if filled >= WORD_BITS:
        words[at(word)] = begun
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
