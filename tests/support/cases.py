"""The worked cases of the rules, which the oracle and the engine both answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CASES = json.loads((Path(__file__).parents[1] / "data" / "cases.json").read_text(encoding="utf-8"))


def tidy(kind: str, expect: Any) -> Any:
    """Cards of an expectation in the order of their names, whatever order the case lists."""
    if kind == "deck":
        return {**expect, "removed": sorted(expect["removed"])}
    if kind == "pass":
        return {**expect, "hands": [sorted(held) for held in expect["hands"]]}
    return sorted(expect) if kind == "legal" else expect
