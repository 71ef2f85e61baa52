"""Measure small Hearts: the sizes of the game trees, how far agents can be exploited, and what CFR makes of it.

Writes benchmarks/results/small_hearts.json, from which docs/small_hearts.md is made.  CFR needs OpenSpiel.
"""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import Any

import tyro

from hearts_agents import make
from hearts_env.exact.best_response import evaluate
from hearts_env.exact.game_tree import Tree, count_deals, grow
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.rules import PRESETS, Rules

FILE = Path(__file__).parent / "results" / "small_hearts.json"
TREES = ("small_two", "small_two_ten", "small_three", "small_four", "small_two_pass", "small_three_pass")
AGENTS = ("random", "rule")
CFR = "small_two"
ITERATIONS = (0, 1, 2, 5, 10, 20, 50)


def size(name: str, tree: Tree) -> dict[str, Any]:
    """What a tree holds."""
    keep = {"deals": tree.deals, "positions": tree.positions, "endings": tree.endings}
    return {"rules": name, **keep, "infosets": tree.infosets.tolist(), "actions": len(tree.levels) - 1}


def cfr() -> list[dict[str, Any]]:
    """NashConv of the average policy after so many iterations, by both ways to measure it."""
    import pyspiel

    from hearts_env.adapters.openspiel import PolicyAgent, load_game

    game, tree, rows = load_game(CFR), grow(Rules.preset(CFR)), []
    solver = pyspiel.CFRSolver(game)
    for iteration in range(max(ITERATIONS) + 1):
        if iteration in ITERATIONS:
            policy = solver.average_policy()
            agent = PolicyAgent(_asked(policy))
            ours = evaluate(tree, agent).nash_conv
            rows.append({"iterations": iteration, "ours": ours, "openspiel": pyspiel.nash_conv(game, policy)})
            print(rows[-1], flush=True)
        solver.evaluate_and_update_policy()
    return rows


def _asked(policy: Any) -> Any:
    class Asked:
        @staticmethod
        def action_probabilities(state: Any) -> dict[int, float]:
            return dict(policy.action_probabilities(state))

    return Asked()


def main(out: Path = FILE) -> None:
    """Measure everything on the page docs/small_hearts.md, and write it down.

    Args:
        out: The JSON file to write.
    """
    sizes, agents = [], []
    for name in TREES:
        began = time.perf_counter()
        tree = grow(Rules.preset(name))
        sizes.append({**size(name, tree), "seconds": round(time.perf_counter() - began, 2)})
        print(sizes[-1], flush=True)
        for agent in AGENTS:
            began = time.perf_counter()
            found = evaluate(tree, make(agent))
            seconds = round(time.perf_counter() - began, 2)
            agents.append({"rules": name, "agent": agent, "nash_conv": found.nash_conv, "seconds": seconds})
            print(agents[-1], flush=True)
    large = {
        name: math.log10(count_deals(compiled_rules(Rules.preset(name))))
        for name in PRESETS
        if name in ("small_four_twenty", "standard")
    }
    result = {"sizes": sizes, "log10_deals": large, "agents": agents, "cfr": {"rules": CFR, "rows": cfr()}}
    out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    tyro.cli(main)
