"""A card is an int 0..51, a set of cards is a 52-bit integer, an action is a card or one of three names.

Card `13*suit + rank`: suits C D H S are 0..3, ranks 2..A are 0..12.  The array functions take and return
numpy arrays of any shape; a set is held in int64, which has room for the two moon choices as bits 52 and 53.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hearts_env.executor import executed

Sets = NDArray[np.int64]
"""Card sets (or sets of actions), one 64-bit integer each."""
Ints = NDArray[np.int64]
"""Plain numbers, int64."""
Bools = NDArray[np.bool_]
"""Truth values."""
Numbers = NDArray[np.float64]
"""Payoffs, means and chances, float64."""
Bytes = NDArray[np.uint8]
"""Encodings and masks as bytes."""

SUITS = "CDHS"
RANKS = "23456789TJQKA"
NUM_SUITS = len(SUITS)
NUM_RANKS = len(RANKS)
NUM_CARDS = NUM_SUITS * NUM_RANKS

NO_CARD = -1
NO_SEAT = -1
NO_SUIT = -1

ADD = NUM_CARDS
"""The moon choice that adds the moon value to every opponent."""
SUBTRACT = NUM_CARDS + 1
"""The moon choice that subtracts the moon value from the shooter's own score."""
NOOP = NUM_CARDS + 2
"""No decision; only in the Parallel API."""
NUM_ACTIONS = NUM_CARDS + 2
"""Cards and moon choices (NOOP excluded)."""

ALL_CARDS = (1 << NUM_CARDS) - 1
SUIT_SETS = tuple(((1 << NUM_RANKS) - 1) << (NUM_RANKS * suit) for suit in range(NUM_SUITS))
CLUBS, DIAMONDS, HEARTS, SPADES = SUIT_SETS
MOON_CHOICES = (1 << ADD) | (1 << SUBTRACT)

CARD_NAMES = tuple(rank + suit for suit in SUITS for rank in RANKS)
ACTION_NAMES = (*CARD_NAMES, "add", "subtract", "noop")
_CARD_OF_NAME = {name: card for card, name in enumerate(CARD_NAMES)}

BLACK_MARIA = _CARD_OF_NAME["QS"]
QS_SET = 1 << BLACK_MARIA


class CardError(ValueError):
    """Text that is no card, or cards that do not go together."""


def parse_card(text: str) -> int:
    """The card that `text` names: rank then suit, as in `QS`, `TC`, `10c` or `Q♠`.

    Raises CardError for anything else.
    """
    if not isinstance(text, str):
        raise CardError(f"a card is text such as 'QS', not {text!r}")
    name = text.strip().upper().replace("10", "T").translate(_SUIT_SIGNS)
    try:
        return _CARD_OF_NAME[name]
    except KeyError:
        raise CardError(
            f"{text[:20]!r} is no card: a card is a rank of {RANKS} and a suit of {SUITS}, as in 'QS'"
        ) from None


_SUIT_SIGNS = str.maketrans("♣♧♦♢♥♡♠♤", "CCDDHHSS")
SUIT_SIGNS = "♣♦♥♠"
NOTHING = "-"
"""An empty hand, or a seat that has picked nothing."""


# -- what an action may be: one rule for every door --------------------------------------------------------------------


class ActionTypeError(TypeError, ValueError):
    """An action that is neither a whole number nor an array of exactly one: a slip of type, and no illegal move."""


def action_number(action: object) -> int:
    """The number that an action is: a Python or numpy integer, or an array or tensor of exactly one integer.

    Whether it is legal, or an action at all, is not asked here.  Raises ActionTypeError that names the type of anything
    else: a bool, a float, text, None, an array of two.
    """
    if isinstance(action, (int, np.integer)) and not isinstance(action, bool):
        return int(action)
    # An array's `item` is its only element, or an error.  numpy's other kinds, such as dates, have whole numbers too.
    kind = getattr(getattr(action, "dtype", None), "kind", "i")
    if hasattr(action, "item") and kind in "iu":
        with suppress(ValueError, TypeError, RuntimeError):
            number = action.item()
            if type(number) is int:
                return number
    raise ActionTypeError(
        f"action {action!r:.60}: must be a whole number, or an array of exactly one, not {_type_name(action)}"
    )


