"""The numbers of the benchmarks as tables, from the result files that they have written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from markdown_table import table

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
PLAYERS = range(2, 8)
EXECUTORS = ("numpy", "compiled")
MISSING = "Run `make bench` for the numbers of your machine."


def kept(name: str) -> dict[str, Any] | None:
    """What the benchmark of that name has written; None where it has not been run."""
    path = RESULTS / f"{name}.json"
    if not path.exists():
        return None
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def bench() -> str:
    """The best of every layer with four players on one core."""
    file = kept("deals_per_second")
    if file is None:
        return MISSING
    best: dict[tuple[str, str], dict[str, Any]] = {}
    for row in file["results"]:
        what = row["layer"], row["executor"]
        if _plain(row) and row["deals_per_s"] >= best.get(what, row)["deals_per_s"]:
            best[what] = row
    rows = [
        (f"`{layer}`", executor, *(f"{row[name]:,.0f}" for name in ("tables", "deals_per_s", "decisions_per_s")))
        for (layer, executor), row in best.items()
    ]
    head = ("layer", "executor", "tables", "deals/s", "decisions/s")
    return table(head, rows) + "\n\n" + _note(file, "deals_per_second")


def players() -> str:
    """Deals a second for each player count."""
    file = kept("deals_per_second")
    if file is None:
        return MISSING
    cells: dict[tuple[str, str, int], dict[int, float]] = {}
    for row in file["results"]:
        if row.get("threads", 1) == 1:
            what = row["layer"], row["executor"], row["tables"]
            cells.setdefault(what, {})[row["num_players"]] = row["deals_per_s"]
    rows = [
        (f"`{layer}`", executor, f"{tables:,}", *(f"{speeds[number]:,.0f}" for number in PLAYERS))
        for (layer, executor, tables), speeds in cells.items()
        if all(number in speeds for number in PLAYERS)
    ]
    head = ("layer", "executor", "tables", *(f"{number} players" for number in PLAYERS))
    return table(head, rows) + "\n\n" + _note(file, "deals_per_second")


def threads() -> str:
    """Deals a second on the clock with one thread and with more."""
    file = kept("deals_per_second")
    rows = [] if file is None else [row for row in file["results"] if row.get("threads", 1) > 1]
    if file is None or not rows:
        return "Not measured here yet."
    alone = {
        (row["layer"], row["executor"], row["tables"], row["num_players"]): row["clock_deals_per_s"]
        for row in file["results"]
        if row.get("threads", 1) == 1
    }
    lines = []
    for row in rows:
        one = alone[row["layer"], row["executor"], row["tables"], row["num_players"]]
        speeds = (f"{row['threads']}", f"{one:,.0f}", f"{row['deals_per_s']:,.0f}", f"{row['deals_per_s'] / one:.2f}")
        lines.append((f"`{row['layer']}`", f"{row['tables']:,}", *speeds))
    return table(("layer", "tables", "threads", "deals/s with one", "deals/s", "times"), lines)


def memory() -> str:
    """Bytes a table, and what many tables take."""
    file = kept("deals_per_second")
    if file is None:
        return MISSING
    rows = [
        (
            str(entry["num_players"]),
            f"{entry['state_bytes']:,}",
            f"{entry['encoding_bytes']:,}",
            f"{entry['state_mib']:,}",
            f"{entry['state_and_encoding_mib']:,}",
        )
        for entry in file["memory"]
    ]
    tables = f"{file['memory'][0]['tables']:,} tables"
    head = ("players", "bytes of state a table", "bytes of an observation", f"MiB, {tables}", "MiB with observations")
    return table(head, rows)


def limit() -> str:
    """Our engine and a C program that plays nothing but the standard game."""
    return _compared("limit")


def peers() -> str:
    """Ours and others, with what each was asked to do."""
    file = kept("peers")
    if file is None:
        return MISSING
    versions = ", ".join(f"{name} {version}" for name, version in file["peer_versions"].items())
    left_out = "".join(f"\n\nLeft out: {sentence}." for sentence in file["left_out"])
    return f"{_compared('peers')} {versions}.{left_out}"


def ratios() -> str:
    """How many times as fast ours is, the layer that does the same kind of work, under each executor."""
    file = kept("peers")
    if file is None:
        return MISSING
    rows = []
    for row in file["results"]:
        times = {tuple(name.split(" ")): times for name, times in row["ours_is_times"].items()}
        if times:
            layer = next(iter(times))[0]
            cells = (f"{times[layer, executor]:,.3g}" if (layer, executor) in times else "-" for executor in EXECUTORS)
            rows.append((row["name"], f"`{layer}`", *cells))
    head = ("beside", "our layer", *(f"{executor}: times as fast" for executor in EXECUTORS))
    return table(head, rows) + "\n\n" + _note(file, "peers")


def overhead() -> str:
    """Microseconds a step of the core and of each environment."""
    file = kept("overhead")
    if file is None:
        return MISSING
    rows = [
        (
            row["name"],
            f"{row['microseconds_a_decision']:,.3g}",
            "; ".join(f"{times:.3g} (`{name}`)" for name, times in row["ours_is_times"].items()) or "-",
        )
        for row in file["results"]
    ]
    return (
        table(("what", "microseconds a step", "a deal takes so many times as long as"), rows)
        + "\n\n"
        + _note(file, "overhead")
    )


def _compared(name: str) -> str:
    file = kept(name)
    if file is None:
        return MISSING
    rows = []
    for row in file["results"]:
        ratios = "; ".join(f"{times:,.3g} (`{other}`)" for other, times in row["ours_is_times"].items())
        unit = ", counted in decisions" if ratios and row["unit"] == "decisions" else ""
        speeds = f"{row['deals_per_s']:,.0f}", f"{row['decisions_per_s']:,.0f}"
        rows.append((row["name"], row["asked"], *speeds, f"{ratios}{unit}" or "-"))
    head = ("who", "asked to", "deals/s", "decisions/s", "ours is so many times as fast")
    return table(head, rows) + "\n\n" + _note(file, name)


def _plain(row: dict[str, Any]) -> bool:
    return row["num_players"] == 4 and row.get("threads", 1) == 1


def _note(file: dict[str, Any], name: str) -> str:
    """What the numbers were measured on, and by which command."""
    machine = file["machine"]
    processor, load = machine.get("cpu", "an unnamed processor"), machine.get("load_average", "unknown")
    shares = sorted(row["core_share"] for row in file["results"] if "core_share" in row)
    share = f", of which each had {shares[len(shares) // 2]:.0%}" if shares else ""
    return (
        f"One core of {processor}{share}; load average {load} before; commit {file['commit'][:12]}: "
        f"`python benchmarks/{name}.py`."
    )
