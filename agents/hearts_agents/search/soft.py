"""A search with a stochastic policy: a softmax of the estimated payoffs, as a teacher for behaviour cloning."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hearts_agents.net.agent import draw
from hearts_agents.search.agent import VIEWS, SearchAgent
from hearts_agents.search.racing import RaceStats
from hearts_env.cards import NUM_ACTIONS, Bools, Ints, bit, count, highest, lowest
from hearts_env.game.rules import Rules
from hearts_env.game.state import PASS
from hearts_env.game.view import View
from hearts_env.match.agent import Policy, uniform

TEMPERATURE = 1.0
"""Points: a candidate that is so much better is e times as likely."""
_SALT = 0x50F7


class SoftSearchAgent:
    """Draws a candidate of a SearchAgent with a probability that grows with its mean payoff.

    There is no acceptance threshold: with few worlds it plays worse than that agent.
    """

    def __init__(self, search: SearchAgent) -> None:
        self.name = search.name
        self._search = search

    def learned(self, rules: Rules) -> bool:
        """Has the policy that the search starts from been trained with these rules?"""
        return self._search.learned(rules)

    def act(self, view: View) -> Ints:
        """An action drawn for each view, int64 [N]."""
        return draw(self.probabilities(view).astype(np.float32), uniform(view, _SALT).astype(np.float32))

    def probabilities(self, view: View) -> Policy:
        """The probability of each action, float64 [N, A]; of the picks of a candidate the highest left comes next."""
        choices, passes = count(view.legal) > 1, view.phase == PASS
        chances: Policy = np.eye(NUM_ACTIONS)[lowest(view.legal)]
        for rows in (np.flatnonzero(choices & passes), np.flatnonzero(choices & ~passes)):
            for begin in range(0, len(rows), VIEWS):
                part = rows[begin : begin + VIEWS]
                chances[part] = self._chances(view.take(part))
        return chances

    def _chances(self, view: View) -> Policy:
        """The probabilities of views that all pass, or all play, and have a choice; float64 [N, A]."""
        known = self._search.race(view)
        owner, actions = known.candidates.owner, known.candidates.actions[:, 0]
        fits = np.ones(len(owner), np.bool_)
        if view.phase[0] == PASS:
            picks, picked = np.bitwise_or.reduce(bit(known.candidates.actions), axis=1), view.picks[owner]
            actions, fits = highest(picks & ~picked), picked & ~picks == 0
        chances = np.zeros((len(view), NUM_ACTIONS))
        np.add.at(chances, (owner[fits], actions[fits]), likelihood(known, fits)[fits])
        # Picks that were not its own leave nothing to go on with.
        lost = np.flatnonzero(np.bincount(owner, fits) == 0)
        if len(lost):
            chances[lost, self._search.base.act(view.take(lost))] = 1
        chances /= chances.sum(axis=1, keepdims=True)
        return chances


def likelihood(known: RaceStats, fits: Bools) -> NDArray[np.float64]:
    """The likelihood of each candidate, float64 [K]: e^(payoff / TEMPERATURE), up to a factor of its view.

    fits: bool [K]  the candidates there are to choose from.
    """
    payoffs = known.value / np.maximum(known.tried, 1) / TEMPERATURE
    best = np.maximum.reduceat(np.where(fits, payoffs, -np.inf), known.candidates.starts)[known.candidates.owner]
    likely: NDArray[np.float64] = np.exp(np.where(fits, payoffs - best, -np.inf))
    return likely
