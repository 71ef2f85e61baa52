"""`hearts rules`: the named rules, and any rules in words."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

import tyro

from hearts_arena.report.console import print_table

WIDTH = 100
_IN = "      "


@dataclass(frozen=True)
class ListRules:
    """List the named rules, or explain a game: in words, and by its differences from the standard one."""

    name: tyro.conf.Positional[str] = ""
    """A preset's name, `field=value` pairs, or both: the game to explain."""

    def run(self) -> int:
        """Print a line a preset, or the game and each field that differs, with its source."""
        from hearts_env.game.variants import PRESETS

        if self.name:
            print(_explained(self.name))
            return 0
        rows = [(name, one.source, one.summary) for name, one in PRESETS.items()]
        print_table(("rules", "source", "summary"), rows)
        return 0


def _explained(text: str) -> str:
    """The game of a preset or of any rules text, in words."""
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
