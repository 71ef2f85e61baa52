"""Deals per second against tables, and against threads where they were measured, as pictures for the documents."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro
from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "deals_per_second.json"
IMAGES = ROOT / "docs" / "images"
COLOURS = {"engine": "tab:blue", "view": "tab:green", "encode": "tab:orange"}
STYLES = {"compiled": "-", "numpy": "--"}
DPI = 120
_APART = 1.35
"""Times by which labels must differ in height not to lie on each other."""

Rows = list[dict[str, Any]]


def by_tables(rows: Rows, path: Path) -> bool:
    """Draw deals a second against the number of tables, one thread, four players; were there any?"""
    lines = defaultdict(list)
    for row in rows:
        if row["num_players"] == 4 and row["threads"] == 1 and row["layer"] in COLOURS:
            lines[row["layer"], row["executor"]].append(row)
    scaled = {key: sorted(line, key=lambda row: row["tables"]) for key, line in lines.items() if len(line) > 1}
    if not scaled:
        return False
    figure = Figure(figsize=(7.5, 4.5), layout="constrained")
    axis = figure.subplots()
    lowest_label = float("inf")
    for (layer, executor), line in sorted(scaled.items(), key=lambda item: -item[1][-1]["deals_per_s"]):
        tables, speeds = [row["tables"] for row in line], [row["deals_per_s"] for row in line]
        low, high = ([row[f"{which}_deals_per_s"] for row in line] for which in ("slowest", "fastest"))
        axis.plot(tables, speeds, STYLES[executor], color=COLOURS[layer], marker="o", markersize=4)
        axis.fill_between(tables, low, high, color=COLOURS[layer], alpha=0.15, linewidth=0)
        lowest_label = min(speeds[-1], lowest_label / _APART)
        axis.annotate(
            f"{layer}, {executor}",
            (tables[-1], lowest_label),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            color=COLOURS[layer],
            fontsize=8,
        )
    axis.set(xscale="log", yscale="log", xlabel="tables played at once", ylabel="deals a second of one core")
    axis.set_xticks(ticks := sorted({row["tables"] for line in scaled.values() for row in line}))
    axis.set_xticklabels([f"{tick:,}" for tick in ticks])
    axis.minorticks_off()
    axis.set_xlim(right=ticks[-1] * 8)
    axis.grid(alpha=0.3)
    axis.set_title("Four players, random play; bands from the slowest to the fastest of five runs", fontsize=9)
    figure.savefig(path, dpi=DPI)
    return True


def by_threads(rows: Rows, path: Path) -> bool:
    """Draw deals a second on the clock against the number of threads, compiled, four players; were there any?"""
    threaded = {(row["layer"], row["tables"]) for row in rows if row["threads"] > 1}
    if not threaded:
        return False
    figure = Figure(figsize=(6, 4), layout="constrained")
    axis = figure.subplots()
    sizes = sorted({tables for _, tables in threaded})
    for layer, tables in sorted(threaded):
        line = [row for row in rows if (row["layer"], row["tables"]) == (layer, tables)]
        line = [row for row in line if row["executor"] == "compiled" and row["num_players"] == 4]
        line.sort(key=lambda row: row["threads"])
        axis.plot(
            [row["threads"] for row in line],
            [row["clock_deals_per_s"] for row in line],
            ("-", "--", ":", "-.")[sizes.index(tables) % 4],
            color=COLOURS[layer],
            marker="o",
            label=f"{layer}, {tables:,} tables",
        )
    axis.set(xlabel="threads", ylabel="deals a second on the clock", ylim=(0, None))
    axis.set_xticks(sorted({row["threads"] for row in rows}))
    axis.grid(alpha=0.3)
    axis.legend(fontsize=8)
    figure.savefig(path, dpi=DPI)
    return True


@dataclass(frozen=True)
class Plots:
    """Draw the pictures of the last full run of deals_per_second.py."""

    results: Path = RESULTS
    """The file that it wrote."""
    images: Path = IMAGES
    """Where the pictures go."""

    def run(self) -> int:
        """Draw what there is to draw."""
        rows = json.loads(self.results.read_text(encoding="utf-8"))["results"]
        self.images.mkdir(parents=True, exist_ok=True)
        for draw, name in ((by_tables, "deals_by_tables.png"), (by_threads, "deals_by_threads.png")):
            path = self.images / name
            print(f"{path.name} drawn" if draw(rows, path) else f"{path.name} left out: nothing of it was measured")
        return 0


if __name__ == "__main__":
    sys.exit(tyro.cli(Plots).run())
