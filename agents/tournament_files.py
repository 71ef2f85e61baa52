"""The files of a tournament: standings, every deal as arrays, and records."""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from hearts_agents.standings import Standings
from hearts_agents.tournament import Chunk, Tournament
from hearts_env.match import Deals
from hearts_env.record import records_of

PART = ".part"
"""Ends the name of a file that is being written; it loses this when it is complete."""


class DealsFile:
    """Writes `deals.npz` row by row: memory does not grow with the deals.

    The columns wait as plain bytes in a folder beside the file, until `save` joins them.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._folder = path.with_name(path.name + PART + "s")
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True)
        self._rows = 0
        self._columns: dict[str, tuple[NDArray[Any], IO[bytes]]] = {}

    def add(self, columns: dict[str, NDArray[Any]]) -> None:
        """Append rows: arrays [K, ...], the same columns at each call."""
        for name, values in columns.items():
            if name not in self._columns:
                self._columns[name] = (values[:0], (self._folder / name).open("wb"))
            self._columns[name][1].write(np.ascontiguousarray(values).tobytes())
        self._rows += len(next(iter(columns.values())))

    def save(self, **fixed: NDArray[Any]) -> None:
        """Write the file, with whole arrays `fixed` beside the columns, in place of one that may be there."""
        part = self._path.with_name(self._path.name + PART)
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for name, values in fixed.items():
                with archive.open(f"{name}.npy", "w") as target:
                    np.lib.format.write_array(target, values, allow_pickle=False)
            for name, (empty, column) in self._columns.items():
                column.flush()
                header = {
                    "descr": np.lib.format.dtype_to_descr(empty.dtype),
                    "fortran_order": False,
                    "shape": (self._rows, *empty.shape[1:]),
                }
                with archive.open(f"{name}.npy", "w", force_zip64=True) as target:
                    np.lib.format.write_array_header_1_0(target, header)
                    with (self._folder / name).open("rb") as source:
                        shutil.copyfileobj(source, target)
        os.replace(part, self._path)

    def close(self) -> None:
        """Remove what is only of use until `save`."""
        for _, column in self._columns.values():
            column.close()
        shutil.rmtree(self._folder, ignore_errors=True)
        self._path.with_name(self._path.name + PART).unlink(missing_ok=True)


class TournamentFiles:
    """The folder of a tournament's results.  Use it in a `with`; the files appear at `save`, complete.

    `deals.npz` has one row a deal: `number` of its deal id in the tournament, `deal_id`, `lineup` [P] (the place in
    `agents`, which lies there too), `deal_no`, `totals` [P] before, `points` [P], `picks` [P] and `plays` [C] as in
    `state.State`, `moon` (the choice, as there) and `shooter`.  Raises OSError.
    """

    def __init__(self, folder: Path, tournament: Tournament, *, records: bool = False) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._tournament = tournament
        self._deals = DealsFile(folder / "deals.npz")
        self._records = (folder / ("records.jsonl" + PART)).open("w", encoding="utf-8") if records else None

    def __enter__(self) -> TournamentFiles:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._deals.close()
        if self._records:
            self._records.close()
            Path(self._records.name).unlink(missing_ok=True)

    def add(self, chunk: Chunk) -> None:
        """Write the deals of a chunk that was played with `keep_deals`."""
        for deals in chunk.deals:
            self._deals.add(_columns(chunk, deals, len(self._tournament.seatings)))
            if self._records:
                lineup = chunk.result.lineup[deals.table]
                names = [[self._tournament.labels[agent] for agent in row] for row in lineup]
                records = records_of(self._tournament.rules, deals, names)
                self._records.writelines(record.to_json() + "\n" for record in records)

    def save(self, standings: Standings) -> None:
        """Complete the files: `deals.npz`, `records.jsonl` if there are records, then `standings.json`."""
        tournament = self._tournament
        self._deals.save(agents=np.array(tournament.labels), rules=np.array(tournament.rules.show()))
        if self._records:
            self._records.flush()
            os.replace(self._records.name, self.folder / "records.jsonl")
        part = self.folder / ("standings.json" + PART)
        part.write_text(json.dumps(standings.to_json(), indent=1) + "\n", encoding="utf-8")
        os.replace(part, self.folder / "standings.json")


def _columns(chunk: Chunk, deals: Deals, seatings: int) -> dict[str, NDArray[Any]]:
    state = deals.state
    return {
        "number": chunk.first + deals.table // seatings,
        "deal_id": deals.deal_ids,
        "lineup": chunk.result.lineup[deals.table],
        "deal_no": state.deal_no,
        "totals": deals.totals,
        "points": state.points,
        "picks": state.picks,
        "plays": state.plays,
        "moon": state.choice,
        "shooter": state.shooter,
    }
