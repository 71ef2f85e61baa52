"""The rules of Hearts as branch-free arithmetic: the one text of the rules, which both executors run.

Every function works on int64 arrays with an entry a table and, unchanged, on the numbers of one table.  A condition
is a mask: all ones (-1) or 0.  `rules` is the PlayMasks of CompiledRules, or its ScoreNumbers where points are counted;
then `taken`, `scores`, `points` and `totals` have a Column for each seat.
"""

from __future__ import annotations

from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from hearts_env.cards import ADD, CLUBS, HEARTS, NO_SEAT, NUM_SUITS, QS_SET, SUBTRACT, Ints, count
from hearts_env.game.compiled_rules import PlayMasks, ScoreNumbers
from hearts_env.game.state import PASS

Set = TypeVar("Set", int, NDArray[np.int64])
Column: TypeAlias = Any
"""An array with an entry a table, or the number of one table: int64, or int8 where it holds seats, suits or counts."""
Columns: TypeAlias = Any
"""A Column for each seat."""
SIGN = 63
ALL_SUITS = 2**NUM_SUITS - 1
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


# -- seats: they are numbered clockwise, and the seat to the left is the next one --------------------------------------


def next_seat(players: int, seat: Column) -> Column:
    """The seat to the left."""
    left = seat + 1
    # After the last seat comes seat 0.
    return left * (left != players)


def seat_after(players: int, seat: Column, steps: Column) -> Column:
    """The seat that sits so many seats to the left, 0 to P - 1."""
    there = seat + steps - players
    # Below zero, where the shift is all ones, it has not come round to seat 0.
    return there + (players & (there >> SIGN))


def relative(players: int, seat: Column, viewer: Column) -> Column:
    """The seat as the viewer counts it: 0 itself, 1 the seat to its left; NO_SEAT where it is NO_SEAT."""
    steps = seat - viewer
    # NO_SEAT is -1, and shifted it is all ones, which is NO_SEAT again.
    return (steps + (players & (steps >> SIGN))) | (seat >> SIGN)


def absolute(players: int, seat: Column, viewer: Column) -> Column:
    """The seat of the table that the viewer counts as `seat`; NO_SEAT where that is NO_SEAT."""
    return seat_after(players, viewer, seat) | (seat >> SIGN)


# -- passing -----------------------------------------------------------------------------------------------------------


def pass_offset(cycle: Ints, deal_no: Column) -> Column:
    """How many seats to the left the cards of a deal are passed; 0: none are.  cycle: `CompiledRules.pass_offsets`."""
    return cycle[deal_no % len(cycle)]


def receiver(players: int, seat: Column, offset: Column) -> Column:
    """The seat that gets what this one passes."""
    return seat_after(players, seat, offset)


def giver(players: int, seat: Column, offset: Column) -> Column:
    """The seat from which this one gets cards."""
    return relative(players, seat, offset)


def legal_picks(rules: PlayMasks, hand: Set, picks: Set) -> Set:
    """The cards that may be picked to pass.  picks: the cards that the hand has picked already."""
    return hand & ~(picks | rules.unpassed)


def picked_by(players: int, seat: Column, count: Column) -> Column:
    """How many cards a seat has picked once all together have picked `count`: by turns, from seat 0."""
    return (count + players - 1 - seat) // players


def picked_by_all(players: int, seat: Column, picked: Column) -> Column:
    """How many cards all together have picked when it is the turn of a seat that has picked so many."""
    return picked * players + seat


def after_pass(phase: Column, offset: Column) -> Column:
    """All ones where cards have changed hands in this deal.  phase, offset: of the deal."""
    return less(PASS, phase) & less(0, offset)


def exchanged(hand: Set, given: Set, got: Set) -> Set:
    """A hand after the pass; what was dealt, from a hand after the pass, with `given` and `got` the other way round."""
    return (hand & ~given) | got


# -- who leads first, and what -----------------------------------------------------------------------------------------


def lowest_club(cards: Set) -> Set:
    """The lowest club of a set, as a set of one; 0 if it has none."""
    clubs = cards & CLUBS
    return clubs & -clubs


def all_of(players: int, sets: Columns) -> Column:
    """The cards of all seats."""
    cards = sets[0] | sets[1]
    for seat in range(2, players):
        cards = cards | sets[seat]
    return cards


def first_leader(rules: PlayMasks, hands: Columns, deal_no: Column) -> Column:
    """The seat that leads first: it holds the lowest club in any hand, or sits left of the dealer.

    The deal passes round the table from seat 0.  Seat 0 leads where nobody holds a club.
    """
    opening = lowest_club(all_of(rules.num_players, hands)) & rules.club_leads
    leader = ((deal_no + 1) % rules.num_players) & ~rules.club_leads
    for seat in range(rules.num_players):
        leader = select(empty(hands[seat] & opening), leader, seat)
    return leader


def opening_leads(rules: PlayMasks, hand: Set, opens: Set) -> Set:
    """The cards to which the very first lead is limited; 0 where there is no such limit.

    hand: of the first leader, whose lowest club is the lowest of all.  opens: all ones for the very first lead.
    """
    clubs = hand & CLUBS
    # A set and its negative have the lowest member in common.
    return clubs & (rules.opening_suit | (rules.opening_alone & -clubs)) & opens


# -- what may be played ------------------------------------------------------------------------------------------------


def in_first_trick(rules: PlayMasks, count: Column) -> Column:
    """All ones where the next card belongs to the first trick.  count: the cards played."""
    return less(count, rules.num_players)


