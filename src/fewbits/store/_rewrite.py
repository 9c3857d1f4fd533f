"""All rows made anew: codes of another encoder, a further column."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from fewbits.errors import ArgumentError
from fewbits.store._disk import Disk
from fewbits.store._manifest import Manifest
from fewbits.store._names import new_token
from fewbits.store._schema import ID, ROW, checked_schema, conforming
from fewbits.store._segment import SegmentFiles
from fewbits.store._snapshot import Part

_BATCH = 1 << 16  # rows that the function gets at once
Change = Callable[[Any], Any]


def rewritten(
    disk: Disk, base: Manifest, change: Change, target: Manifest, full: int
) -> Manifest:
    """Write all live rows as a function makes them, and return the state of these.

    Parameters
    ----------
    disk : Disk
    base : Manifest
    change : callable
        From a table to one with as many rows and, if any, the same ids.
    target : Manifest
        The state before, with the new schema, width and fingerprint.
    full : int
        Bytes of the largest segment.
    """
    schema = checked_schema(target.schema, target.n_bits)
    if schema.field(ID).type != base.schema.field(ID).type:
        raise ArgumentError("ids keep their type when rows are made anew")
    target = replace(target, schema=schema)
    files = SegmentFiles(disk, target)
    tables = (_changed(table, change, target) for table in _batches(disk, base))
    segments = tuple(files.write(t, new_token()) for t in _gathered(tables, full))
    return target.following(segments)


def _batches(disk: Disk, base: Manifest) -> Iterator[Any]:
    import pyarrow as pa

    for entry in base.segments:
        part = Part(disk, base, entry)
        whole, places = part.whole(), part.live_places()
        for start in range(0, len(places), _BATCH):
            yield whole.take(pa.array(places[start : start + _BATCH]))


def _changed(table: Any, change: Change, target: Manifest) -> Any:
    import pyarrow as pa

    made = change(table.drop_columns(ROW))
    if len(made) != len(table):
        raise ArgumentError(f"{len(table)} rows became {len(made)}: they must stay")
    rows = conforming(made, target.schema, target.n_bits)
    if ID in rows.column_names and not rows[ID].equals(table[ID]):
        raise ArgumentError("ids must stay as they are, in the same order")
    columns = {name: rows[name] for name in target.schema.names if name != ID}
    return pa.table({ROW: table[ROW], ID: table[ID], **columns})


def _gathered(tables: Iterator[Any], full: int) -> Iterator[Any]:
    import pyarrow as pa

    waiting: list[Any] = []
    for table in tables:
        if waiting and sum(t.nbytes for t in waiting) + table.nbytes > full:
            yield pa.concat_tables(waiting).unify_dictionaries()
            waiting = []
        waiting.append(table)
    if waiting:
        yield pa.concat_tables(waiting).unify_dictionaries()
