"""`hearts show`: a record for people, and its review by an agent."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hearts_cli.arguments import RecordFile, opened

if TYPE_CHECKING:
    from hearts_env.text.record import Record


@dataclass(frozen=True)
class ShowRecord:
    """Print a record for people, trick by trick; with --agent, review its decisions."""

    file: RecordFile
    line: int = 1
    """The number of the line; the first is 1."""
    agent: str | None = None
    """Review every decision with this agent: its own choice, why, and the loss of what was done instead."""
    seat: tuple[int, ...] = ()
    """Review only the decisions of these seats."""

    def run(self) -> int:
        """Print the record, and the review if there is one."""
        from hearts_env.text.record import Record
        from hearts_env.text.replay import read_lines, show

        if self.line < 1:
            raise ValueError(f"--line {self.line}: lines count from 1")
        with opened(self.file) as stream:
            text = next(itertools.islice(read_lines(stream), self.line - 1, None), None)
        if text is None:
            raise ValueError(f"{self.file} has no line {self.line}")
        record = Record.parse(text)
        if any(not 0 <= seat < record.rules.num_players for seat in self.seat):
            raise ValueError(f"--seat {' '.join(map(str, self.seat))}: seats are 0 to {record.rules.num_players - 1}")
        print(show(record))
        if self.agent is not None:
            self._review(record, self.agent)
        return 0

    def _review(self, record: Record, name: str) -> None:
        from hearts_agents import make
        from hearts_arena.report.console import console
        from hearts_arena.review import review, review_table, summary

        decisions, out = review(record, make(name), self.seat), console()
        out.print()
        out.print(review_table(decisions, name))
        out.print("\n".join(summary(decisions, record.names, record.rules.num_players)))
