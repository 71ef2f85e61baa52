"""The candidate actions of a decision with an agent's estimates of them, in one form for all agents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from hearts_env.cards import Ints, bit, cards_in, count
from hearts_env.game.rulebook import legal_picks
from hearts_env.game.state import PASS
from hearts_env.game.view import View
from hearts_env.match.agent import Agent, StochasticAgent


@dataclass(frozen=True)
class Candidate:
    """One thing that an agent could do, and what it knows of it; None for what it doesn't reckon with."""

    actions: tuple[int, ...]
    """The card to play, all cards to pass, or the moon choice."""
    chosen: bool
    moon: bool = False
    """The agent then plays for the moon."""
    payoff: float | None = None
    """Mean payoff, in points."""
    gain: float | None = None
    """By how many points, as the agent reckons, it is better than the first candidate."""
    error: float = 0.0
    """The standard error of the gain."""
    worlds: int = 0
    """Worlds it was tried in: fewer where it was soon seen not to be the best."""
    probability: float | None = None
    """With which the agent takes it."""
    reasons: tuple[tuple[str, float], ...] = ()
    """The parts that its value is the sum of, in points, each with a name."""


@runtime_checkable
class Explains(Agent, Protocol):
    """An agent that can say what its decisions are made from."""

    def explain(self, view: View, also: Ints | None = None) -> list[list[Candidate]]:
        """The candidates of each of N views' decision; gains are measured from the first of them.

        also: int64 [N, D], actions to be among the candidates.  Where there is one legal action the list is empty.  A
        pass is explained as a whole, whatever is picked already.
        """
        ...


def explain(agent: Agent, view: View, also: Ints | None = None) -> list[list[Candidate]]:
    """The candidates of each view's decision: those that the agent explains (`Explains`), or else its probabilities.

    Agents that draw their actions say for a pass what they would draw.
    """
    if isinstance(agent, Explains):
        return agent.explain(view, also)
    found: list[list[Candidate]] = [[] for _ in range(len(view))]
    for row in np.flatnonzero(count(view.legal) > 1):
        one = view.take(np.array([row]))
        found[row] = _picked(agent, one) if one.phase[0] == PASS else _by_chance(agent, one)
    return found


def picks_of(agent: Agent, view: View) -> Ints:
    """The cards that an agent would pass, int64 [N, D].  view: before the seat's first pick."""
    picks = np.empty((len(view), view.rules.pass_count), np.int64)
    rest = view.take(slice(None))
    for number in range(picks.shape[1]):
        picks[:, number] = agent.act(rest)
        rest.picks |= bit(picks[:, number])
        rest.legal = legal_picks(view.rules.play, rest.hand, rest.picks)
        rest.count += view.rules.num_players
    return picks


def before_picks(view: View) -> View:
    """Views of the pass as the seats had them before their first pick: all picks are thought out from there."""
    first = view.take(slice(None))
    first.picks[:] = 0
    first.legal = legal_picks(view.rules.play, first.hand, first.picks)
    first.count = first.seat.copy()
    return first


def _picked(agent: Agent, view: View) -> list[Candidate]:
    return [Candidate(tuple(sorted(picks)), chosen=True) for picks in picks_of(agent, before_picks(view)).tolist()]


def _by_chance(agent: Agent, view: View) -> list[Candidate]:
    action = int(agent.act(view)[0])
    if not isinstance(agent, StochasticAgent):
        return [Candidate((action,), chosen=True)]
    chances = agent.probabilities(view)[0]
    legal = sorted(cards_in(int(view.legal[0])), key=lambda each: (each != action, -chances[each]))
    return [Candidate((each,), chosen=each == action, probability=float(chances[each])) for each in legal]
