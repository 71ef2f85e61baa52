"""Recorded deals as arrays for learning: one row a decision, in chunks, so that memory stays flat."""

from __future__ import annotations

import itertools
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hearts_env.cards import NO_CARD
from hearts_env.game.compiled_rules import compiled_rules
from hearts_env.game.engine import deal, step
from hearts_env.game.rewards import payoff
from hearts_env.game.rules import Rules
from hearts_env.game.state import State
from hearts_env.game.view import view
from hearts_env.match.tables import NO_DEAL_ID
from hearts_env.observe.encode import action_mask, encode, layout
from hearts_env.text.notation import script
from hearts_env.text.record import Record, RecordError
from hearts_env.text.replay import replay_all
from hearts_env.text.write_file import whole_file

_CHUNK = 512

Columns = dict[str, NDArray[Any]]
"""Arrays of n rows, one a decision of a seat, those of a deal together and in order:

observation: uint8 [n, F], the encoding of what the seat knew.  action_mask: int8 [n, 54].  action: uint8 [n].
return: float32 [n], the payoff of that seat in this deal (`rewards.payoff`).
points: int32 [n], what the deal added to its score.  seat: uint8 [n].  num_players: uint8 [n].
deal: int64 [n], the number of the record among all.  deal_id: int64 [n], NO_DEAL_ID where the record has none.
decision: uint8 [n], its number in the deal.
"""


class DatasetError(ValueError):
    """Records from which no arrays can be made, or a file that cannot hold them."""


def parsed(lines: Iterable[str | bytes]) -> Iterator[Record]:
    """The records in lines of JSON.  Raises DatasetError with the number of a line that holds none; the first is 1."""
    for number, line in enumerate(lines, 1):
        try:
            yield Record.parse(line)
        except RecordError as error:
            raise DatasetError(f"record {number}: {error}") from None


def decisions(records: Iterable[Record], *, pad: bool = False, order: bool = False) -> Iterator[Columns]:
    """The decisions of whole deals, some hundred deals at a time.  pad, order: see `encode.layout`.

    Raises DatasetError that names the record (the first is 1) for a deal that is wrong or not over, and for player
    counts that differ where `pad` is not set.
    """
    first: Rules | None = None
    numbered = enumerate(records)
    while chunk := list(itertools.islice(numbered, _CHUNK)):
        for rules, grouped in itertools.groupby(chunk, key=lambda item: item[1].rules):
            group = list(grouped)
            first = first or rules
            if rules.num_players != first.num_players and not pad:
                raise DatasetError(
                    f"record {group[0][0] + 1} has {rules.num_players} players, those before have {first.num_players}: "
                    "observations differ in size; pad them (pad=True, --pad)"
                )
            yield _columns(rules, group, pad, order)


def _columns(rules: Rules, numbered: list[tuple[int, Record]], pad: bool, order: bool) -> Columns:
    records = [record for _, record in numbered]
    numbers = np.array([number for number, _ in numbered])
    for number, result in zip(numbers, replay_all(records), strict=True):
        if isinstance(result, RecordError):
            raise DatasetError(f"record {number + 1}: {result}")
        if result.next is not None:
            raise DatasetError(f"record {number + 1}: the deal is not over, so what it returned is not known")
    compiled, form = compiled_rules(rules), layout(compiled_rules(rules), pad=pad, order=order)
    scripts = [script(compiled, one.deal_no, one.passes, one.plays, one.moon) for one in records]
    actions = np.array(list(itertools.zip_longest(*scripts, fillvalue=NO_CARD)), np.int64)
    state = State.empty(compiled, len(records))
    hands, totals = (np.array([getattr(one, name) for one in records], np.int64) for name in ("hands", "totals"))
    deal(compiled, state, hands, deal_no=[one.deal_no for one in records], scores=totals)
    parts: list[Columns] = []
    for number, chosen in enumerate(actions):
        rows = np.flatnonzero(chosen != NO_CARD)
        seen = view(compiled, state.take(rows))
        parts.append(
            {
                "row": rows,
                "observation": encode(form, seen),
                "action_mask": action_mask(seen.legal),
                "action": chosen[rows].astype(np.uint8),
                "seat": seen.seat.astype(np.uint8),
                "decision": np.full(len(rows), number, np.uint8),
            }
        )
        step(compiled, state, chosen)
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    by_deal = np.argsort(joined["row"], kind="stable")
    joined = {name: array[by_deal] for name, array in joined.items()}
    row, seat = joined.pop("row"), joined["seat"]
    ids = np.array([NO_DEAL_ID if one.deal_id is None else one.deal_id for one in records], np.int64)
    return {
        **joined,
        "return": payoff(compiled, state.points)[row, seat].astype(np.float32),
        "points": state.points[row, seat].astype(np.int32),
        "num_players": np.full(len(row), rules.num_players, np.uint8),
        "deal": numbers[row].astype(np.int64),
        "deal_id": ids[row],
    }


