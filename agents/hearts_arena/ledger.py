"""The ledger of a tournament: an append-only file of finished deals that survives being killed at any moment.

A frame is a header (magic, length, checksum, first number, number after the last) and that many bytes.  The first
frame says which tournament it is; each other one holds `FinishedDeals`.  A frame that a kill or a full disk cut off
does not match its length or checksum.  It is dropped when the file is opened again, and played again.
"""

from __future__ import annotations

import contextlib
import json
import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from hearts_arena.finished_deals import FinishedDeals

LEDGER_NAME = "tournament.ledger"
_HEADER = struct.Struct("<8sQIQQ")
_MAGIC = b"hearts-1"
_NOTHING = (0, 0)


class LedgerError(ValueError):
    """A ledger that belongs to another tournament, or that another process is writing."""


class Ledger:
    """Finished deals on disk.  Use it in a `with`.  Raises LedgerError and OSError."""

    def __init__(self, path: Path, about: dict[str, Any], *, resume: bool = False) -> None:
        """about: which tournament it is, in JSON values.  resume: go on with one that is there."""
        self.path = path
        self.spans: dict[int, int] = {}
        """The spans that are there: number of the first deal id to the number after the last."""
        self._places: dict[int, int] = {}
        if path.exists() and path.stat().st_size and not resume:
            raise LedgerError(
                f"{path.parent} holds an unfinished tournament: --resume continues it; "
                f"to begin a new one, remove {path.name} there or take another --out"
            )
        self._file = open(path, "a+b")  # noqa: SIM115
        try:
            _lock(self._file.fileno(), path)
            self._open(about)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):
            self._file.close()

    def __iter__(self) -> Iterator[bytes]:
        """The bytes of each finished, in the order of their numbers."""
        return (self.read(first) for first in sorted(self.spans))

    def append(self, content: bytes, first: int, end: int) -> None:
        """Add a finished deals' bytes; once this returns they are on disk.  Takes back what it wrote if that fails."""
        self._file.seek(0, os.SEEK_END)
        begin = self._file.tell()
        try:
            self._file.write(_HEADER.pack(_MAGIC, len(content), zlib.crc32(content), first, end) + content)
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            with contextlib.suppress(OSError):
                self._file.truncate(begin)
            error.filename = str(self.path)
            raise
        if (first, end) != _NOTHING:
            self.spans[first] = end
            self._places[first] = begin

    def read(self, first: int) -> bytes:
        """The bytes of the finished deals that begin with this number."""
        self._file.seek(self._places[first])
        length = _HEADER.unpack(self._file.read(_HEADER.size))[1]
        return self._file.read(length)

    def finished(self, first: int) -> FinishedDeals:
        """The finished deals that begin with this number."""
        return FinishedDeals.from_bytes(self.read(first))

    def _open(self, about: dict[str, Any]) -> None:
        """Find the whole frames, cut off what follows them, and begin the file if there is none."""
        size = self._file.seek(0, os.SEEK_END)
        place, written = 0, None
        while place + _HEADER.size <= size:
            self._file.seek(place)
            magic, length, checksum, first, end = _HEADER.unpack(self._file.read(_HEADER.size))
            if magic != _MAGIC or place + _HEADER.size + length > size:
                break
            content = self._file.read(length)
            if zlib.crc32(content) != checksum:
                break
            if place == 0:
                written = json.loads(content)
            else:
                self.spans[first], self._places[first] = end, place
            place += _HEADER.size + length
        if size and written is None and place == 0 and self._file_is_foreign():
            raise LedgerError(f"{self.path} is no ledger of a tournament: remove it, or take another --out")
        self._file.truncate(place)
        if written is None:
            self.append(json.dumps(about).encode(), *_NOTHING)
        else:
            _compare(self.path, written, about)

    def _file_is_foreign(self) -> bool:
        """True if the file begins with anything but (a part of) a frame."""
        self._file.seek(0)
        return not _MAGIC.startswith(self._file.read(len(_MAGIC)))


def _compare(path: Path, written: dict[str, Any], about: dict[str, Any]) -> None:
    for name in written.keys() | about.keys():
        if written.get(name) != about.get(name):
            raise LedgerError(
                f"{path} is of another tournament: its {name} is {json.dumps(written.get(name)):.200}, asked is "
                f"{json.dumps(about.get(name)):.200}; repeat the command it was begun with, or take another --out"
            )


def _lock(descriptor: int, path: Path) -> None:
    """Keep other processes out; where there are no such locks, do nothing."""
    try:
        import fcntl
    except ModuleNotFoundError:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise LedgerError(f"another process is writing {path}: wait for it, or take another --out") from None
