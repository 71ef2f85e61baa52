"""Roll-outs: candidates played to the end of the deal, or up to a leaf value estimate, each in a world of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from hearts_agents.rule.agent import RuleAgent
from hearts_agents.rule.weights import LARGEST, Weights
from hearts_agents.search import kernels
from hearts_agents.search.candidates import CandidateActions
from hearts_agents.search.payoffs import cards_that_count, payoffs
from hearts_env.cards import Bools, Ints, Numbers
from hearts_env.executor import executed, override
from hearts_env.game.compiled_rules import CompiledRules
from hearts_env.game.engine import legal, step
from hearts_env.game.state import PASS, PLAY, State
from hearts_env.game.view import View, view
from hearts_env.match.agent import Agent
from hearts_env.match.tables import forced_or, several, turn

LeafValue = Callable[[View], Numbers]
"""A leaf value estimate: the expected payoff of each viewer in points, float64 [N], at decisions with a choice."""
ROWS = 4096
"""Roll-outs at a time: their tables fit into a processor's cache."""
LEAF_TRICKS = 3
"""A leaf value ends a roll-out at the viewer's next choice after so many tricks, the one under way included."""
_CLOSER = RuleAgent()
"""Plays on where the points no longer depend on the cards."""


@dataclass(frozen=True)
class RolloutPolicies:
    """The policies of the roll-outs, and the value at their end."""

    base: Agent
    shooter: RuleAgent
    """The viewer's policy in candidates for the moon."""
    leaf_value: LeafValue | None = None
    """None: roll-outs go on to the end of the deal."""
    to_win: bool = False
    """In the middle of a game a deal is worth what it adds to the chance to win; else it is worth its payoff.  The
    leaf value should be the same."""

    @staticmethod
    def of(base: Agent, leaf_value: LeafValue | None = None, to_win: bool = False) -> RolloutPolicies:
        """The policies of a search that deviates from `base`."""
        return RolloutPolicies(base, shooting(base if isinstance(base, RuleAgent) else _CLOSER), leaf_value, to_win)

    @property
    def weights(self) -> tuple[Weights, Weights] | None:
        """Of the base policy and the shooter where both are rule agents and play to the end, as a kernel can."""
        if not isinstance(self.base, RuleAgent) or self.leaf_value is not None:
            return None
        return self.base.weights, self.shooter.weights


def shooting(base: RuleAgent) -> RuleAgent:
    """The rule agent with weights that always play for the moon, as long as no opponent has a penalty card."""
    always = replace(base.weights, moon_limit=LARGEST, moon_more=0, moon_late=0, moon_pass=LARGEST)
    return RuleAgent(always, f"{base.name}, for the moon")


def outcomes(
    rules: CompiledRules,
    policies: RolloutPolicies,
    worlds: State,
    world: Ints,
    seat: Ints,
    candidates: CandidateActions,
    which: Ints,
) -> Numbers:
    """The viewers' payoffs of L roll-outs, float64 [L]; `worlds` stays as it is.

    Args:
        world: int64 [L], the row of `worlds` that each begins in.
        seat: int64 [L], the viewer's.
        which: int64 [L], its candidate, a place in `candidates`.
    """
    actions, moon = candidates.actions[which], candidates.moon[which]
    weights = policies.weights
    points = None if weights is None else _kernel_outcomes(rules, weights, worlds, world, seat, actions, moon)
    if points is not None:
        return payoffs(rules, policies.to_win, worlds.scores[world], points, seat)
    state = worlds.take(world)
    at_leaf = roll_out(rules, state, seat, actions, moon, policies)
    paid = payoffs(rules, policies.to_win, worlds.scores[world], state.points, seat)
    return np.where(np.isnan(at_leaf), paid, at_leaf)


@executed
def _kernel_outcomes(
    rules: CompiledRules,
    weights: tuple[Weights, Weights],
    worlds: State,
    world: Ints,
    seat: Ints,
    actions: Ints,
    moon: Bools,
) -> Ints | None:
    """The points of L roll-outs, int64 [L, P], by the kernel; None where it is not compiled, and numpy is faster."""
    return None


override(_kernel_outcomes)(kernels.outcomes)


def roll_out(
    rules: CompiledRules, state: State, seat: Ints, actions: Ints, moon: Bools, policies: RolloutPolicies
) -> Numbers:
    """Play all tables on: one seat its candidate, then everybody by policy.  Changes `state`.

    seat: int64 [N].  actions: int64 [N, D].  moon: bool [N], the seat then plays for the moon, and to the end.
    Returns the leaf values, float64 [N]; NaN for the deals that are over.
    """
    passing = state.phase == PASS
    if passing.any():
        # Nobody sees the picks of others, so all may as well be made anew.
        state.picks[:], state.count[:], state.turn[:] = 0, 0, 0
    tricks = np.where(passing, 0, state.count // rules.num_players) + LEAF_TRICKS
    own = np.arange(rules.num_players) == seat[:, None]
    for column in actions.T:
        while len(others := np.flatnonzero(~state.over & (state.turn != seat))):
            _turn(rules, state, others, policies.base)
        step(rules, state, column)
    at_leaf, going = np.full(len(state), np.nan), np.arange(len(state))
    while True:
        _close(rules, state)
        if moon.any():
            policies.shooter.play_on(rules, state, own & moon[:, None])
        going = going[~state.over[going]]
        if policies.leaf_value:
            ends = _ends(rules, state, going[state.turn[going] == seat[going]], tricks)
            at_leaf[ends] = policies.leaf_value(view(rules, state.take(ends)))
            going = going[np.isnan(at_leaf[going])]
        if len(going) == 0:
            return at_leaf
        _turn(rules, state, going, policies.base)


def _turn(rules: CompiledRules, state: State, rows: Ints, base: Agent) -> None:
    """One action at some tables; where there is no choice, nobody is asked."""
    turn(rules, state, rows, lambda part: forced_or(rules, part, lambda _, free: base.act(view(rules, free))))


def _ends(rules: CompiledRules, state: State, rows: Ints, tricks: Ints) -> Ints:
    """Those of some rows that have played so many tricks (int64 [N]) and leave the seat to act a choice."""
    far = rows[(state.phase[rows] == PLAY) & (state.count[rows] >= tricks[rows] * rules.num_players)]
    allowed = legal(rules, state.take(far))
    ends: Ints = far[several(allowed)]
    return ends


def _close(rules: CompiledRules, state: State) -> None:
    """Play the deals to their end in which no hand has a card left that could change the points."""
    left = np.bitwise_or.reduce(state.hands, axis=1) & cards_that_count(rules)
    rows = np.flatnonzero((state.phase == PLAY) & (state.table == 0) & (left == 0))
    if len(rows):
        part = state.take(rows)
        _CLOSER.play_on(rules, part, np.ones(part.hands.shape, np.bool_))
        state.put(rows, part)
