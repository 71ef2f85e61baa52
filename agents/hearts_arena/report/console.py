"""The console on which commands print."""

from __future__ import annotations

from rich.console import Console

_FILE_WIDTH = 160
"""Columns where the output is no terminal: nothing is broken into lines for a pipe."""


def console() -> Console:
    """Standard output as it is; agents' names and rules are not taken for markup."""
    result = Console(markup=False, highlight=False)
    if not result.is_terminal:
        result.width = _FILE_WIDTH
    return result
