"""`hearts tournament`: agents meet on the same deals, and what is finished is never lost."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Literal

import tyro
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from hearts_train.terminal import console

if TYPE_CHECKING:
    from hearts_agents.standings import Standings
    from hearts_agents.tournament import Tournament

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""
_CONFIDENCE = 1.96
"""Standard errors on either side of the mean in a 95 % interval."""


@dataclass(frozen=True)
class HoldTournament:
    """Let agents play the same deals in every seating, and rank them.

    As many agents as seats: all sit at one table, which is turned through all rotations.  Otherwise every pair of
    agents meets, each in half of the seats, in every way to halve them (six at four seats).  Results of one deal
    id are averaged before anything else: the intervals are over deal ids.  Ctrl-C ends it early and keeps what
    is finished.
    """

    agents: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="AGENT AGENT ...")]
    """Two agents or more, as `hearts agents` lists them; one may meet itself."""
    deals: int = 1000
    """Deal ids; each is played in all seatings."""
    seed: int = 0
    """Picks the deal ids, and the agents' random numbers; the ids of a shorter tournament are the first of these."""
    rules: str = "standard"
    """A preset's name, `field=value` pairs, or both: omnibus,target=50."""
    games: bool = False
    """Play a whole game from each deal id; points are then final scores."""
    out: Path | None = None
    """Folder for standings.json and deals.npz (every deal)."""
    records: bool = False
    """Write every deal as a record too: records.jsonl, in the folder of --out."""
    time_limit: float = 60.0
    """Seconds that an agent in another process (exec:COMMAND) may be silent while it owes answers."""
    on_failure: Literal["error", "random"] = "error"
    """What follows when such an agent fails: the end of the tournament, or a random legal action that is counted."""

    def run(self) -> int:
        """Hold it and print the standings."""
        from hearts_agents.exec_agent import Limits, limited
        from hearts_agents.standings import Standings
        from hearts_agents.tournament import tournament
        from hearts_env.rules import Rules

        if self.records and self.out is None:
            raise ValueError("--records needs a folder to write to: --out DIR")
        planned = tournament(Rules.parse(self.rules), self.agents, self.deals, seed=self.seed, games=self.games)
        standings = Standings(planned)
        try:
            with limited(planned.agents, Limits(self.time_limit, self.on_failure)):
                finished = hold(standings, self.out, records=self.records)
        finally:
            if standings.deals:
                print_standings(standings)
        if not finished:
            print(f"hearts: stopped after {standings.deals} of {self.deals} deal ids", file=sys.stderr)
        return 0 if finished else INTERRUPTED


def hold(standings: Standings, out: Path | None = None, *, records: bool = False) -> bool:
    """Play a tournament with a progress bar, add it to its `standings`, write its files to `out`: was it finished?

    After Ctrl-C it was not.  The standings and files are of the deal ids until then, and so they are when an agent
    fails.  Raises the agent's error (a ValueError), or OSError.
    """
    from hearts_agents.tournament_files import TournamentFiles

    planned = standings.tournament
    failure: ValueError | None = None
    with ExitStack() as stack:
        files = stack.enter_context(TournamentFiles(out, planned, records=records)) if out else None
        advance = stack.enter_context(_progress(planned))
        interrupt = stack.enter_context(_Interrupt())
        try:
            for chunk in planned.chunks(keep_deals=files is not None):
                interrupt.held = True
                if files:
                    files.add(chunk)
                standings.add(chunk)
                advance(standings.deals)
                if interrupt.asked:
                    break
                interrupt.held = False
        except KeyboardInterrupt:
            pass
        except ValueError as error:
            failure = error
        interrupt.held = True
        if files and standings.deals:
            files.save(standings)
    if failure:
        raise failure
    return standings.deals == planned.deals


class _Interrupt:
    """Within it, Ctrl-C ends the play of a chunk at once, but waits while one is written down, or after the first."""

    def __init__(self) -> None:
        self.held = False
        self.asked = False

    def __enter__(self) -> _Interrupt:
        self._before = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *error: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        if not self.held:
            self.held = True
            raise KeyboardInterrupt


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


@contextmanager
def _progress(planned: Tournament) -> Iterator[Callable[[int], None]]:
    """A progress bar on standard error, if that is a terminal; gives what is to be told the deal ids done."""
    screen = Console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), _Speed(planned), TimeRemainingColumn())
    with Progress(*columns, console=screen, disable=not screen.is_terminal, transient=True) as progress:
        task = progress.add_task("", total=planned.deals)
        yield lambda done: progress.update(task, completed=done)


def print_standings(standings: Standings) -> None:
    """Print the table for people, and how any two agents compare where there are more than two."""
    planned = standings.tournament
    what = "games" if planned.games else "deals"
    tables = standings.deals * len(planned.seatings)
    out = console()
    out.print(
        f"{standings.deals} deal ids in {len(planned.seatings)} seatings, {tables} {what}, {planned.rules.show()}",
        soft_wrap=True,
    )
    table = Table("agent", box=None, pad_edge=False)
    for column in ("payoff", "95 % interval", "points", "win share", "moons", "ms/decision"):
        table.add_column(column, justify="right")
    for line in standings.standings:
        table.add_row(
            line.agent,
            f"{line.payoff:+.3f}",
            interval(line.payoff, line.payoff_se),
            f"{line.points:.3f}",
            f"{line.win_share:.3f}",
            str(line.moons),
            f"{1000 * line.seconds_per_decision:.3g}",
        )
    out.print(table)
    for line in standings.standings:
        if line.failures:
            out.print(f"{line.agent} failed {line.failures} times: a random action was played instead", soft_wrap=True)
    if len(planned.agents) > 2:
        for pair in standings.differences:
            bounds = interval(pair.payoff, pair.payoff_se)
            out.print(f"{pair.agent} over {pair.other}: {pair.payoff:+.3f} payoff {bounds}", soft_wrap=True)


def interval(mean: float, error: float | None) -> str:
    """The 95 % interval around a mean, as text; `-` where one deal tells no error."""
    if error is None:
        return "-"
    return f"[{mean - _CONFIDENCE * error:+.3f}, {mean + _CONFIDENCE * error:+.3f}]"
