"""Reading a segment that may be damaged: its damaged blocks, and its intact rows."""

import contextlib
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits.errors import ArtefactError
from fewbits.store._blocks import BLOCK, block_sums, crc32c
from fewbits.store._derived import read_derived
from fewbits.store._disk import Disk
from fewbits.store._flipped import flipped_bit
from fewbits.store._ids import IdIndex
from fewbits.store._lost import lost_rows
from fewbits.store._manifest import FileEntry, Manifest, SegmentEntry
from fewbits.store._names import (
    derived_name,
    ids_name,
    rows_name,
    sums_name,
    vectors_name,
)
from fewbits.store._report import Damage
from fewbits.store._schema import OF_VECTORS, ROW, file_schema
from fewbits.store._segment import FEW_ROWS, arrow_frame, only_batch
from fewbits.store._sums import FileSums, lenient_sums, parse_sums

Mask = NDArray[np.bool_]


class SalvagedFile:
    """An Arrow file of which some blocks may be damaged.

    Parameters
    ----------
    data : bytes-like
    known : FileSums
        Whose length the data must have.
    schema : pyarrow.Schema
    n_rows : int
    name : str
    mends : bool, default=False
        Put a single bit that was flipped in a block back.
    """

    def __init__(
        self,
        data: Any,
        known: FileSums,
        schema: Any,
        n_rows: int,
        name: str,
        *,
        mends: bool = False,
    ) -> None:
        import pyarrow as pa

        self.n_rows, self.name = n_rows, name
        if len(data) != known.n_bytes:
            data = bytes(data[: known.n_bytes]).ljust(known.n_bytes, b"\0")
        bad = np.flatnonzero(block_sums(data) != known.sums).tolist()
        self.n_mended = len(bad)
        if mends and bad:
            data, bad = _mended(data, known.sums, bad)
        self.n_mended -= len(bad)
        self.ranges = [(b * BLOCK, min((b + 1) * BLOCK, known.n_bytes)) for b in bad]
        start, stop = known.body
        if any(first < start or last > stop for first, last in self.ranges):
            data = known.head + bytes(data[start:stop]) + known.tail
        buffer = pa.py_buffer(data)
        self._base = buffer.address
        self.batch = only_batch(buffer, schema, n_rows, name, validate=False)

    def lost(self, name: str) -> Mask:
        """Return which rows of a column lie in damaged blocks."""
        return lost_rows(self.batch.column(name), self._damaged(self.ranges))

    def damages(self) -> list[Damage]:
        """Return a report of each damaged block."""
        return [self._damage(each) for each in self.ranges]

    def _damage(self, block: tuple[int, int]) -> Damage:
        columns, rows = [], np.zeros(self.n_rows, np.bool_)
        for name in self.batch.schema.names:
            lost = lost_rows(self.batch.column(name), self._damaged([block]))
            rows |= lost
            columns += [name] if lost.any() else []
        places = np.flatnonzero(rows)
        span = (int(places[0]), int(places[-1]) + 1) if len(places) else None
        reason = "its checksum does not match"
        return Damage(self.name, reason, block, span, tuple(columns))

    def _damaged(self, ranges: list[tuple[int, int]]) -> Any:
        def inside(buffer: Any) -> list[tuple[int, int]]:
            start, size = buffer.address - self._base, buffer.size
            cut = [(max(a - start, 0), min(b - start, size)) for a, b in ranges]
            return [(a, b) for a, b in cut if a < b]

        return inside


def _mended(data: Any, sums: Any, bad: list[int]) -> tuple[Any, list[int]]:
    """Return the bytes, single flipped bits put back, and the blocks still damaged."""
    mended, left = bytearray(data), []
    for block in bad:
        start = block * BLOCK
        found = flipped_bit(data[start : start + BLOCK], int(sums[block]))
        if found is None:
            left.append(block)
        else:
            mended[start + found[0]] ^= found[1]
    return bytes(mended), left


