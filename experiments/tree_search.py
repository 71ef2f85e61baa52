"""A tree where `search` has play-outs: information-set Monte-Carlo tree search, held against `search:128`.

    python experiments/tree_search.py [VARIANT ...] [--deals N] [--opponent AGENT] [--iterations I]

Each iteration goes down one tree of the cards played, in a world that fits what the seat has seen: among the cards that
are legal there it takes the one with the best upper bound (Cowling, Powley and Whitehouse 2012), each seat for its own
payoff; where it leaves the tree, `rule` plays to the end.  Candidates at the root, worlds, roll-outs and the pass
are as in `search`.  A variant and `search:128` meet the opponent on the same fresh deal ids, two seats each.
Prints a line a variant; `docs/agents.md` has what came out.  It needs numba (`hearts_env[fast]`).
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import tyro

from hearts_agents import make
from hearts_agents.rule.agent import RuleAgent
from hearts_agents.rule.tables import rule_record
from hearts_agents.search import racing
from hearts_agents.search.agent import SearchAgent
from hearts_agents.search.candidates import CandidateActions
from hearts_agents.search.kernels import outcomes
from hearts_agents.search.payoffs import cards_that_count
from hearts_agents.search.racing import RaceStats
from hearts_agents.search.rollouts import shooting
from hearts_arena.duplicate_evaluation import duplicate_payoffs, fresh_ids, mean_and_error
from hearts_env.cards import Ints, Numbers
from hearts_env.fast.step import game, tables
from hearts_env.game.rewards import payoff
from hearts_env.game.rules import Rules
from hearts_env.game.state import State
from hearts_env.game.view import View
from hearts_env.game.worlds import worlds
from hearts_env.match.agent import Agent
from hearts_env.match.play_match import play
from tree_loops import ALL, NO_LINE, NONE, OWN, Bound, Roots, Trees, grow

# As a script it finds what lies beside it, but not what the benchmarks share.
sys.path.append(str(Path(__file__).resolve().parents[1] / "benchmarks"))
from ladder import MANY, Timed

EDGES = 12
"""Edges for each iteration that a tree has room for; without room, play-outs begin where the tree ends."""
VIEWS = 16
"""Trees that grow at once."""
WORLDS = 128
"""Of the search that it stands beside."""
MINDS = RuleAgent().weights, shooting(RuleAgent()).weights
"""Of who plays out, and of a seat with a line for the moon."""


@dataclass(frozen=True)
class Variant:
    """A way to grow the tree."""

    seats: int = ALL
    """Whose choices are in the tree; the others play as `rule` does.  With NONE it ends at the root."""
    paired: bool = True
    """Payoffs are counted from what the base policy's line brings in the same world; each world serves three times."""
    gate: bool = True
    """The base policy's line is left for a gain of 1.5 standard errors; else the line with most visits is taken."""
    explore: float = 3.0
    """Of the bound, in points."""
    prior: float = 0.0
    """The share of the base policy's card in PUCT; 0 for UCB1, which has none."""
    race: bool = False
    """`search:128`'s own race between the candidates, with a tree below each in place of its play-outs."""
    iterations: int = 256
    """Play-outs for a decision, those to count from included; a race has as many as it takes."""


VARIANTS = {
    "textbook": Variant(paired=False, gate=False, explore=6.0),
    "paired": Variant(),
    "own": Variant(OWN),
    "own-prior": Variant(OWN, explore=6.0, prior=0.5),
    "root": Variant(NONE),
    "race": Variant(race=True, explore=6.0, prior=0.8),
    "race-own": Variant(OWN, race=True, explore=6.0, prior=0.8),
}


# -- the agent ---------------------------------------------------------------------------------------------------------


