"""A tournament on the terminal: progress and standings while it lasts, results at the end."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from hearts_agents.learned import unlearned
from hearts_arena.report.console import console
from hearts_env.game.rules import Rules

if TYPE_CHECKING:
    from hearts_arena.standings import Standings
    from hearts_arena.tournament_plan import Tournament

_REDRAW_S = 0.5
_MOST_PAIRS = 15
"""More pairs than these are left to the report."""


class Screen:
    """A progress bar over a live table, on standard error if that is a terminal.  Use it in a `with`."""

    def __init__(self, planned: Tournament) -> None:
        self._console = Console(stderr=True, markup=False, highlight=False)
        columns = (BarColumn(), MofNCompleteColumn(), _Speed(planned), TimeRemainingColumn())
        self._progress = Progress(*columns, console=self._console)
        self._task = self._progress.add_task("", total=planned.deals)
        self._live = Live(self._progress, console=self._console, transient=True, auto_refresh=True)
        self._drawn = 0.0

    def __enter__(self) -> Screen:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._console.is_terminal:
            self._live.stop()

    def update(self, standings: Standings) -> None:
        """Show how it stands."""
        if not self._console.is_terminal:
            return
        self._progress.update(self._task, completed=standings.deals)
        if time.monotonic() - self._drawn > _REDRAW_S:
            self._drawn = time.monotonic()
            self._live.update(Group(self._progress, _live_table(standings)))


class _Speed(ProgressColumn):
    """Deals (or games) a second, all seatings counted."""

    def __init__(self, planned: Tournament) -> None:
        super().__init__()
        self._seatings = len(planned.seatings)
        self._unit = "games" if planned.games else "deals"

    def render(self, task: Task) -> Text:
        """The speed, once it is known."""
        speed = task.speed
        return Text("" if speed is None else f"{speed * self._seatings:,.0f} {self._unit}/s")


def _live_table(standings: Standings) -> Table:
    table = _table("agent", "payoff", "± 95 %", "points", "win share", "moons")
    for line in standings.standings:
        error = "" if line.payoff.se is None else f"{1.96 * line.payoff.se:.3f}"
        numbers = (f"{line.payoff.mean:+.3f}", error, f"{line.points.mean:.3f}", f"{line.win_share.mean:.3f}")
        table.add_row(line.agent, *numbers, str(line.moons))
    return table


def print_results(content: dict[str, Any]) -> None:
    """Print the table for people, how any two agents compare, and what must not be overlooked."""
    out = console()
    out.print(heading(content), soft_wrap=True)
    table = _table("agent", "payoff", "95 % interval", "points", "win share", "moons", "ms/decision")
    for line in content["agents"]:
        table.add_row(
            line["agent"],
            f"{line['payoff']:+.3f}",
            bounds(line["intervals"]["payoff"]),
            f"{line['points']:.3f}",
            f"{line['win_share']:.3f}",
            str(line["moons"]),
            f"{1000 * line['seconds_per_decision']:.3g}",
        )
    out.print(table)
    pairs = content["differences"]
    if len(content["agents"]) > 2:
        _print_ratings(out, content)
        for pair in pairs[:_MOST_PAIRS]:
            out.print(pair_sentence(pair), soft_wrap=True)
        if len(pairs) > _MOST_PAIRS:
            out.print(f"({len(pairs) - _MOST_PAIRS} more pairs are in the report)", soft_wrap=True)
    for sentence in remarks(content):
        out.print(sentence, soft_wrap=True)


def heading(content: dict[str, Any]) -> str:
    """A line that says which tournament was played."""
    from hearts_env.game.rules import Rules

    about = content["tournament"]
    what = "games" if about["games"] else "deals"
    seatings = content["seatings"]
    rules = Rules(**content["rules"]).show()
    if about["format"] == "swiss":
        return f"{content['deals']} deal ids in {about['rounds']} rounds, swiss, {rules}"
    return f"{content['deals']} deal ids in {seatings} seatings, {content['deals'] * seatings} {what}, {rules}"


def pair_sentence(pair: dict[str, Any]) -> str:
    """A line that compares two agents."""
    p = pair["p_corrected"]
    tail = "" if p is None else f", p {p:.2g}" if p >= 1e-4 else ", p < 0.0001"
    return f"{pair['agent']} over {pair['other']}: {pair['payoff']:+.3f} payoff {bounds(pair['interval'])}{tail}"


def remarks(content: dict[str, Any]) -> list[str]:
    """Sentences on what else was found: decisions, twins, failures, what the control saved, what could be found."""
    found = []
    until = content.get("until")
    if until:
        margin = f" within {until['margin']:g}" if until["margin"] else ""
        says = {
            "more": f"decided after {content['deals']} deal ids: {until['agent']} is better than {until['other']}",
            "less": f"decided after {content['deals']} deal ids: {until['other']} is better than {until['agent']}",
            "level": f"decided after {content['deals']} deal ids: they are level{margin}",
            None: f"not decided after {content['deals']} deal ids",
        }
        interval = f"{until['mean']:+.3f} ± {until['radius']:.3f}"
        found.append(f"{says[until['verdict']]} ({interval}, valid at any time, error rate {until['alpha']:g})")
    found += [unlearned(label, Rules(**content["rules"])) for label in content.get("unlearned", ())]
    for twins in content["identical"]:
        found.append(f"{' and '.join(twins['agents'])} seem to be the same agent: {'; '.join(twins['because'])}")
    for line in content["agents"]:
        if line["failures"]:
            found.append(f"{line['agent']} failed {line['failures']} times: a random action was played instead")
    for pair in content["differences"]:
        if pair.get("controlled"):
            better = pair["controlled"]
            found.append(
                f"with the control variate, {pair['agent']} over {pair['other']}: {better['payoff']:+.3f} ± "
                f"{better['payoff_se']:.3f} (one standard error; plain {pair['payoff_se']:.3f}): "
                f"as good as {better['factor']:.2f} times the deals"
            )
    widest = max(content["differences"], key=lambda pair: pair["payoff_se"] or 0.0, default=None)
    if widest and widest.get("detectable"):
        found.append(
            f"a tournament of this size finds a difference of {widest['detectable']['0.8']:.2f} payoff between "
            f"{widest['agent']} and {widest['other']} with 80 % probability"
        )
    return found


def print_power(content: dict[str, Any], difference: float) -> None:
    """Print how many deal ids each pair needs, from a pilot."""
    from hearts_arena.stats.estimates import deals_needed

    out = console()
    out.print(f"pilot of {content['deals']} other deal ids; to show a difference of {difference:g} payoff (p < 0.05):")
    table = _table("pair", "sd of a deal id", "deal ids for 80 %", "for 90 %")
    for pair in content["differences"]:
        if pair["sd"] is not None:
            counts = (f"{deals_needed(difference, pair['sd'], power):,}" for power in (0.8, 0.9))
            table.add_row(f"{pair['agent']}, {pair['other']}", f"{pair['sd']:.2f}", *counts)
    out.print(table)


def bounds(interval: list[float] | None) -> str:
    """The 95 % interval as text; `-` where one deal tells no error."""
    return "-" if interval is None else f"[{interval[0]:+.3f}, {interval[1]:+.3f}]"


def _print_ratings(out: Console, content: dict[str, Any]) -> None:
    kinds = {"adjusted": "adjusted payoff", "plackett_luce": "Plackett-Luce (Elo scale)", "openskill": "openskill"}
    given = {kind: name for kind, name in kinds.items() if isinstance(content["ratings"][kind], list)}
    table = _table("agent", *given.values())
    cells: dict[str, dict[str, str]] = {}
    for kind in given:
        for line in content["ratings"][kind]:
            digits = 0 if kind == "plackett_luce" else 2
            text = f"{line['rating']:+.{digits}f} [{line['low']:+.{digits}f}, {line['high']:+.{digits}f}]"
            cells.setdefault(line["agent"], {})[kind] = text
    for agent, texts in cells.items():
        table.add_row(agent, *(texts.get(kind, "-") for kind in given))
    out.print(table)
    for sentence in sorted({says for says in content["ratings"].values() if isinstance(says, str)}):
        out.print(sentence, soft_wrap=True)


def _table(first: str, *columns: str) -> Table:
    table = Table(first, box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, justify="right")
    return table
