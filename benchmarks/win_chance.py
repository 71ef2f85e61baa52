"""The curves of `hearts_agents.win_chance`, fitted to games of the rule agent in all seats, and how true they are.

Half of the games of each player count (and of the preset `partnership`) are there to fit a curve by, the other half to
tell how true it is: its Brier score beside that of the base rate, the same chance for all, and beside each range of
chances what share of the games was won.  Writes the curves to agents/hearts_agents/win_chance.json, which the agents
read, and how true they are to benchmarks/results/win_chance.json.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from numpy.typing import NDArray
from scipy.optimize import minimize

from hearts_agents import make
from hearts_agents.win_chance import FITS, Curve, chances, competitors, in_packs, kind_of
from hearts_arena.provenance import commit, machine, versions
from hearts_env.cards import Ints
from hearts_env.game.compiled_rules import CompiledRules, compiled_rules
from hearts_env.game.rules import Rules
from hearts_env.match.play_match import play
from hearts_env.match.tables import Deals

Numbers = NDArray[np.float64]
TRUTH = Path(__file__).resolve().parent / "results" / "win_chance.json"
KINDS = (*(Rules(num_players=seats) for seats in range(2, 8)), Rules.preset("partnership"))
START = Curve(base=0.4, growth=0.25, step=0.25, reach=0.25, fade=0.6)
BOUNDS = {"base": (0.05, 5.0), "growth": (0.01, 5.0), "step": (0.01, 5.0), "reach": (0.15, 1.0), "fade": (0.05, 5.0)}
"""A reach of a few points or less would follow the luck of the games."""
EDGES = np.array([0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0001])
THINNED = 3
"""One of so many deals is fitted to: those of a game are much alike."""
LATE = 0.6
"""Of a pack: the distance to the target from which a game may well end with the next deal."""


def standings(rules: Rules, games: int, first_id: int) -> tuple[Ints, Numbers, Ints]:
    """The scores before each deal but a game's first, int64 [K, P], who won then, float64 [K, P], and the game."""
    table, scores = [], []

    def keep(deals: Deals) -> None:
        table.append(deals.table)
        scores.append(deals.totals)

    ids, seats = np.arange(first_id, first_id + games), rules.num_players
    result = play(rules, [make("rule")], [0] * seats, ids, games=True, on_deals=keep)
    game, totals = np.concatenate(table), np.concatenate(scores)
    later = totals.any(axis=1) & result.winners.any(axis=1)[game]
    shares = result.winners / np.maximum(result.winners.sum(axis=1, keepdims=True), 1)
    return totals[later], shares[game[later]], game[later]


def fitted(rules: CompiledRules, scores: Ints, won: Numbers) -> Curve:
    """The curve that gives the games as they went the largest likelihood.

    won: float64 [K, C], of the competitors.
    """
    packs, distance = in_packs(rules, scores[::THINNED])
    came = won[::THINNED]

    def surprise(logs: Numbers) -> float:
        found = chances(Curve(*np.exp(logs)), packs, distance)
        return float(-(came * np.log(found + 1e-9)).sum(axis=1).mean())

    start, bounds = np.log(list(asdict(START).values())), [np.log(BOUNDS[name]) for name in asdict(START)]
    best = minimize(surprise, start, method="L-BFGS-B", bounds=bounds, options={"maxiter": 60})
    return Curve(*(float(f"{number:.4g}") for number in np.exp(best.x)))


def truth(chance: Numbers, won: Numbers) -> dict[str, Any]:
    """Brier scores (the sum over competitors of the squared error, mean), and shares won by range of chance."""
    place = np.digitize(chance.ravel(), EDGES) - 1
    table = []
    for low, high, at in zip(EDGES, EDGES[1:], range(len(EDGES)), strict=False):
        here = place == at
        if here.sum() > 1:
            share = won.ravel()[here]
            table.append(
                {
                    "from": float(low),
                    "to": min(float(high), 1.0),
                    "seats": int(here.sum()),
                    "chance": float(chance.ravel()[here].mean()),
                    "won": float(share.mean()),
                }
            )
    return {
        "deals": len(won),
        "brier": float(((chance - won) ** 2).sum(axis=1).mean()),
        "brier_of_base_rate": float(((1 / won.shape[1] - won) ** 2).sum(axis=1).mean()),
        "reliability": table,
    }


@dataclass(frozen=True)
class WinChance:
    """Play the games, fit the curves, tell how true they are."""

    games: int = 20_000
    """Of each kind; one half to fit by, one to judge by."""
    first_id: int = 5_000_000
    curves: Path = FITS
    """The file to write the curves to."""
    truth: Path = TRUTH
    """The file to write to how true they are."""

    def run(self) -> None:
        """Fit and write."""
        curves: dict[str, Any] = {}
        content: dict[str, Any] = {"games": self.games, "first_id": self.first_id, "truth": {}}
        for rules in KINDS:
            compiled = compiled_rules(rules)
            scores, won, game = standings(rules, self.games, self.first_id)
            sides = won[:, : competitors(compiled)]
            sides = sides / sides.sum(axis=1, keepdims=True)
            half = game < self.games // 2
            curve = fitted(compiled, scores[half], sides[half])
            packs, distance = in_packs(compiled, scores[~half])
            chance, other, late = chances(curve, packs, distance), sides[~half], distance <= LATE
            found = {**truth(chance, other), "late": truth(chance[late], other[late])}
            curves[kind_of(compiled)], content["truth"][kind_of(compiled)] = asdict(curve), found
            print(kind_of(compiled), curve, f"Brier {found['brier']:.4f} beside {found['brier_of_base_rate']:.4f}")
        content.update(commit=commit(), machine=machine(), versions=versions())
        for file, kept in ((self.curves, curves), (self.truth, content)):
            file.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    tyro.cli(WinChance).run()
