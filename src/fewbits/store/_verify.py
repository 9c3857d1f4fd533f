"""Every byte of a collection compared with its checksum."""

import contextlib
import errno
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np

from fewbits._repr import short_repr
from fewbits.errors import ArtefactError
from fewbits.store._deletes import read_deletes
from fewbits.store._disk import Disk
from fewbits.store._manifest import (
    BLOCK,
    REPAIR,
    Manifest,
    SegmentEntry,
    UpdateEntry,
    check_ours,
    has_segments,
    manifest_name,
    manifest_numbers,
    newest_number,
    read_manifest,
)
from fewbits.store._segment import (
    file_schema,
    has_index,
    offset_width,
    only_batch,
    read_derived,
    read_index,
    read_sums,
)
from fewbits.store._snapshot import Segment
from fewbits.store._sums import FileSums, sum_of_sums, sums_of
from fewbits.store._updates import read_update


@dataclass(frozen=True, repr=False)
class Damage:
    """One damaged block, or file, that cannot be made again from others.

    Parameters
    ----------
    file : str
    reason : str
    bytes : (int, int) or None
        The range of the block; None for the whole file.
    positions : (int, int) or None
        Those in the segment, the last not included, whose values lie in it, wholly or
        in part; None where there are none, or it is unknown.
    columns : tuple of str
        The columns that have values there.
    """

    file: str
    reason: str
    bytes: tuple[int, int] | None = None
    positions: tuple[int, int] | None = None
    columns: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return short_repr(self)

    def __str__(self) -> str:
        place = "" if self.bytes is None else f" bytes {self.bytes[0]}-{self.bytes[1]}"
        of = ""
        if self.positions is not None:
            of = f", positions {self.positions[0]}-{self.positions[1] - 1}"
        of += f" of {', '.join(self.columns)}" if self.columns else ""
        return f"{self.file}{place}{of}: {self.reason}"


