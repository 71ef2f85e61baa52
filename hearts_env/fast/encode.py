"""The loops of the compiled executor that encode views.

What writes an encoding is made from the table of blocks, as source text that can be read: `print(SOURCE)`.
"""

from __future__ import annotations

import linecache
from collections import namedtuple
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from hearts_env.cards import NO_CARD, Bytes, Ints, Number, Sets, card_set
from hearts_env.fast.jit import at, bit, count, inner, kernel, pick_up, set_bits, unpacked, wide
from hearts_env.fast.step import NONE_BAD, Game, game
from hearts_env.fast.view import blank, see
from hearts_env.game.compiled_rules import CompiledRules
from hearts_env.game.state import PASS, State
from hearts_env.game.view import View
from hearts_env.observe.blocks import MAX_SEATS, SPECS, Kind, Spec
from hearts_env.observe.encode import WORD_BITS, layout

# -- a layout as kernels take it ---------------------------------------------------------------------------------------

_FROM_RULES = [spec for spec in SPECS if spec.kind in (Kind.TABLE, Kind.STEPS, Kind.HAS, Kind.RULES)]
_NAMES = [spec.name for spec in _FROM_RULES]
Given: Any = namedtuple("Given", _NAMES)  # type: ignore[misc]


class Shape(NamedTuple):
    """A layout as kernels take it."""

    absent: int
    """Columns of the seat blocks for seats that are not there."""
    words: int
    bits: int
    given: Any
    """The values that the blocks take from the rules, by name."""


@lru_cache(maxsize=1024)
def shape(rules: CompiledRules, seats: int) -> Shape:
    """The Shape of the layouts with so many columns under these rules."""
    made = layout(rules, pad=seats != rules.num_players)
    given = Given(*(_given(spec, rules) for spec in _FROM_RULES))
    return Shape(seats - rules.num_players, made.words, made.bits, given)


def _given(spec: Spec, rules: CompiledRules) -> Any:
    """The value that a block takes from the rules; a card as a set, or the empty set for none."""
    given = spec.of_rules(rules)
    return given if spec.kind is not Kind.HAS else card_set([] if given == NO_CARD else [given])


# -- the writer: one block after the other into words ------------------------------------------------------------------

Pen: TypeAlias = tuple[Number, Number, Number]
"""The word that is being filled, how many of its bits are, and what with."""


@inner
def put(words: Sets, pen: Pen, bits: Number, size: Number) -> Pen:
    """Write `bits`, `size` of them, at most 63."""
    word, filled, begun = pen
    begun |= bits << filled
    filled += size
    if filled >= WORD_BITS:
        words[at(word)] = begun
        word += 1
        filled -= WORD_BITS
        # The bits that the full word had no room for begin the next one.
        begun = bits >> (size - filled)
    return word, filled, begun


@inner
def skip(words: Sets, pen: Pen, times: Number, size: Number) -> Pen:
    """Write zeros: the columns of seats that are not there."""
    for _ in range(times):
        pen = put(words, pen, 0, size)
    return pen


@inner
def end(words: Sets, pen: Pen) -> None:
    """Write down the word that has been begun."""
    if pen[1] > 0:
        words[at(pen[0])] = pen[2]


@inner
def out_of(game: Game, views: View, n: int) -> Number:
    """The set of cards that the viewer of view n has not seen, as `View.out`."""
    seen = views.hand[n]
    for seat in range(game.num_players):
        seen |= views.played[n, at(seat)]
    return game.deck & ~seen


@inner
def kept_of(views: View, n: int) -> Number:
    """The set of cards that the viewer of view n passed and the receiver still holds, as `View.kept`."""
    offset = views.offset[n]
    return views.picks[n] & ~views.played[n, at(offset)] if views.phase[n] != PASS and offset != 0 else 0


_PROPERTIES = {
    "out": "out_of(game, views, n)",
    "kept": "kept_of(views, n)",
}
"""Properties of a View; all else is a field."""
_FORMULAS = {
    Kind.SET: "{field}",
    Kind.ONE_HOT: "bit({field} + 1) >> 1",  # none for -1
    Kind.COUNT: "bit(min(count({field}), {most}))",
    Kind.TABLE: "shape.given.{name}[at({field})]",
    Kind.STEPS: "shape.given.{name}[min(max({field}, 0), len(shape.given.{name}) - 1)]",
    Kind.HAS: "int({field} & shape.given.{name} != 0)",
    Kind.RULES: "shape.given.{name}",
}
_MOST = WORD_BITS - 1
"""Bits that `put` writes at a time."""


