"""How good the choices of a search agent are, decision by decision: variants of its race on the same worlds.

In deals of `search:32` and `rule`, two seats each, every line of every decision is played out in many worlds and in the
deal as it really was, by rule from there on.  The latter, against the line that rule would have taken, is an unbiased
(if noisy) measure of a choice, hidden cards and all; the worlds that no variant chose by tell what search itself would
expect.  Both are sums over the decisions of a seat and deal, in points: a chance that is open for several tricks counts
in each, so they are more than a match would show.  Writes experiments/results/search_choices.json.

With `--base net` all that is of the network: deals of `net` in all seats, play-outs by it, variants that play them out
otherwise, and a part of the decisions, since its play-outs take their time.  Writes net_search_choices.json.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast
from unittest.mock import patch

import numpy as np
import tyro
from numpy.typing import NDArray

from hearts_agents import make
from hearts_agents.explain import picks_of
from hearts_agents.net.agent import NetAgent
from hearts_agents.rule.agent import RuleAgent
from hearts_agents.search import racing, rollouts
from hearts_agents.search.candidates import CandidateActions, pass_candidates, play_candidates
from hearts_agents.search.racing import RaceStats
from hearts_agents.search.rollouts import RolloutPolicies, outcomes
from hearts_arena.provenance import commit, machine, versions
from hearts_env.cards import count
from hearts_env.game.compiled_rules import CompiledRules, compiled_rules
from hearts_env.game.engine import deal, shuffle, step
from hearts_env.game.rules import Rules
from hearts_env.game.state import MOON, PASS, State
from hearts_env.game.view import View, view
from hearts_env.game.worlds import worlds
from hearts_env.match.agent import Agent

RESULTS = Path(__file__).parent / "results"
TABLES = 40
Numbers = NDArray[np.float64]


WHOLE, BY_RULE = "whole", "by rule"


@dataclass(frozen=True)
class Decision:
    """The lines of one decision, the base policy's first, and what they brought."""

    deal_id: int
    passing: bool
    moon: NDArray[np.bool_]
    values: dict[str, NDArray[np.float32]]  # [K, W] each  payoff in each world by kind of play-out
    truth: Numbers  # [K]  payoff in the deal as it was
    likely: Numbers  # [K]  the chance that a network gives the line; 1 where nothing is said


@dataclass(frozen=True)
class Variant:
    """A way to hold the race."""

    name: str
    worlds: int = 128
    first: int = racing.FIRST_BATCH
    margin: float = racing.DROP_ERRORS
    gate: float = racing.ACCEPT_ERRORS
    by: str = WHOLE
    """The kind of play-out."""
    least: float = 0.0
    """Candidates with less chance are left out."""


OF_RULE = (
    Variant("32 worlds", 32),
    Variant("64 worlds", 64),
    Variant("128 worlds"),
    Variant("192 worlds", 192),
    Variant("128 worlds, no line dropped", first=128),
    Variant("192 worlds, no line dropped", 192, first=192),
    Variant("128 worlds, dropped at half a standard error", margin=0.5),
    Variant("128 worlds, dropped at 1.5", margin=1.5),
    Variant("128 worlds, first batch of 8", first=8),
    Variant("128 worlds, no gate", gate=0),
    Variant("128 worlds, gate of one standard error", gate=1),
    Variant("128 worlds, gate of two", gate=2),
)
OF_NET = (
    Variant("32 worlds, to the end by `net`", 32),
    Variant("16 worlds, to the end by `net`", 16),
    Variant("16 worlds, judged after 3 tricks", 16, by="3 tricks"),
    Variant("32 worlds, judged after 3 tricks", 32, by="3 tricks"),
    Variant("32 worlds, judged after 1 trick", 32, by="1 tricks"),
    Variant("32 worlds, to the end by `rule`", 32, by=BY_RULE),
    Variant("32 worlds, judged after 3 tricks, gate of one standard error", 32, by="3 tricks", gate=1),
    Variant("32 worlds, judged after 3 tricks, gate of two", 32, by="3 tricks", gate=2),
    Variant("32 worlds, judged after 3 tricks, only lines of chance 0.001", 32, by="3 tricks", least=0.001),
    Variant("32 worlds, judged after 3 tricks, only lines of chance 0.01", 32, by="3 tricks", least=0.01),
)


