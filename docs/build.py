"""Rewrite the generated parts of the documents, or with --check say which of them are out of date.

A generated part stands between `<!-- generated: NAME -->` and `<!-- end of NAME -->`.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hearts_agents import AGENTS
from hearts_env.encode import layout
from hearts_env.lookup import lookup
from hearts_env.rules import PRESETS, Rules

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "deals_per_second.json"


def field_docs() -> dict[str, str]:
    """The text under each field of Rules."""
    body = ast.parse(inspect.getsource(Rules)).body[0]
    assert isinstance(body, ast.ClassDef)
    docs = {}
    for field, text in zip(body.body, body.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
            assert isinstance(field.target, ast.Name)
            docs[field.target.id] = " ".join(str(text.value.value).split())
    return docs


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A Markdown table."""
    escaped = [tuple(cell.replace("|", "\\|") for cell in row) for row in rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, tuple("---" for _ in head), *escaped))


def fields() -> str:
    """The fields of Rules with their defaults for two and for four players."""
    two, four = Rules(num_players=2), Rules()
    rows = []
    for name, text in field_docs().items():
        default = repr(getattr(four, name))
        if name != "num_players" and getattr(two, name) != getattr(four, name):
            default += f"; two players {getattr(two, name)!r}"
        rows.append((f"`{name}`", f"`{default}`", text))
    return table(("field", "default", "what it says"), rows)


def presets() -> str:
    """The named variants."""
    rows = [
        (f"`{name}`", preset.summary, preset.source, f"`{Rules.preset(name).show()}`")
        for name, preset in PRESETS.items()
    ]
    return table(("preset", "the game", "source", "as text"), rows)


def encoding() -> str:
    """The blocks of the encoding of four seats, and where they lie when it is padded."""
    info = lookup(Rules())
    plain, padded = layout(info, order=True), layout(info, pad=True, order=True)
    rows = [
        (
            f"`{block.name}`",
            str(block.offset),
            f"{block.size}" + (f" ({plain.seats} x {block.per_seat})" if block.per_seat else ""),
            str(wide.offset),
            str(wide.size),
            block.meaning,
        )
        for block, wide in zip(plain, padded, strict=True)
    ]
    return table(("block", "offset", "size", "offset padded", "size padded", "meaning"), rows)


def sizes() -> str:
    """The size of the encoding for each player count, the optional order block left out."""
    rows = [(str(n), str(layout(lookup(Rules(num_players=n))).size)) for n in range(2, 8)]
    rows.append(("any, padded", str(layout(lookup(Rules()), pad=True).size)))
    return table(("players", "bytes"), rows)


def agents() -> str:
    """The agents by name."""
    rows = [(f"`{entry.form}`", entry.summary, entry.needs) for entry in AGENTS.values()]
    return table(("name", "what it is", "needs"), rows)


def bench() -> str:
    """The numbers of the last full benchmark that was kept."""
    if not RESULTS.exists():
        return "Run `make bench` for the numbers of your machine."
    kept = json.loads(RESULTS.read_text(encoding="utf-8"))
    best: dict[tuple[str, str], dict[str, Any]] = {}
    for row in kept["results"]:
        what = row["layer"], row["executor"]
        if row["num_players"] == 4 and row["deals_per_s"] >= best.get(what, row)["deals_per_s"]:
            best[what] = row
    rows = [
        (
            f"`{layer}`",
            executor,
            *(f"{row[name]:,.0f}" for name in ("tables", "deals_per_s", "decisions_per_s")),
        )
        for (layer, executor), row in best.items()
    ]
    machine = kept["machine"]
    note = (
        f"One core of {machine.get('cpu', 'an unnamed processor')}, load {machine.get('load', 'unknown')}, "
        f"commit {kept['commit'][:12]}: `hearts bench --json {RESULTS.relative_to(ROOT)}`."
    )
    return table(("layer", "executor", "tables", "deals/s", "decisions/s"), rows) + "\n\n" + note


PARTS: dict[str, Callable[[], str]] = {
    "fields": fields,
    "presets": presets,
    "encoding": encoding,
    "sizes": sizes,
    "agents": agents,
    "bench": bench,
}
PART = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end of \2 -->)", re.DOTALL)


def rewritten(text: str) -> str:
    """The text with every generated part made anew."""
    return PART.sub(lambda part: f"{part[1]}{PARTS[part[2]]()}\n{part[3]}", text)


def main() -> int:
    """Rewrite, or check; 1 if something was out of date."""
    check = "--check" in sys.argv[1:]
    stale = 0
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        text = path.read_text(encoding="utf-8")
        new = rewritten(text)
        if new != text:
            stale += 1
            print(f"{path.relative_to(ROOT)} {'is out of date: run make docs' if check else 'rewritten'}")
            if not check:
                path.write_text(new, encoding="utf-8")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
