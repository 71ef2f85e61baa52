"""A View as bytes: how a network sees it.

The layout is data: a list of named blocks with offset, size and meaning, from which the writer here, the table in
docs/encoding.md and the tests are made.  Every byte is 0 or 1 (except in the optional `order` block), so an encoding
also exists packed, eight bytes to one: `encode_packed` and `unpack`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hearts_env.cards import (
    BLACK_MARIA,
    NUM_ACTIONS,
    NUM_CARDS,
    NUM_SUITS,
    Bools,
    Bytes,
    Sets,
    members,
)
from hearts_env.executor import executed
from hearts_env.game.compiled_rules import Lookup
from hearts_env.game.compiled_rules import lookup as make_lookup
from hearts_env.game.engine import narrow_mask
from hearts_env.game.rules import CHOICES, SCORINGS, Rules
from hearts_env.game.state import MOON, PASS, PLAY, State
from hearts_env.game.view import View, view

MAX_SEATS = 7
POINT_STEPS = (1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 26)
"""The `points` block has one byte a step: has the seat taken at least this many points?"""
SCORE_STEPS = 10
"""The `scores` block has one byte a tenth of the target: has the seat's score reached it?"""
MAX_TRICKS = 26
MAX_PICKS = 4
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


@dataclass(frozen=True)
class _Spec:
    """A block before it has a place."""

    name: str
    size: int
    """Bytes, in all or for each seat."""
    by_seat: bool
    bits: Callable[[View], Sets | int | None]
    """The bytes to come as bits: int64 [N] for all of the block, or [N, P] a seat; or one number for all views.

    None where all are 0.
    """
    meaning: str


def layout(lookup: Lookup, *, pad: bool = False, order: bool = False) -> Layout:
    """The layout of encodings under these rules.

    pad: make room for seven seats, so that one network serves every player count.  order: add the order of play.
    """
    return _layout(lookup.num_players, pad, order)


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
    layout: Layout, lookup: Lookup, state: State, seats: ArrayLike | None = None, out: Bytes | None = None
) -> Bytes:
    """What one seat may know at each table as bytes: `encode(layout, view(lookup, state, seats), out)`, but faster."""
    if out is None:
        out = np.empty((len(state), layout.size), np.uint8)
    for rows in _chunks(len(state), _VIEWS):
        some = None if seats is None else np.asarray(seats)[rows]
        _write(layout, view(lookup, state.part(rows), some), out[rows])
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
    """The same word by word, int64 [layout.words, N]."""
    array = np.zeros((layout.words, len(view)), np.int64)
    words = list(array)
    for spec, block in zip(SPECS, layout.blocks, strict=False):
        bits = spec.bits(view)
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
    """What `encode_packed` packed, as bytes of 0 and 1: uint8 [..., layout.bits]."""
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


# -- the blocks: each turns a View into bits ---------------------------------------------------------------------------


def _thermometer(steps: tuple[int, ...]) -> Sets:
    """Bits by value: bit i is set where the value is at least `steps[i]`."""
    return np.array([sum((value >= step) << i for i, step in enumerate(steps)) for value in range(steps[-1] + 1)])


ONE_HOT = np.array([*(1 << value for value in range(MAX_TRICKS + 1)), 0])
"""One bit by value; none for -1."""
_CARD_BITS = np.array([*(1 << card for card in range(NUM_CARDS)), 0])
POINT_BITS = _thermometer(POINT_STEPS)
TRICK_BITS = _thermometer(tuple(range(1, MAX_TRICKS + 1)))
_SCORE_BITS = _thermometer(tuple(range(1, SCORE_STEPS + 1)))


def _one_hot_when(holds: Bools, values: Callable[[], NDArray[np.int8]]) -> Sets | None:
    return ONE_HOT.take(values() | narrow_mask(~holds)) if np.count_nonzero(holds) else None


def _pick_bits(view: View) -> Sets | None:
    return _one_hot_when(view.phase == PASS, lambda: np.minimum(_count(view.picks), np.int8(MAX_PICKS - 1)))


def _count(sets: Sets) -> NDArray[np.int8]:
    return np.bitwise_count(sets).view(np.int8)


def _score_bits(view: View) -> Sets | None:
    target = view.lookup.rules.target
    return score_table(target).take(view.scores.T, mode="clip").T if np.count_nonzero(view.scores) else None


