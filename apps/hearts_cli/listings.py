"""`hearts agents` and `hearts rules`: what there is to choose from."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import tyro
from rich.table import Table

from hearts_arena.report.console import console

WIDTH = 100
_IN = "      "


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
    """A preset, `field=value` pairs, or both: tell the game in words, and what differs from the standard one."""

    def run(self) -> int:
        """Print a line a preset, or the game and each field that differs, with its source."""
        from hearts_env.game.variants import PRESETS

        if self.name:
            print(_explained(self.name))
            return 0
        _print(("rules", "source", "summary"), [(name, one.source, one.summary) for name, one in PRESETS.items()])
        return 0


def _explained(text: str) -> str:
    """A preset or any rules text in words."""
    from hearts_env.game.explain import cited, differences, paragraph
    from hearts_env.game.rules import Rules
    from hearts_env.game.variants import PRESETS

    rules = Rules.parse(text)
    preset = PRESETS.get(text)
    lines = [f"{text}: {preset.summary} (source: {preset.source})", ""] if preset else []
    lines += [textwrap.fill(paragraph(rules), WIDTH), ""]
    found = differences(rules)
    lines.append("What differs from the standard game:" if found else "Every field has its default: the standard game.")
    for one in found:
        lines.append(f"  {one.field}={one.value}  (standard: {one.standard})")
        lines.append(textwrap.fill(f"{one.meaning} [{one.source}]", WIDTH, initial_indent=_IN, subsequent_indent=_IN))
    if preset and preset.note:
        lines += ["", textwrap.fill(f"Note: {preset.note}", WIDTH)]
    sources = cited(", ".join([preset.source if preset else "", *(one.source for one in found)]))
    return "\n".join([*lines, *(["", "Sources", *(f"  {source}" for source in sources)] if sources else [])])


def _print(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    table = Table(*columns, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*row)
    console().print(table)
