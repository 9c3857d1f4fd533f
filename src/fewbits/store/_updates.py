"""Values of some rows of a segment that were changed after it was written.

A file has the positions of rows and their values in some columns, which take the place
of those of the segment and of files before it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fewbits.errors import ArtefactError
from fewbits.store._disk import Disk
from fewbits.store._manifest import (
    BLOCK,
    REPAIR,
    Manifest,
    SegmentEntry,
    UpdateEntry,
    new_token,
)
from fewbits.store._segment import check_inside, only_batch, write_arrow
from fewbits.store._sums import sum_of_sums, sums_of

if TYPE_CHECKING:
    from fewbits.store._snapshot import Segment

POSITION = "_position"  # the first column, as the user may have one of this name
_FAN = 4  # a file has at least so many times the rows of the next, or a block
_WINDOW = 1 << 16  # rows of a column that are copied where one of them has changed
Positions = NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class Update:
    """New values of rows at some positions, which rise, by the names of columns."""

    positions: Positions
    values: Mapping[str, Any]

    def followed_by(self, later: "Update") -> "Update":
        """Return both as one; they are of the same columns."""
        positions = np.concatenate([self.positions, later.positions])
        order = np.argsort(positions, kind="stable")
        ordered = positions[order]
        is_last = np.append(ordered[1:] != ordered[:-1], True)
        values = {
            name: _joined([column, later.values[name]]).take(order[is_last])
            for name, column in self.values.items()
        }
        return Update(ordered[is_last], values)


def with_updates(
    values: Any, positions: Positions, name: str, updates: Sequence[Update]
) -> Any:
    """Return the values of a column at some positions, after updates of it."""
    pieces, places, n = [values], np.arange(len(values)), len(values)
    for update in updates:
        at = np.searchsorted(update.positions, positions)
        at = np.minimum(at, len(update.positions) - 1)
        hits = np.flatnonzero(update.positions[at] == positions)
        if len(hits):
            pieces.append(update.values[name].take(at[hits]))
            places[hits] = np.arange(n, n + len(hits))
            n += len(hits)
    return values if len(pieces) == 1 else _joined(pieces).take(places)


def updated_column(column: Any, name: str, updates: Sequence[Update]) -> Any:
    """Return a whole column after updates of it; what did not change is no copy."""
    import pyarrow as pa

    chunks, done = [], 0
    windows = [np.unique(update.positions // _WINDOW) for update in updates]
    for window in np.unique(np.concatenate(windows)).tolist():
        start = window * _WINDOW
        values = column.slice(start, _WINDOW)
        positions = np.arange(start, start + len(values), dtype=np.uint32)
        chunks.append(column.slice(done, start - done))
        chunks.append(with_updates(values, positions, name, updates))
        done = start + len(values)
    chunks.append(column.slice(done))
    return pa.chunked_array(chunks, column.type).unify_dictionaries()


def _joined(arrays: list[Any]) -> Any:
    import pyarrow as pa

    return pa.chunked_array(arrays).unify_dictionaries().combine_chunks()


def write_update(
    disk: Disk, segment: "Segment", edits: Mapping[str, Sequence[Update]]
) -> SegmentEntry:
    """Write updates of columns to a file, and return the facts of the segment with it.

    Small files before it are taken in, so that there are few.
    """
    import pyarrow as pa

    entry, schema = segment.entry, segment.schema
    updates = [update for of_column in edits.values() for update in of_column]
    positions = np.unique(np.concatenate([update.positions for update in updates]))
    alone = len(entry.updates), _in_order(schema, {*edits}), positions
    rows = segment.with_edits(edits)
    try:
        stay, columns, positions = _with_small(segment, *alone)
        table = rows.take(columns, positions.astype(np.int64))
    except ArtefactError:  # perhaps of columns that do not change
        stay, columns, positions = alone
        table = rows.take(columns, positions.astype(np.int64))
    table = table.add_column(0, POSITION, pa.array(positions))
    update = UpdateEntry(new_token(), len(table), columns, entry.rows)
    fields = _file_schema(segment.manifest.update_schema(update))
    sums = write_arrow(disk, update.name, table, fields)
    file = sums.entry(inline=True)
    return replace(entry, updates=(*entry.updates[:stay], replace(update, file=file)))


def _with_small(
    segment: "Segment", stay: int, columns: tuple[str, ...], positions: Positions
) -> tuple[int, tuple[str, ...], Positions]:
    """Return how many files stay, and columns and positions with those of others."""
    entry, names = segment.entry, {*columns}
    while stay:
        last = entry.updates[stay - 1]
        if last.file.n_bytes > BLOCK and last.n_rows > _FAN * len(positions):
            break
        stay -= 1
        positions = np.union1d(positions, segment.stored_update(stay).positions)
        names |= {*last.columns}
    return stay, _in_order(segment.schema, names), positions


def _in_order(schema: Any, names: set[str]) -> tuple[str, ...]:
    return tuple(name for name in schema.names if name in names)


def read_update(
    disk: Disk, manifest: Manifest, entry: SegmentEntry, update: UpdateEntry
) -> Update:
    """Return the values of a file, after checking all of it.

    Raises ArtefactError where it is damaged or gone.
    """
    path = disk.folder / update.name
    try:
        data = disk.read(path.name)
    except FileNotFoundError:
        raise ArtefactError(f"{path} is missing; {REPAIR}") from None
    expected = update.file.n_bytes, update.file.crc
    if (len(data), sum_of_sums(sums_of(data))) != expected:
        raise ArtefactError(f"{path} is damaged: its checksum does not match; {REPAIR}")
    return parsed_update(data, manifest, entry, update, str(path))


def parsed_update(
    data: bytes, manifest: Manifest, entry: SegmentEntry, update: UpdateEntry, path: str
) -> Update:
    import pyarrow as pa

    fields = _file_schema(manifest.update_schema(update))
    batch = only_batch(pa.py_buffer(data), fields, update.n_rows, path)
    check_inside(batch, path)
    positions = batch.column(0).to_numpy()
    if (positions[1:] <= positions[:-1]).any() or positions[-1] >= entry.n_rows:
        raise ArtefactError(f"{path} is damaged: its positions are out of order")
    values = zip(fields.names[1:], batch.columns[1:], strict=True)
    return Update(positions, dict(values))


def _file_schema(schema: Any) -> Any:
    import pyarrow as pa

    return pa.schema([pa.field(POSITION, pa.uint32(), nullable=False), *schema])