def _by_column(spec: Spec) -> bool:
    """Is it made seat by seat from the columns of a field?"""
    return spec.by_seat and spec.kind is not Kind.ONE_HOT


def _formula(spec: Spec) -> str:
    """The bits of a block, or of one seat's in it, as Python."""
    place = f"views.{spec.field}[n, at(seat)]" if _by_column(spec) else f"views.{spec.field}[n]"
    bits = _FORMULAS[spec.kind].format(name=spec.name, most=spec.size - 1, field=_PROPERTIES.get(spec.field, place))
    if spec.only_in is not None:
        return f"({bits} if views.phase[n] == {spec.only_in} else 0)"
    return bits if spec.never_in is None else f"({bits} if views.phase[n] != {spec.never_in} else 0)"


def _groups() -> Iterator[list[Spec]]:
    """The blocks, together where they can be put at a time, however many seats there are."""
    group: list[Spec] = []
    for spec in SPECS:
        sizes = [each.size * (MAX_SEATS if each.by_seat else 1) for each in (*group, spec)]
        if group and sum(sizes) > _MOST:
            yield group
            group = []
        group.append(spec)
    yield group


def _lines() -> Iterator[str]:
    """The source of the function `write`."""
    yield "def write(game, shape, views, n, words):"
    yield "    seats, columns = game.num_players, game.num_players + shape.absent"
    yield "    pen = 0, 0, 0"
    for group in _groups():
        yield f"    # {', '.join(spec.name for spec in group)}"
        if len(group) > 1 or group[0].size * MAX_SEATS <= _MOST:
            yield from _together(group)
        elif group[0].by_seat:
            yield "    for seat in range(seats):"
            yield f"        pen = put(words, pen, {_formula(group[0])}, {group[0].size})"
            yield f"    pen = skip(words, pen, shape.absent, {group[0].size})"
        else:
            yield f"    pen = put(words, pen, {_formula(group[0])}, {group[0].size})"
    yield "    end(words, pen)"


def _together(group: list[Spec]) -> Iterator[str]:
    """The source that puts some small blocks at a time."""
    yield "    bits = wide(0)"
    begun: list[Spec] = []
    for by_column, some in groupby(group, _by_column):
        if by_column:
            yield "    for seat in range(seats):"
        for spec in some:
            place = _sizes(begun)
            if by_column:
                place = f"seat * {spec.size}" if place == "0" else f"{place} + seat * {spec.size}"
            bits = _formula(spec)
            # A formula with operators of its own, which may bind less tightly than a shift.
            bits = f"({bits})" if " " in bits and not bits.startswith(("(", "int(")) else bits
            yield f"    {'    ' * by_column}bits |= {bits}{'' if place == '0' else f' << {place}'}"
            begun.append(spec)
    yield f"    pen = put(words, pen, bits, {_sizes(begun)})"


def _sizes(specs: list[Spec]) -> str:
    """The bits of some blocks: a number, and what depends on how many columns there are."""
    fixed, by_seat = (sum(spec.size for spec in specs if spec.by_seat is kind) for kind in (False, True))
    terms = [str(fixed)] if fixed or not by_seat else []
    return " + ".join([*terms, *([f"columns * {by_seat}"] if by_seat else [])])


SOURCE = "\n".join(_lines()) + "\n"
"""The source text of the function that writes the packed encoding of view n."""
_FILE = "<hearts_env writer of encodings>"


def _made() -> Any:
    # Debuggers and tracebacks find the text of a file that is not there in `linecache`.
    linecache.cache[_FILE] = (len(SOURCE), None, SOURCE.splitlines(keepends=True), _FILE)
    parts = at, wide, put, skip, end, out_of, kept_of
    names: dict[str, Any] = {part.__name__: part for part in parts} | {"bit": bit, "count": count}
    exec(compile(SOURCE, _FILE, "exec"), names)
    return inner(names["write"])


write = _made()


# -- the loops ---------------------------------------------------------------------------------------------------------


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
    """An encoder of tables, one after the other: the rules, the layout, and memory to work in."""

    game: Game
    shape: Shape
    seen: View
    words: Sets


def encoder(rules: CompiledRules, seats: int) -> Encoder:
    """An Encoder for the layouts with so many columns under these rules."""
    made = shape(rules, seats)
    return Encoder(game(rules), made, blank(rules, 1), room(made))


@lru_cache(maxsize=64)
def unpacked_encoder(rules: CompiledRules, seats: int, thread: int) -> tuple[Any, Encoder]:
    """The memory that `encode_tables` takes, and the Encoder that it points to; one pair for each thread."""
    made = encoder(rules, seats)
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