@lru_cache(maxsize=64)
def score_table(target: int) -> Sets:
    """Bits by score, from 0 to the target."""
    bits: Sets = _SCORE_BITS[np.arange(target + 1) * SCORE_STEPS // target]
    return bits


def _phase_bits(view: View) -> Sets:
    bits: Sets = ONE_HOT.take(view.phase | narrow_mask(view.phase > MOON))
    return bits


def rule_flags(lookup: Lookup) -> dict[str, bool]:
    """What a player must know of the rules: the bytes of the `rules` block in order, each with its meaning."""
    rules = lookup.rules
    choices = {name: CHOICES[name] for name in ("hearts_broken_by", "moon", "bonus_card")}
    choices["scoring"] = tuple(SCORINGS)
    return {
        **{f"{players} players": rules.num_players == players for players in range(2, MAX_SEATS + 1)},
        **{
            f"{name}={value}": getattr(rules, name) == value
            for name, values in choices.items()
            for value in values
            if value is not None
        },
        "points may fall on the first trick": rules.first_trick_points == "allowed",
        "hearts may be led from hearts and QS": rules.lead_hearts_with_qs,
        "hearts are trumps": rules.trump is not None,
        "a moon needs the bonus card": rules.moon_needs_bonus,
        "a seat without a trick gets a bonus": rules.no_tricks_bonus != 0,
        "fixed teams": rules.teams is not None,
        "a team may shoot the moon": rules.team_moon == "team",
    }


@lru_cache(maxsize=1024)
def rule_bits(lookup: Lookup) -> int:
    """The flags as bits."""
    return sum(holds << place for place, holds in enumerate(rule_flags(lookup).values()))


_RULE_NAMES = tuple(rule_flags(make_lookup(Rules())))
_CARDS = NUM_CARDS
SPECS = (
    _Spec("hand", _CARDS, False, lambda v: v.hand, "cards held"),
    _Spec("out", _CARDS, False, lambda v: v.out, "cards the viewer has not seen (in other hands, or dead)"),
    _Spec("picks", _CARDS, False, lambda v: v.picks, "cards picked to pass, or passed"),
    _Spec("got", _CARDS, False, lambda v: v.got, "cards received in the pass"),
    _Spec("kept", _CARDS, False, lambda v: v.kept, "cards the viewer passed that the receiver still holds"),
    _Spec("trick", _CARDS, False, lambda v: v.table, "cards of the current trick"),
    _Spec("best", _CARDS, False, lambda v: _CARD_BITS.take(v.best), "the card that is winning the trick"),
    _Spec("played", _CARDS, True, lambda v: v.played, "cards the seat has played, in the current trick too"),
    _Spec("legal", NUM_ACTIONS, False, lambda v: v.legal, "legal actions: the cards, add, subtract"),
    _Spec("phase", 3, False, _phase_bits, "pass, play, moon choice"),
    _Spec("pick_no", MAX_PICKS, False, _pick_bits, "cards the viewer has picked in the pass phase: 0, 1, 2, 3 or more"),
    _Spec(
        "trick_no",
        MAX_TRICKS,
        False,
        lambda v: TRICK_BITS.take(v.trick_no),
        "at least 1, 2, ... 26 tricks are complete",
    ),
    _Spec(
        "position",
        MAX_SEATS,
        False,
        lambda v: _one_hot_when(v.phase == PLAY, lambda: _count(v.table)),
        "seats that have played to the trick, one of 0..6",
    ),
    _Spec("led", NUM_SUITS, False, lambda v: ONE_HOT.take(v.led), "the suit led: C D H S"),
    _Spec("winning", 1, True, lambda v: ONE_HOT.take(v.best_seat), "the seat is winning the trick"),
    _Spec(
        "offset", MAX_SEATS, False, lambda v: ONE_HOT.take(v.offset), "pass offset of the deal, one of 0..6; 0 is hold"
    ),
    _Spec("voids", NUM_SUITS, True, lambda v: v.voids, "suits the seat has failed to follow: C D H S"),
    _Spec(
        "points",
        len(POINT_STEPS),
        True,
        lambda v: POINT_BITS.take(v.points.T, mode="clip").T,
        f"points taken in this deal are at least {', '.join(map(str, POINT_STEPS))}",
    ),
    _Spec("queen", 1, True, lambda v: v.taken >> BLACK_MARIA & 1, "the seat has taken QS"),
    _Spec(
        "bonus",
        1,
        True,
        lambda v: (v.taken & v.lookup.bonus != 0).astype(np.int64) if v.lookup.bonus else None,
        "the seat has taken the bonus card",
    ),
    _Spec("scores", SCORE_STEPS, True, _score_bits, "score is at least 1, 2, ... 10 tenths of the target"),
    _Spec("broken", 1, False, lambda v: v.broken.astype(np.int64), "hearts are broken"),
    _Spec(
        "rules",
        len(_RULE_NAMES),
        False,
        lambda v: rule_bits(v.lookup),
        "what a player must know of the rules: " + "; ".join(_RULE_NAMES),
    ),
)
_ORDER_MEANING = (
    "52 bytes: card + 1 of each play in order, 0 beyond; 52 bytes: seat + 1 of who played it (0 + 1 is the viewer)"
)
