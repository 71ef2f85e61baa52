"""Tricks after which little is left to win: the last to play compares the best and the worst that can follow each card.

A card is dominated where the worst that can follow another one is at least as good as the best that can follow it,
whoever holds the hidden cards and whatever they play.
"""

from __future__ import annotations

import numpy as np

from hearts_agents.settled.last_seat import (
    Choices,
    Numbers,
    choices_of,
    for_points,
    may_shoot,
    no_moon,
    plays_last,
    scoring_cards,
    weight,
)
from hearts_agents.settled.outcomes import ROUNDING, Outcomes, game_bounds, perhaps_better, surely_no_worse, worth
from hearts_env.cards import Bools, Ints, Sets, bit, count, lowest
from hearts_env.game.compiled_rules import CompiledRules
from hearts_env.game.scoring import card_points
from hearts_env.game.view import View

FEW = 2
"""Scoring cards still out for which every way that they can fall is tried."""
NAMES = (
    "game_given_away",
    "game_win_declined",
    "own_moon_declined",
    "other_moon_completed",
    "large_trick_taken",
    "last_points_taken",
    "last_points_to_partner",
    "last_bonus_declined",
    "last_bonus_given",
    "last_penalty_kept",
    "last_points_other",
)
"""The patterns, each found where none before it is."""


def last_points_patterns(view: View) -> dict[str, Sets]:
    """The dominated cards by the name of their pattern, int64 [N] each."""
    found = {name: np.zeros(len(view), np.int64) for name in NAMES}
    rows = np.flatnonzero(_in_question(view))
    if len(rows) == 0:
        return found
    choices = choices_of(view.take(rows))
    found_bounds = bounds(choices)
    dominated, better = dominated_by(choices, found_bounds)
    if dominated.any():
        kinds = _kinds(choices, better, found_bounds)
        for number, name in enumerate(NAMES):
            found[name][rows] = choices.dominated(dominated & (kinds == number))
    return found


def last_points(view: View) -> Sets:
    """The dominated cards of seats that play last to a trick after which little is left to win, int64 [N]."""
    found = np.zeros(len(view), np.int64)
    rows = np.flatnonzero(_in_question(view))
    if len(rows):
        choices = choices_of(view.take(rows))
        dominated, _ = dominated_by(choices, bounds(choices))
        found[rows] = choices.dominated(dominated)
    return found


def _in_question(view: View) -> Bools:
    """Last seats where what is at stake in the trick is as much as all that is left, bool [N]; a cheap first test.

    Were it less, the points still out could make up for any card.
    """
    rules = view.rules
    if rules.score.no_tricks_bonus:  # a trick may then cost a seat points that no card shows
        return np.zeros(len(view), np.bool_)
    last = plays_last(view)
    if not last.any():
        return last
    cards = scoring_cards(rules)
    left, here = (view.hand | view.out) & cards, (view.table | view.legal) & cards
    few = count(left) <= FEW
    large = last & ~few & (weight(rules, here) >= weight(rules, left))
    if large.any():
        large &= for_points(view) & no_moon(view)
    return np.asarray((last & few & (here != 0)) | large)


def bounds(choices: Choices) -> Outcomes:
    """Bounds of the value of the deal after each card, as Outcomes [M]."""
    view, rules = choices.view, choices.view.rules
    taken = view.taken[choices.row]
    taken[np.arange(len(taken)), choices.taker] |= view.table[choices.row] | choices.played
    left = ((view.hand | view.out) & scoring_cards(rules))[choices.row] & ~choices.played
    found = Outcomes.of_points(*_by_points(rules, taken, left))
    exact = ~(for_points(view) & no_moon(view))[choices.row]
    for number in range(FEW + 1):
        some = np.flatnonzero((count(left) == number) & exact)
        if len(some):
            hidden = (left & view.out[choices.row])[some]
            ways = _every_way(rules, view.scores[choices.row[some]], taken[some], left[some], hidden, number)
            found.put(some, ways)
    return found


