"""The rules of Hearts as branch-free arithmetic: the one text of the rules, which both executors run.

Every function works on int64 arrays with an entry a table and, unchanged, on the numbers of one table.  A condition
is a mask: all ones (-1) or 0.  `rules` is the PlayMasks of a Lookup, or its ScoreNumbers where points are counted;
then `taken`, `scores`, `points` and `totals` have a Column for each seat.
"""

from __future__ import annotations

from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from hearts_env.cards import ADD, HEARTS, NO_SEAT, QS_SET, SUBTRACT, Ints, count
from hearts_env.game.compiled_rules import PlayMasks, ScoreNumbers

Set = TypeVar("Set", int, NDArray[np.int64])
Column: TypeAlias = Any
"""An int64 array with one entry a table, or the number of one table."""
Columns: TypeAlias = Any
"""A Column for each seat."""
SIGN = 63
_QUEEN_DECIDES = 1 << 40
_POSITIVE = 1 << 32

# -- masks -------------------------------------------------------------------------------------------------------------


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


# -- what may be played ------------------------------------------------------------------------------------------------


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


# -- points, the moon, the end of a game -------------------------------------------------------------------------------


def points_in(worth: Ints, cards: Column) -> Column:
    """What a set of cards is worth.  worth: int64 [K, 2]  sets of cards, and the points of each of their cards."""
    points = cards & 0
    for k in range(len(worth)):
        points = points + count(cards & worth[k, 0]) * worth[k, 1]
    return points


def everything(rules: ScoreNumbers, taken: Columns) -> Column:
    """All cards captured."""
    cards = taken[0] | taken[1]
    for seat in range(2, rules.num_players):
        cards = cards | taken[seat]
    return cards


def side_cards(rules: ScoreNumbers, taken: Columns, seat: int) -> Column:
    """The cards with which a seat may have shot the moon: its own, or its team's."""
    return taken[seat] | (taken[seat ^ rules.partner] & rules.team_moon)


def shooter(rules: ScoreNumbers, taken: Columns) -> Column:
    """The seat that shot the moon, or NO_SEAT.

    A moon is every penalty card that anybody took (so dead cards do not prevent it), by one player, or by both
    of a team where `team_moon` says so: then the taker of QS is the shooter, or the one with more points.
    """
    cards = everything(rules, taken)
    most = cards & 0
    found = most + NO_SEAT
    for seat in range(rules.num_players):
        shot = shoots(rules, taken, cards, seat)
        queen = ~empty(taken[seat] & QS_SET) & _QUEEN_DECIDES
        weight = shot & (points_in(rules.points, taken[seat]) + queen + _POSITIVE)
        more = less(most, weight)
        most = select(more, weight, most)
        found = select(more, seat, found)
    return found


def shoots(rules: ScoreNumbers, taken: Columns, cards: Column, seat: int) -> Column:
    """All ones where a seat, or its team, has shot the moon.  cards: all that were captured."""
    needed = cards & rules.moon_set
    possible = ~empty(cards & rules.penalty) & rules.moons
    return possible & empty(needed & ~side_cards(rules, taken, seat))


def deal_points(rules: ScoreNumbers, taken: Columns, shooters: Column, choices: Column, points: Columns) -> None:
    """Fill `points` with what the deal adds to each score.  choices: ADD or SUBTRACT, read where there is a shooter."""
    moon = ~less(shooters, 0)
    minus = same(choices, SUBTRACT)
    value = moon_value(rules, taken, shooters)
    for seat in range(rules.num_players):
        cards = taken[seat]
        plain = plain_points(rules, cards)
        own = empty((shooters ^ seat) & rules.side_bits)
        moved = select(minus, own & -value, ~own & value)
        points[seat] = select(moon, moved + points_in(rules.moon_extras, cards), plain)


def plain_points(rules: ScoreNumbers, cards: Column) -> Column:
    """What captured cards add to a score where nobody shot the moon."""
    return points_in(rules.points, cards) + (empty(cards) & rules.no_tricks_bonus)


def moon_value(rules: ScoreNumbers, taken: Columns, shooters: Column) -> Column:
    """What a moon moves, with the extra for taking every trick."""
    cards = everything(rules, taken)
    sun = cards & 0
    for seat in range(rules.num_players):
        sun = sun | (same(shooters, seat) & empty(cards & ~side_cards(rules, taken, seat)))
    return points_in(rules.moon_worth, cards) + rules.moon_value + (sun & rules.sun_value)


def automatic_choice(rules: ScoreNumbers, taken: Columns, shooters: Column, scores: Columns, totals: Columns) -> Column:
    """The choice of moon="auto" (GO): add, unless that ends the game and the shooter is not lowest.

    scores: before this deal.  totals: to work in, one place for each seat.
    """
    deal_points(rules, taken, shooters, (shooters & 0) + ADD, totals)
    for seat in range(rules.num_players):
        totals[seat] = reset_exact(rules, scores[seat] + totals[seat])
    low = lowest(rules, totals)
    wins = low & 0
    for seat in range(rules.num_players):
        wins = wins | (same(shooters, seat) & same(side_score(rules, totals, seat), low))
    return select(is_over(rules, totals) & ~wins, SUBTRACT, (shooters & 0) + ADD)


def reset_exact(rules: ScoreNumbers, score: Column) -> Column:
    """The score, or `exact_reset` in its place where it equals the target and the rules have one."""
    return select(same(score, rules.target) & rules.resets, rules.exact_reset, score)


def side_score(rules: ScoreNumbers, scores: Columns, seat: int) -> Column:
    """The score that competes: the seat's own, or with teams the sum of its side."""
    return scores[seat] + (scores[seat ^ rules.partner] & rules.sides)


def lowest(rules: ScoreNumbers, scores: Columns) -> Column:
    """The lowest score that competes."""
    low = side_score(rules, scores, 0)
    for seat in range(1, rules.num_players):
        mine = side_score(rules, scores, seat)
        low = select(less(mine, low), mine, low)
    return low


def is_over(rules: ScoreNumbers, scores: Columns) -> Column:
    """All ones where the game is over at these scores."""
    low = lowest(rules, scores)
    winners = low & 0
    for seat in range(rules.num_players):
        winners = winners - same(side_score(rules, scores, seat), low)
    return reached(rules, scores) & (rules.shares_ties | same(winners, rules.single))


def reached(rules: ScoreNumbers, scores: Columns) -> Column:
    """All ones where a score, or the sum of a side, is one that ends the game, unless that goes on for a tie."""
    ends = scores[0] & 0
    for seat in range(rules.num_players):
        counted = scores[seat] + (scores[seat ^ rules.partner] & rules.sides_end)
        ends = ends | ~less(counted, rules.end)
    return ends