class Salvage:
    """A segment, however damaged.

    Parameters
    ----------
    disk : Disk
    manifest : Manifest
        Of whose schema the segment is.
    entry : SegmentEntry
    mends : bool, default=False
        Put single flipped bits back, where verifying only reports them.
    """

    def __init__(
        self,
        disk: Disk,
        manifest: Manifest,
        entry: SegmentEntry,
        *,
        mends: bool = False,
    ) -> None:
        self._disk, self._manifest, self.entry = disk, manifest, entry
        self._mends, self.n_mended = mends, 0
        self.damages: list[Damage] = []
        self.n_bytes = 0
        self._sums = self._read_sums()
        self.rows = self._file(rows_name(entry.token), entry.rows, 0)
        self.vectors = None
        if entry.vectors is not None:
            self.vectors = self._file(vectors_name(entry.token), entry.vectors, 1)
        self._check_index()
        self._check_derived()

    @property
    def is_gone(self) -> bool:
        """True where no row can be read."""
        return self.rows is None

    @cached_property
    def lost_vectors(self) -> Mask:
        """Mask of the rows that had a vector which is lost."""
        lost = np.zeros(self.entry.n_rows, np.bool_)
        if self.entry.vectors is not None and self.vectors is None:
            return ~lost
        for name in OF_VECTORS:
            if self.vectors is not None and name in self._manifest.schema.names:
                lost |= self.vectors.lost(name)
        return lost

    def lost(self, name: str) -> Mask:
        """Return which rows of a column are lost."""
        return self._file_of(name).lost(name)

    def column(self, name: str) -> Any:
        """Return a column; only rows that are not lost may be looked at."""
        return self._file_of(name).batch.column(name)

    @cached_property
    def sequence(self) -> NDArray[np.int64]:
        """The numbers of all rows; lost ones lie evenly between their neighbours."""
        good = np.flatnonzero(~self.lost(ROW))
        numbers = self.column(ROW).to_numpy()
        known = np.concatenate([[self.entry.first], numbers[good], [self.entry.last]])
        places = np.concatenate([[0], good, [self.entry.n_rows - 1]])
        exact: NDArray[np.int64] = numbers.copy()
        for gap in np.flatnonzero(np.diff(places) > 1):
            (at, to), (number, last) = places[gap : gap + 2], known[gap : gap + 2]
            step = (last - number) // (to - at)
            exact[at:to] = number + step * np.arange(to - at, dtype=np.int64)
        exact[places] = known
        return exact

    def _file_of(self, name: str) -> SalvagedFile:
        for file in (self.rows, self.vectors):
            if file is not None and name in file.batch.schema.names:
                return file
        raise KeyError(name)

    def _tell(self, name: str, reason: str, *, is_derived: bool = False) -> None:
        path = str(self._disk.folder / name)
        self.damages.append(Damage(path, reason, is_derived=is_derived))

    def _read_sums(self) -> list[FileSums]:
        """Return the sums that can be read: each that fits proves a block."""
        name = sums_name(self.entry.token)
        try:
            data = self._disk.map(name)
        except FileNotFoundError:
            self._tell(name, "it is missing")
            return []
        self.n_bytes += len(data)
        try:
            return parse_sums(data, name)
        except ArtefactError:
            self._tell(name, "its checksum does not match")
            return lenient_sums(data)[0]

    def _file(self, name: str, entry: FileEntry, number: int) -> SalvagedFile | None:
        try:
            data = self._disk.map(name)
        except FileNotFoundError:
            self._tell(name, "it is missing")
            return None
        self.n_bytes += len(data)
        if len(data) != entry.n_bytes:
            reason = f"{len(data):,} bytes long instead of {entry.n_bytes:,}"
            self._tell(name, reason)
        m = self._manifest
        schema = file_schema(m.schema, m.n_bits, m.fingerprint, vectors=bool(number))
        known = self._known(data, entry, number)
        if known is None:
            self._tell(name, "nothing says which of its blocks are intact")
            return None
        path = str(self._disk.folder / name)
        try:
            file = SalvagedFile(
                data, known, schema, self.entry.n_rows, path, mends=self._mends
            )
        except ArtefactError as error:
            self._tell(name, f"it{str(error).removeprefix(path)}")
            return None
        self.damages += file.damages()
        self.n_mended += file.n_mended
        return file

    def _known(self, data: Any, entry: FileEntry, number: int) -> FileSums | None:
        import pyarrow as pa

        sums = block_sums(data)
        whole = crc32c(sums.astype("<u4").tobytes()) == entry.crc
        if whole and len(data) == entry.n_bytes:
            # The sums fit what Arrow cannot read where both were forged.
            with contextlib.suppress(pa.ArrowException, OSError, ValueError):
                head, tail = arrow_frame(data)
                return FileSums(sums, head, tail, entry.n_bytes)
        fitting = [f for f in self._sums if f.n_bytes == entry.n_bytes]
        return fitting[min(number, len(fitting) - 1)] if fitting else None

    def _check_index(self) -> None:
        if self.entry.ids_rise or self.entry.n_rows < FEW_ROWS:
            return
        name = ids_name(self.entry.token)
        width = 4 if self.entry.id_range is None else 8
        with contextlib.suppress(FileNotFoundError):
            data = self._disk.map(name)
            self.n_bytes += len(data)
            try:
                token = self.entry.token
                index = IdIndex.from_bytes(data, self.entry.n_rows, width, token, name)
                index.check_all()
            except ArtefactError:
                self._tell(name, "its checksum does not match", is_derived=True)

    def _check_derived(self) -> None:
        name = derived_name(self.entry.token)
        try:
            self.n_bytes += self._disk.size(name)
            read_derived(self._disk, self.entry)
        except FileNotFoundError:
            return
        except ArtefactError as error:
            reason = str(error).partition(" is damaged: ")[2].partition(";")[0]
            self._tell(name, reason, is_derived=True)
        except OSError as error:
            self._tell(name, f"it cannot be read: {error.strerror}", is_derived=True)
