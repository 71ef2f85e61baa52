"""The files of a tournament, written from its ledger: every deal as arrays, as Parquet, and as records."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hearts_arena.finished_deals import FinishedDeals, column_of
from hearts_arena.ledger import Ledger
from hearts_arena.tournament_plan import Tournament
from hearts_env.text.write_file import whole_file, write_file

DEALS_NAME = "deals.npz"
PARQUET_NAME = "deals.parquet"
RECORDS_NAME = "records.jsonl"
STANDINGS_NAME = "standings.json"
_PLACE = "number"


def write_deals(folder: Path, planned: Tournament, ledger: Ledger, deals: int) -> None:
    """Write `deals.npz`: one row a deal of the first `deals` deal ids.  Memory does not grow with them.

    `number` of its deal id in the tournament, `deal_id`, `lineup` [P] (the place in `agents`, which lies there too),
    `deal_no`, `totals` [P] before, `points` [P], `picks` [P], `plays` [C], `moon` (the choice) and `shooter`
    as in `hearts_env.game.state.State`.  Raises OSError.
    """
    fixed = {"agents": np.array(planned.labels), "rules": np.array(planned.rules.show())}
    rows = sum(int(keep.sum()) for keep in _kept(ledger, deals))
    first = FinishedDeals.from_bytes(next(iter(ledger)))
    with (
        whole_file(folder / DEALS_NAME) as part,
        zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
    ):
        for name, values in fixed.items():
            with archive.open(f"{name}.npy", "w") as target:
                np.lib.format.write_array(target, values, allow_pickle=False)
        for name, values in first.columns.items():
            header = {
                "descr": np.lib.format.dtype_to_descr(values.dtype),
                "fortran_order": False,
                "shape": (rows, *values.shape[1:]),
            }
            with archive.open(f"{name}.npy", "w", force_zip64=True) as target:
                np.lib.format.write_array_header_1_0(target, header)
                for content, keep in zip(ledger, _kept(ledger, deals), strict=True):
                    target.write(np.ascontiguousarray(column_of(content, name)[keep]).tobytes())


def write_records(folder: Path, ledger: Ledger, deals: int) -> None:
    """Write `records.jsonl`: the first `deals` deal ids as records, a line each.  Raises OSError."""
    with whole_file(folder / RECORDS_NAME) as part, part.open("w", encoding="utf-8") as target:
        for finished in _counted(ledger, deals):
            target.write(finished.records)


def write_parquet(folder: Path, planned: Tournament, ledger: Ledger, deals: int) -> None:
    """Write `deals.parquet`: the columns of `deals.npz`, agents by label.

    Raises OSError, and ModuleNotFoundError without pyarrow.
    """
    import pyarrow
    import pyarrow.parquet

    writer = None
    with whole_file(folder / PARQUET_NAME) as part:
        try:
            for finished in _counted(ledger, deals):
                columns = {name: _arrow(values) for name, values in finished.columns.items()}
                labels = np.array(planned.labels)[finished.columns["lineup"]]
                columns["names"] = pyarrow.array(labels.tolist(), pyarrow.list_(pyarrow.string()))
                table = pyarrow.table(columns)
                writer = writer or pyarrow.parquet.ParquetWriter(part, table.schema)
                writer.write_table(table)
        finally:
            if writer:
                writer.close()


def write_standings(folder: Path, content: dict[str, Any]) -> None:
    """Write `standings.json`.  Raises OSError."""
    write_file(folder / STANDINGS_NAME, json.dumps(content, indent=1) + "\n")


def _kept(ledger: Ledger, deals: int) -> Iterator[NDArray[np.bool_]]:
    """Masks of the rows of each span that are of the first `deals` deal ids."""
    return (column_of(content, _PLACE) < deals for content in ledger)


def _counted(ledger: Ledger, deals: int) -> Iterator[FinishedDeals]:
    for content in ledger:
        finished = FinishedDeals.from_bytes(content)
        if finished.first < deals:
            yield finished if finished.end <= deals else finished.head(deals - finished.first)


def _arrow(values: NDArray[Any]) -> Any:
    import pyarrow

    if values.ndim == 1:
        return pyarrow.array(values)
    return pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(values.reshape(-1)), values.shape[1])
