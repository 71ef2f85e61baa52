"""Exact payoffs of agents in small Hearts, and how much more the best response to them earns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hearts_env.cards import NUM_ACTIONS, count, members
from hearts_env.exact.game_tree import Level, Tree, grow
from hearts_env.game.rewards import Rewards
from hearts_env.game.rules import Rules
from hearts_env.match.agent import Agent, Policy, policy

Policies = Sequence[Policy]
"""For each level of a tree a row an information set: float64 [K, A], the probability of each action."""


@dataclass(frozen=True)
class Evaluation:
    """The exact payoffs of agents in the deals of a small pack, as `rewards.payoff`, which is zero-sum."""

    values: NDArray[np.float64]
    """float64 [P]: the mean payoff of each seat over all deals when every seat plays by its agent."""
    best: NDArray[np.float64]
    """float64 [P]: the most that each seat could earn against the agents of the others, seeing what a seat may."""

    @property
    def gains(self) -> NDArray[np.float64]:
        """float64 [P]: what a best response earns more; never negative but for rounding."""
        return self.best - self.values

    @property
    def nash_conv(self) -> float:
        """The sum of the gains: 0 for a Nash equilibrium (Lanctot et al., arXiv 1711.00832)."""
        return float(self.gains.sum())

    @property
    def exploitability(self) -> float:
        """The mean gain of a seat."""
        return float(self.gains.mean())


def evaluate(rules: Rules | Tree, agents: Agent | Sequence[Agent], deal_no: int = 0) -> Evaluation:
    """The exact payoffs of agents under small rules, and how far each can be exploited.

    rules: or their tree, to grow it only once.  agents: one for all seats, or one a seat; an agent that draws its
    actions must offer `probabilities` (see `agent.StochasticAgent`), since any other is asked once for each view and
    taken to act so always.  None is asked where only one action is legal.  deal_no: decides pass offset and dealer,
    where the tree is not given.

    Raises tree.TreeError where the tree is too large, and ValueErrors of `agent.policy`.
    """
    tree = rules if isinstance(rules, Tree) else grow(rules, deal_no)
    policies = tabulate(tree, agents)
    best = [best_response(tree, policies, seat)[0] for seat in range(tree.rules.num_players)]
    return Evaluation(values(tree, policies), np.array(best))


def tabulate(tree: Tree, agents: Agent | Sequence[Agent]) -> list[Policy]:
    """The policies of agents, one for all seats or one a seat, in every information set of a tree.

    Raises ValueError for a wrong number of agents, and what `agent.policy` raises.
    """
    seats = tree.rules.num_players
    lineup = list(agents) if isinstance(agents, Sequence) else [agents] * seats
    if len(lineup) != seats:
        raise ValueError(f"there are {len(lineup)} agents for {seats} seats: give one a seat, or one for all")
    return [_policies_of(level, lineup) for level in tree.levels]


def _policies_of(level: Level, lineup: Sequence[Agent]) -> Policy:
    seen = level.views
    # Most information sets of small packs leave no choice: nobody is asked there.
    result = members(seen.legal, NUM_ACTIONS).astype(np.float64)
    choice = count(seen.legal) > 1
    for seat, agent in enumerate(lineup):
        rows = np.flatnonzero(choice & (seen.seat == seat))
        if len(rows):
            result[rows] = policy(agent, seen.take(rows))
    return result


def values(tree: Tree, policies: Policies) -> NDArray[np.float64]:
    """The mean payoff of each seat over all deals, float64 [P], when every seat plays by these policies."""
    below = tree.levels[-1].payoffs
    for level, following, chances in _upwards(tree, policies):
        below = level.payoffs + _sum_by(following.parent, chances[:, None] * below, len(level))
    result: NDArray[np.float64] = below.mean(axis=0)
    return result


def best_response(tree: Tree, policies: Policies, seat: int) -> tuple[float, list[Policy]]:
    """The most that one seat can earn against the policies of the others, and the policies with its own so changed.

    A best response takes the same action in all positions of an information set: the one that is best in the mean
    over them, each weighed by the chance that the others (and the deal) lead there.
    """
    reach = _reach(tree, policies, seat)
    answer = [np.array(table) for table in policies]
    below = tree.levels[-1].payoffs[:, seat]
    for index in range(len(tree.levels) - 2, -1, -1):
        level, following = tree.levels[index], tree.levels[index + 1]
        mine = np.flatnonzero(level.views.seat == seat)
        place = level.infoset[following.parent].astype(np.int64) * NUM_ACTIONS + following.action
        worth = _sum_by(place, reach[index][following.parent] * below, answer[index].size)
        possible = np.bincount(place, minlength=answer[index].size) > 0
        table = np.where(possible, worth, -np.inf).reshape(answer[index].shape)[mine]
        answer[index][mine] = 0
        answer[index][mine, np.argmax(table, axis=1)] = 1
        chances = answer[index].reshape(-1)[place]
        below = level.payoffs[:, seat] + _sum_by(following.parent, chances * below, len(level))
    return float(below.mean()), answer


def _upwards(tree: Tree, policies: Policies) -> Iterator[tuple[Level, Level, NDArray[np.float64]]]:
    """Each level with the next and the chance of each position of that from its parent, the last pair first."""
    for index in range(len(tree.levels) - 2, -1, -1):
        level, following = tree.levels[index], tree.levels[index + 1]
        yield level, following, policies[index][level.infoset[following.parent], following.action]


def _reach(tree: Tree, policies: Policies, seat: int) -> list[NDArray[np.float64]]:
    """How likely the other seats are to play to each position if `seat` does all it can to get there; by level."""
    reach = [np.ones(len(tree.levels[0]))]
    for level, following, table in zip(tree.levels, tree.levels[1:], policies, strict=False):
        chances = table[level.infoset[following.parent], following.action]
        own = level.seat[following.parent] == seat
        reach.append(reach[-1][following.parent] * np.where(own, 1.0, chances))
    return reach


def _sum_by(place: NDArray[np.integer], amounts: Rewards, places: int) -> Rewards:
    """The sums of the amounts at each place; float64 [places] or [places, P]."""
    if amounts.ndim == 2:
        return np.stack([_sum_by(place, column, places) for column in amounts.T], axis=1)
    sums: Rewards = np.bincount(place, weights=amounts, minlength=places).astype(np.float64)
    return sums
