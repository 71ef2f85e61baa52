"""The actions that are left when the dominated ones are taken away."""

from __future__ import annotations

import numpy as np

from hearts_agents.settled.by_the_book import bonus_patterns, partner_patterns, queen_patterns
from hearts_agents.settled.ending import LEFT, ending
from hearts_agents.settled.last_points import last_points
from hearts_agents.settled.moon_choice import worse_choice
from hearts_agents.settled.touching import touching
from hearts_env.cards import QS_SET, Bools, Sets, count
from hearts_env.game.state import MOON, PLAY
from hearts_env.game.view import View

PROOFS = (worse_choice, last_points, ending, touching)
BOOK = (bonus_patterns, partner_patterns, queen_patterns)


def undominated(view: View) -> Sets:
    """The legal actions that no other one dominates, int64 [N]; at least one of them for each view with any.

    What is proved goes first, then what the book says of the actions that are left.
    """
    rows = np.flatnonzero(_in_question(view))
    if len(rows) == 0:
        return view.legal
    part = view if len(rows) == len(view) else view.take(rows)
    left = part.legal
    for find in PROOFS:
        left = _without(left, find(part))
    for family in BOOK:
        for found in family(part).values():
            left = _without(left, found)
    actions = view.legal.copy()
    actions[rows] = left
    return actions


def _in_question(view: View) -> Bools:
    """Views for which some pattern might hold, bool [N]; a cheap test: they are few."""
    players, actions = view.rules.num_players, view.legal
    last = (view.count + 1) % players == 0
    queen = (view.table == 0) & ((actions & QS_SET) != 0)
    playing = (view.phase == PLAY) & (last | queen | (count(view.hand) == LEFT))
    return np.asarray((playing | (view.phase == MOON)) & ((actions & (actions - 1)) != 0))


def _without(actions: Sets, dominated: Sets) -> Sets:
    """The actions less the dominated ones, or all of them where nothing would be left."""
    if not dominated.any():
        return actions
    rest = actions & ~dominated
    return np.where(rest == 0, actions, rest)