# -- files -------------------------------------------------------------------------------------------------------------


class _Writer(Protocol):
    def write(self, columns: Columns) -> None: ...

    def finish(self) -> None: ...


def export(records: Iterable[Record], path: Path, *, pad: bool = False, order: bool = False) -> int:
    """Write the decisions of whole deals to a file, `.npz` or `.parquet`; the number of rows.

    A chunk is in memory at a time.  Nothing is left where it fails.  Raises DatasetError (see `decisions`; also for
    another kind of file, for no records, and where Parquet's library is missing).
    """
    kinds: dict[str, Callable[[Path], _Writer]] = {".npz": _Npz, ".parquet": _Parquet}
    if path.suffix not in kinds:
        raise DatasetError(f"{path}: the name of the file must end in {' or '.join(kinds)}")
    rows = 0
    with tempfile.TemporaryDirectory(dir=path.absolute().parent, prefix=f".{path.name}.") as folder:
        packed = Path(folder) / f"packed{path.suffix}"
        writer: _Writer = kinds[path.suffix](packed)
        for columns in decisions(records, pad=pad, order=order):
            writer.write(columns)
            rows += len(columns["action"])
        if rows == 0:
            raise DatasetError("there are no records to make arrays of")
        writer.finish()
        with whole_file(path) as part:
            packed.replace(part)
    return rows


class _Npz:
    """Columns as raw files beside the archive, packed into it at the end: their lengths come first there."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._types: dict[str, np.dtype[Any]] = {}

    def write(self, columns: Columns) -> None:
        for name, array in columns.items():
            before = self._shapes.get(name, (0,))[0]
            self._shapes[name] = (before + len(array), *array.shape[1:])
            self._types[name] = array.dtype
            with self._raw(name).open("ab") as file:
                file.write(np.ascontiguousarray(array).tobytes())

    def finish(self) -> None:
        with zipfile.ZipFile(self._path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for name, shape in self._shapes.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member, self._raw(name).open("rb") as raw:
                    descr = np.lib.format.dtype_to_descr(self._types[name])
                    header = {"descr": descr, "fortran_order": False, "shape": shape}
                    np.lib.format.write_array_header_1_0(member, header)
                    shutil.copyfileobj(raw, member, 1 << 20)
                self._raw(name).unlink()

    def _raw(self, name: str) -> Path:
        return self._path.parent / f"{name}.raw"


class _Parquet:
    """A row group a chunk; observations and masks are lists of fixed size."""

    def __init__(self, path: Path) -> None:
        try:
            import pyarrow
            from pyarrow import parquet
        except ModuleNotFoundError as error:
            raise DatasetError(
                f"writing Parquet needs {error.name}: install the extra, pip install 'hearts_env[parquet]'"
            ) from None
        self._pyarrow, self._parquet = pyarrow, parquet
        self._path = path
        self._file: Any = None

    def write(self, columns: Columns) -> None:
        arrow = self._pyarrow
        arrays = {
            name: arrow.array(array)
            if array.ndim == 1
            else arrow.FixedSizeListArray.from_arrays(arrow.array(array.reshape(-1)), array.shape[1])
            for name, array in columns.items()
        }
        table = arrow.table(arrays)
        if self._file is None:
            self._file = self._parquet.ParquetWriter(self._path, table.schema, compression="zstd")
        self._file.write_table(table)

    def finish(self) -> None:
        self._file.close()
