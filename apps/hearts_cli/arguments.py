"""Arguments that several commands take."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Annotated, BinaryIO

import tyro

RulesText = Annotated[str, tyro.conf.arg(help="A preset's name, `field=value` pairs, or both: omnibus,target=50.")]
"""The option `--rules`."""
RecordFile = Annotated[
    tyro.conf.Positional[str],
    tyro.conf.arg(metavar="FILE", help="The records, one JSON object a line; - reads standard input."),
]
"""A file of records."""


def opened(file: str) -> AbstractContextManager[BinaryIO]:
    """The file to read from, or standard input for -; close it with a `with`.  Raises OSError."""
    return nullcontext(sys.stdin.buffer) if file == "-" else open(file, "rb")
