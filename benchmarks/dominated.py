"""How often agents take dominated choices in their own play: chances and choices taken by pattern and preset.

Each agent sits in all seats, in single deals and in games, under every preset.  A chance is a decision at which some
legal action is dominated by another one (`hearts_agents.settled.patterns`).  Writes benchmarks/results/dominated.json,
from which docs/agents.md is made; agents that are named are measured anew, and others are kept.

With --effect-ids the guard is measured: the payoff of `net` against itself without the guard, by duplicate deals.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro

from hearts_agents import make
from hearts_agents.net.agent import net_agent
from hearts_agents.settled.patterns import FAMILIES
from hearts_arena.duplicate_evaluation import duplicate_payoffs, duplicate_wins, fresh_ids, mean_and_error
from hearts_arena.provenance import commit, machine, versions
from hearts_env.cards import Ints, bit
from hearts_env.game.rules import Rules
from hearts_env.game.variants import PRESETS
from hearts_env.game.view import View
from hearts_env.match.agent import Agent
from hearts_env.match.play_match import play

RESULTS = Path(__file__).parent / "results" / "dominated.json"
BARE = " without guard"
"""Written after `net` or `net:PATH`: it may take any legal action."""
FIRST_ID = 7_000_000
Counts = dict[str, list[int]]
"""Chances, and dominated choices taken, by pattern; all decisions under the name "decisions"."""


class Watched:
    """An agent whose dominated choices are counted."""

    def __init__(self, agent: Agent) -> None:
        self.name, self._agent = agent.name, agent
        self.found: Counts = {"decisions": [0, 0]}

    def act(self, view: View) -> Ints:
        """The choices of the agent, counted."""
        actions = self._agent.act(view)
        self.found["decisions"][0] += len(view)
        for family in FAMILIES.values():
            for name, dominated in family(view).items():
                chances = int(np.count_nonzero(dominated))
                if chances:
                    counts = self.found.setdefault(name, [0, 0])
                    counts[0] += chances
                    counts[1] += int(np.count_nonzero(dominated & bit(actions)))
        return actions


def agent_of(name: str) -> Agent:
    """The agent of that name, as `hearts_agents.make` takes it, or such a network without its guard."""
    return net_agent(name.removesuffix(BARE), settled=False) if name.endswith(BARE) else make(name)


def counted(name: str, rules: Rules, deals: int, games: int) -> dict[str, Counts]:
    """Chances and choices taken of an agent in all seats: in single deals and in games."""
    found = {}
    for kind, size in (("deals", deals), ("games", games)):
        watched = Watched(agent_of(name))
        play(rules, [watched], [0] * rules.num_players, np.arange(size) + FIRST_ID, games=kind == "games")
        found[kind] = watched.found
    return found


@dataclass(frozen=True)
class Dominated:
    """Count dominated choices, agent by agent and preset by preset."""

    agents: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="AGENT ...")] = ()
    """As `hearts_agents.make` takes them; "net without guard" may take any legal action."""
    deals: int = 100
    """Single deals of each preset."""
    games: int = 10
    """Games of each preset."""
    presets: tuple[str, ...] = tuple(PRESETS)
    """Rules to play by."""
    effect_ids: int = 0
    """Deal ids on which `net` meets itself without the guard, under each of `effect_presets`."""
    effect_game_ids: int = 0
    """Deal ids from which they play whole games, besides."""
    effect_presets: tuple[str, ...] = ("standard", "omnibus", "partnership", "black_maria")
    """Rules under which it does."""
    json: Path = RESULTS
    """The file to write."""

    def run(self) -> None:
        """Play, count and write."""
        old: dict[str, Any] = json.loads(self.json.read_text(encoding="utf-8")) if self.json.exists() else {}
        agents: dict[str, Any] = old.get("agents", {})
        for name in self.agents:
            entry: dict[str, Any] = {"deals": self.deals, "games": self.games, "commit": commit()}
            entry["presets"] = {
                preset: counted(name, Rules.parse(preset), self.deals, self.games) for preset in self.presets
            }
            agents[name] = entry
            print(f"{name}: {summary(entry['presets'])}")
        effects: dict[str, Any] = old.get("effects", {})
        for preset in self.effect_presets if self.effect_ids else ():
            effects[preset] = effect(Rules.parse(preset), self.effect_ids, self.effect_game_ids)
            print(f"guard under {preset}: {effects[preset]}")
        kept = {"machine": machine(), "versions": versions(), "agents": agents, "effects": effects}
        self.json.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def effect(rules: Rules, deal_ids: int, game_ids: int) -> dict[str, Any]:
    """The payoff of `net` with its guard against the same network without it, and the share of games that it wins."""
    guarded, bare = make("net"), agent_of(f"net{BARE}")
    mean, error = mean_and_error(duplicate_payoffs(rules, guarded, bare, fresh_ids(deal_ids, 18)))
    found = {"deal_ids": deal_ids, "payoff": mean, "payoff_se": error, "commit": commit()}
    if game_ids:
        won, won_error = mean_and_error(duplicate_wins(rules, guarded, bare, fresh_ids(game_ids, 19)))
        found |= {"game_ids": game_ids, "wins": won, "wins_se": won_error}
    return found


def summary(presets: dict[str, dict[str, Counts]]) -> str:
    """The sums over patterns and presets in a line."""
    chances = taken = decisions = 0
    for kinds in presets.values():
        for found in kinds.values():
            for name, (met, took) in found.items():
                decisions += met if name == "decisions" else 0
                chances += met if name != "decisions" else 0
                taken += took
    return f"{taken} of {chances} chances in {decisions} decisions"


if __name__ == "__main__":
    tyro.cli(Dominated).run()
