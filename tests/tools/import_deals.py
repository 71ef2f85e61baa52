"""Converts other people's four-player deals: `python tests/tools/import_deals.py FILE.jsonl > records.jsonl`.

FILE has one JSON object a line, with seats called N, E, S, W clockwise: `direction` of the pass, `hands_nesw` as
dealt, `passes_nesw`, `tricks` (lists of seat letter and card, in order), `scores_nesw`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from hearts_env import Rules
from hearts_env.text.record import Record

# Only a heart breaks hearts, and a moon gives 26 to each of the others.
RULES = Rules(hearts_broken_by="heart", moon="add")
DEAL_NO = {"left": 0, "right": 1, "across": 2, "hold": 3}
"""The first deal with this pass, by the default cycle."""


def convert(row: dict[str, Any]) -> Record:
    """One deal as a record; the seat letters of the plays are dropped, as the rules imply them."""
    payload = {
        "format": "hearts-record/1",
        "rules": RULES.changes(),
        "deal_no": DEAL_NO[row["direction"]],
        "hands": row["hands_nesw"],
        "passes": row["passes_nesw"],
        "plays": [play[1:] for trick in row["tricks"] for play in trick],
        "points": row["scores_nesw"],
        "scores": row["scores_nesw"],
        **{key: row[key] for key in ("pair", "seating") if key in row},
    }
    return Record.parse(payload)


def records(lines: Iterable[str]) -> Iterator[Record]:
    """The records of a file's lines."""
    return (convert(json.loads(line)) for line in lines)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        for record in records(file):
            print(record.to_json())
