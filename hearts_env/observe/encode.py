"""A View as bytes: how a network sees it.

The layout is data: a list of named blocks with offset, size and meaning, made from the table in `blocks`, as are the
writers of both executors, the table in docs/encoding.md and the tests.  Every byte is 0 or 1 (except in the optional
`order` block), so an encoding also exists packed, eight bytes to one: `encode_packed` and `unpack`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hearts_env.cards import NO_CARD, NUM_ACTIONS, NUM_CARDS, Bools, Bytes, Sets, members
from hearts_env.executor import executed
from hearts_env.game.compiled_rules import CompiledRules
from hearts_env.game.state import State
from hearts_env.game.view import View, view
from hearts_env.observe.blocks import MAX_SEATS, SPECS, Kind, Spec

ENCODING_VERSION = 1
"""Goes up whenever the bytes of some View change."""
WORD_BITS = 64


@dataclass(frozen=True)
class Block:
    """Some adjacent bytes of the encoding."""

    name: str
    offset: int
    size: int
    per_seat: int
    """Bytes a seat, seat by seat from the viewer on, in a block about seats; else 0."""
    meaning: str


@dataclass(frozen=True)
class Layout:
    """Where everything lies in an encoding of `size` bytes.

    seats: columns of the seat blocks: the table's seats, or seven, with zeros for seats that are not there.
    order: is there a block for the order of play?
    """

    blocks: tuple[Block, ...]
    size: int
    seats: int
    order: bool

    def __getitem__(self, name: str) -> slice:
        """The slice of a block; KeyError for a name that is not there."""
        for block in self.blocks:
            if block.name == name:
                return slice(block.offset, block.offset + block.size)
        raise KeyError(name)

    def __iter__(self) -> Iterator[Block]:
        return iter(self.blocks)

    @property
    def bits(self) -> int:
        """Bytes that are 0 or 1: all but the order block."""
        return self.size - (ORDER_SIZE if self.order else 0)

    @property
    def words(self) -> int:
        """64-bit words of a packed encoding."""
        return -(-self.bits // WORD_BITS)


ORDER_SIZE = 2 * NUM_CARDS


def layout(rules: CompiledRules, *, pad: bool = False, order: bool = False) -> Layout:
    """The layout of encodings under these rules.

    pad: make room for seven seats, so that one network serves every player count.  order: add the order of play.
    """
    return _layout(rules.num_players, pad, order)


@cache
def _layout(num_players: int, pad: bool, order: bool) -> Layout:
    seats = MAX_SEATS if pad else num_players
    blocks, offset = [], 0
    for spec in SPECS:
        size = spec.size * seats if spec.by_seat else spec.size
        blocks.append(Block(spec.name, offset, size, spec.size if spec.by_seat else 0, spec.meaning))
        offset += size
    if order:
        blocks.append(Block("order", offset, ORDER_SIZE, 0, _ORDER_MEANING))
        offset += ORDER_SIZE
    return Layout(tuple(blocks), offset, seats, order)


@executed
def encode(layout: Layout, view: View, out: Bytes | None = None) -> Bytes:
    """The views as uint8 [N, F], F = `layout.size`; written into `out` where given.

    layout: from `layout` for the same rules.
    """
    if out is None:
        out = np.empty((len(view), layout.size), np.uint8)
    for rows in _chunks(len(view), _VIEWS):
        part = view.part(rows)
        _write(layout, part, out[rows])
    return out


@executed
def encode_tables(
    layout: Layout, rules: CompiledRules, state: State, seats: ArrayLike | None = None, out: Bytes | None = None
) -> Bytes:
    """The views of one seat at each table as uint8 [N, F], F = `layout.size`; written into `out` where given.

    Equal to `encode(layout, view(rules, state, seats), out)`, but faster.
    """
    if out is None:
        out = np.empty((len(state), layout.size), np.uint8)
    for rows in _chunks(len(state), _VIEWS):
        some = None if seats is None else np.asarray(seats)[rows]
        _write(layout, view(rules, state.part(rows), some), out[rows])
    return out


def _write(layout: Layout, view: View, out: Bytes) -> None:
    packed = _words(layout, view).T
    for rows in _chunks(len(view), _ROWS):
        out[rows, : layout.bits] = unpack(layout, packed[rows])
    if layout.order:
        write_order(view.plays, view.players, out[:, layout.bits :])


_VIEWS, _ROWS = 8192, 512
"""Views packed, and rows unpacked, at a time: few enough for the processor's caches, and many for a call of numpy's."""


def _chunks(size: int, most: int) -> Iterator[slice]:
    return (slice(begin, begin + most) for begin in range(0, size, most))


@executed
def encode_packed(layout: Layout, view: View) -> Sets:
    """The encodings with eight bytes packed into one, int64 [N, layout.words]; the order block is not in it."""
    return np.ascontiguousarray(_words(layout, view).T)


def _words(layout: Layout, view: View) -> Sets:
    """The packed encodings word by word, int64 [layout.words, N]."""
    array = np.zeros((layout.words, len(view)), np.int64)
    words = list(array)
    for spec, block in zip(SPECS, layout.blocks, strict=False):
        bits = _bits(spec, view)
        if bits is None:
            continue
        if isinstance(bits, int) or bits.ndim == 1:
            _place(words, block.offset, block.size, bits)
        elif block.size < WORD_BITS:
            shifts = np.arange(0, bits.shape[1] * spec.size, spec.size)[:, None]
            _place(words, block.offset, block.size, np.bitwise_or.reduce(bits.T << shifts, axis=0))
        else:
            for seat, column in enumerate(bits.T):
                _place(words, block.offset + seat * spec.size, spec.size, column)
    return array


def _place(words: list[Sets], offset: int, size: int, bits: Sets | int) -> None:
    """Put the lowest `size` bits of each number at bit `offset` of its words.  words: int64 [N] each."""
    word, shift = divmod(offset, WORD_BITS)
    words[word] |= bits << np.int64(shift)
    if shift + size > WORD_BITS:
        words[word + 1] |= bits >> (WORD_BITS - shift)


def unpack(layout: Layout, packed: Sets) -> Bytes:
    """Packed encodings as bytes of 0 and 1, uint8 [..., layout.bits]: undoes `encode_packed`."""
    as_bytes = np.ascontiguousarray(packed, dtype="<i8").view(np.uint8)
    return np.unpackbits(as_bytes, axis=-1, count=layout.bits, bitorder="little")


def action_mask(legal: Sets, size: int = NUM_ACTIONS) -> NDArray[np.int8]:
    """The legal actions spelled out, int8 [..., size] of 0 and 1 (gymnasium's kind of mask)."""
    return members(legal, size).view(np.int8)


def write_order(plays: NDArray[np.int8], players: NDArray[np.int8], out: Bytes) -> None:
    """Write the order block, uint8 [N, 104], from `View.plays` and `View.players`."""
    cards = plays.shape[1]
    out[...] = 0
    out[:, :cards] = plays + 1
    out[:, NUM_CARDS : NUM_CARDS + cards] = players + 1


# -- the formulas of the blocks, over whole arrays ---------------------------------------------------------------------

_ONE_HOT = np.array([*(1 << value for value in range(NUM_CARDS)), 0])
"""One bit by value; none for -1."""


def _bits(spec: Spec, view: View) -> Sets | int | None:
    """The bytes of a block to come, as bits: int64 [N] for all of it, or [N, P] a seat; or one number for all views.

    None where all are 0.
    """
    given = spec.of_rules(view.rules)
    if spec.kind is Kind.RULES:
        return cast(int, given)
    if spec.kind is Kind.HAS and given == NO_CARD:
        return None
    column, holds = getattr(view, spec.field), _holds(spec, view)
    if holds is not None and not np.count_nonzero(holds):
        return None
    if spec.kind is Kind.STEPS and not np.count_nonzero(column):
        return None
    bits = _FORMULAS[spec.kind](column, given, spec.size)
    return bits if holds is None or holds.all() else bits * holds


def _holds(spec: Spec, view: View) -> Bools | None:
    """Where a block is not all zeros because of the phase, bool [N]; None for everywhere."""
    if spec.only_in is not None:
        return np.equal(view.phase, spec.only_in)
    return None if spec.never_in is None else np.not_equal(view.phase, spec.never_in)


def _count_bits(column: Sets, given: None, size: int) -> Sets:
    # In one byte each: nothing is as fast as numbers that are small.
    bits: Sets = _ONE_HOT.take(np.minimum(np.bitwise_count(column).view(np.int8), np.int8(size - 1)))
    return bits


def _step_bits(column: NDArray[Any], table: Sets, size: int) -> Sets:
    # In memory the seats are the rows of an array of views.
    bits: Sets = table.take(column.T, mode="clip").T
    return bits


_FORMULAS: dict[Kind, Callable[[Any, Any, int], Sets]] = {
    Kind.SET: lambda column, given, size: column.astype(np.int64, copy=False),
    Kind.ONE_HOT: lambda column, given, size: _ONE_HOT.take(column),
    Kind.COUNT: _count_bits,
    Kind.TABLE: lambda column, table, size: table.take(column),
    Kind.STEPS: _step_bits,
    Kind.HAS: lambda column, card, size: column >> card & 1,
}
_ORDER_MEANING = (
    "52 bytes: card + 1 of each play in order, 0 beyond; 52 bytes: seat + 1 of who played it (0 + 1 is the viewer)"
)
