"""The moon choice by arithmetic on the scores."""

from __future__ import annotations

import numpy as np

from hearts_agents.settled.last_seat import Numbers
from hearts_agents.settled.outcomes import ROUNDING, after_moon
from hearts_agents.win_chance import win_chance
from hearts_env.cards import ADD, SUBTRACT, Bools, Ints, Sets
from hearts_env.game.compiled_rules import CompiledRules
from hearts_env.game.scoring import deal_points, is_over, reset_exact
from hearts_env.game.state import MOON
from hearts_env.game.view import View


def worse_choice(view: View) -> Sets:
    """The moon choice that is worth less than the other, int64 [N]; 0 where they are equal, or it is no moon choice.

    Exact where the game ends; where it goes on, by the fitted chance to win.
    """
    found = np.zeros(len(view), np.int64)
    rows = np.flatnonzero(view.phase == MOON)
    if len(rows):
        scores, taken = view.scores[rows], view.taken[rows]
        add, subtract = (after_moon(view.rules, scores, taken, choice) for choice in (ADD, SUBTRACT))
        found[rows] |= (add < subtract - ROUNDING).astype(np.int64) << ADD
        found[rows] |= (subtract < add - ROUNDING).astype(np.int64) << SUBTRACT
    return found & view.legal


def moon_patterns(view: View) -> dict[str, Sets]:
    """The dominated moon choices by the name of their pattern, int64 [N] each: adding ends the game.

    Both choices move the shooter by as much against each opponent, so that subtracting ends no game that adding would
    not end.
    """
    found = {name: np.zeros(len(view), np.int64) for name in ("moon_add_wins", "moon_add_loses")}
    rows = np.flatnonzero((view.phase == MOON) & view.scores.any(axis=1))
    if len(rows) == 0:
        return found
    part = view.take(rows)
    (added, add_over), (subtracted, subtract_over) = (_ends(part, choice) for choice in (ADD, SUBTRACT))
    wins = add_over & (added == 1) & ~(subtract_over & (subtracted == 1))
    loses = add_over & (added == 0) & ~(subtract_over & (subtracted == 0))
    found["moon_add_wins"][rows] = np.where(wins, np.int64(1) << SUBTRACT, 0)
    found["moon_add_loses"][rows] = np.where(loses, np.int64(1) << ADD, 0)
    return found


def _ends(view: View, choice: int) -> tuple[Numbers, Bools]:
    """The viewer's chance to win after a moon choice, float64 [N], and whether the game is over then, bool [N]."""
    totals = _totals(view.rules, view.scores, view.taken, choice)
    return win_chance(view.rules, totals)[:, 0], is_over(view.rules, totals)


def _totals(rules: CompiledRules, scores: Ints, taken: Sets, choice: int) -> Ints:
    """The scores after a moon choice of seat 0, int64 [N, P]."""
    seats, choices = np.zeros(len(taken), np.int64), np.full(len(taken), choice)
    return reset_exact(rules, scores + deal_points(rules, taken, seats, choices))
