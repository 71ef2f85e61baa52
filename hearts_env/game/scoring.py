"""The rulebook's scoring over whole arrays: points, moons, the end of a game, and its winners.

Arrays have one row a table and one column a seat.
"""

from __future__ import annotations

from functools import reduce
from operator import or_

import numpy as np
from numpy.typing import NDArray

from hearts_env.cards import NO_CARD, NO_SEAT, Bools, Ints, Sets
from hearts_env.game import rulebook
from hearts_env.game.compiled_rules import PARTNER as PARTNER
from hearts_env.game.compiled_rules import CompiledRules


def card_points(rules: CompiledRules, taken: Sets) -> Ints:
    """Points of the cards in each set, the bonus card included.  int64, the shape of `taken`."""
    points: Ints = rulebook.points_in(rules.score.points, taken)
    return points


def shooter(rules: CompiledRules, taken: Sets) -> Ints:
    """The seat that shot the moon at each table, NO_SEAT where nobody did.  taken: int64 [N, P]; int64 [N]."""
    columns, seats = taken.T, np.full(len(taken), NO_SEAT)
    cards = rulebook.all_of(rules.num_players, columns)
    # Moons are rare, and so is what follows.
    shot = reduce(or_, (rulebook.shoots(rules.score, columns, cards, seat) for seat in range(rules.num_players)))
    rows = np.flatnonzero(shot)
    if len(rows):
        seats[rows] = rulebook.shooter(rules.score, columns[:, rows])
    return seats


def deal_points(rules: CompiledRules, taken: Sets, shooters: Ints, choices: Ints) -> Ints:
    """The points that the deal adds to each score.  int64 [N, P].

    taken: int64 [N, P]  cards captured.  shooters: int64 [N]  as `shooter` tells.  choices: int64 [N]  ADD or
    SUBTRACT, read only where there is a shooter.
    """
    points: Ints = rulebook.plain_points(rules.score, taken)
    rows = np.flatnonzero(shooters != NO_SEAT)
    if len(rows):
        moons = np.empty((rules.num_players, len(rows)), np.int64)
        rulebook.deal_points(rules.score, taken[rows].T, shooters[rows], choices[rows], moons)
        points[rows] = moons.T
    return points


def automatic_choice(rules: CompiledRules, taken: Sets, shooters: Ints, scores: Ints) -> Ints:
    """The choice of moon="auto" (GO): add, unless that ends the game and the shooter is not lowest.  int64 [N].

    scores: int64 [N, P]  before this deal.
    """
    totals = np.empty(taken.T.shape, np.int64)
    choices: Ints = rulebook.automatic_choice(rules.score, taken.T, shooters, scores.T, totals)
    return choices


def unasked_choice(
    rules: CompiledRules, taken: Sets, shooters: NDArray[np.integer], scores: NDArray[np.integer]
) -> Ints:
    """The choice for each moon where nobody is asked, ADD or SUBTRACT; NO_CARD where there is no moon.  int64 [N].

    taken, scores: int64 [N, P], the latter before this deal.  shooters: [N]  as `shooter` tells.
    """
    choices = np.full(len(shooters), NO_CARD)
    rows = np.flatnonzero(shooters != NO_SEAT)
    if len(rows):
        before, totals = _columns(scores[rows]), np.empty((rules.num_players, len(rows)), np.int64)
        seats = shooters[rows].astype(np.int64)
        choices[rows] = rulebook.unasked_choice(rules.score, taken[rows].T, seats, before, totals)
    return choices


def reset_exact(rules: CompiledRules, scores: Ints) -> Ints:
    """The scores with each that equals the target put back to `exact_reset`, where the rules have one."""
    reset: Ints = rulebook.reset_exact(rules.score, scores)
    return reset


def is_over(rules: CompiledRules, scores: Ints) -> Bools:
    """Is the game over at these scores?  scores: int64 [N, P]; bool [N]."""
    columns = _columns(scores)
    over: Bools = rulebook.reached(rules.score, columns) != 0
    rows = np.flatnonzero(over)
    if len(rows):
        over[rows] = rulebook.is_over(rules.score, columns[:, rows]) != 0
    return over


def winners(rules: CompiledRules, scores: Ints) -> Bools:
    """The seats that have won, bool [N, P]: lowest score (of a side, with teams) where the game is over."""
    return lowest_seats(rules, scores) & is_over(rules, scores)[:, None]


def lowest_seats(rules: CompiledRules, scores: Ints) -> Bools:
    """The seats that have (or whose side has) the lowest score, bool [N, P]."""
    result: Bools = side_scores(rules, scores) == rulebook.lowest(rules.score, _columns(scores))[:, None]
    return result


def side_scores(rules: CompiledRules, scores: Ints) -> Ints:
    """The scores that compete: each seat's own, or with teams the sum of its side.  int64 [..., P]."""
    columns = np.moveaxis(scores, -1, 0)
    return np.stack([rulebook.side_score(rules.score, columns, seat) for seat in range(rules.num_players)], axis=-1)


def _columns(scores: NDArray[np.integer]) -> Ints:
    return scores.T.astype(np.int64)