def _every_way(rules: CompiledRules, scores: Ints, taken: Sets, left: Sets, hidden: Sets, number: int) -> Outcomes:
    """Bounds over all ways in which `number` scoring cards that are left can be captured, [M].

    hidden: those that nobody need ever play, as they may be dead.
    """
    seats = rules.num_players
    receivers = seats + (rules.rules.dead_cards > 0)
    ways = np.array(list(np.ndindex(*[receivers] * number)), np.int64).reshape(receivers**number, number)
    low = bit(lowest(left)) if number else left
    grown = np.repeat(taken[None], len(ways), axis=0)  # [W, M, P]
    fits = np.ones(grown.shape[:2], np.bool_)
    for card, seat in zip((low, left & ~low), ways.T, strict=False):
        grown |= card[None, :, None] * (np.arange(seats) == seat[:, None, None])
        fits &= (seat < seats)[:, None] | ((hidden & card) != 0)
    found = worth(rules, np.tile(scores, (len(ways), 1)), grown.reshape(-1, seats))
    return found.over_all(fits.shape, 0, fits)


def _by_points(rules: CompiledRules, taken: Sets, left: Sets) -> tuple[Numbers, Numbers]:
    """The least and the most payoff where no moon can come: what is left falls to the worst, or to the best seat."""
    share = 1.0 if rules.teams else 1 / (rules.num_players - 1)
    points = card_points(rules, taken)
    own = points[:, 0] + (points[:, 2] if rules.teams else 0)
    paid = share * (points.sum(axis=1) - own) - own
    bad, good = np.zeros(len(taken), np.int64), np.zeros(len(taken), np.int64)
    for cards, each in rules.point_sets:
        bad += count(left & cards) * max(each, 0)
        good += count(left & cards) * min(each, 0)
    return paid - bad + share * good, paid + share * bad - good


def dominated_by(choices: Choices, found: Outcomes) -> tuple[Bools, Ints]:
    """Which cards are dominated, bool [M], and by which entry of the same row, int64 [M].  found: `bounds`."""
    begins = np.flatnonzero(np.diff(choices.row, prepend=-1))
    # The best of a row: the largest guarantee, and of equal ones that with most to hope for.
    order = np.lexsort((found.most, found.least, choices.row))
    better = order[np.append(begins[1:], len(order)) - 1][choices.row]
    lost, won = (each[choices.row] for each in game_bounds(choices.view.rules, choices.view.scores))
    best = found.at(better)
    return surely_no_worse(best, found, lost, won) & perhaps_better(best, found), better


def _kinds(choices: Choices, better: Ints, found: Outcomes) -> Ints:
    """Which of NAMES a dominated card belongs to, int64 [M]."""
    view, rules = choices.view, choices.view.rules
    own, played, other = choices.own_side, choices.played, choices.played[better]
    bonus, penalty = rules.bonus, rules.score.penalty
    table = view.table[choices.row]
    many = (count((view.hand | view.out) & scoring_cards(rules)) > FEW)[choices.row]
    lost, won = (each[choices.row] for each in game_bounds(rules, view.scores))
    tests = (
        found.most <= lost + ROUNDING,
        found.least[better] >= won - ROUNDING,
        _shoots(choices, better),
        _lets_shoot(choices),
        choices.takes & ~choices.takes[better] & many,
        choices.takes & ~choices.takes[better],
        own & ~choices.takes & (((played & penalty) != 0) | choices.takes[better]),
        ~own & own[better] & (((table | other) & bonus) != 0),
        ~own & ((played & bonus) != 0),
        ~own & ~own[better] & ((other & penalty) != 0),
    )
    return np.select(tests, range(len(tests)), default=len(tests)).astype(np.int64)


def _shoots(choices: Choices, better: Ints) -> Bools:
    """The better card takes points towards a moon that only the viewer can still shoot, bool [M]."""
    alone = _alone(choices.view)[:, 0]
    return alone[choices.row] & choices.takes[better] & ~choices.takes


def _lets_shoot(choices: Choices) -> Bools:
    """The trick goes to a seat that may shoot the moon, bool [M]."""
    return np.asarray(_alone(choices.view)[choices.row, choices.taker] & ~choices.own_side)


def _alone(view: View) -> Bools:
    """Seats that have penalty cards and may shoot the moon, bool [N, P]."""
    return np.asarray(may_shoot(view) & ((view.taken & view.rules.score.penalty) != 0))
