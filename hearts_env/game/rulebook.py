"""The rules of play as branch-free arithmetic on card sets.

Every function works on int64 arrays of any one shape and, unchanged, on single integers: this is the one text of
the rules.  A condition is a mask: all ones (-1) or 0.  `rules` is the PlayMasks of a Lookup.  Section numbers are
those of docs/rules.md.
"""

from __future__ import annotations

from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from hearts_env.cards import HEARTS, QS_SET
from hearts_env.game.compiled_rules import PlayMasks

Set = TypeVar("Set", int, NDArray[np.int64])
Column: TypeAlias = Any
"""An int64 array with one entry a table, or the number of one table."""

SIGN = 63


def empty(cards: Set) -> Set:
    """All ones where the set has no member."""
    return (cards - 1) >> SIGN


def either(first: Set, second: Set) -> Set:
    """The first set, or the second where the first is empty."""
    return first | (second & empty(first))


def less(first: Column, second: Column) -> Column:
    """All ones where the first number is smaller (by less than 2**63)."""
    return (first - second) >> SIGN


def same(first: Column, second: Column) -> Column:
    """All ones where the numbers are equal."""
    return ~(less(first, second) | less(second, first))


def select(mask: Column, first: Column, second: Column) -> Column:
    """The first where the mask is all ones, the second where it is 0."""
    return second ^ ((first ^ second) & mask)


def legal_follow(rules: PlayMasks, hand: Set, led: Set, first: Set) -> Set:
    """What may be played to a trick that has begun: follow suit, else discard.

    led: the set of the suit led.  first: all ones on the first trick, where penalty cards may be barred from a
    hand that has others.
    """
    return follow(hand, led, discards(rules, hand, first))


def follow(hand: Set, led: Set, discard: Set) -> Set:
    """The cards of the suit led, or those that may be discarded where there is none."""
    return either(hand & led, discard)


def discards(rules: PlayMasks, hand: Set, first: Set) -> Set:
    """What a hand without the suit led may discard: anything after the first trick; first: see `legal_follow`."""
    ban = first & rules.ban
    safe = hand & ~rules.penalty
    dump = either(hand & rules.dump_hearts, hand)
    return (hand & ~ban) | (either(safe, dump) & ban)


def legal_lead(rules: PlayMasks, hand: Set, broken: Set, opening: Set) -> Set:
    """What may be led: anything but hearts until they are broken, or unless only hearts are left.

    broken: all ones once hearts are broken.  opening: the set that the very first lead is limited to, or 0.
    """
    plain = hand & ~HEARTS
    only_queen = empty(plain ^ QS_SET) & rules.queen_frees
    free = broken | rules.free | empty(plain) | only_queen
    return either(hand & opening, plain | (hand & free))


def breaks(rules: PlayMasks, card: Set, led: Set) -> Set:
    """All ones where the card played (a set of one) breaks hearts.  led: the set of the suit led, 0 for a lead."""
    off_suit = empty(card & led) & ~empty(led)
    return ~empty(card & rules.breakers) | (off_suit & rules.void_breaks)
