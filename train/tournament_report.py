"""The report of a tournament (written below)."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def write_report(out: Path, content: dict[str, Any]) -> None:
    """Write it."""
