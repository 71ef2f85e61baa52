"""`hearts check`: records replayed, with a JSON answer for each."""

from __future__ import annotations

import json
from dataclasses import dataclass

from hearts_cli.arguments import RecordFile, opened
from hearts_cli.exit_codes import WRONG_RECORD


@dataclass(frozen=True)
class CheckRecords:
    """Replay records (hearts-record/1) and answer with one JSON object a line; exit code 1 if any is wrong."""

    file: RecordFile
    decisions: bool = False
    """Add every decision, with what was legal."""

    def run(self) -> int:
        """Print the answers as they come."""
        from hearts_env.text.replay import check_lines, read_lines

        code = 0
        with opened(self.file) as stream:
            for answer in check_lines(read_lines(stream), self.decisions):
                print(json.dumps(answer))
                if not answer["ok"]:
                    code = WRONG_RECORD
        return code
