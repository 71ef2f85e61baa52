"""Exit codes of the program `hearts`; 0 is success."""

from __future__ import annotations

WRONG_RECORD = 1
"""`hearts check` has found a record that is wrong."""
BAD_INPUT = 2
"""Arguments, files or records that a command cannot use."""
INTERRUPTED = 130
"""Stopped before the end, by Ctrl-C or by leaving the table; as shells have it."""
BROKEN_PIPE = 141
"""The reader of the output has gone; as shells have it."""
