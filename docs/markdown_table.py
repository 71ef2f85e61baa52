"""Markdown from data."""

from __future__ import annotations


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A Markdown table."""
    escaped = [tuple(cell.replace("|", "\\|") for cell in row) for row in rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, tuple("---" for _ in head), *escaped))