@dataclass(frozen=True)
class Kind:
    """Whose search is looked at."""

    players: tuple[str, ...]
    """Who plays the deals."""
    base: Agent
    variants: tuple[Variant, ...]
    """The first is the one that others stand beside."""

    @property
    def play_outs(self) -> dict[str, tuple[RolloutPolicies, int]]:
        """The kinds of play-outs that the variants need: who plays, and tricks up to the judge."""
        found = {WHOLE: (RolloutPolicies.of(self.base), 0)}
        for name in dict.fromkeys(variant.by for variant in self.variants):
            if name == BY_RULE:
                found[name] = RolloutPolicies.of(RuleAgent()), 0
            elif name != WHOLE:
                found[name] = RolloutPolicies.of(self.base, cast(NetAgent, self.base).values), int(name.split()[0])
        return found


def kind_of(name: Literal["rule", "net"]) -> Kind:
    """What is looked at for the search on top of this agent."""
    if name == "rule":
        return Kind(("search:32", "rule"), RuleAgent(), (OF_RULE[2], *OF_RULE[:2], *OF_RULE[3:]))
    return Kind(("net", "net"), make("net"), OF_NET)


# -- play-outs ---------------------------------------------------------------------------------------------------------


def decisions(kind: Kind, first_id: int, deals: int, number: int, share: float) -> Iterator[Decision]:
    """Of all seats in these deals, a share of those that leave search a choice.  number: worlds for each."""
    rules, agents, chance = (
        compiled_rules(Rules()),
        [make(name) for name in kind.players],
        np.random.default_rng(first_id),
    )
    for begin in range(first_id, first_id + deals, TABLES):
        ids = np.arange(begin, min(begin + TABLES, first_id + deals))
        state = State.empty(rules, len(ids))
        deal(rules, state, shuffle(rules, ids), deal_no=ids // 2 % len(rules.rules.pass_cycle), key=ids)
        while not state.over.all():
            rows = np.flatnonzero(~state.over)
            seen, actions = view(rules, state).take(rows), np.zeros(len(ids), np.int64)
            who = (state.turn[rows] + ids[rows]) % len(agents)
            for each, agent in enumerate(agents):
                actions[rows[who == each]] = agent.act(seen.take(who == each))
            open_ = (count(seen.legal) > 1) & (seen.picks * (seen.phase == PASS) == 0) & (seen.phase != MOON)
            for at in np.flatnonzero(open_ & (chance.random(len(rows)) < share)):
                one = seen.take([at])
                candidates = _lines(kind.base, one)
                if len(candidates) > 1:
                    drawn = worlds(one, number)
                    values = {}
                    for name, (policies, tricks) in kind.play_outs.items():
                        with patch.object(rollouts, "LEAF_TRICKS", tricks):
                            values[name] = _tried(rules, policies, one, candidates, drawn).astype(np.float32)
                    whole, _ = kind.play_outs[WHOLE]
                    truth = _tried(rules, whole, one, candidates, state.take(rows[[at]]))[:, 0]
                    passing, likely = bool(one.phase[0] == PASS), _likely(kind.base, one, candidates)
                    yield Decision(int(ids[rows[at]]), passing, candidates.moon, values, truth, likely)
            step(rules, state, actions)


def _lines(base: Agent, one: View) -> CandidateActions:
    shooter = RolloutPolicies.of(base).shooter
    if one.phase[0] == PASS:
        return pass_candidates(one, picks_of(base, one), picks_of(shooter, one))
    return play_candidates(one, base.act(one), shooter.act(one))


def _likely(base: Agent, one: View, candidates: CandidateActions) -> Numbers:
    if one.phase[0] == PASS or not isinstance(base, NetAgent):
        return np.ones(len(candidates))
    chances: Numbers = NetAgent(base.net, sample=True).probabilities(one)[0, candidates.actions[:, 0]]
    return chances


def _tried(
    rules: CompiledRules, policies: RolloutPolicies, one: View, candidates: CandidateActions, states: State
) -> Numbers:
    """The viewer's payoff of each line in each state, float64 [K, W]."""
    world, line = np.tile(np.arange(len(states)), len(candidates)), np.repeat(np.arange(len(candidates)), len(states))
    paid = outcomes(rules, policies, states, world, one.seat.repeat(len(line)), candidates, line)
    return paid.reshape(len(candidates), -1)


# -- races -------------------------------------------------------------------------------------------------------------


def chosen(decision: Decision, variant: Variant) -> tuple[int, int]:
    """The line that a variant takes, and how many play-outs it takes for it."""
    size = len(decision.moon)
    none = np.zeros(size, np.bool_)
    known = RaceStats.of(CandidateActions(np.zeros(size, np.int64), np.zeros((size, 1), np.int64), decision.moon, none))
    known.alive &= (decision.likely >= variant.least) | known.leads
    done, batch = 0, min(variant.first, variant.worlds)
    with patch.multiple(racing, DROP_ERRORS=variant.margin, ACCEPT_ERRORS=variant.gate):
        while done < variant.worlds and len(rows := np.flatnonzero(known.open())):
            known.add(rows, decision.values[variant.by][rows, done : done + batch].astype(np.float64))
            known.drop()
            done += batch
            batch = min(done, variant.worlds - done)
        return int(known.best()[0]), int(known.tried.sum())


def judged(found: list[Decision], variants: Sequence[Variant], share: float) -> list[dict[str, Any]]:
    """A line a variant, the first the one that the others stand beside.

    Both halves of the worlds are chosen by once, and told by once.
    """
    found = [*found, *map(_turned, found)]
    deals, seat_deals = np.unique([each.deal_id for each in found], return_inverse=True)
    half = found[0].values[WHOLE].shape[1] // 2
    passing = np.array([each.passing for each in found])
    table = []

    def summed(gains: Numbers) -> Numbers:
        return np.bincount(seat_deals, gains, len(deals)) / (2 * Rules().num_players * share)

    for variant in variants:
        choices = [chosen(each, variant) for each in found]
        pairs = [(each, line) for each, (line, _) in zip(found, choices, strict=True)]
        real = np.array([float(each.truth[line] - each.truth[0]) for each, line in pairs])
        worlds = [each.values[WHOLE][:, half:] for each in found]
        told = np.array([float((each[line] - each[0]).mean()) for each, (_, line) in zip(worlds, pairs, strict=True)])
        if not table:
            first_real, first_told = real, told
        table.append(
            {
                "variant": variant.name,
                "gain": _mean(summed(real)),
                "expected": _mean(summed(told)),
                "expected_of_passes": _mean(summed(told * passing)),
                "play_outs": float(np.mean([used for _, used in choices])),
                "moved": float(np.mean([line > 0 for line, _ in choices])),
                "difference": _mean(summed(real - first_real)),
                "expected_difference": _mean(summed(told - first_told)),
            }
        )
    return table


def _turned(decision: Decision) -> Decision:
    """The same with the halves of the worlds exchanged."""
    half = decision.values[WHOLE].shape[1] // 2
    return replace(decision, values={name: np.roll(each, half, axis=1) for name, each in decision.values.items()})


def _mean(sums: Numbers) -> list[float]:
    return [float(sums.mean()), float(sums.std(ddof=1) / np.sqrt(len(sums)))]


@dataclass(frozen=True)
class Choices:
    """Collect decisions and hold every race over them."""

    base: Literal["rule", "net"] = "rule"
    """The agent that searches."""
    deals: int = 160
    first_id: int = 900_000
    worlds: int = 384
    """One half of them is there to choose by, the other to tell what is expected."""
    share: float = 1.0
    """Of the decisions, drawn at random."""
    kept: Path | None = None
    """A file for the play-outs, which are the slow part: read if it is there, else written."""
    json: Path | None = None
    """The file to write."""

    def run(self) -> None:
        """Collect, hold, and write."""
        kind = kind_of(self.base)
        if self.kept and self.kept.exists():
            found = [Decision(*fields) for fields in pickle.loads(self.kept.read_bytes())]
        else:
            found = list(decisions(kind, self.first_id, self.deals, self.worlds, self.share))
            if self.kept:
                fields = [tuple(vars(each).values()) for each in found]
                self.kept.write_bytes(pickle.dumps(fields))
        content = {
            "base": self.base,
            "deals": self.deals,
            "first_id": self.first_id,
            "worlds": self.worlds,
            "share": self.share,
            "decisions": len(found),
            "variants": judged(found, kind.variants, self.share),
            "commit": commit(),
            "machine": machine(),
            "versions": versions(),
        }
        file = self.json or RESULTS / ("net_search_choices.json" if self.base == "net" else "search_choices.json")
        file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        for line in content["variants"]:
            print(line)


if __name__ == "__main__":
    tyro.cli(Choices).run()
