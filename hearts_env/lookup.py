"""Rules compiled to numbers and arrays, once for each Rules value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hearts_env.cards import (
    ALL_CARDS,
    CLUBS,
    HEARTS,
    NUM_CARDS,
    NUM_RANKS,
    QS_SET,
    SUIT_SETS,
    Bools,
    Ints,
    Sets,
    card_set,
    cards_in,
    parse_card,
)
from hearts_env.rules import Rules

ALL_ONES = -1


class PlayMasks(NamedTuple):
    """What the rulebook's formulas need, as integers: sets, and masks that are all ones (-1) or 0."""

    penalty: int
    """The set of penalty cards."""
    ban: int
    """All ones where penalty cards may not be discarded on the first trick."""
    dump_hearts: int
    """HEARTS where an all-penalty hand must then discard a heart if it has one, else 0."""
    free: int
    """All ones where hearts may always be led."""
    queen_frees: int
    """All ones where a hand of hearts and QS may lead hearts."""
    breakers: int
    """The set of cards that break hearts however they are played."""
    void_breaks: int
    """All ones where any discard breaks hearts."""


@dataclass(frozen=True, eq=False)
class Lookup:
    """Everything the core asks of the rules.  `lookup(rules)` makes it, and always the same one for equal rules."""

    rules: Rules
    num_players: int
    hand_size: int
    num_plays: int
    """Cards played in a deal: seats times hand size."""
    deck: int
    """The set of cards in the pack, dead ones included."""
    deck_cards: Ints  # int64 [C]  the same, as cards in ascending order
    pass_count: int
    pass_offsets: Ints  # int64 [L]  offset of deal 0, 1, ..., repeating; all 0 where nothing is passed
    play: PlayMasks
    opening_limit: int
    """What the holder of the opening card may lead: all ones for that card alone, CLUBS, or 0 for no limit."""
    beats: Sets  # int64 [53]  the cards that beat this one once it is winning; [NO_CARD] is all cards
    suit: NDArray[np.int8]  # int8 [52]  suit of each card
    suit_sets: Sets  # int64 [5]  the cards of each suit; [NO_SUIT] is 0
    trick_ends: Bools  # bool [C + 1]  is a trick complete after so many plays?
    point_sets: tuple[tuple[int, int], ...]
    """(set, points of each of its cards) for all cards worth points, the bonus card included."""
    penalty_points: int
    """What all penalty cards of the pack are worth together."""
    bonus: int
    """The set that holds the bonus card, or 0."""
    moon_set: int
    """The cards that a moon needs, if they are not dead."""
    moon_extra_sets: tuple[tuple[int, int], ...]
    """(set, points) of the cards that still count besides a moon."""
    teams: bool

    def __reduce__(self) -> tuple[object, ...]:
        return lookup, (self.rules,)


@lru_cache(maxsize=1024)
def lookup(rules: Rules) -> Lookup:
    """The Lookup of `rules`; equal rules share one."""
    deck = ALL_CARDS & ~rules.removed_set
    points = {parse_card(name): value for name, value in rules.card_points}
    penalty = card_set(card for card, value in points.items() if value > 0)
    bonus = card_set([parse_card(rules.bonus_card)]) if rules.bonus_card else 0
    bonus_set = ((bonus, rules.bonus_points),) if bonus else ()
    extras = (
        *_point_sets({card: value for card, value in points.items() if value < 0}),
        *bonus_set,
    )
    breakers = {
        "heart_or_qs": HEARTS | QS_SET,
        "heart": HEARTS,
        "void": HEARTS,
        "free": 0,
        "never": 0,
    }
    passes = rules.pass_count > 0
    return Lookup(
        rules=rules,
        num_players=rules.num_players,
        hand_size=rules.hand_size,
        num_plays=rules.num_players * rules.hand_size,
        deck=deck,
        deck_cards=np.array(cards_in(deck), np.int64),
        pass_count=rules.pass_count,
        pass_offsets=np.array(rules.pass_cycle if passes else (0,), np.int64),
        play=PlayMasks(
            penalty=penalty,
            ban=_mask(rules.first_trick_points == "forbidden"),
            dump_hearts=HEARTS if rules.first_trick_all_points == "hearts" else 0,
            free=_mask(rules.hearts_broken_by == "free"),
            queen_frees=_mask(rules.lead_hearts_with_qs),
            breakers=breakers[rules.hearts_broken_by],
            void_breaks=_mask(rules.hearts_broken_by == "void"),
        ),
        opening_limit=_opening_limit(rules),
        beats=np.array([*(_beats(card, rules.trump) for card in range(NUM_CARDS)), ALL_CARDS], np.int64),
        suit=(np.arange(NUM_CARDS) // NUM_RANKS).astype(np.int8),
        suit_sets=np.array([*SUIT_SETS, 0], np.int64),
        trick_ends=_trick_ends(rules.num_players, rules.hand_size),
        point_sets=(*_point_sets(points), *bonus_set),
        penalty_points=sum(value for value in points.values() if value > 0),
        bonus=bonus,
        moon_set=penalty | (bonus if rules.moon_needs_bonus else 0),
        moon_extra_sets=() if rules.moon_needs_bonus else extras,
        teams=rules.teams is not None,
    )


def _mask(holds: bool) -> int:
    return ALL_ONES if holds else 0


def _opening_limit(rules: Rules) -> int:
    if rules.first_leader == "left_of_dealer":
        return 0
    return {"forced": ALL_ONES, "any_club": CLUBS, "any": 0}[rules.first_lead]


def _trick_ends(num_players: int, hand_size: int) -> Bools:
    plays = np.arange(num_players * hand_size + 1)
    ends: Bools = (plays > 0) & (plays % num_players == 0)
    return ends


def _beats(card: int, trump: str | None) -> int:
    """The cards that win over `card` once it is the best of the trick: higher in suit, or a trump."""
    suit = SUIT_SETS[card // NUM_RANKS]
    higher = suit & ~((2 << card) - 1)
    trumps = HEARTS if trump else 0
    return higher | (trumps if suit != HEARTS else 0)


def _point_sets(points: dict[int, int]) -> tuple[tuple[int, int], ...]:
    values = sorted({value for value in points.values() if value})
    return tuple((card_set(card for card in points if points[card] == value), value) for value in values)
