"""What an agent is: a policy over batches of views."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from hearts_env.cards import NUM_ACTIONS, Bools, Ints, members
from hearts_env.game.compiled_rules import Lookup
from hearts_env.game.random_play import salted, unit
from hearts_env.game.state import State
from hearts_env.game.view import View

Policy = NDArray[np.float64]
"""Probabilities of the actions in each of N views, float64 [N, A]."""

_ROUNDING = 1e-6


@runtime_checkable
class Agent(Protocol):
    """Chooses an action for each of many views at once.

    An agent keeps no memory between calls that could change its play, and takes its random numbers from
    `uniform`, so that its choices do not depend on which other tables are in the batch.  One that answers for something
    that can fail, such as another program, may count the actions that it chose in its place in an attribute `failures`.
    """

    name: str
    """As the agent is called in standings; what `hearts_agents.make` was given."""

    def act(self, view: View) -> Ints:
        """One legal action for each view, int64 [N]: a member of `view.legal`, which is never empty."""
        ...


@runtime_checkable
class StochasticAgent(Agent, Protocol):
    """An agent that draws its actions and can say with which probabilities."""

    def probabilities(self, view: View) -> Policy:
        """The probability of each action in each view, float64 [N, A]; 0 where it is not legal.

        What `act` does for a view depends on chance (`View.key`); this does not.
        """
        ...


@runtime_checkable
class PlaysOn(Agent, Protocol):
    """An agent that also has a compiled loop for its own play, which spares a match the views.

    The loop is handed the State, hidden cards and all.  It must play just what `act` does, and `act` sees only
    Views: a test that compares the two is what shows that the loop doesn't peek.  A match calls it under the
    compiled executor only.
    """

    def play_on(self, lookup: Lookup, state: State, seats: Bools) -> int:
        """Play at every table for as long as a seat of `seats` (bool [N, P]) is to act.  Changes `state`.

        Returns how many actions were played.
        """
        ...


class PolicyError(ValueError):
    """Probabilities that are none, or that give something to an illegal action."""


def policy(agent: Agent, view: View) -> Policy:
    """The probability of each action in each view, float64 [N, A]: what a StochasticAgent says, or 1 for the action
    that any other agent takes.

    Raises PolicyError that names the agent.
    """
    if not isinstance(agent, StochasticAgent):
        table = np.zeros((len(view), NUM_ACTIONS))
        table[np.arange(len(view)), agent.act(view)] = 1
    else:
        table = np.asarray(agent.probabilities(view), np.float64)
    if table.shape != (len(view), NUM_ACTIONS):
        raise PolicyError(f"agent {agent.name!r}: probabilities must be {(len(view), NUM_ACTIONS)}, not {table.shape}")
    if not (np.abs(table.sum(axis=1) - 1) < _ROUNDING).all() or (table < 0).any():
        raise PolicyError(f"agent {agent.name!r}: probabilities must not be negative and sum to 1 for each view")
    if (table * (1 - members(view.legal, NUM_ACTIONS)) > 0).any():
        raise PolicyError(f"agent {agent.name!r} gives an illegal action a probability")
    return table


def uniform(view: View, salt: int = 0) -> NDArray[np.float64]:
    """A random number in [0, 1) for each view, float64 [N]; another one for another `salt`.

    A pure function of the decision (`View.key`) and the salt: the same in every batch.
    """
    chance: NDArray[np.float64] = unit(view.key, salted(salt))
    return chance
