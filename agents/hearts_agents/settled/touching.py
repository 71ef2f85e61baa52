"""Cards of a suit between which nobody else holds one: they take the same tricks, so only their points differ.

An exchange argument: after either card the hands are alike but for the name of one card, so that whoever plays by the
same plan gets the same tricks.  It takes for granted that the others make nothing of the name.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from hearts_agents.settled.last_seat import Choices, choices_of, for_points, no_moon, plays_last, scoring_cards
from hearts_env.cards import SUIT_SETS, Ints, Sets, bit, cards_in
from hearts_env.game.compiled_rules import CompiledRules
from hearts_env.game.scoring import card_points
from hearts_env.game.view import View

NAMES = ("touching_bonus", "touching_penalty_taken", "touching_penalty_given")


def touching(view: View) -> Sets:
    """The cards to which a touching one with better points is preferred, int64 [N]."""
    found = np.zeros(len(view), np.int64)
    for cards in touching_patterns(view).values():
        found |= cards
    return found


def touching_patterns(view: View) -> dict[str, Sets]:
    """The dominated cards by the name of their pattern, int64 [N] each."""
    rules = view.rules
    found = {name: np.zeros(len(view), np.int64) for name in NAMES}
    here = plays_last(view) & ((view.legal & _uneven(rules)) != 0)
    rows = np.flatnonzero(here & for_points(view) & no_moon(view)) if here.any() else np.flatnonzero(here)
    if len(rows) == 0:
        return found
    choices = choices_of(view.take(rows))
    run = _runs(choices)
    points = card_points(rules, choices.played)
    own = choices.own_side
    # To the own side go the fewest points that a run has to give, to the others the most.
    wanted = _extreme(run, np.where(own, -points, points)) * np.where(own, -1, 1)
    dominated = points != wanted
    bonus = (_in_run(run, choices.played & rules.bonus)) != 0
    for name, kind in zip(NAMES, (bonus, ~bonus & own, ~bonus & ~own), strict=True):
        found[name][rows] = choices.dominated(dominated & kind)
    return found


@cache
def _uneven(rules: CompiledRules) -> int:
    """The cards of those suits in which some cards are worth more than others."""
    found = 0
    for suit in SUIT_SETS:
        points = card_points(rules, bit(np.array(cards_in(suit & rules.deck), np.int64)))
        found |= suit if len(set(points.tolist())) > 1 else 0
    return found & scoring_cards(rules)


def _runs(choices: Choices) -> Ints:
    """The run of touching cards that each belongs to, int64 [M], counted from 0.

    A run has cards of one seat and suit that take the trick alike, with no card of others between them, and that break
    hearts alike where that still matters.
    """
    view, rules, card = choices.view, choices.view.rules, choices.card
    row, played = choices.row, choices.played
    breaks = ((played & rules.play.breakers) != 0) & ~view.broken[row]
    between = (played[1:] - 1) & ~((played[:-1] << 1) - 1)
    held = (between & view.out[row[1:]]) != 0
    same = (row[1:] == row[:-1]) & (rules.suit[card[1:]] == rules.suit[card[:-1]]) & ~held
    same &= (choices.takes[1:] == choices.takes[:-1]) & (breaks[1:] == breaks[:-1])
    return np.concatenate([[0], np.cumsum(~same)])


def _extreme(run: Ints, values: Ints) -> Ints:
    """The largest value of each entry's run, int64 [M]."""
    begins = np.flatnonzero(np.diff(run, prepend=-1))
    return np.maximum.reduceat(values, begins)[run]


def _in_run(run: Ints, sets: Sets) -> Sets:
    """The union of the sets of each entry's run, int64 [M]."""
    begins = np.flatnonzero(np.diff(run, prepend=-1))
    return np.bitwise_or.reduceat(sets, begins)[run]
