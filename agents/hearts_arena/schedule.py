"""Handing out the deal ids of a tournament, and putting what comes back in order."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait

from hearts_arena.finished_deals import FinishedDeals
from hearts_arena.formats import Seatings
from hearts_arena.interrupt import Interrupt
from hearts_arena.ledger import Ledger
from hearts_arena.tournament_plan import MAX_TABLES, TournamentError
from hearts_arena.workers import Task, Workers

FIRST_TABLES = 16
"""Tables of the first task, about: a few, since machine code is loaded and agents warm up in it."""
TASK_SECONDS = 1.0
"""Tasks grow while they take less, or while larger ones are faster: an interruption may lose one a worker."""
ALONE_SECONDS = 4.0
"""Other processes are started when there is more to do than this."""
LOSSES = 5
"""So many times in a row workers may be gone before anything is finished."""
_FASTER = 1.3
"""Ratio of deal ids a second that counts as faster, when a task has twice the size."""
_AHEAD = 4
"""Tasks for each worker that may be finished before an earlier one is."""


class Sizes:
    """The number of deal ids of the next task.  The results do not depend on it."""

    def __init__(self) -> None:
        self.tables = FIRST_TABLES
        self.rate = 0.0  # tables a second in the tasks of the present size
        self.settled = False  # is that about what it will stay?
        self._warm = False

    def ids(self, seatings: int) -> int:
        """The number of deal ids for a task with so many seatings of each."""
        return max(1, self.tables // seatings)

    def saw(self, finished: FinishedDeals) -> None:
        """Learn from finished deals.  Changes this object."""
        tables = len(finished) * len(finished.seatings)
        if tables * 2 <= self.tables:
            return
        if not self._warm:
            self._warm = True
            if finished.wall < ALONE_SECONDS:
                return
        last, self.rate = self.rate, tables / max(finished.wall, 1e-9)
        grows = (finished.wall < TASK_SECONDS / 2 or self.rate > _FASTER * last) and 2 * self.tables <= MAX_TABLES
        self.settled = not grows or finished.wall > TASK_SECONDS / 4
        self.tables *= 2 if grows else 1


class Schedule:
    """Has workers play spans of deal ids, keeps these in a ledger if there is one, and gives them out in order."""

    def __init__(
        self,
        alone: Workers,
        others: Callable[[], Workers] | None = None,
        ledger: Ledger | None = None,
        interrupt: Interrupt | None = None,
    ) -> None:
        """alone: plays in this process.  others: starts the workers that take over when there is much to do.

        interrupt: waits while finished deals is kept.
        """
        self._workers = alone
        self._others = others
        self._ledger = ledger
        self._interrupt = interrupt or Interrupt()
        self._sizes = Sizes()
        self._waiting: dict[Future[bytes], Task] = {}
        self._ready: dict[int, FinishedDeals] = {}
        self._losses = 0

    def in_order(self, first: int, end: int, seatings: Seatings) -> Iterator[FinishedDeals]:
        """Play deal ids number `first` to `end - 1`; each task's come as soon as all before them are finished.

        What the ledger holds is not played again.  Raises what the play raises, LedgerError, OSError, and
        TournamentError when worker after worker is lost.
        """
        gaps = self._gaps(first, end)
        while first < end:
            finished = self.finished(first)
            if finished is not None:
                yield finished
                first = finished.end
                continue
            self._grow(gaps, len(seatings))
            self._hand_out(gaps, seatings)
            self._collect()

    def drop(self) -> None:
        """Forget what is still being played."""
        for future in self._waiting:
            future.cancel()
        self._waiting.clear()

    def finished(self, first: int) -> FinishedDeals | None:
        """The finished deals that begin with this number; None if they are not finished."""
        if self._ledger:
            return self._ledger.finished(first) if first in self._ledger.spans else None
        return self._ready.pop(first, None)

    def _gaps(self, first: int, end: int) -> list[tuple[int, int]]:
        """The spans that the ledger lacks, the last first."""
        gaps = []
        for begin, until in sorted(self._ledger.spans.items()) if self._ledger else []:
            if first <= begin < end:
                gaps.append((first, begin))
                first = until
        gaps.append((first, end))
        return [(begin, until) for begin, until in reversed(gaps) if begin < until]

    def _grow(self, gaps: list[tuple[int, int]], seatings: int) -> None:
        """Start the other workers if it saves time."""
        left = sum(until - begin for begin, until in gaps) * seatings
        if self._others and self._sizes.settled and left / self._sizes.rate > ALONE_SECONDS:
            self._workers, self._others = self._others(), None

    def _hand_out(self, gaps: list[tuple[int, int]], seatings: Seatings) -> None:
        ahead = len(self._ready) if self._ledger is None else 0
        while gaps and len(self._waiting) < 2 * self._workers.slots and ahead < _AHEAD * self._workers.slots:
            begin, until = gaps.pop()
            size = self._sizes.ids(len(seatings))
            if begin + size < until:
                gaps.append((begin + size, until))
            task = Task(begin, min(begin + size, until), seatings)
            self._waiting[self._workers.submit(task)] = task
            if self._workers.slots == 1:
                return

    def _collect(self) -> None:
        """Wait for something to be finished, and keep it."""
        done, _ = wait(self._waiting, return_when=FIRST_COMPLETED)
        lost = []
        for future in done:
            task = self._waiting.pop(future)
            try:
                content = future.result()
            except self._workers.lost:
                lost.append(task)
                continue
            self._losses = 0
            with self._interrupt:
                self._keep(content)
        if lost:
            self._again(lost)

    def _keep(self, content: bytes) -> None:
        finished = FinishedDeals.from_bytes(content)
        self._sizes.saw(finished)
        if self._ledger:
            self._ledger.append(content, finished.first, finished.end)
        else:
            self._ready[finished.first] = finished

    def _again(self, lost: list[Task]) -> None:
        """Give out again what the workers that are gone were playing."""
        self._losses += 1
        if self._losses > LOSSES:
            raise TournamentError(
                f"workers were lost {self._losses} times without finishing anything, last at the deal ids number "
                f"{lost[0].first} to {lost[0].end - 1}: perhaps memory is short; try --workers 1"
            )
        if self._losses > 1:
            time.sleep(0.5 * self._losses)
        for task in lost:
            self._waiting[self._workers.submit(task)] = task