def action_numbers(actions: object, count: int, what: str = "actions must be") -> Ints:
    """So many actions as int64 [count], each of them what `action_number` takes.

    actions: an array or tensor of integers, [count] or [count, 1], or a list of actions.  what: the first words of the
    message.  Raises ActionTypeError, for another number of them too.
    """
    if isinstance(actions, (list, tuple)):
        numbers = map(action_number, actions)
        # What 64 bits cannot hold names no action, and neither does what stands here in its place.
        actions = np.array([min(max(number, -1), _NO_ACTION) for number in numbers], np.int64)
    array = np.asarray(actions)
    if array.dtype.kind not in "iu" or array.size != count or array.shape[:1] != (count,):
        raise ActionTypeError(f"{what} {count} whole numbers, not {_type_name(actions)}")
    return array.reshape(count).astype(np.int64, copy=False)


_NO_ACTION = 2**62


def _type_name(value: object) -> str:
    """The type of a value, of an array its dtype and shape."""
    if isinstance(value, np.generic) or not hasattr(value, "dtype"):
        return type(value).__name__
    return f"{value.dtype} {tuple(getattr(value, 'shape', ()))}"


# -- sets of bits: one in a number -------------------------------------------------------------------------------------


def card_set(cards: Iterable[int]) -> int:
    """The set that holds the given cards."""
    result = 0
    for card in cards:
        result |= 1 << card
    return result


def cards_in(cards: int) -> list[int]:
    """The members of one set, lowest first (moon choices included)."""
    rest, result = int(cards), []
    while rest:
        lowest_bit = rest & -rest
        result.append(lowest_bit.bit_length() - 1)
        rest ^= lowest_bit
    return result


def names_in(cards: int) -> list[str]:
    """The names of the members of one set of actions, lowest first."""
    return [ACTION_NAMES[card] for card in cards_in(cards)]


def show_suits(cards: int, signs: bool = False) -> str:
    """The cards of a set by suit, as in `C25 SQ`, or with `signs` as in `♣25 ♠Q`; `-` for none."""
    parts = []
    for suit, mark in enumerate(SUIT_SIGNS if signs else SUITS):
        ranks = "".join(RANKS[card % NUM_RANKS] for card in cards_in(int(cards) & SUIT_SETS[suit]))
        if ranks:
            parts.append(mark + ranks)
    return " ".join(parts) or NOTHING


def parse_hand(text: str) -> int:
    """The set of cards that `text` lists, by name (`2C QS`) or by suit (`C25 SQ`, `♣25 ♠Q`).

    Raises CardError for what is no card, for a card that stands twice, and for nothing at all (write `-`).
    """
    held = 0
    for word in [] if text.strip() == NOTHING else text.split() or [""]:
        for card in _cards_of(word):
            if held >> card & 1:
                raise CardError(f"{CARD_NAMES[card]} stands twice in {text!r:.200}")
            held |= 1 << card
    return held


def _cards_of(word: str) -> list[int]:
    suit, ranks = word[:1].upper().translate(_SUIT_SIGNS), word[1:].replace("10", "T")
    if suit and suit in SUITS and ranks:
        return [parse_card(rank + suit) for rank in ranks]
    return [parse_card(word)]


# -- sets of bits: many in an array ------------------------------------------------------------------------------------


def bit(cards: Ints) -> Sets:
    """The sets that hold just the given card each.  int64, the shape of `cards`."""
    return np.left_shift(np.int64(1), cards, dtype=np.int64)


def count(sets: Sets) -> Ints:
    """How many members each set has (popcount).  int64, the shape of `sets`."""
    return np.bitwise_count(sets).astype(np.int64)


