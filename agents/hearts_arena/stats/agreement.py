"""How often two agents decide alike, all of them asked at the same decisions of a tournament's first deals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hearts_arena.tournament_plan import Tournament
from hearts_env.cards import Ints
from hearts_env.game.view import View
from hearts_env.match.agent import Agent
from hearts_env.match.play_match import play

TABLES = 24
"""Tables at which they are asked: spread over the seatings, no two with the same deal id."""


@dataclass(frozen=True)
class Agreement:
    """The share of the decisions with a choice at which each two agents chose the same."""

    decisions: int
    shares: NDArray[np.float64]  # [agents, agents]
    forced: int
    """Decisions with a single legal action, which are not counted."""


class _Asked:
    """Plays as one agent, and asks all others what they would have done."""

    def __init__(self, agents: tuple[Agent, ...], index: int, same: Ints) -> None:
        self.name = agents[index].name
        self._agents, self._index, self._same = agents, index, same

    def act(self, view: View) -> Ints:
        actions = [agent.act(view) for agent in self._agents]
        open_to = np.bitwise_count(view.legal) > 1
        for a, mine in enumerate(actions):
            for b, theirs in enumerate(actions):
                self._same[a, b] += int(((mine == theirs) & open_to).sum())
        return actions[self._index]


def agreement(planned: Tournament) -> Agreement:
    """Ask every agent at every decision of a few tables; each draws its random numbers from the same key.

    The same policy under two names therefore agrees with itself always, even if it plays at random.
    """
    seatings = planned.seatings
    rows = np.linspace(0, len(seatings) - 1, TABLES).round().astype(int)
    ids = planned.ids(0, TABLES)
    same = np.zeros((len(planned.agents), len(planned.agents)), np.int64)
    asked = [_Asked(planned.agents, index, same) for index in range(len(planned.agents))]
    result = play(planned.rules, asked, seatings[rows], ids, seed=planned.seed)
    decisions = int(same[0, 0])
    return Agreement(decisions, same / max(1, decisions), int(result.decisions.sum()) - decisions)


def identical(planned: Tournament, found: Agreement) -> list[tuple[str, str]]:
    """The pairs of labels that agreed in every decision."""
    labels = planned.labels
    pairs = np.argwhere(np.triu(found.shares == 1.0, 1)) if found.decisions else np.zeros((0, 2), int)
    return [(labels[a], labels[b]) for a, b in pairs.tolist()]
