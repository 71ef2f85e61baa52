"""The pictures of a tournament's report, each from the content of `standings.json`."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, ScalarFormatter

Content = dict[str, Any]
_DPI = 110
_WIDTH = 7.5
_NAME_CHARS = 28
_GAP = 8
"""Points between which no line is drawn, such as from a moon that subtracts to 0."""
_MOST = 40
"""More agents than these are left out of a picture: the first of the standings are shown."""


def pictures(content: Content) -> dict[str, tuple[str, bytes]]:
    """The plots that have something to show: name to title and PNG."""
    drawn = {}
    for name, (title, draw) in _PICTURES.items():
        figure = draw(content)
        if figure is not None:
            target = io.BytesIO()
            # Without the software's version in it, the same content gives the same bytes.
            figure.savefig(target, dpi=_DPI, format="png", metadata={"Software": None})
            drawn[name] = (title, target.getvalue())
    return drawn


def standings(content: Content) -> Figure | None:
    """Payoff, points, win share and moons with 95 % intervals, the best at the top."""
    lines = content["agents"][:_MOST]
    figure = _figure(1.2 + 0.32 * len(lines), width=10)
    panels = figure.subplots(1, 4, sharey=True)
    measures = ("payoff", "points", "win_share", "moon_rate")
    titles = ("payoff", "points", "win share", "moons per 100 deals")
    for axis, name, title in zip(panels, measures, titles, strict=True):
        scale = 100 if name == "moon_rate" else 1
        values = np.array([line[name] for line in lines]) * scale
        bounds = [np.multiply(line["intervals"][name] or [line[name]] * 2, scale) for line in lines]
        _bars(axis, [line["agent"] for line in lines], values, np.array(bounds))
        axis.set_title(title, fontsize=10)
    panels[0].axvline(0, color="gray", linewidth=0.8)
    return figure


def ratings(content: Content) -> Figure | None:
    """Each kind of rating that was computed, with 95 % intervals."""
    titles = {"adjusted": "adjusted payoff", "plackett_luce": "Plackett-Luce, Elo scale", "openskill": "openskill"}
    given = {kind: lines[:_MOST] for kind, lines in content["ratings"].items() if isinstance(lines, list) and lines}
    if not given:
        return None
    order = [line["agent"] for line in next(iter(given.values()))]
    figure = _figure(1.2 + 0.32 * len(order), width=10)
    panels = np.atleast_1d(figure.subplots(1, len(given), sharey=True))
    for axis, (kind, lines) in zip(panels, given.items(), strict=True):
        by_name = {line["agent"]: line for line in lines}
        shown = [by_name[name] for name in order if name in by_name]
        bounds = np.array([[line["low"], line["high"]] for line in shown])
        _bars(axis, [line["agent"] for line in shown], np.array([line["rating"] for line in shown]), bounds)
        axis.set_title(titles[kind], fontsize=10)
    return figure


def differences(content: Content) -> Figure | None:
    """The matrix of paired differences: how much more payoff the row has than the column."""
    names = [line["agent"] for line in content["agents"]][:_MOST]
    at = {name: index for index, name in enumerate(names)}
    values = np.full((len(names), len(names)), np.nan)
    marks = {}
    for pair in content["differences"]:
        if pair["agent"] in at and pair["other"] in at:
            row, column = at[pair["agent"]], at[pair["other"]]
            values[row, column], values[column, row] = pair["payoff"], -pair["payoff"]
            sure = pair["p_corrected"] is not None and pair["p_corrected"] < 0.05
            marks[row, column] = marks[column, row] = "*" if sure else ""
    if len(names) < 2 or not marks:
        return None
    most = max(float(np.nanmax(np.abs(values))), 1e-9)
    label = "payoff of the row less the column's (*: p < 0.05)"
    return _matrix(names, values, marks, "RdBu", (-most, most), "{:+.2f}", label)


def agreement(content: Content) -> Figure | None:
    """A plot of how often two agents choose the same at the same decision."""
    if "agreement" not in content:
        return None
    found = content["agreement"]
    names = [line["agent"] for line in content["agents"]][:_MOST]
    order = [found["names"].index(name) for name in names]
    values = np.array(found["shares"])[np.ix_(order, order)]
    return _matrix(names, values, {}, "viridis", (0, 1), "{:.2f}", "share of decisions")


def points(content: Content) -> Figure | None:
    """A plot of the distribution of a deal's (or game's) points, a line an agent."""
    lines = content["agents"][:8]
    figure = _figure(3.6)
    axis = figure.subplots()
    for line in lines:
        values, heights = _distribution({int(key): count for key, count in content["points"][line["agent"]].items()})
        axis.plot(values, 100 * heights, marker="o", markersize=3, linewidth=1, label=_short(line["agent"]))
    axis.set_xlabel("points of a game" if content["tournament"]["games"] else "points of a deal")
    axis.set_ylabel("% of seats and deals")
    axis.set_yscale("symlog", linthresh=1)
    axis.yaxis.set_major_formatter(ScalarFormatter())
    axis.set_ylim(bottom=0)
    axis.grid(alpha=0.3)
    axis.legend(fontsize=8)
    return figure


def seats(content: Content) -> Figure | None:
    """Payoff of each agent in each seat, with 95 % intervals."""
    lines = content["agents"][:8]
    figure = _figure(3.6)
    axis = figure.subplots()
    for index, line in enumerate(lines):
        found = content["seats"][line["agent"]]
        numbers = np.arange(len(found["payoff"])) + (index - (len(lines) - 1) / 2) * 0.08
        errors = 1.96 * np.array(found["payoff_se"])
        axis.errorbar(numbers, found["payoff"], errors, fmt="o", markersize=4, capsize=2, label=_short(line["agent"]))
    axis.set_xticks(range(len(content["seats"][lines[0]["agent"]]["payoff"])))
    axis.set_xlabel("seat")
    axis.set_ylabel("payoff")
    axis.axhline(0, color="gray", linewidth=0.8)
    axis.grid(alpha=0.3, axis="y")
    axis.legend(fontsize=8)
    return figure


def curve(content: Content) -> Figure | None:
    """Payoff of a run's checkpoints against how far they had come, where there are two or more."""
    runs: dict[str, list[tuple[int, Any]]] = {}
    for line in content["agents"]:
        parts = re.fullmatch(r"(net:.*?)(\d+)(\D*)", line["agent"])
        if parts:
            runs.setdefault(parts[1] + parts[3], []).append((int(parts[2]), line))
    runs = {name: sorted(found, key=lambda one: one[0]) for name, found in runs.items() if len(found) > 1}
    if not runs:
        return None
    figure = _figure(3.6)
    axis = figure.subplots()
    for name, found in runs.items():
        values = np.array([line["payoff"] for _, line in found])
        bounds = np.array([line["intervals"]["payoff"] or [line["payoff"]] * 2 for _, line in found])
        errors = np.abs(bounds.T - values)
        axis.errorbar([number for number, _ in found], values, errors, marker="o", capsize=2, label=_short(name))
    axis.set_xlabel("number of the checkpoint")
    axis.set_ylabel("payoff in this tournament")
    axis.axhline(0, color="gray", linewidth=0.8)
    axis.grid(alpha=0.3)
    axis.legend(fontsize=8)
    return figure


