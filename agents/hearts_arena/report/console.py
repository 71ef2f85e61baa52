"""The console on which commands print."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table

_FILE_WIDTH = 160
"""Columns where the output is no terminal: nothing is broken into lines for a pipe."""


def console() -> Console:
    """Standard output as it is; agents' names and rules are not taken for markup."""
    result = Console(markup=False, highlight=False)
    if not result.is_terminal:
        result.width = _FILE_WIDTH
    return result


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows of text under these headings."""
    table = Table(*columns, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*row)
    console().print(table)
