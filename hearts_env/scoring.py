"""What a deal adds to each score, what a moon is, and when a game is over and who has won.

Arrays have one row a table and one column a seat.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hearts_env.cards import ADD, NO_SEAT, QS_SET, SUBTRACT, Bools, Ints, Sets
from hearts_env.lookup import Lookup

PARTNER = 2
"""The partner sits two seats on (teams are seats 0 and 2 against 1 and 3)."""
_QUEEN_DECIDES = 1 << 40
_POSITIVE = 1 << 32


def card_points(lookup: Lookup, taken: Sets) -> Ints:
    """Points of the cards in each set, the bonus card included.  int64, the shape of `taken`."""
    return _points_in(lookup.point_sets, taken)


def shooter(lookup: Lookup, taken: Sets) -> Ints:
    """The seat that shot the moon at each table, NO_SEAT where nobody did.  taken: int64 [N, P]; int64 [N].

    A moon is every penalty card that anybody took (so dead cards do not prevent it), by one player, or by both
    of a team where `team_moon` says so: then the taker of QS is the shooter, or the one with more points.
    """
    if lookup.rules.moon == "none":
        return np.full(len(taken), NO_SEAT, np.int64)
    needed: Sets = _all(taken) & lookup.moon_set
    shot = (_shooting_side(lookup, taken) & lookup.moon_set) == needed[:, None]
    shot &= (needed & lookup.play.penalty != 0)[:, None]
    queen = (taken & QS_SET) != 0
    weight: Ints = card_points(lookup, taken) + queen * _QUEEN_DECIDES + _POSITIVE
    seat: Ints = np.where(shot.any(axis=1), np.argmax(weight * shot, axis=1), NO_SEAT)
    return seat


def deal_points(lookup: Lookup, taken: Sets, shooters: Ints, choices: Ints) -> Ints:
    """What the deal adds to each score.  int64 [N, P].

    taken: int64 [N, P]  cards captured.  shooters: int64 [N]  as `shooter` tells.  choices: int64 [N]  ADD or
    SUBTRACT, read only where there is a shooter.
    """
    rules = lookup.rules
    plain: Ints = card_points(lookup, taken) + rules.no_tricks_bonus * (taken == 0)
    moon = shooters != NO_SEAT
    if not moon.any():
        return plain
    own = _own_side(lookup, shooters)
    value = _moon_value(lookup, taken, shooters)[:, None]
    minus = (choices == SUBTRACT)[:, None]
    moved = np.where(minus, -value * own, value * ~own)
    shot = moved + _points_in(lookup.moon_extra_sets, taken)
    return np.where(moon[:, None], shot, plain)


def automatic_choice(lookup: Lookup, taken: Sets, shooters: Ints, scores: Ints) -> Ints:
    """The choice of moon="auto" (GO): add, unless that ends the game and the shooter is not lowest.  int64 [N].

    scores: int64 [N, P]  before this deal.
    """
    adding = np.full(len(taken), ADD, np.int64)
    totals = reset_exact(lookup, scores + deal_points(lookup, taken, shooters, adding))
    wins = lowest_seats(lookup, totals)[np.arange(len(taken)), shooters]
    return np.where(is_over(lookup, totals) & ~wins, SUBTRACT, ADD)


def reset_exact(lookup: Lookup, scores: Ints) -> Ints:
    """The scores with each that equals the target put back to `exact_reset`, where the rules have one."""
    if lookup.rules.exact_reset is None:
        return scores
    return np.where(scores == lookup.rules.target, lookup.rules.exact_reset, scores)


def is_over(lookup: Lookup, scores: Ints) -> Bools:
    """Is the game over at these scores?  scores: int64 [N, P]; bool [N]."""
    rules = lookup.rules
    counted = side_scores(lookup, scores) if rules.team_end == "team" else scores
    over: Bools = counted.max(axis=1) >= rules.target + rules.end_strict
    if rules.tie == "shared":
        return over
    winners: NDArray[np.intp] = lowest_seats(lookup, scores).sum(axis=1)
    over &= winners == (PARTNER if lookup.teams else 1)
    return over


def winners(lookup: Lookup, scores: Ints) -> Bools:
    """The seats that have won, bool [N, P]: lowest score (of a side, with teams) where the game is over."""
    return lowest_seats(lookup, scores) & is_over(lookup, scores)[:, None]


def lowest_seats(lookup: Lookup, scores: Ints) -> Bools:
    """The seats that have (or whose side has) the lowest score, bool [N, P]."""
    competing = side_scores(lookup, scores)
    result: Bools = competing == competing.min(axis=1, keepdims=True)
    return result


def side_scores(lookup: Lookup, scores: Ints) -> Ints:
    """The scores that compete: each seat's own, or with teams the sum of its side.  int64 [..., P]."""
    return scores + np.roll(scores, PARTNER, axis=-1) if lookup.teams else scores


def _points_in(point_sets: tuple[tuple[int, int], ...], taken: Sets) -> Ints:
    total = np.zeros_like(taken)
    for cards, points in point_sets:
        total += np.multiply(np.bitwise_count(taken & cards), points, dtype=np.int64)
    return total


def _all(taken: Sets) -> Sets:
    result: Sets = np.bitwise_or.reduce(taken, axis=1)
    return result


def _shooting_side(lookup: Lookup, taken: Sets) -> Sets:
    return taken | np.roll(taken, PARTNER, axis=1) if lookup.rules.team_moon == "team" else taken


def _own_side(lookup: Lookup, shooters: Ints) -> Bools:
    seats = np.arange(lookup.num_players)
    if lookup.teams:
        seats, shooters = seats % PARTNER, shooters % PARTNER
    own: Bools = seats == shooters[:, None]
    return own


def _moon_value(lookup: Lookup, taken: Sets, shooters: Ints) -> Ints:
    rules = lookup.rules
    everything = _all(taken)
    if rules.moon_value == "available":
        penalties = tuple(pair for pair in lookup.point_sets if pair[1] > 0)
        value = _points_in(penalties, everything)
    else:
        worth = lookup.penalty_points if rules.moon_value is None else rules.moon_value
        value = np.full(len(taken), worth, np.int64)
    side = _shooting_side(lookup, taken)[np.arange(len(taken)), shooters]
    value += rules.sun_value * (side == everything)
    return value
