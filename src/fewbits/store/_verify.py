"""Every byte of a collection compared with its checksum."""

import contextlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

import numpy as np

from fewbits._repr import one_line
from fewbits.errors import ArtefactError
from fewbits.store._deletes import read_deletes
from fewbits.store._disk import Disk
from fewbits.store._manifest import (
    REPAIR,
    Manifest,
    SegmentEntry,
    copy_name,
    has_segments,
    manifest_name,
    manifest_numbers,
    newest_number,
)
from fewbits.store._segment import (
    SegmentFiles,
    bytes_of_offset,
    has_index,
    only_batch,
    read_derived,
    read_index,
    read_sums,
    segment_schemas,
)
from fewbits.store._sums import BLOCK, FileSums, block_sums, sum_of_sums


@dataclass(frozen=True, repr=False)
class Damage:
    """One damaged block, or file.

    Parameters
    ----------
    file : str
    reason : str
    bytes : (int, int) or None
        The range of the block; None for the whole file.
    rows : (int, int) or None
        The places of the segment's rows, the last not included, that lie in it, wholly
        or in part; None where there are none, or it is unknown.
    columns : tuple of str
        The columns that have values there.
    is_derived : bool
        Whether the file can be made again from others, so that nothing is lost.
    """

    file: str
    reason: str
    bytes: tuple[int, int] | None = None
    rows: tuple[int, int] | None = None
    columns: tuple[str, ...] = ()
    is_derived: bool = False

    def __repr__(self) -> str:
        return one_line(self)

    def __str__(self) -> str:
        place = "" if self.bytes is None else f" bytes {self.bytes[0]}-{self.bytes[1]}"
        of = "" if self.rows is None else f", rows {self.rows[0]}-{self.rows[1] - 1}"
        of += f" of {', '.join(self.columns)}" if self.columns else ""
        note = "; nothing is lost" if self.is_derived else ""
        return f"{self.file}{place}{of}: {self.reason}{note}"


