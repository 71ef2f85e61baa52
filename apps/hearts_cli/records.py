"""`hearts deal`, `hearts check`, `hearts show` and `hearts export`: deals, records and networks for others."""

from __future__ import annotations

import itertools
import json
import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import tyro

from hearts_cli.exit_codes import WRONG_RECORD

if TYPE_CHECKING:
    from hearts_env.text.record import Record

_File = Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="FILE")]


@dataclass(frozen=True)
class ShowDeal:
    """Print the hands of deal ids: the same id gives the same hands everywhere."""

    ids: Annotated[tyro.conf.Positional[tuple[int, ...]], tyro.conf.arg(metavar="ID ...")]
    """Deal ids, whole numbers from 0 to 2**63 - 1."""
    rules: str = "standard"
    """A preset's name, `field=value` pairs, or both: omnibus,target=50."""

    def run(self) -> int:
        """Print them with an empty line between."""
        from hearts_env.game.rules import Rules
        from hearts_env.text.notation import show_deal

        if not self.ids:
            raise ValueError("which deal? give at least one deal id, as in: hearts deal 81723")
        rules = Rules.parse(self.rules)
        print("\n\n".join(show_deal(rules, deal_id) for deal_id in self.ids))
        return 0


@dataclass(frozen=True)
class CheckRecords:
    """Replay records (hearts-record/1) and answer with one JSON object a line; exit code 1 if any is wrong."""

    file: _File
    """The records, one JSON object a line; - reads standard input."""
    decisions: bool = False
    """Add every decision, with what was legal."""

    def run(self) -> int:
        """Print the answers as they come."""
        from hearts_env.text.replay import check_lines, read_lines

        code = 0
        with _opened(self.file) as stream:
            for answer in check_lines(read_lines(stream), self.decisions):
                print(json.dumps(answer))
                if not answer["ok"]:
                    code = WRONG_RECORD
        return code


@dataclass(frozen=True)
class ShowRecord:
    """Print a record for people, trick by trick, and if asked what an agent would have done."""

    file: _File
    """The records, one JSON object a line; - reads standard input."""
    line: int = 1
    """Which line, the first is 1."""
    agent: str | None = None
    """Judge every decision by this agent: what it would have done and why, and what was lost by not doing it."""
    seat: tuple[int, ...] = ()
    """Judge the decisions of these seats only."""

    def run(self) -> int:
        """Print it."""
        from hearts_env.text.record import Record
        from hearts_env.text.replay import read_lines, show

        if self.line < 1:
            raise ValueError(f"--line {self.line}: lines count from 1")
        with _opened(self.file) as stream:
            text = next(itertools.islice(read_lines(stream), self.line - 1, None), None)
        if text is None:
            raise ValueError(f"{self.file} has no line {self.line}")
        record = Record.parse(text)
        if any(not 0 <= seat < record.rules.num_players for seat in self.seat):
            raise ValueError(f"--seat {' '.join(map(str, self.seat))}: seats are 0 to {record.rules.num_players - 1}")
        print(show(record))
        if self.agent is not None:
            self._judge(record, self.agent)
        return 0

    def _judge(self, record: Record, name: str) -> None:
        from hearts_agents import make
        from hearts_arena.report.console import console
        from hearts_arena.review import judged_table, review, summary

        judged, out = review(record, make(name), self.seat), console()
        out.print()
        out.print(judged_table(judged, name))
        out.print("\n".join(summary(judged, record.names, record.rules.num_players)))


@dataclass(frozen=True)
class Export:
    """Write recorded deals as arrays for learning (observation, mask, action, return, ...), or a network as ONNX."""

    file: _File
    """The records, one JSON object a line; - reads standard input.  With --onnx a network: net, net:PATH or a path."""
    out: Annotated[tyro.conf.Positional[Path | None], tyro.conf.arg(metavar="OUT")] = None
    """Where to: a name that ends in .npz or .parquet (which needs the extra parquet)."""
    onnx: Path | None = None
    """Write the network to this file: encodings in; masked logits, the best action and the value out (extra onnx)."""
    pad: bool = False
    """Observations have room for seven seats, so that one file may hold every player count."""
    order: bool = False
    """Observations hold the order of play."""

    def run(self) -> int:
        """Write the file and say what is in it."""
        if self.onnx:
            return self._network(self.onnx)
        if self.out is None:
            raise ValueError(f"where to? give a second name, as in: hearts export {self.file} deals.npz")
        from hearts_env.text.dataset import export, parsed
        from hearts_env.text.replay import read_lines

        with _opened(self.file) as stream:
            rows = export(parsed(read_lines(stream)), self.out, pad=self.pad, order=self.order)
        print(f"{rows} decisions in {self.out}")
        return 0

    def _network(self, onnx: Path) -> int:
        if self.out is not None or self.pad or self.order:
            raise ValueError("--onnx takes a network alone, as in: hearts export net --onnx net.onnx")
        from hearts_agents.net.agent import weights_of
        from hearts_train.export.onnx_file import export

        spec = export(weights_of(self.file), onnx)
        print(f"{onnx}: encoding [n, {spec.layout.size}] in; logits, action and value out")
        return 0


def _opened(file: str) -> AbstractContextManager[BinaryIO]:
    return nullcontext(sys.stdin.buffer) if file == "-" else open(file, "rb")