def lowest(sets: Sets) -> Ints:
    """The lowest member of each set; NO_CARD where a set is empty.  int64, the shape of `sets`."""
    # In two's complement `sets & -sets` leaves the lowest 1 alone, and a power of two is exact in float64.
    return np.frexp((sets & -sets).astype(np.float64))[1].astype(np.int64) - 1


def highest(sets: Sets) -> Ints:
    """The highest member of each set of cards; NO_CARD where empty.  int64, the shape of `sets`."""
    # Cards are bits 0 to 51 and a float64 has room for 53, so that no rounding reaches the next power of two.
    return np.frexp(sets.astype(np.float64))[1].astype(np.int64) - 1


def nth(sets: Sets, index: NDArray[np.integer]) -> Ints:
    """The member number `index` (0 the lowest) of each set, int64; `index` must be below its count.

    NO_CARD for an empty set.
    """
    rest: NDArray[np.unsignedinteger] = sets.view(np.uint64)
    left = index.astype(np.uint8)
    place = np.zeros(sets.shape, np.uint8)
    # Halve where to look, down to eight bits: is it among the members of the lower half, or past them?
    for log_width, dtype in _HALVES:
        below = np.bitwise_count(rest.astype(dtype))
        past = left >= below
        left -= below * past
        jump = past.view(np.uint8) << np.uint8(log_width)
        place |= jump
        rest = (rest >> jump).astype(dtype)
    place |= _IN_BYTE.take(rest.astype(np.uint16) << np.uint16(3) | left)
    return place.view(np.int8).astype(np.int64)


_HALVES = ((5, np.uint32), (4, np.uint16), (3, np.uint8))


def _in_byte() -> Bytes:
    table = np.full((1 << 8, 8), NO_CARD, np.int8)
    for cards, places in enumerate(table):
        held = cards_in(cards)
        places[: len(held)] = held
    return table.reshape(-1).view(np.uint8)


_IN_BYTE = _in_byte()
"""The place of member number n of a set of eight, at `set * 8 + n`; all ones where there is none."""


# -- the same of one set: Python's number, or in a kernel one of 64 bits -----------------------------------------------

Number: TypeAlias = Any
"""One number of whatever width, where the rest of the library has an array of them."""


def card_bit(card: Number) -> Number:
    """The set that holds just this card."""
    return 1 << card


def card_count(cards: Number) -> Number:
    """How many members the set has."""
    return cards.bit_count()


def lowest_card(cards: Number) -> Number:
    """The lowest member of a set that has some."""
    # In two's complement `cards & -cards` leaves the lowest 1 alone.
    return int(cards & -cards).bit_length() - 1


def highest_card(cards: Number) -> Number:
    """The highest member of a set; NO_CARD for an empty one."""
    return int(cards).bit_length() - 1


def nth_card(cards: Number, index: Number) -> Number:
    """The member number `index` of a set, 0 the lowest; `index` must be below its count."""
    for _ in range(index):
        # To take 1 away turns the lowest 1 into 0, and what is below it into 1.
        cards &= cards - 1
    return lowest_card(cards)


# -- what is spelled out, and what is drawn ----------------------------------------------------------------------------


@executed
def members(sets: Sets, size: int = NUM_CARDS) -> Bytes:
    """The sets spelled out: uint8 [..., size] of 0 and 1, one place a card (or action)."""
    as_bytes = np.ascontiguousarray(sets, dtype="<i8")[..., None].view(np.uint8)
    return np.unpackbits(as_bytes, axis=-1, count=size, bitorder="little")


@executed
def choose(sets: Sets, uniform: NDArray[np.float64]) -> Ints:
    """A member of each set at random: `uniform` in [0, 1) decides which, all equally likely.

    int64, the shape of `sets`.  An empty set gives NO_CARD.
    """
    return nth(sets, (uniform * np.bitwise_count(sets)).astype(np.uint8))
