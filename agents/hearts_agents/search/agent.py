"""The search agent: roll-outs of candidate actions in determinizations, with another agent in every seat."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace

import numpy as np

from hearts_agents.explain import Candidate, before_picks, picks_of
from hearts_agents.rule.agent import RuleAgent
from hearts_agents.search.candidates import CandidateActions, pass_candidates, play_candidates, with_extra
from hearts_agents.search.racing import RaceStats, by_roll_outs, race
from hearts_agents.search.rollouts import LeafValue, RolloutPolicies
from hearts_agents.settled.guard import undominated
from hearts_env.cards import Ints, cards_in, count
from hearts_env.game.rules import Rules
from hearts_env.game.state import PASS
from hearts_env.game.view import View
from hearts_env.match.agent import Agent, has_learned

MOST_WORLDS = 1 << 16
"""Most worlds of a decision: the limit where there is a time instead of a number."""
VIEWS = 256
"""Views searched at once: it bounds the memory, and changes nothing else."""
_KEPT = 1 << 14


class SearchAgent:
    """Deviates from another agent's action only for a significant gain, estimated over determinizations (worlds).

    Of actions of which one dominates another (`settled`), only the better one is tried.

    The same view always gives the same action, unless `seconds` ends the search.
    """

    def __init__(
        self,
        worlds: int = 32,
        name: str = "search",
        *,
        seconds: float | None = None,
        base: Agent | None = None,
        leaf_value: LeafValue | None = None,
        to_win: bool = True,
    ) -> None:
        """A search with these limits.

        Args:
            worlds: determinizations of a decision at most.
            seconds: spent on a decision at most, on average over a batch of views.
            base: the policy that it deviates from, and the roll-out policy; the rule agent if not given.
            leaf_value: estimates the viewers' payoffs where roll-outs end after a few tricks; without it they go on to
                the end of the deal.
            to_win: where the seats have scores already, a deal is worth what it adds to the chance to win the game,
                which `leaf_value` must then estimate too (`win_chance.payoff_at`); else its points.
        """
        self.name = name
        self.worlds = worlds
        self.seconds = seconds
        self._policies = RolloutPolicies.of(base or RuleAgent(), leaf_value, to_win)
        self._passes: OrderedDict[tuple[object, ...], int] = OrderedDict()

    @property
    def base(self) -> Agent:
        """The policy that it deviates from, which plays the roll-outs too."""
        return self._policies.base

    def learned(self, rules: Rules) -> bool:
        """Has the policy that it starts from been trained with these rules?"""
        return has_learned(self._policies.base, rules)

    def act(self, view: View) -> Ints:
        """The chosen action for each view, int64 [N]."""
        view = self._settled(view)
        actions = self._policies.base.act(view)
        choices, passes = count(view.legal) > 1, view.phase == PASS
        for rows, search in ((choices & ~passes, self._play), (choices & passes, self._pick)):
            numbers = np.flatnonzero(rows)
            for begin in range(0, len(numbers), VIEWS):
                part = numbers[begin : begin + VIEWS]
                actions[part] = search(view.take(part), actions[part])
        return actions

    def explain(self, view: View, also: Ints | None = None) -> list[list[Candidate]]:
        """The candidates of each view's decision with their estimates: a list for each, the base policy's choice first.

        As `hearts_agents.explain.Explains` says.  Actions in `also` are tried for as long as there is a choice to make,
        and change nothing about the others.
        """
        view = self._settled(view)
        found: list[list[Candidate]] = [[] for _ in range(len(view))]
        for row in np.flatnonzero(count(view.legal) > 1):
            here = np.array([row])
            found[row] = _candidates(self.race(view.take(here), None if also is None else also[here]))
        return found

    def race(self, view: View, also: Ints | None = None) -> RaceStats:
        """The estimates of the candidates of N views that have a choice, and all play or all pass.

        A pass is planned from before the first pick.  also: int64 [N, D], see `explain`.
        """
        passes = view.phase[0] == PASS
        first = before_picks(view) if passes else self._settled(view)
        candidates = self._pass_candidates(first) if passes else self._play_candidates(first)
        return self._race(first, candidates if also is None else with_extra(candidates, also))

    def _play(self, view: View, base: Ints) -> Ints:
        known = self._race(view, self._play_candidates(view, base))
        actions: Ints = known.candidates.actions[known.best(), 0]
        return actions

    def _play_candidates(self, view: View, base: Ints | None = None) -> CandidateActions:
        policies = self._policies
        return play_candidates(view, policies.base.act(view) if base is None else base, policies.shooter.act(view))

    def _pick(self, view: View, base: Ints) -> Ints:
        """The next card to pass: all are planned at once, and the same anew (or remembered) at each pick."""
        first = before_picks(view)
        keys = _pass_keys(first)
        new = [row for row, key in enumerate(keys) if key not in self._passes]
        passed = {key: self._passes[key] for key in keys if key in self._passes}
        if new:
            these = first.take(np.array(new))
            known = self._race(these, self._pass_candidates(these))
            picks = np.bitwise_or.reduce(np.int64(1) << known.candidates.actions[known.best()], axis=1)
            passed.update(zip([keys[row] for row in new], picks.tolist(), strict=True))
        self._passes.update(passed)
        while len(self._passes) > _KEPT:
            self._passes.popitem(last=False)
        actions = base.copy()
        for row, key in enumerate(keys):
            left = passed[key] & int(view.legal[row])
            # Picks that were not its own leave nothing to go on with.
            if left and int(view.picks[row]) & ~passed[key] == 0:
                actions[row] = cards_in(left)[-1]
        return actions

    def _pass_candidates(self, view: View) -> CandidateActions:
        policies = self._policies
        return pass_candidates(view, picks_of(policies.base, view), picks_of(policies.shooter, view))

    def _settled(self, view: View) -> View:
        """The views with the dominated actions taken from the legal ones; other arrays are shared."""
        scores = view.scores if self._policies.to_win else np.zeros_like(view.scores)
        return replace(view, legal=undominated(replace(view, scores=scores)))

    def _race(self, view: View, candidates: CandidateActions) -> RaceStats:
        seconds = None if self.seconds is None else self.seconds * len(view)
        return race(view, candidates, by_roll_outs(view, candidates, self._policies), self.worlds, seconds)


def _pass_keys(view: View) -> list[tuple[object, ...]]:
    """All that the choice of a pass depends on, for each view before its first pick."""
    columns = (view.table_key, view.seat, view.hand, view.deal_no, view.scores)
    return [(view.rules.rules, *map(str, each)) for each in zip(*(column.tolist() for column in columns), strict=True)]


def _candidates(known: RaceStats) -> list[Candidate]:
    """The candidates of one view with their estimates."""
    best = int(known.best()[0])
    means, gains, errors = known.value / np.maximum(known.tried, 1), known.mean_gain, known.error
    return [
        Candidate(
            actions=tuple(actions.tolist()),
            moon=bool(known.candidates.moon[k]),
            payoff=float(means[k]),
            gain=float(gains[k]),
            error=float(errors[k]),
            worlds=int(known.tried[k]),
            chosen=k == best,
        )
        for k, actions in enumerate(known.candidates.actions)
    ]