@dataclass(frozen=True, repr=False)
class Report:
    """The result of `Store.verify`.

    Parameters
    ----------
    number : int or None
        Of the state that was looked at, None where no manifest can be read, or there is
        no collection.
    n_rows, n_bytes : int
        Rows that live, and bytes of the files that were read.
    damages : tuple of Damage
    unreadable : tuple of str
        A line for each file that the disk, or its rights, kept from being read. What it
        holds is not known to be damaged.
    to_rebuild : tuple of str
        Files that are not as they should be, and that `repair` makes again from others,
        as after a loss of power. Nothing is lost with them.
    """

    number: int | None
    n_rows: int
    n_bytes: int
    damages: tuple[Damage, ...] = ()
    unreadable: tuple[str, ...] = ()
    to_rebuild: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return short_repr(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {**asdict(self), "damages": [asdict(damage) for damage in self.damages]}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Return a report from the values of `to_dict`, which JSON may have held."""
        damages = []
        for damage in map(_with_tuples, values["damages"]):
            damage.setdefault("positions", damage.pop("rows", None))  # its former name
            damages.append(Damage(**damage))
        return cls(**_with_tuples({**values, "damages": damages}))

    @property
    def is_intact(self) -> bool:
        """True where all was read and nothing is damaged."""
        return not self.problems

    @property
    def problems(self) -> list[str]:
        """A line for each damage, and for each file that could not be read."""
        return [*map(str, self.damages), *self.unreadable]

    def check_all_read(self, folder: Path) -> None:
        """Refuse to repair a folder of which a file could not be read."""
        if self.unreadable:
            raise OSError(
                errno.EIO,
                f"{self.unreadable[0]}; nothing was repaired: try again, or copy what "
                "can be read to another disk and repair that",
                str(folder),
            )

    def __str__(self) -> str:
        rows = "; there is no collection" if self.number is None else ""
        of = "" if self.number is None else f"{self.n_rows:,} rows in "
        lines = self.problems or [f"{of}{self.n_bytes:,} bytes are intact{rows}"]
        names = [
            f"{path}: to be rebuilt, which 'fewbits verify --repair' does; nothing is "
            "lost"
            for path in self.to_rebuild
        ]
        return "\n".join([*lines, *names])


def _with_tuples(values: dict[str, Any]) -> dict[str, Any]:
    return {x: tuple(y) if isinstance(y, list) else y for x, y in values.items()}


class Findings:
    """What is wrong with files, one after the other."""

    def __init__(self) -> None:
        self.damages: list[Damage] = []
        self.unreadable: list[str] = []

    @contextlib.contextmanager
    def reading(
        self, path: Path, effect: str = "", columns: tuple[str, ...] = ()
    ) -> Iterator[None]:
        """Note what an error in the block says of a file, and go on after it."""
        try:
            yield
        except FileNotFoundError:
            reason = f"it is missing{effect}"
            self.damages.append(Damage(str(path), reason, columns=columns))
        except OSError as error:
            self.unreadable.append(f"{path} could not be read: {error.strerror}")
        except ArtefactError as error:
            text = str(error).removesuffix(f"; {REPAIR}")
            # Errors of rows name a file by its absolute path.
            rest = text.removeprefix(str(path.absolute())).removeprefix(str(path))
            reason = f"{text if rest == text else f'it{rest}'}{effect}"
            self.damages.append(Damage(str(path), reason, columns=columns))


def newest_readable(disk: Disk) -> tuple[Manifest | None, Findings, int]:
    """Return the newest state, from its manifest or the copy of it.

    Also what is wrong with these, and the largest number of a state that there is. The
    state is None where neither can be read. Raises ArtefactError where there is
    neither a manifest, damaged or not, nor a segment, and NewerFormatError where there
    is one that needs a newer fewbits.
    """
    names, findings = disk.names(), Findings()
    numbers = {*manifest_numbers(names), *manifest_numbers(names, "copy")}
    if not numbers:
        if not has_segments(names):
            newest_number(disk)  # says that there is no collection
        reason = "all of its manifests are missing"
        findings.damages.append(Damage(str(disk.folder), reason))
        return None, findings, 0
    top = max(numbers)
    # There is no copy where the process ended before it wrote one.
    has_copy = manifest_name(top, "copy") in names
    for kind in ("manifest", "copy") if has_copy else ("manifest",):
        with findings.reading(disk.folder / manifest_name(top, kind)):
            manifest = read_manifest(disk, top, kind)
            check_ours(disk, manifest)
            return manifest, findings, top
    return None, findings, top


def verify_store(disk: Disk, manifest: Manifest | None, findings: Findings) -> Report:
    """Read all files of a state, and go on after whatever is wrong.

    There is no state where no manifest can be read; `findings` are of manifests.
    """
    if manifest is None:
        problems = tuple(findings.damages), tuple(findings.unreadable)
        return Report(None, 0, 0, *problems)
    names: set[str] = set()
    seen: set[SegmentEntry | UpdateEntry] = set()  # read once, though states share it
    states = [*tagged_states(disk, manifest, findings), manifest]
    for state, entry in ((x, y) for x in states for y in x.segments):
        names |= {*entry.names(), entry.name("mih")}
        names |= {entry.name("ids")} if has_index(entry) else set()
        written = replace(
            entry,
            n_live=entry.n_rows,
            deletes=None,
            deleted=(),
            updates=(),
            absent=(),
            schema="",
        )
        if written not in seen:
            _read_rows(disk, state, entry, findings)
        n_deletes = entry.n_rows - entry.n_live - len(entry.deleted)
        effect = f"; {n_deletes:,} deletes depend on it"
        with findings.reading(disk.folder / entry.name("del"), effect):
            read_deletes(disk, entry)
        for update in (x for x in entry.updates if x not in seen):
            effect = f"; it has the values of {update.n_rows:,} rows"
            path = disk.folder / update.name
            with findings.reading(path, effect, update.columns):
                read_update(disk, state, entry, update)
        seen |= {written, *entry.updates}
    n_bytes = 0
    for name in names:
        with contextlib.suppress(OSError):
            n_bytes += disk.size(name)
    return Report(
        manifest.number,
        manifest.n_live,
        n_bytes,
        tuple(dict.fromkeys(findings.damages)),
        tuple(dict.fromkeys(findings.unreadable)),
        tuple(str(disk.folder / name) for name in stale_files(disk, manifest)),
    )


def _read_rows(
    disk: Disk, state: Manifest, entry: SegmentEntry, findings: Findings
) -> None:
    """Read the files of rows and vectors, and compare them with their manifest."""
    n_before = len(findings.damages) + len(findings.unreadable)
    _read_arrow(disk, state, entry, findings)
    if len(findings.damages) + len(findings.unreadable) == n_before:
        path = disk.folder / entry.name("seg")
        with findings.reading(path):
            if wrong := _contradiction(Segment(disk, state, entry)):
                raise ArtefactError(
                    f"{path} is damaged: its manifest says otherwise of {wrong}"
                )


def _contradiction(segment: Segment) -> str:
    """Return in what the rows are not what the manifest says of them."""
    entry, rows = segment.entry, segment.row_numbers
    if [entry.first, entry.last] != [rows[0], rows[-1]]:
        return "row numbers"
    if entry.id_range is None:
        return ""
    ids = segment.ids.to_numpy()
    if entry.id_range != (ids.min(), ids.max()):
        return "the smallest and the largest id"
    is_told = entry.ids_rise and not (ids[1:] > ids[:-1]).all()
    return "the order of ids" if is_told else ""


def tagged_states(disk: Disk, manifest: Manifest, findings: Findings) -> list[Manifest]:
    """Return the older states that have names, as far as they can be read."""
    states = []
    for number in sorted({*manifest.tags.values()} - {manifest.number}):
        with findings.reading(disk.folder / manifest_name(number)):
            states.append(read_manifest(disk, number))
    return states


def stale_files(disk: Disk, manifest: Manifest) -> list[str]:
    """Return the files of a state that can be made again, and have to be."""
    names = []

    def check(name: str, read: Callable[[], Any]) -> None:
        try:
            read()
        except FileNotFoundError:
            pass  # as where a process ended before it wrote one
        except (ArtefactError, OSError):
            names.append(name)

    name, copy = (manifest_name(manifest.number, x) for x in ("manifest", "copy"))

    def compare() -> None:
        if disk.read(copy) != disk.read(name):
            raise ArtefactError(f"{copy} differs from the manifest")

    with contextlib.suppress(ArtefactError, OSError):
        read_manifest(disk, manifest.number)  # a state replaces one that is damaged
        check(copy, compare)
    for entry in manifest.segments:
        if has_index(entry):
            check(entry.name("ids"), partial(read_index, disk, entry, whole=True))
        check(entry.name("mih"), partial(read_derived, disk, entry))
    return names


def _read_arrow(
    disk: Disk, manifest: Manifest, entry: SegmentEntry, findings: Findings
) -> None:
    """Read the files of rows and vectors, and of their sums."""
    sums: dict[str, FileSums] = {}
    with findings.reading(disk.folder / entry.name("sum")):
        sums = read_sums(disk, entry)
    for kind, file in entry.arrow_files.items():
        path = disk.folder / entry.name(kind)
        with findings.reading(path):
            data = disk.map(path.name)
            if len(data) != file.n_bytes:
                raise ArtefactError(
                    f"{path} is {len(data):,} bytes long instead of {file.n_bytes:,}"
                )
            if kind in sums:
                schema = manifest.stored_schema(entry)
                schema = file_schema(manifest, kind, entry.has_rows, schema)
                findings.damages += _of_blocks(
                    str(path), data, sums[kind], schema, entry.n_rows
                )
            elif sum_of_sums(sums_of(data)) != file.crc:
                reason = "nothing says which of its blocks are intact"
                findings.damages.append(Damage(str(path), reason))


def _of_blocks(
    path: str, data: Any, sums: FileSums, schema: Any, n_rows: int
) -> list[Damage]:
    """Return each damaged block of an Arrow file, with the rows and columns in it."""
    import pyarrow as pa

    bad = np.flatnonzero(sums_of(data) != sums.sums).tolist()
    # The frame: what Arrow writes before and behind the values. A file whose sums stand
    # in the manifest has no copy of it.
    if bad and not sums.head:
        place = (0, sums.n_bytes), (0, n_rows), tuple(schema.names)
        return [Damage(path, "its checksum does not match", *place)]
    start, stop = sums.body
    if any(b * BLOCK < start or (b + 1) * BLOCK > stop for b in bad):
        data = sums.head + bytes(data[start:stop]) + sums.tail
    buffer = pa.py_buffer(data)
    batch = only_batch(buffer, schema, n_rows, path, validate=not bad)
    damages = []
    for block in bad:
        first, last = block * BLOCK, min((block + 1) * BLOCK, sums.n_bytes)
        at = buffer.address + first, buffer.address + last
        spans = {
            name: span
            for name, column in zip(batch.schema.names, batch.columns, strict=True)
            if (span := _positions_in(column, *at)) is not None
        }
        positions = None
        if spans:
            starts, stops = zip(*spans.values(), strict=True)
            positions = min(starts), max(stops)
        reason = "its checksum does not match"
        damages.append(Damage(path, reason, (first, last), positions, tuple(spans)))
    return damages


def _positions_in(column: Any, start: int, stop: int) -> tuple[int, int] | None:
    """Return the range of positions whose values lie between two addresses in memory.

    Of nested types, all; None where there are none.
    """
    n, kind, buffers = len(column), column.type, column.buffers()
    offset_size, n_bits = offset_width(kind), _bits_of_row(kind)
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
