"""`hearts tournament`: a duplicate tournament that can be interrupted and resumed."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from hearts_arena.provenance import commit, versions
from hearts_arena.report.screen import Screen, print_power, print_results
from hearts_cli.arguments import RulesText
from hearts_cli.exit_codes import INTERRUPTED

if TYPE_CHECKING:
    from hearts_arena.run import Outcome
    from hearts_arena.tournament_plan import Tournament

PILOT_DEALS = 200
"""Deal ids that `--power` measures the spread on."""
_NO_RESULTS = ("out", "resume", "workers", "engine", "records", "parquet")
"""Settings that have no part in the results: left out of the command that repeats them."""


@dataclass(frozen=True)
class PlayTournament:
    """Play a duplicate tournament: agents play the same deals in every seating, and are ranked.

    As many agents as seats: all sit at one table, which is turned through all rotations.  Otherwise every pair of
    agents meets, each in half of the seats, in every way to halve them (six at four seats).  Results of one deal
    id are averaged before anything else: the intervals are over deal ids.  Ctrl-C ends it early and keeps what
    is finished; --resume goes on.  docs/tournaments.md has the method.
    """

    agents: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="AGENT AGENT ...")]
    """Two agents or more, as `hearts agents` lists them; one may meet itself.  A path stands for the network there."""
    deals: int = 1000
    """Deal ids; each is played in all seatings."""
    seed: int = 0
    """Random seed of the deal ids and of the agents; a shorter tournament plays the first of the same ids."""
    first_id: int | None = None
    """Play the deal ids from this one on, instead of random ones."""
    rules: RulesText = "standard"
    games: bool = False
    """Play a whole game from each deal id; points are then final scores."""
    format: Literal["auto", "roundrobin", "table", "ladder", "swiss"] = "auto"
    """roundrobin: every pair.  table: every table of different agents.  ladder: each agent alone against --field.
    swiss: in rounds, neighbours in the standings meet.  auto: a table for as many agents as seats, else every pair."""
    splits: bool = False
    """Let pairs share the seats in every way, not only by halves: 1 v 3, 2 v 2 and 3 v 1."""
    orders: bool = False
    """At tables of different agents, seat them in every order too, not only in rotations of one."""
    field: tuple[str, ...] = ()
    """The agents in the other seats of a ladder: one for all of them, or one for each."""
    rounds: int = 0
    """Rounds of a swiss; 0 for 8."""
    until: str = ""
    """A>B: stop early once A and B differ significantly (anytime-valid test); `--deals` becomes the maximum."""
    alpha: float = 0.05
    """Error rate of --until: the chance that it finds a difference between equals."""
    margin: float = 0.0
    """With --until, stop also once they are equivalent: level within so many points of payoff."""
    power: float | None = None
    """Power analysis: play only a pilot, and print how many deal ids show a difference of so much payoff."""
    control: str = ""
    """Control variate: reduce the variance of differences by this agent's results on the same deals.  It is worth it
    if the others are much slower."""
    out: Path | None = None
    """Folder for standings.json, deals.npz (every deal), report.html and report.md."""
    records: bool = False
    """Write every deal as a record too: records.jsonl, in the folder of --out."""
    parquet: bool = False
    """Write every deal as Parquet too: deals.parquet, in the folder of --out."""
    resume: bool = False
    """Continue an unfinished tournament in the folder of --out; begin it if there is none."""
    workers: int = 0
    """Worker processes; 0 for one a core.  The results do not depend on it."""
    engine: Literal["processes", "ray"] = "processes"
    """Run the workers as processes of this machine, or on a Ray cluster."""
    time_limit: float = 60.0
    """Time limit of an agent in another process (exec:COMMAND): seconds of silence while it owes answers."""
    on_failure: Literal["error", "random"] = "error"
    """When such an agent fails, end the tournament, or play a random legal action and count it."""

    def run(self) -> int:
        """Play the tournament and print the standings."""
        self._check()
        planned = self.planned()
        if self.power is not None:
            return self._pilot(planned)
        outcome = self._held(planned)
        if outcome.content:
            print_results(outcome.content)
            if self.out:
                _write_report(self.out, outcome.content)
        if outcome.failure:
            raise outcome.failure
        if not outcome.finished:
            done = outcome.content["deals"] if outcome.content else 0
            print(f"hearts: stopped after {done} of {self.deals} deal ids", file=sys.stderr)
        return 0 if outcome.finished else INTERRUPTED

    def planned(self) -> Tournament:
        """The tournament of these arguments.  Raises ValueErrors."""
        from hearts_agents.external.agent import Limits
        from hearts_arena.tournament_plan import plan_tournament
        from hearts_env.game.rules import Rules

        plain = ("seed", "first_id", "games", "format", "splits", "orders", "field", "rounds", "control")
        options = {name: getattr(self, name) for name in plain}
        limits = Limits(self.time_limit, self.on_failure)
        return plan_tournament(Rules.parse(self.rules), self.agents, self.deals, limits=limits, **options)

    def command(self) -> str:
        """The command that repeats the results."""
        words = ["hearts", "tournament", *self.agents]
        for one in fields(self)[1:]:
            value = getattr(self, one.name)
            if value != one.default and one.name not in _NO_RESULTS:
                words.append("--" + one.name.replace("_", "-"))
                words += [] if value is True else [str(word) for word in (value if one.name == "field" else [value])]
        return shlex.join(words)

    def _check(self) -> None:
        if self.out is None:
            for name in ("records", "parquet", "resume"):
                if getattr(self, name):
                    raise ValueError(f"--{name} needs a folder: --out DIR")
        if self.workers < 0:
            raise ValueError(f"--workers {self.workers}: must be 0 (one a core) or more")
        if self.power is not None and not self.power > 0:
            raise ValueError(f"--power {self.power}: must be a difference of payoff above 0")

    def _held(self, planned: Tournament) -> Outcome:
        from hearts_arena.run import Options, hold

        notes = {"command": self.command(), "commit": commit(), "versions": versions()}
        same = ("records", "parquet", "resume", "workers", "engine", "until", "alpha", "margin")
        options = Options(notes=notes, **{name: getattr(self, name) for name in same})
        with Screen(planned) as screen:
            return hold(planned, self.out, options, screen.update)

    def _pilot(self, planned: Tournament) -> int:
        """Play a few other deal ids, and print how many are needed."""
        from hearts_arena.run import Options, hold
        from hearts_arena.tournament_plan import pilot_seed

        assert self.power is not None
        pilot = replace(planned, deals=PILOT_DEALS, seed=pilot_seed(self.seed), first_id=None, rounds=0)
        with Screen(pilot) as screen:
            outcome = hold(pilot, None, Options(workers=self.workers, engine=self.engine), screen.update)
        if outcome.failure:
            raise outcome.failure
        if not outcome.content:
            return INTERRUPTED
        print_power(outcome.content, self.power)
        return 0 if outcome.finished else INTERRUPTED


def _write_report(out: Path, content: dict[str, Any]) -> None:
    from hearts_arena.report.html import write_report

    write_report(out, content)