_PICTURES: dict[str, tuple[str, Callable[[Content], Figure | None]]] = {
    "standings": ("Standings, with 95 % intervals over deal ids", standings),
    "ratings": ("Ratings, with 95 % intervals", ratings),
    "differences": ("Paired differences of payoff; * differs from 0 at 5 % after Holm's correction", differences),
    "points": ("Distribution of points", points),
    "seats": ("Payoff by seat, with 95 % intervals", seats),
    "agreement": ("Agreement: how often two agents choose the same card", agreement),
    "curve": ("Learning curve of the checkpoints, with 95 % intervals", curve),
}


def _distribution(counts: dict[int, int]) -> tuple[Any, Any]:
    """Numbers of points and the share of each, a gap (nan) between any two that lie far apart."""
    seen = np.array(sorted(counts))
    if len(seen) > 60:  # games: too many different scores for a point each
        edges = np.linspace(seen.min(), seen.max() + 1, 41)
        heights, edges = np.histogram(seen, edges, weights=[counts[value] for value in seen.tolist()])
        return (edges[:-1] + edges[1:]) / 2, heights / heights.sum()
    every = np.arange(seen.min(), seen.max() + 1)
    near = np.searchsorted(seen, every)  # the next that was seen: itself, or the end of a gap
    wide = (seen[near] - seen[np.maximum(near - 1, 0)] > _GAP) & (seen[near] != every)
    heights = np.array([counts.get(value, 0) for value in every.tolist()]) / sum(counts.values())
    return every.astype(float), np.where(wide, np.nan, heights)


def _figure(height: float, width: float = _WIDTH) -> Figure:
    return Figure(figsize=(width, height), layout="constrained")


def _bars(axis: Axes, names: list[str], values: Any, bounds: Any) -> None:
    """A point with an interval for each name, the first at the top."""
    places = np.arange(len(names))[::-1]
    errors = np.abs(bounds.T - values)
    axis.errorbar(values, places, xerr=errors, fmt="o", markersize=4, capsize=2)
    axis.set_yticks(places, [_short(name) for name in names])
    axis.set_ylim(-0.6, len(names) - 0.4)
    axis.xaxis.set_major_locator(MaxNLocator(6))
    axis.grid(alpha=0.3, axis="x")
    axis.tick_params(labelsize=8)


def _matrix(
    names: list[str],
    values: Any,
    marks: dict[tuple[int, int], str],
    colours: str,
    limits: tuple[float, float],
    form: str,
    label: str,
) -> Figure:
    size = len(names)
    figure = _figure(1.6 + 0.45 * size, width=max(_WIDTH, 2.5 + 0.6 * size))
    axis = figure.subplots()
    image = axis.imshow(values, cmap=colours, vmin=limits[0], vmax=limits[1], aspect="auto")
    figure.colorbar(image, label=label)
    short = [_short(name) for name in names]
    axis.set_xticks(range(size), short, rotation=30, ha="right", fontsize=8)
    axis.set_yticks(range(size), short, fontsize=8)
    if size > 16:
        return figure
    middle, half = sum(limits) / 2, (limits[1] - limits[0]) / 2
    for row in range(size):
        for column in range(size):
            value = values[row, column]
            if np.isfinite(value):
                far = abs(value - middle) / half
                dark = far > 0.6 if colours == "RdBu" else value < middle
                text = form.format(round(value, 2) + 0.0) + marks.get((row, column), "")
                axis.text(column, row, text, ha="center", va="center", fontsize=8, color="white" if dark else "black")
    return figure


def _short(name: str) -> str:
    return name if len(name) <= _NAME_CHARS else "…" + name[1 - _NAME_CHARS :]
