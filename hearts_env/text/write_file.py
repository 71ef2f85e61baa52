"""Write a file whole or not at all: at every moment either the old content is there or the new one."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

PART = ".part"
"""Ends the name of a file that is being written; it loses this when it is complete."""


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A path to write to that becomes `path` at the end of the `with`; if that is not reached, the older file stays.

    Raises OSError that names the file.
    """
    part = path.with_name(path.name + PART)
    try:
        yield part
        with open(part, "rb+") as file:
            os.fsync(file.fileno())  # else the new name may reach the disk before the content does
        os.replace(part, path)
    except OSError as error:
        error.filename = error.filename or str(path)
        raise
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def write_file(path: Path, content: bytes | str) -> None:
    """Write a file whole, text as UTF-8.  Raises OSError that names the file."""
    with whole_file(path) as part:
        part.write_bytes(content.encode() if isinstance(content, str) else content)
