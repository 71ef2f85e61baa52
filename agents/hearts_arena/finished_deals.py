"""Finished deal ids of a tournament, as arrays and as bytes."""

from __future__ import annotations

import io
import zlib
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hearts_env.cards import Bools, Ints

_COLUMN = "column/"


@dataclass(frozen=True)
class FinishedDeals:
    """K deal ids, each played in all S seatings."""

    first: int
    """Number of the first of these deal ids in the tournament."""
    seatings: NDArray[np.int16]  # [S, P]  which agent sat where
    points: NDArray[np.int32]  # [K, S, P]  what the deal added; in games the final score
    winners: Bools  # bool [K, S, P]  lowest score, ties shared
    moons: NDArray[np.int16]  # [K, S, P]  moons shot
    deals: NDArray[np.int32]  # [K, S]  deals played: 1, or those of the game
    decisions: Ints  # int64 [agents]
    seconds: NDArray[np.float64]  # [agents]  time spent in `act`
    failures: Ints  # int64 [agents]
    control: Ints  # int64 [K, F]  as `hearts_arena.stats.control_variate.features` has them; F is 0 without a control
    wall: float = 0.0
    """Seconds that it took."""
    columns: dict[str, NDArray[Any]] = field(default_factory=dict)
    """Every deal, one row each, as `deals.npz` has them; empty unless they are kept."""
    records: str = ""
    """The deals as records, a line each, if they were asked for."""

    def __len__(self) -> int:
        return len(self.points)

    @property
    def end(self) -> int:
        """Number of the first deal id that is not in it."""
        return self.first + len(self)

    def head(self, size: int) -> FinishedDeals:
        """Its first `size` deal ids; decisions, seconds and failures are still those of all."""
        rows = np.flatnonzero(self.columns["number"] < self.first + size) if self.columns else slice(0)
        lines = self.records.splitlines(keepends=True)
        return replace(
            self,
            points=self.points[:size],
            winners=self.winners[:size],
            moons=self.moons[:size],
            deals=self.deals[:size],
            control=self.control[:size],
            columns={name: values[rows] for name, values in self.columns.items()},
            records="".join(lines[row] for row in rows) if lines and not isinstance(rows, slice) else "",
        )

    def to_bytes(self) -> bytes:
        """All of it, for `from_bytes`."""
        arrays = {name: value for name, value in vars(self).items() if isinstance(value, np.ndarray)}
        arrays |= {_COLUMN + name: values for name, values in self.columns.items()}
        text = np.frombuffer(zlib.compress(self.records.encode(), 1), np.uint8)
        target = io.BytesIO()
        arrays |= {"first": np.array(self.first), "wall": np.array(self.wall), "records": text}
        np.savez(target, allow_pickle=False, **arrays)
        return target.getvalue()

    @staticmethod
    def from_bytes(content: bytes) -> FinishedDeals:
        """The finished deals that `to_bytes` has written."""
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            plain = {name: arrays[name] for name in arrays.files if not name.startswith(_COLUMN)}
            columns = {name.removeprefix(_COLUMN): arrays[name] for name in arrays.files if name.startswith(_COLUMN)}
        first, wall = int(plain.pop("first")), float(plain.pop("wall"))
        records = zlib.decompress(plain.pop("records").tobytes()).decode()
        return FinishedDeals(first=first, wall=wall, records=records, columns=columns, **plain)


def column_of(content: bytes, name: str) -> NDArray[Any]:
    """One of the columns of a finished deals' bytes, without the rest."""
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        values: NDArray[Any] = arrays[_COLUMN + name]
    return values
