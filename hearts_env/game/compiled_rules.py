"""Rules compiled to numbers and arrays, once for each Rules value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hearts_env.cards import (
    ADD,
    ALL_CARDS,
    CLUBS,
    HEARTS,
    NUM_CARDS,
    NUM_RANKS,
    QS_SET,
    SUBTRACT,
    SUIT_SETS,
    Bools,
    Ints,
    Sets,
    card_set,
    cards_in,
    parse_card,
)
from hearts_env.game.rules import Rules

PointSets = tuple[tuple[int, int], ...]
"""Sets of cards, and the points of each of their cards."""
ALL_ONES = -1
PARTNER = 2
"""The partner sits two seats on (teams are seats 0 and 2 against 1 and 3)."""


class PlayMasks(NamedTuple):
    """The rules of passing and play as integers for the rulebook: sets, and masks that are all ones (-1) or 0."""

    num_players: int
    unpassed: int
    """The set of cards that may not be passed."""
    club_leads: int
    """All ones where the holder of the lowest club leads first, 0 where the seat left of the dealer does."""
    opening_alone: int
    """All ones where that club must be led."""
    opening_suit: int
    """CLUBS where any club may be led in its place, else 0."""
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


class ScoreNumbers(NamedTuple):
    """The rules of scoring for the rulebook: numbers, sets, masks that are all ones (-1) or 0, and arrays of points.

    The arrays are int64 [K, 2]: sets of cards, and the points of each of their cards.
    """

    num_players: int
    points: Ints  # all cards worth points, the bonus card included
    moon_extras: Ints  # the cards that still count besides a moon
    moon_worth: Ints  # the penalty cards where a moon is worth those captured, else nothing
    moon_value: int
    """The points that a moon is worth in addition to those of `moon_worth`."""
    sun_value: int
    no_tricks_bonus: int
    moon_asked: int
    """All ones where the shooter chooses what a moon does."""
    moon_weighed: int
    """All ones where a moon does what is best for its shooter, unless that one is asked."""
    moon_action: int
    """ADD or SUBTRACT: what a moon does otherwise."""
    penalty: int
    """The set of penalty cards."""
    moon_set: int
    """The cards that a moon needs, if they are not dead."""
    moons: int
    """All ones where there are moons."""
    team_moon: int
    """All ones where a team shoots the moon together."""
    sides: int
    """All ones where the sums of sides compete."""
    sides_end: int
    """All ones where the sum of a side ends the game."""
    side_bits: int
    """The bits in which two seats of one side are alike."""
    partner: int
    """The bit in which a seat's number differs from its partner's, or 0 without teams."""
    single: int
    """How many seats win without a tie."""
    shares_ties: int
    """All ones where a tie is shared, 0 where it is played on."""
    target: int
    end: int
    """The lowest score that ends the game."""
    resets: int
    """All ones where a score that equals the target becomes `exact_reset`."""
    exact_reset: int


@dataclass(frozen=True, eq=False)
class CompiledRules:
    """Everything the core asks of the rules: `compiled_rules(rules)`, always the same one for equal rules."""

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
    num_picks: int
    """Cards picked in a pass by all seats together."""
    play: PlayMasks
    score: ScoreNumbers
    beats: Sets  # int64 [53]  the cards that beat this one once it is winning; [NO_CARD] is all cards
    suit: NDArray[np.int8]  # int8 [52]  suit of each card
    suit_sets: Sets  # int64 [5]  the cards of each suit; [NO_SUIT] is 0
    trick_ends: Bools  # bool [C + 1]  is a trick complete after so many plays?
    point_sets: PointSets
    """(set, points of each of its cards) for all cards worth points, the bonus card included."""
    penalty_points: int
    """The points of all penalty cards of the pack together."""
    bonus: int
    """The set that holds the bonus card, or 0."""
    teams: bool

    def __reduce__(self) -> tuple[object, ...]:
        return compiled_rules, (self.rules,)


def compiled_rules(rules: Rules | CompiledRules) -> CompiledRules:
    """The compiled form of `rules`; equal rules share one, and CompiledRules are returned as they are."""
    return rules if isinstance(rules, CompiledRules) else _compiled(rules)


@lru_cache(maxsize=1024)
def _compiled(rules: Rules) -> CompiledRules:
    deck = ALL_CARDS & ~rules.removed_set
    points = {parse_card(name): value for name, value in rules.card_points}
    penalty = card_set(card for card, value in points.items() if value > 0)
    bonus = card_set([parse_card(rules.bonus_card)]) if rules.bonus_card else 0
    bonus_set = ((bonus, rules.bonus_points),) if bonus else ()
    breakers = {
        "heart_or_qs": HEARTS | QS_SET,
        "heart": HEARTS,
        "void": HEARTS,
        "free": 0,
        "never": 0,
    }
    passes = rules.pass_count > 0
    opened = rules.first_leader == "lowest_club"
    return CompiledRules(
        rules=rules,
        num_players=rules.num_players,
        hand_size=rules.hand_size,
        num_plays=rules.num_players * rules.hand_size,
        deck=deck,
        deck_cards=np.array(cards_in(deck), np.int64),
        pass_count=rules.pass_count,
        pass_offsets=np.array(rules.pass_cycle if passes else (0,), np.int64),
        num_picks=rules.num_players * rules.pass_count,
        play=PlayMasks(
            num_players=rules.num_players,
            unpassed=0 if rules.pass_queen else QS_SET,
            club_leads=_mask(opened),
            opening_alone=_mask(opened and rules.first_lead == "forced"),
            opening_suit=CLUBS if opened and rules.first_lead == "any_club" else 0,
            penalty=penalty,
            ban=_mask(rules.first_trick_points == "forbidden"),
            dump_hearts=HEARTS if rules.first_trick_all_points == "hearts" else 0,
            free=_mask(rules.hearts_broken_by == "free"),
            queen_frees=_mask(rules.lead_hearts_with_qs),
            breakers=breakers[rules.hearts_broken_by],
            void_breaks=_mask(rules.hearts_broken_by == "void"),
        ),
        score=_score_numbers(rules, points, bonus_set),
        beats=np.array([*(_beats(card, rules.trump) for card in range(NUM_CARDS)), ALL_CARDS], np.int64),
        suit=(np.arange(NUM_CARDS) // NUM_RANKS).astype(np.int8),
        suit_sets=np.array([*SUIT_SETS, 0], np.int64),
        trick_ends=_trick_ends(rules.num_players, rules.hand_size),
        point_sets=(*_point_sets(points), *bonus_set),
        penalty_points=sum(value for value in points.values() if value > 0),
        bonus=bonus,
        teams=rules.teams is not None,
    )


def _score_numbers(rules: Rules, points: dict[int, int], bonus: PointSets) -> ScoreNumbers:
    penalties = {card: value for card, value in points.items() if value > 0}
    extras = (*_point_sets({card: value for card, value in points.items() if value < 0}), *bonus)
    available = rules.moon_value == "available"
    fixed = sum(penalties.values()) if rules.moon_value is None else rules.moon_value
    penalty = card_set(penalties)
    teams = rules.teams is not None
    return ScoreNumbers(
        num_players=rules.num_players,
        points=_pairs((*_point_sets(points), *bonus)),
        moon_extras=_pairs(() if rules.moon_needs_bonus else extras),
        moon_worth=_pairs(_point_sets(penalties) if available else ()),
        moon_value=0 if isinstance(fixed, str) else fixed,
        sun_value=rules.sun_value,
        no_tricks_bonus=rules.no_tricks_bonus,
        moon_asked=_mask(rules.moon == "choice"),
        moon_weighed=_mask(rules.moon in ("choice", "auto")),
        moon_action=SUBTRACT if rules.moon == "subtract" else ADD,
        penalty=penalty,
        moon_set=penalty | (sum(cards for cards, _ in bonus) if rules.moon_needs_bonus else 0),
        moons=_mask(rules.moon != "none"),
        team_moon=_mask(rules.team_moon == "team"),
        sides=_mask(teams),
        sides_end=_mask(rules.team_end == "team" and teams),
        side_bits=PARTNER - 1 if teams else ALL_ONES,
        partner=PARTNER if teams else 0,
        single=PARTNER if teams else 1,
        shares_ties=_mask(rules.tie == "shared"),
        target=rules.target,
        end=rules.target + rules.end_strict,
        resets=_mask(rules.exact_reset is not None),
        exact_reset=rules.exact_reset or 0,
    )


def _pairs(point_sets: PointSets) -> Ints:
    return np.array(point_sets, np.int64).reshape(-1, 2)


def _mask(holds: bool) -> int:
    return ALL_ONES if holds else 0


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


def _point_sets(points: dict[int, int]) -> PointSets:
    values = sorted({value for value in points.values() if value})
    return tuple((card_set(card for card in points if points[card] == value), value) for value in values)