def legal_follow(rules: PlayMasks, hand: Set, led: Set, first: Set) -> Set:
    """The cards that may be played to a trick that has begun: those of the suit led, else discards.

    led: the set of the suit led.  first: all ones on the first trick, where penalty cards may be barred from a
    hand that has others.
    """
    return follow(hand, led, discards(rules, hand, first))


def follow(hand: Set, led: Set, discard: Set) -> Set:
    """The cards of the suit led, or those that may be discarded where there is none."""
    return either(hand & led, discard)


def discards(rules: PlayMasks, hand: Set, first: Set) -> Set:
    """The cards that a hand without the suit led may discard: all of them after the first trick.

    first: all ones on the first trick, as in `legal_follow`.
    """
    ban = first & rules.ban
    safe = hand & ~rules.penalty
    dump = either(hand & rules.dump_hearts, hand)
    return (hand & ~ban) | (either(safe, dump) & ban)


def legal_lead(rules: PlayMasks, hand: Set, broken: Set, opening: Set) -> Set:
    """The cards that may be led: hearts only once they are broken, or where only hearts are left.

    broken: all ones once hearts are broken.  opening: what the very first lead is limited to, or 0.
    """
    plain = hand & ~HEARTS
    only_queen = empty(plain ^ QS_SET) & rules.queen_frees
    free = broken | rules.free | empty(plain) | only_queen
    return either(hand & opening, plain | (hand & free))


def held_at_lead(rules: PlayMasks, card: Set, broken: Set) -> Set:
    """The cards that a hand may have held when it led this card, by `legal_lead`.

    A heart led before hearts were broken was led from a hand of hearts (with QS, where that is allowed).
    """
    unbroken_heart = ~empty(card & HEARTS) & ~(broken | rules.free)
    return ~unbroken_heart | HEARTS | (QS_SET & rules.queen_frees)


def held_at_discard(rules: PlayMasks, card: Set, led: Set, first: Set) -> Set:
    """The cards that a hand may have held when it played this card to a trick, by `discards`.

    Penalty cards discarded on a first trick that bars them came from a hand of nothing else, and without a heart where
    that had to go first.
    """
    barred = ~empty(card & rules.penalty) & rules.ban & first & off_suit(card, led)
    return ~barred | (rules.penalty & ~(rules.dump_hearts & empty(card & HEARTS)))


# -- what a card does --------------------------------------------------------------------------------------------------


def off_suit(card: Set, led: Set) -> Set:
    """All ones where the card played (a set of one) does not follow.  led: the set of the suit led, 0 for a lead."""
    return empty(card & led) & ~empty(led)


def breaks(rules: PlayMasks, card: Set, off: Set) -> Set:
    """All ones where the card played (a set of one) breaks hearts.  off: see `off_suit`."""
    return ~empty(card & rules.breakers) | (off & rules.void_breaks)


def wins(beaters: Set, card: Set) -> Set:
    """All ones where the card played (a set of one) is now winning the trick.

    beaters: the cards that beat the one that was winning: see `CompiledRules.beats`.
    """
    return ~empty(beaters & card)


def void_shown(seat: Column, led: Column, off: Column) -> Column:
    """The bit of `State.voids` that a seat's card sets, or 0.  led: the suit led.  off: see `off_suit`."""
    return (off & 1) << (NUM_SUITS * seat + led)


def voids_of(voids: Column, seat: Column) -> Column:
    """The suits that a seat has failed to follow: bit `suit`.  voids: those of all seats, as in State."""
    return (voids >> NUM_SUITS * seat) & ALL_SUITS


# -- points, the moon, the end of a game -------------------------------------------------------------------------------


def points_in(worth: Ints, cards: Column) -> Column:
    """The points of a set of cards.  worth: int64 [K, 2]  sets of cards, and the points of each of their cards."""
    points = cards & 0
    for k in range(len(worth)):
        points = points + count(cards & worth[k, 0]) * worth[k, 1]
    return points


def side_cards(rules: ScoreNumbers, taken: Columns, seat: int) -> Column:
    """The cards with which a seat may have shot the moon: its own, or its team's."""
    return taken[seat] | (taken[seat ^ rules.partner] & rules.team_moon)


def shooter(rules: ScoreNumbers, taken: Columns) -> Column:
    """The seat that shot the moon, or NO_SEAT.

    A moon is every penalty card that anybody took (so dead cards do not prevent it), by one player, or by both
    of a team where `team_moon` says so: then the taker of QS is the shooter, or the one with more points.
    """
    cards = all_of(rules.num_players, taken)
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
    """The points that captured cards add to a score where nobody shot the moon."""
    return points_in(rules.points, cards) + (empty(cards) & rules.no_tricks_bonus)


def moon_value(rules: ScoreNumbers, taken: Columns, shooters: Column) -> Column:
    """The points that a moon adds to or subtracts from scores, with the extra for taking every trick."""
    cards = all_of(rules.num_players, taken)
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


def asked(rules: ScoreNumbers, shooters: Column) -> Column:
    """All ones where the shooter has a choice to make before the deal is scored.  shooters: NO_SEAT where nobody is."""
    return rules.moon_asked & ~(shooters >> SIGN)


def unasked_choice(rules: ScoreNumbers, taken: Columns, shooters: Column, scores: Columns, totals: Columns) -> Column:
    """The choice for a moon where nobody is asked, ADD or SUBTRACT: as the rules say, or best for the shooter.

    scores, totals: see `automatic_choice`.
    """
    return select(rules.moon_weighed, automatic_choice(rules, taken, shooters, scores, totals), rules.moon_action)


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
