"""How good the choices of the search agent are, decision by decision: variants of its race on the same play-outs.

In deals of `search:32` and `rule`, two seats each, every line of every decision is played out in many worlds and in the
deal as it really was, by rule from there on.  The latter, against the line that rule would have taken, is an unbiased
(if noisy) measure of a choice, hidden cards and all; the worlds that no variant chose by tell what search itself would
expect.  Both are sums over the decisions of a seat and deal, in points: a chance that is open for several tricks counts
in each, so they are more than a match would show.  Writes benchmarks/results/search_choices.json.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import tyro
from numpy.typing import NDArray

from hearts_agents import make, search_race
from hearts_agents.candidates import picks_of
from hearts_agents.rule import RuleAgent
from hearts_agents.search_lines import Lines, pass_lines, play_lines, shooting
from hearts_agents.search_race import Policies, Race, outcomes
from hearts_env.cards import count
from hearts_env.engine import deal, shuffle, step
from hearts_env.lookup import Lookup, lookup
from hearts_env.rewards import payoff
from hearts_env.rules import Rules
from hearts_env.state import MOON, PASS, State
from hearts_env.view import View, view
from hearts_env.worlds import worlds
from hearts_train.machine import commit, machine, versions

RESULTS = Path(__file__).parent / "results" / "search_choices.json"
TABLES = 40
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Decision:
    """The lines of one decision, the base policy's first, and what they brought."""

    deal_id: int
    moon: NDArray[np.bool_]
    values: NDArray[np.float32]  # [K, W]  payoff in each world
    truth: Numbers  # [K]  payoff in the deal as it was


@dataclass(frozen=True)
class Variant:
    """A way to hold the race."""

    name: str
    worlds: int = 128
    first: int = search_race.FIRST_BATCH
    margin: float = search_race.MARGIN
    gate: float = search_race.GATE


VARIANTS = (
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
REFERENCE = VARIANTS[2]


# -- play-outs ---------------------------------------------------------------------------------------------------------


def decisions(first_id: int, deals: int, number: int) -> Iterator[Decision]:
    """Of all seats in these deals, those that leave search a choice.  number: worlds for each."""
    info, agents = lookup(Rules()), (make("search:32"), make("rule"))
    for begin in range(first_id, first_id + deals, TABLES):
        ids = np.arange(begin, min(begin + TABLES, first_id + deals))
        state = State.empty(info, len(ids))
        deal(info, state, shuffle(info, ids), deal_no=ids // 2 % len(info.rules.pass_cycle), key=ids)
        while not state.over.all():
            rows = np.flatnonzero(~state.over)
            seen, actions = view(info, state).take(rows), np.zeros(len(ids), np.int64)
            who = (state.turn[rows] + ids[rows]) % 2
            for each, agent in enumerate(agents):
                actions[rows[who == each]] = agent.act(seen.take(who == each))
            open_ = (count(seen.legal) > 1) & (seen.picks * (seen.phase == PASS) == 0) & (seen.phase != MOON)
            for at in np.flatnonzero(open_):
                one = seen.take([at])
                lines = _lines(one)
                if len(lines) > 1:
                    values = _tried(info, one, lines, worlds(one, number)).astype(np.float32)
                    truth = _tried(info, one, lines, state.take(rows[[at]]))[:, 0]
                    yield Decision(int(ids[rows[at]]), lines.moon, values, truth)
            step(info, state, actions)


BASE = RuleAgent()
POLICIES = Policies(BASE, shooting(BASE))


def _lines(one: View) -> Lines:
    if one.phase[0] == PASS:
        return pass_lines(one, picks_of(BASE, one), picks_of(POLICIES.shooter, one))
    return play_lines(one, BASE.act(one), POLICIES.shooter.act(one))


def _tried(info: Lookup, one: View, lines: Lines, states: State) -> Numbers:
    """The viewer's payoff of each line in each state, float64 [K, W]."""
    world, line = np.tile(np.arange(len(states)), len(lines)), np.repeat(np.arange(len(lines)), len(states))
    points = outcomes(info, POLICIES, states, world, one.seat.repeat(len(line)), lines, line)
    return payoff(info, points)[:, one.seat[0]].reshape(len(lines), -1)


# -- races -------------------------------------------------------------------------------------------------------------


def chosen(decision: Decision, variant: Variant) -> tuple[int, int]:
    """The line that a variant takes, and how many play-outs it takes for it."""
    size = len(decision.moon)
    none = np.zeros(size, np.bool_)
    known = Race.of(Lines(np.zeros(size, np.int64), np.zeros((size, 1), np.int64), decision.moon, none))
    done, batch = 0, min(variant.first, variant.worlds)
    with patch.multiple(search_race, MARGIN=variant.margin, GATE=variant.gate):
        while done < variant.worlds and len(rows := np.flatnonzero(known.open())):
            known.add(rows, decision.values[rows, done : done + batch].astype(np.float64))
            known.drop()
            done += batch
            batch = min(done, variant.worlds - done)
        return int(known.best()[0]), int(known.tried.sum())


def judged(found: list[Decision]) -> list[dict[str, Any]]:
    """A line a variant."""
    deals, seat_deals = np.unique([each.deal_id for each in found], return_inverse=True)
    half = found[0].values.shape[1] // 2
    table = []
    truths: dict[str, Numbers] = {}

    def summed(gains: list[float]) -> Numbers:
        return np.bincount(seat_deals, gains, len(deals)) / Rules().num_players

    for variant in VARIANTS:
        choices = [chosen(each, variant) for each in found]
        gains = [float(each.truth[line] - each.truth[0]) for each, (line, _) in zip(found, choices, strict=True)]
        told = [
            float((each.values[line, half:] - each.values[0, half:]).mean())
            for each, (line, _) in zip(found, choices, strict=True)
        ]
        truths[variant.name] = summed(gains)
        table.append(
            {
                "variant": variant.name,
                "gain": _mean(truths[variant.name]),
                "expected": _mean(summed(told)),
                "play_outs": float(np.mean([used for _, used in choices])),
                "moved": float(np.mean([line > 0 for line, _ in choices])),
            }
        )
    for line in table:
        line["difference"] = _mean(truths[line["variant"]] - truths[REFERENCE.name])
    return table


def _mean(sums: Numbers) -> list[float]:
    return [float(sums.mean()), float(sums.std(ddof=1) / np.sqrt(len(sums)))]


@dataclass(frozen=True)
class Choices:
    """Collect decisions and hold every race over them."""

    deals: int = 160
    first_id: int = 900_000
    worlds: int = 384
    """The first half of them is there to choose by, the second to tell what is expected."""
    kept: Path | None = None
    """A file for the play-outs, which are the slow part: read if it is there, else written."""
    json: Path = RESULTS
    """The file to write."""

    def run(self) -> None:
        """Collect, hold, and write."""
        if self.kept and self.kept.exists():
            found = [Decision(*fields) for fields in pickle.loads(self.kept.read_bytes())]
        else:
            found = list(decisions(self.first_id, self.deals, self.worlds))
            if self.kept:
                fields = [(each.deal_id, each.moon, each.values, each.truth) for each in found]
                self.kept.write_bytes(pickle.dumps(fields))
        content = {
            "deals": self.deals,
            "first_id": self.first_id,
            "worlds": self.worlds,
            "decisions": len(found),
            "variants": judged(found),
            "commit": commit(),
            "machine": machine(),
            "versions": versions(),
        }
        self.json.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        for line in content["variants"]:
            print(line)


if __name__ == "__main__":
    tyro.cli(Choices).run()
