"""A View as bytes: how a network sees it.

The layout is data: a list of named blocks with offset, size and meaning, from which the writer here, the table in
docs/encoding.md and the tests are made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from hearts_env.cards import (
    NUM_ACTIONS,
    NUM_CARDS,
    NUM_SUITS,
    QS_SET,
    Bools,
    Bytes,
    Ints,
    Sets,
    members,
)
from hearts_env.lookup import Lookup
from hearts_env.lookup import lookup as make_lookup
from hearts_env.rules import CHOICES, SCORINGS, Rules
from hearts_env.state import MOON, PASS, PLAY
from hearts_env.view import View

MAX_SEATS = 7
POINT_STEPS = (1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 26)
"""The `points` block has one byte a step: has the seat taken at least this many points?"""
SCORE_STEPS = 10
"""The `scores` block has one byte a tenth of the target: has the seat's score reached it?"""
MAX_TRICKS = 26
ENCODING_VERSION = 1
"""Goes up whenever the bytes of some View change."""


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
    """

    blocks: tuple[Block, ...]
    size: int
    seats: int

    def __getitem__(self, name: str) -> slice:
        """The slice of a block; KeyError for a name that is not there."""
        for block in self.blocks:
            if block.name == name:
                return slice(block.offset, block.offset + block.size)
        raise KeyError(name)

    def __iter__(self) -> Iterator[Block]:
        return iter(self.blocks)


Writer = Callable[[View, Bytes], None]


@dataclass(frozen=True)
class _Spec:
    """A block before it has a place: `size` is bytes a seat where `by_seat`."""

    name: str
    size: int
    by_seat: bool
    meaning: str
    write: Writer | None = None
    """Fills uint8 [N, size] (or [N, P, size]), zeroed beforehand; None for sets, which are written together."""
    cards: Callable[[View], Sets] | None = None
    """The set int64 [N] (or [N, P]) to spell out card by card."""


def layout(lookup: Lookup, *, pad: bool = False, order: bool = False) -> Layout:
    """The layout of encodings under these rules.

    pad: make room for seven seats, so that one network serves every player count.  order: add the order of play.
    """
    return _layout(lookup.num_players, pad, order)


@cache
def _layout(num_players: int, pad: bool, order: bool) -> Layout:
    seats = MAX_SEATS if pad else num_players
    blocks, offset = [], 0
    for spec in _specs(order):
        size = spec.size * seats if spec.by_seat else spec.size
        blocks.append(Block(spec.name, offset, size, spec.size if spec.by_seat else 0, spec.meaning))
        offset += size
    return Layout(tuple(blocks), offset, seats)


def encode(layout: Layout, view: View, out: Bytes | None = None) -> Bytes:
    """The views as uint8 [N, F], F = `layout.size`; written into `out` where given (rows contiguous).

    layout: from `layout` for the same rules.
    """
    if out is None:
        out = np.empty((len(view), layout.size), np.uint8)
    order = layout.blocks[-1].name == "order"
    specs = _specs(order)
    sets = [spec for spec in specs if spec.cards]
    end = layout.blocks[len(sets)].offset
    _write_sets(layout, view, out[:, :end], sets)
    out[:, end:] = 0
    for spec, block in zip(specs[len(sets) :], layout.blocks[len(sets) :], strict=True):
        assert spec.write is not None
        target = out[:, block.offset : block.offset + block.size]
        if spec.by_seat:
            seats = view.lookup.num_players
            target = target.reshape(len(view), layout.seats, spec.size)[:, :seats]
        spec.write(view, target)
    return out


def action_mask(legal: Sets, size: int = NUM_ACTIONS) -> NDArray[np.int8]:
    """The legal actions spelled out, int8 [..., size] of 0 and 1 (gymnasium's kind of mask)."""
    return members(legal, size).view(np.int8)


def _write_sets(layout: Layout, view: View, out: Bytes, sets: list[_Spec]) -> None:
    seats = view.lookup.num_players
    columns = sum(layout.seats if spec.by_seat else 1 for spec in sets)
    cards = np.zeros((len(view), columns), np.int64)
    place = 0
    for spec in sets:
        assert spec.cards is not None
        if spec.by_seat:
            cards[:, place : place + seats] = spec.cards(view)
            place += layout.seats
        else:
            cards[:, place] = spec.cards(view)
            place += 1
    out.reshape(len(view), columns, NUM_CARDS)[...] = members(cards)


# -- the writers -----------------------------------------------------------------------------------------------------


def _legal(view: View, out: Bytes) -> None:
    out[...] = members(view.legal, NUM_ACTIONS)


def _phase(view: View, out: Bytes) -> None:
    for place, phase in enumerate((PASS, PLAY, MOON)):
        out[:, place] = view.phase == phase


def _one_hot(values: NDArray[np.integer], out: Bytes, valid: Bools | None = None) -> None:
    """Set byte `values[n]` of row n; nothing where it is negative, or not valid."""
    np.equal(values[..., None], np.arange(out.shape[-1]), out=out.view(np.bool_))
    if valid is not None:
        out &= valid[..., None]


def _at_least(values: Ints, steps: Ints, out: Bytes) -> None:
    np.greater_equal(values[..., None], steps, out=out.view(np.bool_))


def _pick_no(view: View, out: Bytes) -> None:
    picked = np.bitwise_count(view.picks)
    _one_hot(picked, out, view.phase == PASS)


def _trick_no(view: View, out: Bytes) -> None:
    _at_least(view.trick_no, np.arange(1, MAX_TRICKS + 1), out)


def _position(view: View, out: Bytes) -> None:
    _one_hot(np.bitwise_count(view.table), out, view.phase == PLAY)


def _winning(view: View, out: Bytes) -> None:
    out[...] = view.best_seat[:, None] == np.arange(out.shape[1])


def _scores(view: View, out: Bytes) -> None:
    target = view.lookup.rules.target
    _at_least(view.scores * SCORE_STEPS, target * np.arange(1, SCORE_STEPS + 1), out)


def _voids(view: View, out: Bytes) -> None:
    np.not_equal(view.voids[..., None] & (1 << np.arange(NUM_SUITS)), 0, out=out.view(np.bool_))


def _rules(view: View, out: Bytes) -> None:
    out[...] = rules_bytes(view.lookup)


def _order(view: View, out: Bytes) -> None:
    plays = view.plays.shape[1]
    out[:, :plays] = view.plays + 1
    out[:, NUM_CARDS : NUM_CARDS + plays] = view.players + 1


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
def rules_bytes(lookup: Lookup) -> Bytes:
    """The `rules` block, uint8: see `rule_flags`."""
    return np.array(list(rule_flags(lookup).values()), np.uint8)


RULE_NAMES = tuple(rule_flags(make_lookup(Rules())))


@cache
def _specs(order: bool) -> tuple[_Spec, ...]:
    card = NUM_CARDS
    specs = (
        _Spec("hand", card, False, "cards held", cards=lambda v: v.hand),
        _Spec(
            "out",
            card,
            False,
            "cards the viewer has not seen (in other hands, or dead)",
            cards=lambda v: v.out,
        ),
        _Spec("picks", card, False, "cards picked to pass, or passed", cards=lambda v: v.picks),
        _Spec("got", card, False, "cards received in the pass", cards=lambda v: v.got),
        _Spec(
            "known",
            card,
            True,
            "cards known to be in the seat's hand: the viewer passed them",
            cards=lambda v: v.known,
        ),
        _Spec("played", card, True, "cards the seat has played", cards=lambda v: v.played),
        _Spec(
            "trick",
            card,
            True,
            "the seat's card in the current trick",
            cards=lambda v: v.played & v.table[:, None],
        ),
        _Spec("legal", NUM_ACTIONS, False, "legal actions: cards, add, subtract", _legal),
        _Spec("phase", 3, False, "pass, play, moon choice", _phase),
        _Spec(
            "pick_no",
            card // 2,
            False,
            "how many cards the viewer has picked, one of 0..25; 0 after the pass",
            _pick_no,
        ),
        _Spec("trick_no", MAX_TRICKS, False, "at least 1, 2, ... 26 tricks are complete", _trick_no),
        _Spec(
            "position",
            MAX_SEATS,
            False,
            "how many seats have played to the trick, one of 0..6",
            _position,
        ),
        _Spec("led", NUM_SUITS, False, "the suit led", lambda v, out: _one_hot(v.led, out)),
        _Spec(
            "winning",
            1,
            True,
            "the seat is winning the trick",
            lambda v, out: _winning(v, out[..., 0]),
        ),
        _Spec(
            "offset",
            MAX_SEATS,
            False,
            "pass offset of the deal, one of 0..6 (0 hold)",
            lambda v, out: _one_hot(v.offset, out),
        ),
        _Spec("voids", NUM_SUITS, True, "suits the seat has failed to follow", _voids),
        _Spec(
            "points",
            len(POINT_STEPS),
            True,
            f"points taken are at least {POINT_STEPS}",
            lambda v, out: _at_least(v.points, np.array(POINT_STEPS), out),
        ),
        _Spec(
            "queen",
            1,
            True,
            "the seat has taken QS",
            lambda v, out: np.not_equal(v.taken & QS_SET, 0, out=out[..., 0].view(np.bool_)),
        ),
        _Spec(
            "bonus",
            1,
            True,
            "the seat has taken the bonus card",
            lambda v, out: np.not_equal(v.taken & v.lookup.bonus, 0, out=out[..., 0].view(np.bool_)),
        ),
        _Spec(
            "scores",
            SCORE_STEPS,
            True,
            "score is at least 1, 2, ... 10 tenths of the target",
            _scores,
        ),
        _Spec("broken", 1, False, "hearts are broken", lambda v, out: np.copyto(out[:, 0], v.broken)),
        _Spec(
            "rules",
            len(RULE_NAMES),
            False,
            "what a player must know of the rules: " + "; ".join(RULE_NAMES),
            _rules,
        ),
    )
    if order:
        order_block = _Spec(
            "order",
            2 * card,
            False,
            "52 bytes: card + 1 of each play in order, 0 beyond; 52 bytes: seat + 1 of its player",
            _order,
        )
        return (*specs, order_block)
    return specs
