"""`hearts agents`: the agents by name."""

from __future__ import annotations

from dataclasses import dataclass

from hearts_arena.report.console import print_table


@dataclass(frozen=True)
class ListAgents:
    """List the agents and what each needs."""

    def run(self) -> int:
        """Print a line an agent."""
        from hearts_agents import AGENTS

        rows = [(entry.form, entry.summary, entry.needs) for entry in AGENTS.values()]
        print_table(("agent", "plays", "needs"), rows)
        return 0