class TreeAgent(SearchAgent):
    """`search:128` whose cards to play come from a tree."""

    def __init__(self, variant: Variant, name: str = "tree") -> None:
        super().__init__(WORLDS, name, base=RuleAgent())
        self.variant = variant
        self.decisions = self.iterations = 0  # with more than one line, and the play-outs for them

    def _play(self, view: View, base: Ints) -> Ints:
        actions = np.empty(len(view), np.int64)
        for begin in range(0, len(view), VIEWS):
            rows = np.arange(begin, min(begin + VIEWS, len(view)))
            part = view.take(rows)
            candidates = self._play_candidates(part, base[rows])
            self.decisions += int((np.bincount(candidates.owner) > 1).sum())
            best = self._raced(part, candidates).best() if self.variant.race else self._searched(part, candidates)
            actions[rows] = candidates.actions[best, 0]
        return actions

    def _searched(self, view: View, candidates: CandidateActions) -> Ints:
        """The line to take in each view, int64 [N]."""
        variant = self.variant
        number = variant.iterations // 4 if variant.paired else variant.iterations
        times = variant.iterations - number * variant.paired
        drawn, open_ = worlds(view, number), np.flatnonzero(np.bincount(candidates.owner) > 1)
        from_base = np.zeros((len(drawn), view.rules.num_players))
        if variant.paired:
            row = (open_[:, None] * number + np.arange(number)).reshape(-1)
            line, seat = candidates.starts[row // number], view.seat[row // number]
            points = outcomes(view.rules, MINDS, drawn, row, seat, candidates.actions[line], candidates.moon[line])
            from_base[row] = payoff(view.rules, points)
        trees = Trees.of(candidates, EDGES * variant.iterations)
        world = (open_[:, None] * number + np.arange(times) % number).reshape(-1)
        self._grow(view, candidates, trees, drawn, world, np.full(len(world), NO_LINE), from_base)
        self.iterations += len(open_) * variant.iterations
        place = candidates.owner, np.arange(len(candidates)) - candidates.first + 1
        visits = trees.visits[place]
        mean = trees.value[place] / np.maximum(visits, 1)
        spread = (trees.square[place] - trees.value[place] * mean) / np.maximum(visits, 1) / np.maximum(visits - 1, 1)
        gain, error = mean - mean[candidates.first], np.sqrt(np.maximum(spread + spread[candidates.first], 0))
        leads = np.arange(len(candidates)) == candidates.first
        passed = (visits > 0) & (gain > 0) & (gain >= racing.ACCEPT_ERRORS * error)
        score = np.where(passed, gain, np.where(leads, 0.0, -np.inf)) if variant.gate else visits
        best: Ints = np.lexsort((-score, candidates.owner))[candidates.starts]
        return best

    def _raced(self, view: View, candidates: CandidateActions) -> RaceStats:
        """The race of `search`, but what candidates evaluate comes from the trees below them."""
        trees = Trees.of(candidates, EDGES * 3 * WORLDS)

        def evaluate(drawn: State, world: Ints, line: Ints) -> Numbers:
            nothing = np.zeros((len(drawn), view.rules.num_players))
            return self._grow(view, candidates, trees, drawn, world, line, nothing)

        known = racing.race(view, candidates, evaluate, WORLDS)
        self.iterations += int(known.tried.sum())
        return known

    def _grow(
        self,
        view: View,
        candidates: CandidateActions,
        trees: Trees,
        drawn: State,
        world: Ints,
        line: Ints,
        from_base: Numbers,
    ) -> Numbers:
        """What I iterations pay the viewers, float64 [I].

        world, line: int64 [I], a row of `drawn`, and the line to take or NO_LINE.
        """
        rules, variant, paid = view.rules, self.variant, np.empty(len(world))
        # Where no line is given, `drawn` has worlds for every view.
        owner = np.where(line == NO_LINE, world // (len(drawn) // len(view)), candidates.owner[line])
        grow(
            game(rules),
            np.concatenate([rule_record(rules, weights) for weights in MINDS]),
            tables(drawn),
            tables(State.empty(rules, 1)),
            trees,
            Roots(
                view.seat.astype(np.int64), candidates.starts, np.ascontiguousarray(candidates.actions), candidates.moon
            ),
            Bound(variant.explore, variant.prior),
            variant.seats,
            cards_that_count(rules),
            world,
            owner,
            line,
            from_base,
            np.empty((2, rules.num_plays + 1), np.int64),
            np.empty(rules.num_players, np.int64),
            paid,
        )
        return paid


# -- the comparison ----------------------------------------------------------------------------------------------------


def milliseconds(agent: Agent) -> float:
    """Of a decision at 64 tables, forced ones counted, with the agent in every seat."""
    timed = Timed(agent)
    play(Rules(), [timed], [0] * 4, np.arange(MANY))
    return 1000 * timed.seconds / timed.decisions


@dataclass(frozen=True)
class Comparison:
    """Let variants meet an opponent."""

    variants: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="VARIANT ...")] = tuple(VARIANTS)
    """Some of them."""
    opponent: str = "rule"
    deals: int = 200
    """Deal ids."""
    seed: int = 1
    """Another one has other deal ids."""
    iterations: int = Variant.iterations
    """For a decision; races are not asked."""

    def run(self) -> None:
        """Play, and print a line each."""
        ids = fresh_ids(self.deals, self.seed)
        search = make(f"search:{WORLDS}")
        # Also where it is the opponent: with other worlds in other seatings it need not be level with itself.
        beside = duplicate_payoffs(Rules(), search, self.opponent, ids)
        print(f"{search.name}: {_shown(beside)}, {milliseconds(search):.2f} ms", flush=True)
        for name in self.variants:
            agent = TreeAgent(replace(VARIANTS[name], iterations=self.iterations), name)
            payoffs = duplicate_payoffs(Rules(), agent, self.opponent, ids)
            spent = agent.iterations / agent.decisions
            print(
                f"{name}: {_shown(payoffs)}, beside {search.name} {_shown(payoffs - beside)}, {spent:.0f} play-outs, "
                f"{milliseconds(agent):.2f} ms",
                flush=True,
            )


def _shown(samples: Numbers) -> str:
    return "{:+.2f} ± {:.2f}".format(*mean_and_error(samples))


if __name__ == "__main__":
    tyro.cli(Comparison).run()
