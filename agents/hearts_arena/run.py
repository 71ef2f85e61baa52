"""Running a tournament: play, count, keep what is finished; stop when asked, when decided, or on a failure."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hearts_agents.external.agent import limited
from hearts_arena import result_files, results
from hearts_arena.finished_deals import FinishedDeals
from hearts_arena.interrupt import Interrupt
from hearts_arena.ledger import LEDGER_NAME, Ledger
from hearts_arena.schedule import Schedule
from hearts_arena.standings import Standings
from hearts_arena.stats.agreement import Agreement, agreement
from hearts_arena.stats.ratings import Online, round_seatings
from hearts_arena.stats.sequential import Question, Sequential, UntilError
from hearts_arena.tournament_plan import Tournament, TournamentError
from hearts_arena.tournament_plan import plan_tournament as plan
from hearts_arena.workers import InProcess, WorkerKind, cores, workers_for
from hearts_env.game.rules import Rules

Watcher = Callable[[Standings], None]


@dataclass(frozen=True)
class Options:
    """Options of running a tournament.  None changes the results, but that `until` may end it early."""

    records: bool = False
    """Write records.jsonl."""
    parquet: bool = False
    """Write deals.parquet."""
    resume: bool = False
    """Go on with an unfinished tournament in the folder, if there is one."""
    workers: int = 1
    """Processes; 0 for one a core."""
    engine: WorkerKind = "processes"
    until: str = ""
    """`A>B`: stop when it is decided which of the two has more payoff."""
    alpha: float = 0.05
    """Error rate of `until`."""
    margin: float = 0.0
    """`until` also stops when they are level within this many points of payoff."""
    notes: Mapping[str, Any] = field(default_factory=dict)
    """To be kept in standings.json as well, such as the command."""


@dataclass(frozen=True)
class Outcome:
    """The results of a tournament, and how it ended."""

    content: dict[str, Any] | None
    """The content of standings.json; None if no deal was finished."""
    finished: bool
    failure: ValueError | None
    """The error that ended it early: an agent's, or a full disk."""


@dataclass
class _Run:
    """A tournament being held."""

    standings: Standings
    online: Online | None
    test: tuple[Question, Sequential] | None
    interrupt: Interrupt
    watch: Watcher
    met: set[frozenset[int]] = field(default_factory=set)
    agreed: Agreement | None = None
    failure: ValueError | None = None

    @property
    def over(self) -> bool:
        """True once all deals are played that are needed."""
        decided = self.test is not None and self.test[1].verdict is not None
        return decided or self.standings.deals == self.standings.tournament.deals

    def play(self, schedule: Schedule) -> None:
        """Play until it is over.  Raises KeyboardInterrupt at Ctrl-C, and what the play raises."""
        for stage, (first, end) in enumerate(self.standings.tournament.stages):
            seatings = round_seatings(self.standings, stage, self.met)
            for finished in schedule.in_order(first, end, seatings):
                with self.interrupt:
                    self._count(finished)
                if self.over:
                    return

    def count_finished(self, schedule: Schedule) -> None:
        """Count what was finished when the play was broken off."""
        while not self.over and (finished := schedule.finished(self.standings.deals)):
            self._count(finished)

    def _count(self, finished: FinishedDeals) -> None:
        if self.test:
            question, test = self.test
            labels = self.standings.tournament.labels
            pair = labels.index(question.agent), labels.index(question.other)
            looked = test.feed(self.standings.differences_by_id(finished, *pair))
            finished = finished if looked == len(finished) else finished.head(looked)
        self.standings.add(finished)
        if self.online:
            self.online.add(finished)
        self.watch(self.standings)