@dataclass(frozen=True, repr=False)
class Report:
    """The result of `Store.verify`.

    Parameters
    ----------
    number : int or None
        Of the state that was looked at, None where no manifest can be read, or there is
        no collection.
    n_rows, n_bytes : int
        Rows that live, and bytes that were read.
    damages : tuple of Damage
    """

    number: int | None
    n_rows: int
    n_bytes: int
    damages: tuple[Damage, ...] = ()

    def __repr__(self) -> str:
        return one_line(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {**asdict(self), "damages": [asdict(each) for each in self.damages]}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Return a report from the values of `to_dict`, which JSON may have held."""
        damages = tuple(Damage(**_with_tuples(each)) for each in values["damages"])
        return cls(**{**values, "damages": damages})

    @property
    def is_intact(self) -> bool:
        """True where nothing is damaged."""
        return not self.damages

    def __str__(self) -> str:
        if self.is_intact and self.number is None:
            return f"{self.n_bytes:,} bytes are intact; there is no collection"
        if self.is_intact:
            return f"{self.n_rows:,} rows in {self.n_bytes:,} bytes are intact"
        return "\n".join(str(damage) for damage in self.damages)


def _with_tuples(values: dict[str, Any]) -> dict[str, Any]:
    return {x: tuple(y) if isinstance(y, list) else y for x, y in values.items()}


def newest_readable(disk: Disk) -> tuple[Manifest | None, list[Damage], int]:
    """Return the newest state, from its manifest or the copy of it.

    Also what is damaged of these, and the largest number of a state that there is. The
    state is None where neither can be read. Raises ArtefactError where there is
    neither a manifest, damaged or not, nor a segment, or one of another version.
    """
    names = disk.names()
    numbers = {*manifest_numbers(names), *manifest_numbers(names, "copy")}
    if not numbers:
        if not has_segments(names):
            newest_number(disk)  # says that there is no collection
        return None, [Damage(str(disk.folder), "all of its manifests are missing")], 0
    top = max(numbers)
    name, copy = manifest_name(top), copy_name(top)
    manifest, damages = _state(disk, name, top)
    if copy not in names:  # the process ended before it wrote one
        return manifest, damages, top
    if manifest is None:
        manifest, damages_of_copy = _state(disk, copy, top)
        return manifest, damages + damages_of_copy, top
    if bytes(disk.map(copy)) != bytes(disk.map(name)):
        path, reason = str(disk.folder / copy), "it differs from the manifest"
        damages.append(Damage(path, reason, is_derived=True))
    return manifest, damages, top


def _state(disk: Disk, name: str, number: int) -> tuple[Manifest | None, list[Damage]]:
    path = str(disk.folder / name)
    try:
        manifest = Manifest.from_bytes(disk.map(name), path)
    except FileNotFoundError:
        return None, [Damage(path, "it is missing")]
    except ArtefactError as error:
        return None, [_damage_of(path, error)]
    if manifest.number != number:
        return None, [Damage(path, f"it is that of number {manifest.number}")]
    return manifest, []


def _damage_of(path: str, error: Exception, *, is_derived: bool = False) -> Damage:
    """Return what an error of a whole file says."""
    reason = str(error).removeprefix(path).removesuffix(f"; {REPAIR}")
    return Damage(path, f"it{reason}", is_derived=is_derived)


def verified(disk: Disk, manifest: Manifest | None, damages: list[Damage]) -> Report:
    """Read all files of a state, and go on after whatever is damaged.

    There is no state where no manifest can be read; `damages` are those of manifests.
    """
    if manifest is None:
        return Report(None, 0, 0, tuple(damages))
    n_bytes = 0
    for entry in manifest.segments:
        names = [entry.sums_name, *(name for name, _ in entry.arrow_files)]
        names += [entry.ids_name] if has_index(entry) else []
        for name in (*names, entry.derived_name):
            with contextlib.suppress(OSError):
                n_bytes += disk.size(name)
        of_files = _of_arrow(disk, manifest, entry)
        if not of_files:
            try:
                SegmentFiles(disk, manifest, entry).check_entry()
            except ArtefactError as error:
                path = str(disk.folder / entry.arrow_files[0][0])
                of_files = [_damage_of(path, error)]
        damages = [*damages, *of_files]
        try:
            read_deletes(disk, entry)
        except ArtefactError as error:
            damage = _damage_of(str(disk.folder / entry.deletes_name), error)
            effect = f"{entry.n_rows - entry.n_live:,} deletes depend on it"
            damages.append(replace(damage, reason=f"{damage.reason}; {effect}"))
        damages += damaged_derived(disk, entry)
    return Report(manifest.number, manifest.n_live, n_bytes, tuple(damages))


def damaged_derived(disk: Disk, entry: SegmentEntry) -> list[Damage]:
    """Return what is damaged of the files beside a segment that can be made again."""
    damages = []

    def check(name: str, read: Callable[[], Any]) -> None:
        path = str(disk.folder / name)
        try:
            read()
        except FileNotFoundError:
            return
        except ArtefactError as error:
            damages.append(_damage_of(path, error, is_derived=True))
        except OSError as error:
            reason = f"it cannot be read: {error.strerror}"
            damages.append(Damage(path, reason, is_derived=True))

    if has_index(entry):
        check(entry.ids_name, lambda: read_index(disk, entry).check_all())
    check(entry.derived_name, lambda: read_derived(disk, entry))
    return damages


def _of_arrow(disk: Disk, manifest: Manifest, entry: SegmentEntry) -> list[Damage]:
    """Return what is damaged of the files of rows and vectors, and of their sums."""
    damages: list[Damage] = []
    sums: list[FileSums | None]
    try:
        sums = [*read_sums(disk, entry)]
    except ArtefactError as error:
        path = str(disk.folder / entry.sums_name)
        damages.append(_damage_of(path, error))
        sums = [None] * 2
    schemas = segment_schemas(manifest, has_rows=entry.has_rows)
    for (name, file), known, schema in zip(
        entry.arrow_files, sums, schemas, strict=False
    ):
        path = str(disk.folder / name)
        try:
            data = disk.map(name)
        except FileNotFoundError:
            damages.append(Damage(path, "it is missing"))
            continue
        if len(data) != file.n_bytes:
            reason = f"it is {len(data):,} bytes long instead of {file.n_bytes:,}"
            damages.append(Damage(path, reason))
        elif known is not None:
            damages += _of_blocks(path, data, known, schema, entry.n_rows)
        elif sum_of_sums(block_sums(data)) != file.crc:
            damages.append(Damage(path, "nothing says which of its blocks are intact"))
    return damages


def _of_blocks(
    path: str, data: Any, known: FileSums, schema: Any, n_rows: int
) -> list[Damage]:
    """Return each damaged block of an Arrow file, with the rows and columns in it."""
    import pyarrow as pa

    bad = np.flatnonzero(block_sums(data) != known.sums).tolist()
    start, stop = known.body
    if any(b * BLOCK < start or (b + 1) * BLOCK > stop for b in bad):
        data = known.head + bytes(data[start:stop]) + known.tail
    buffer = pa.py_buffer(data)
    try:
        batch = only_batch(buffer, schema, n_rows, path, validate=not bad)
    except ArtefactError as error:
        return [_damage_of(path, error)]
    damages = []
    for block in bad:
        first, last = block * BLOCK, min((block + 1) * BLOCK, known.n_bytes)
        at = buffer.address + first, buffer.address + last
        spans = {
            name: span
            for name, column in zip(batch.schema.names, batch.columns, strict=True)
            if (span := _rows_in(column, *at)) is not None
        }
        rows = None
        if spans:
            starts, stops = zip(*spans.values(), strict=True)
            rows = min(starts), max(stops)
        reason = "its checksum does not match"
        damages.append(Damage(path, reason, (first, last), rows, tuple(spans)))
    return damages


def _rows_in(column: Any, start: int, stop: int) -> tuple[int, int] | None:
    """Return the range of rows whose values lie between two addresses in memory.

    Of nested types, all rows; None where there are none.
    """
    n, kind, buffers = len(column), column.type, column.buffers()
    offset_size, n_bits = bytes_of_offset(kind), _bits_of_row(kind)
    spans = []
    for i, buffer in enumerate(buffers):
        if buffer is None or buffer.address >= stop:
            continue
        first = max(start - buffer.address, 0)
        last = min(stop - buffer.address, buffer.size)
        if first >= last:
            continue
        if i == 0:  # a bit tells whether there is a value
            spans.append((8 * first, 8 * last))
        elif offset_size and i == 1:
            spans.append((first // offset_size - 1, -(-last // offset_size)))
        elif offset_size:
            offsets = np.frombuffer(buffers[1], f"<i{offset_size}", n + 1)
            low = np.searchsorted(offsets[1:], first, "right")
            spans.append((int(low), int(np.searchsorted(offsets[:-1], last))))
        elif n_bits and i == len(buffers) - 1:
            spans.append((8 * first // n_bits, -(-8 * last // n_bits)))
        else:
            spans.append((0, n))
    clipped = [(max(0, a), min(b, n)) for a, b in spans]
    clipped = [(a, b) for a, b in clipped if a < b]
    if not clipped:
        return None
    return min(a for a, _ in clipped), max(b for _, b in clipped)


def _bits_of_row(kind: Any) -> int:
    """Return the bits of a value of a type of one width, 0 for others."""
    from pyarrow import types

    if types.is_fixed_size_list(kind):
        return int(kind.list_size) * _bits_of_row(kind.value_type)
    if types.is_dictionary(kind):
        return int(kind.index_type.bit_width)
    try:
        return int(kind.bit_width)
    except ValueError:
        return 0
