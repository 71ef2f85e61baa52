"""The rule agent: sound Hearts by weighing, for each card, what it may cost against what it is good for."""

from __future__ import annotations

import numpy as np

from hearts_agents.rule_pass import choose_pick
from hearts_agents.rule_play import choose_card
from hearts_agents.rule_weights import Weights
from hearts_env.cards import Ints
from hearts_env.scoring import automatic_choice
from hearts_env.state import MOON, PASS, PLAY
from hearts_env.view import View


class RuleAgent:
    """Plays by rules of thumb with weights; the same view always gives the same action."""

    def __init__(self, weights: Weights | None = None, name: str = "rule") -> None:
        """weights: what it cares about; None for the best known."""
        self.name = name
        self.weights = weights or Weights()

    def act(self, view: View) -> Ints:
        """The chosen action for each view, int64 [N]."""
        actions = np.empty(len(view), np.int64)
        for phase, choose in ((PLAY, choose_card), (PASS, choose_pick), (MOON, _choose_moon)):
            here = view.phase == phase
            if here.all():
                return choose(view, self.weights)
            if here.any():
                rows = np.flatnonzero(here)
                actions[rows] = choose(view.take(rows), self.weights)
        return actions


def _choose_moon(view: View, weights: Weights) -> Ints:
    """Add to the others, unless that ends the game without winning it.  The viewer is seat 0 of its view."""
    return automatic_choice(view.lookup, view.taken, np.zeros(len(view), np.int64), view.scores)