def hold(
    planned: Tournament, out: Path | None = None, options: Options = Options(), watch: Watcher = lambda _: None
) -> Outcome:
    """Play a tournament and write its files to `out`.

    watch: is given the standings after each task.  After Ctrl-C, a failure of an agent or of the disk, the results
    are of the deal ids until then, and `resume` goes on from there.  Raises UntilError, LedgerError, TournamentError
    (ValueErrors) and OSError for what can't even begin.
    """
    if out:
        out.mkdir(parents=True, exist_ok=True)
        done = _finished_before(planned, out) if options.resume else None
        if done:
            return Outcome(done, True, None)
    standings = Standings(planned)
    run = _Run(standings, results.new_online(standings), _test(planned, options), Interrupt(), watch)
    with ExitStack() as stack:
        keep = {"keep_deals": out is not None, "records": options.records}
        about = {**planned.to_json(), "records": options.records}
        ledger = stack.enter_context(Ledger(out / LEDGER_NAME, about, resume=options.resume)) if out else None
        stack.enter_context(limited(planned.agents, planned.limits))
        workers = options.workers or cores()
        alone = any(agent.name == "human" for agent in planned.agents)
        others = None
        if not alone and (workers > 1 or options.engine == "ray"):
            others = stack.enter_context(workers_for(planned, workers, options.engine, **keep))
        stack.enter_context(run.interrupt.listening())
        _play(run, Schedule(InProcess(planned, **keep), others, ledger, run.interrupt))
        content = None
        if standings.deals:
            content = results.to_json(standings, agreement=run.agreed, online=run.online, until=run.test)
            content |= options.notes
            if out and ledger:
                _write(out, ledger, run, content, options)
    return Outcome(content, run.over, run.failure)


def tournament(
    agents: Sequence[str],
    deals: int = 1000,
    *,
    rules: Rules = Rules(),
    seed: int = 0,
    workers: int = 1,
    out: Path | None = None,
    **fields: Any,
) -> Standings:
    """The standings of a duplicate tournament: every deal is played in every seating.

    Args:
        agents: their names, as `hearts_agents.make` takes them; two or more.
        deals: deal ids that are played.
        rules: which game is played.
        seed: of the deal ids.
        workers: processes; 0 for one a core.
        out: a folder for the result files, if any are wanted.
        fields: further fields of `hearts_arena.tournament_plan.Tournament`, such as `games` or `format`.

    Raises:
        AgentError, TournamentError: for what cannot be held, both ValueErrors; and what an agent fails with.
    """
    planned = plan(rules, agents, deals, seed=seed, **fields)
    last = Standings(planned)

    def keep(standings: Standings) -> None:
        nonlocal last
        last = standings

    outcome = hold(planned, out, Options(workers=workers), keep)
    if outcome.failure:
        raise outcome.failure
    return last


def _play(run: _Run, schedule: Schedule) -> None:
    """Play, and keep what went wrong for later: first the results so far are written."""
    planned = run.standings.tournament
    try:
        try:
            run.play(schedule)
        except KeyboardInterrupt:
            run.count_finished(schedule)
        if run.over and not any(agent.name == "human" for agent in planned.agents):
            run.agreed = agreement(planned)
    except KeyboardInterrupt:
        pass
    except ValueError as error:
        run.failure = error
    except OSError as error:
        run.failure = TournamentError(
            f"{error.filename or 'disk'}: {error.strerror or error}; {run.standings.deals} deal ids are finished and "
            "kept: make room, and repeat the command with --resume"
        )
    schedule.drop()
    run.interrupt.held = True


def _write(out: Path, ledger: Ledger, run: _Run, content: dict[str, Any], options: Options) -> None:
    """Write the files; the ledger goes when nothing is left to resume."""
    planned, deals = run.standings.tournament, run.standings.deals
    try:
        result_files.write_deals(out, planned, ledger, deals)
        if options.records:
            result_files.write_records(out, ledger, deals)
        if options.parquet:
            result_files.write_parquet(out, planned, ledger, deals)
        result_files.write_standings(out, content)
    except OSError as error:
        run.failure = run.failure or TournamentError(
            f"{error.filename or out}: {error.strerror or error}; all {deals} deal ids are kept in {ledger.path}: "
            "make room, and repeat the command with --resume"
        )
    if run.over and run.failure is None:
        ledger.path.unlink()


def _test(planned: Tournament, options: Options) -> tuple[Question, Sequential] | None:
    if not options.until:
        return None
    if planned.design == "swiss":
        raise UntilError("--until does not go with --format swiss, where the results decide who meets whom")
    question = Question.parse(options.until, planned.labels, options.alpha, options.margin)
    return question, Sequential(question.alpha, question.margin)


def _finished_before(planned: Tournament, out: Path) -> dict[str, Any] | None:
    """The results that lie in the folder, if they are this tournament's and it has nothing left to play."""
    path = out / result_files.STANDINGS_NAME
    if (out / LEDGER_NAME).exists() or not path.exists():
        return None
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    about = planned.to_json()
    same = content.get("deals_asked") == about.pop("deals_asked") and content.get("rules") == about.pop("rules")
    return content if same and about.items() <= content.get("tournament", {}).items() else None
