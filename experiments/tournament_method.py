"""Does the method of tournaments keep what it promises?  Null tournaments, a planted difference, the control variate.

    python experiments/tournament_method.py [--quick]

Prints a line each and writes experiments/results/tournament_method.json.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from hearts_agents.registry import make
from hearts_arena.provenance import commit, machine, versions
from hearts_arena.standings import Standings
from hearts_arena.stats.estimates import deals_needed, p_value
from hearts_arena.tournament_plan import Tournament, plan_tournament
from hearts_env import Rules
from hearts_env.cards import Ints, choose
from hearts_env.game.view import View
from hearts_env.match.agent import uniform

OUT = Path(__file__).parent / "results" / "tournament_method.json"


class Slips:
    """The rule agent, but now and then any legal action."""

    def __init__(self, share: float) -> None:
        self.name = f"rule with {share:.1%} slips"
        self._rule, self._share = make("rule"), share

    def act(self, view: View) -> Ints:
        slip = uniform(view, 1) < self._share
        return np.where(slip, choose(view.legal, uniform(view, 2)), self._rule.act(view))


def held(planned: Tournament) -> Standings:
    standings = Standings(planned)
    standings.add(planned.play(0, planned.deals, planned.seatings))
    return standings


def null(repeats: int, deals: int) -> dict[str, Any]:
    """One policy under three names: p-values should be uniform and 95 % intervals hold zero in 95 %."""
    names = ["random", "random:1", "random:2"]
    p_values, payoffs, pairs = [], [], []
    for seed in range(repeats):
        standings = held(plan_tournament(Rules(), names, deals, seed=seed))
        payoffs += [line.payoff for line in standings.standings]
        for pair in standings.differences:
            p_values.append(pair.payoff.p)
            pairs.append(pair.payoff)
    ordered, ideal = np.sort(p_values), (np.arange(len(p_values)) + 0.5) / len(p_values)

    def covered(found: list) -> float:
        return float(np.mean([one.low <= 0 <= one.high for one in found]))

    return {
        "tournaments": repeats,
        "deal_ids": deals,
        "p_below_0.05": float(np.mean(ordered < 0.05)),
        # Of three pairs in one tournament, so not quite independent: the bound is on the cautious side.
        "distance_from_uniform": float(np.abs(ordered - ideal).max()),
        "kolmogorov_bound_at_0.01": 1.63 / len(ordered) ** 0.5,
        "covered_by_payoff_intervals": covered(payoffs),
        "covered_by_pair_intervals": covered(pairs),
    }


def planted(difference: float, pool: int, repeats: int) -> dict[str, Any]:
    """Real differences by deal id, shifted to a mean that is known, drawn again as many times as the formula says."""
    planned = Tournament(Rules(), (make("rule"), Slips(0.01)), pool, seed=5)
    chunk = planned.play(0, pool, planned.seatings)
    values = Standings(planned).differences_by_id(chunk, 0, 1)
    values += difference - values.mean()
    rng = np.random.default_rng(0)
    found: dict[str, Any] = {"difference": difference, "sd": float(values.std(ddof=1)), "repeats": repeats}
    for power in (0.8, 0.9):
        needed = deals_needed(difference, found["sd"], power)
        draws = values[rng.integers(0, pool, (repeats, needed))]
        t = draws.mean(axis=1) / (draws.std(axis=1, ddof=1) / needed**0.5)
        share = float(np.mean([p_value(one, needed - 1) < 0.05 and one > 0 for one in t]))
        found[f"power {power}"] = {"deal_ids": needed, "found": share}
    return found


def control(deals: int) -> dict[str, Any]:
    """Plain and controlled standard errors of a few pairs, with `rule` as the control."""
    found = {}
    for pair in ((make("rule"), make("random")), (make("rule"), Slips(0.05))):
        planned = Tournament(Rules(), pair, deals, seed=9, control="rule")
        (line,) = held(planned).differences
        assert line.controlled is not None
        assert line.payoff.se is not None
        mean, error = line.controlled
        found[f"{pair[0].name} over {pair[1].name}"] = {
            "plain": [line.payoff.mean, line.payoff.se],
            "controlled": [mean, error],
            "factor": (line.payoff.se / error) ** 2,
        }
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the work, and no file")
    quick = parser.parse_args().quick
    scale = 10 if quick else 1
    parts = {
        "null": lambda: null(400 // scale, 100),
        "planted": lambda: planted(0.3, 1000 // scale, 1000),
        "control": lambda: control(800 // scale),
    }
    found = {}
    for name, part in parts.items():
        found[name] = part()
        print(name, json.dumps(found[name]), flush=True)
    if not quick:
        about = {"commit": commit(), "machine": machine(), "versions": versions()}
        OUT.write_text(json.dumps({**about, **found}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
