"""A policy that was trained in any library as an agent, and how it does against another one on duplicate deals."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from hearts_agents.registry import make
from hearts_env.cards import Bools, Bytes, Ints
from hearts_env.game.compiled_rules import lookup
from hearts_env.game.rewards import payoff
from hearts_env.game.rules import Rules
from hearts_env.game.view import View
from hearts_env.match.agent import Agent
from hearts_env.match.play_match import play
from hearts_env.observe.encode import action_mask, encode, layout

Choose = Callable[[Bytes, Bools], ArrayLike]
"""From observations uint8 [n, F] and masks bool [n, A] to actions, whole numbers [n]."""


class PolicyAgent:
    """Plays what a function chooses that sees what the environments show: an encoding and a mask.

    choose: asked for all tables at once.  pad, order: of the encodings, as given to the environment it was trained in.
    """

    def __init__(self, choose: Choose, name: str = "policy", *, pad: bool = False, order: bool = False) -> None:
        self.name = name
        self._choose, self._pad, self._order = choose, pad, order

    def act(self, view: View) -> Ints:
        """The action chosen for each view, int64 [N]; whether it is legal is checked by who asks."""
        encodings = encode(layout(view.lookup, pad=self._pad, order=self._order), view)
        return np.asarray(self._choose(encodings, action_mask(view.legal).view(np.bool_)), np.int64)


@dataclass(frozen=True)
class Against:
    """How one agent does among others."""

    agent: str
    other: str
    deals: int
    payoff: float
    """The mean of the others' points minus its own, a deal."""
    error: float
    """The standard error of that over deal ids."""

    def __str__(self) -> str:
        return (
            f"{self.agent} against {self.other}: payoff {self.payoff:+.2f} ± {self.error:.2f} points a deal "
            f"({self.deals} deals, each in every seat)"
        )


def against(
    agent: Agent, other: Agent | str = "random", deals: int = 500, *, rules: Rules | None = None, seed: int = 0
) -> Against:
    """Play each deal once for each seat, with `agent` there and `other` in all the others.

    Raises what `hearts_agents.make` raises for a name, and IllegalActionError.
    """
    rules = rules or Rules()
    opponent = make(other) if isinstance(other, str) else other
    seats = rules.num_players
    ids = np.random.default_rng(seed).integers(2**63, size=deals, dtype=np.int64)
    result = play(
        rules, [agent, opponent], np.tile(1 - np.eye(seats, dtype=np.int16), (deals, 1)), np.repeat(ids, seats)
    )
    payoffs = payoff(lookup(rules), result.points.astype(np.int64)).reshape(deals, seats, seats)
    of_agent = np.diagonal(payoffs, axis1=1, axis2=2).mean(axis=1)
    error = float(of_agent.std(ddof=1)) / math.sqrt(deals) if deals > 1 else math.nan
    return Against(agent.name, opponent.name, deals, float(of_agent.mean()), error)
