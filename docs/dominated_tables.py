"""The tables of dominated choices, from benchmarks/results/dominated.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hearts_agents.settled.patterns import PATTERNS
from markdown_table import table

RESULTS = Path(__file__).resolve().parent.parent / "benchmarks" / "results" / "dominated.json"


def dominated_patterns() -> str:
    """Every pattern with its grounds and its reason, and what each agent did of its chances, all presets together."""
    agents = _agents()
    rows = [
        (
            f"`{name}`",
            pattern.grounds,
            pattern.reason,
            *(_share(*_sum(entry, pattern=name)) for entry in agents.values()),
        )
        for name, pattern in PATTERNS.items()
    ]
    total = ("all", "", "", *(_share(*_sum(entry)) for entry in agents.values()))
    return table(("pattern", "grounds", "dominated choice", *map(_named, agents)), [*rows, total])


def dominated_presets() -> str:
    """Table of dominated choices by agent and preset, all patterns together."""
    agents = _agents()
    presets = list(dict.fromkeys(preset for entry in agents.values() for preset in entry["presets"]))
    rows = [(f"`{preset}`", *(_share(*_sum(entry, preset=preset)) for entry in agents.values())) for preset in presets]
    return table(("rules", *map(_named, agents)), rows)


def dominated_effects() -> str:
    """Table of the payoff that the guard wins for the network."""
    effects: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))["effects"]
    rows: list[tuple[str, ...]] = [
        (
            f"`{preset}`",
            f"{found['payoff']:+.3f} ± {found['payoff_se']:.3f}",
            f"{found['deal_ids']:,}",
            f"{found['wins']:.1%} ± {found['wins_se']:.1%}" if "wins" in found else "-",
            f"{found['game_ids']:,}" if "wins" in found else "-",
        )
        for preset, found in effects.items()
    ]
    return table(("rules", "payoff of `net` against `net` without guard", "deal ids", "games won", "deal ids"), rows)


def _agents() -> dict[str, Any]:
    agents: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))["agents"]
    return agents


def _named(agent: str) -> str:
    name, _, rest = agent.partition(" ")
    return f"`{name}` {rest}".strip()


def _sum(entry: dict[str, Any], *, pattern: str = "", preset: str = "") -> tuple[int, int]:
    """Chances, and dominated choices taken."""
    chances = taken = 0
    for rules, kinds in entry["presets"].items():
        for found in kinds.values() if preset in ("", rules) else ():
            for name, (met, took) in found.items():
                if name in PATTERNS and pattern in ("", name):
                    chances, taken = chances + met, taken + took
    return chances, taken


def _share(chances: int, taken: int) -> str:
    return f"{taken} of {chances}" + (f", {taken / chances:.1%}" if taken else "")
