"""`hearts agents` and `hearts rules`: what there is to choose from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import tyro
from rich.table import Table

from hearts_train.terminal import console


@dataclass(frozen=True)
class ListAgents:
    """List the agents and what each needs."""

    def run(self) -> int:
        """Print a line an agent."""
        from hearts_agents import AGENTS

        _print(("agent", "plays", "needs"), [(entry.form, entry.summary, entry.needs) for entry in AGENTS.values()])
        return 0


@dataclass(frozen=True)
class ListRules:
    """List the named rules, or what one of them changes."""

    name: tyro.conf.Positional[str] = ""
    """A preset, `field=value` pairs, or both: show the fields that differ from the defaults."""

    def run(self) -> int:
        """Print a line a preset, or a line a field that differs."""
        from hearts_env.rules import PRESETS, Rules

        if not self.name:
            rows = [(name, preset.source, preset.summary) for name, preset in PRESETS.items()]
            _print(("rules", "source", "summary"), rows)
            return 0
        rules = Rules.parse(self.name)
        if self.name in PRESETS:
            preset = PRESETS[self.name]
            print(f"{self.name}: {preset.summary} (source: {preset.source})")
        changes = rules.changes()
        for field, value in changes.items():
            print(f"  {field}={json.dumps(value)}")
        if not changes:
            print("  every field has its default")
        return 0


def _print(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    table = Table(*columns, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*row)
    console().print(table)
