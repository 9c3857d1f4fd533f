"""A damaged collection made whole again from what is intact."""

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits.errors import ArgumentError, ArtefactError
from fewbits.store._deletes import mended_live, write_deletes
from fewbits.store._disk import Disk
from fewbits.store._files import write_file
from fewbits.store._manifest import Manifest, SegmentEntry
from fewbits.store._names import (
    aside_name,
    copy_name,
    deletes_name,
    manifest_name,
    new_token,
)
from fewbits.store._publish import collect, publish
from fewbits.store._report import Repaired
from fewbits.store._rescue import older_state, rescued_state
from fewbits.store._salvage import Salvage
from fewbits.store._schema import CODE, CORRECTION, ID, OF_VECTORS, RESERVED, ROW
from fewbits.store._segment import SegmentFiles
from fewbits.store._snapshot import Part
from fewbits.store._sources import Stored
from fewbits.store._verify import newest_readable, verified

_SHOWN = 1000  # ids of lost rows that are reported


@dataclass
class _Losses:
    n_rows: int = 0
    n_mended: int = 0
    #: The rows that should live in new segments, whose deletes cannot be read.
    n_known: dict[str, int] = field(default_factory=dict)
    ids: list[int | str] = field(default_factory=list)
    n_vectors: int = 0
    #: Rows that are lost for want of their vector alone.
    n_dropped: int = 0
    vector_ids: list[int | str] = field(default_factory=list)
    nulls: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def repaired(disk: Disk, drop_rows: bool = False) -> Repaired:
    """Publish a state of all that is intact. The caller holds the store's lock."""
    manifest, damages, top = newest_readable(disk)
    report = verified(disk, manifest, damages)
    if manifest is not None and report.is_intact:
        return Repaired(report, manifest.number, manifest.n_live)
    losses = _Losses()
    if manifest is None:
        manifest = rescued_state(disk, top)
        none = older_state(disk, disk.names()) is None
        what = "no manifest" if none else "neither the newest manifest nor its copy"
        losses.notes.append(
            f"{what} can be read: rows that were deleted or replaced in the last "
            "commits may be there again"
        )
    base = replace(manifest, number=top)
    _keep_copy(disk, base)
    target = base
    if not drop_rows:
        target = replace(base, schema=_kept_schema(disk, base))
    segments = tuple(_mended(disk, base, target, losses))
    state = _each_once(disk, target.following(segments))
    if losses.n_dropped and not state.n_live:
        raise ArgumentError(
            "no row has an intact vector, so --drop-rows would drop all: without it "
            f"{losses.n_dropped:,} rows stay, and no vectors"
        )
    publish(disk, state)
    if losses.n_mended:
        bits = "flipped bit was" if losses.n_mended == 1 else "flipped bits were"
        losses.notes.append(f"{losses.n_mended:,} {bits} put back")
    if losses.n_dropped:
        losses.notes.append(
            f"{losses.n_dropped:,} of these rows lost only their vector: without "
            "--drop-rows they would have stayed"
        )
    if _put_aside(disk, base.names() - state.names()):
        losses.notes.append(
            "what was replaced stays in the files damaged-*, for other tools to try; "
            "delete them once you no longer need them"
        )
    collect(disk, state, is_durable=True)
    return Repaired(
        report,
        state.number,
        state.n_live,
        losses.n_rows,
        tuple(losses.ids[:_SHOWN]),
        losses.nulls,
        tuple(losses.notes),
        losses.n_vectors,
        tuple(losses.vector_ids[:_SHOWN]),
        _undeleted(state, losses),
    )


def _keep_copy(disk: Disk, base: Manifest) -> None:
    """Write down what is repaired where no name of a file says which state that is.

    A repair that is cut off would take its own new segments for those of the state.
    """
    names = {manifest_name(base.number), copy_name(base.number)}
    if names.isdisjoint(disk.names()):
        write_file(disk, copy_name(base.number), base.to_bytes())
        disk.sync_folder()


def _undeleted(state: Manifest, losses: _Losses) -> int:
    """Return how many deleted rows live again."""
    return sum(
        entry.n_live - losses.n_known[entry.token]
        for entry in state.segments
        if entry.token in losses.n_known
    )


def _kept_schema(disk: Disk, base: Manifest) -> Any:
    """Return the columns that stay: all, or those but vectors where one is lost.

    A collection has vectors of all rows or of none, as ranking by them, or encoding
    them anew, needs all.
    """
    import pyarrow as pa

    if not any(_lacks_vectors(disk, base, entry) for entry in base.segments):
        return base.schema
    fields = [each for each in base.schema if each.name not in OF_VECTORS]
    return pa.schema(fields, base.schema.metadata)


def _put_aside(disk: Disk, names: Iterable[str]) -> bool:
    """Rename files that no state needs, so that they are not collected."""
    kept = False
    for name in sorted(names):
        with contextlib.suppress(OSError):
            disk.publish(name, aside_name(name))
            kept = True
    return kept


def _lacks_vectors(disk: Disk, base: Manifest, entry: SegmentEntry) -> bool:
    """Return whether a row of a segment is there, and its vector is not."""
    salvage = Salvage(disk, base, entry, mends=True)
    if salvage.is_gone or not salvage.lost_vectors.any():
        return False
    there = salvage.lost_vectors & ~_lost(salvage, base.schema)
    with contextlib.suppress(ArtefactError):
        live, _ = mended_live(disk, entry)
        there &= True if live is None else live
    return bool(there.any())


def _mended(
    disk: Disk, base: Manifest, target: Manifest, losses: _Losses
) -> Iterator[SegmentEntry]:
    """Yield each segment, written anew from its intact rows where it is damaged."""
    changes = target.schema is not base.schema
    for entry in base.segments:
        salvage = Salvage(disk, base, entry, mends=True)
        live, mended, forgot = None, False, False
        try:
            live, mended = mended_live(disk, entry)
        except ArtefactError:
            forgot = True
        n_mended = salvage.n_mended + mended
        losses.n_mended += n_mended
        if not (salvage.damages or n_mended or forgot or changes):
            yield entry
        elif salvage.is_gone or not entry.n_live:
            losses.n_rows += entry.n_live
        else:
            n_known = entry.n_live + losses.n_rows
            table = _intact(salvage, live, target.schema, losses)
            if len(table):
                made = SegmentFiles(disk, target).write(table, new_token())
                if forgot:
                    losses.n_known[made.token] = n_known - losses.n_rows
                yield made


def _intact(
    salvage: Salvage, live: NDArray[np.bool_] | None, schema: Any, losses: _Losses
) -> Any:
    """Return the rows that can be kept, with nulls where a value is lost."""
    import pyarrow as pa

    lost, lost_id = _lost(salvage, schema), salvage.lost(ID)
    there = np.ones(len(lost), np.bool_) if live is None else live
    if any(name in schema.names for name in OF_VECTORS):
        losses.n_dropped += int((there & salvage.lost_vectors & ~lost).sum())
        lost |= salvage.lost_vectors
    kept = np.flatnonzero(there & ~lost)
    losses.n_rows += int(np.count_nonzero(there & lost))
    known = pa.array(np.flatnonzero(there & lost & ~lost_id)[:_SHOWN])
    losses.ids += salvage.column(ID).take(known).to_pylist()
    bare = kept[salvage.lost_vectors[kept]]
    losses.n_vectors += len(bare)
    losses.vector_ids += salvage.column(ID).take(pa.array(bare[:_SHOWN])).to_pylist()
    columns = {ROW: pa.array(salvage.sequence[kept])}
    for name in schema.names if len(kept) else ():
        gaps = salvage.lost(name)[kept]
        columns[name] = salvage.column(name).take(pa.array(kept, mask=gaps))
        if gaps.any():
            losses.nulls[name] = losses.nulls.get(name, 0) + int(gaps.sum())
    return pa.table(columns)


def _lost(salvage: Salvage, schema: Any) -> NDArray[np.bool_]:
    """Return which rows cannot be kept."""
    lost = salvage.lost(ID) | salvage.lost(CODE)
    if CORRECTION in schema.names:
        lost |= salvage.lost(CORRECTION)
    for each in schema:
        if each.name not in RESERVED and not each.nullable:
            lost |= salvage.lost(each.name)
    return lost


def _each_once(disk: Disk, state: Manifest) -> Manifest:
    """Return the state without rows whose ids are there again in a later row."""
    sources = [Stored(Part(disk, state, entry)) for entry in state.segments]
    for i, later in enumerate(sources):
        for earlier in sources[:i]:
            earlier.delete(later.living()[ID].combine_chunks())
    segments = []
    for source in sources:
        entry = source.part.entry
        if source.changed and source.live is not None:
            with contextlib.suppress(FileNotFoundError):  # of a repair cut off
                disk.remove(deletes_name(entry.token, state.number))
            write_deletes(disk, entry.token, state.number, source.live)
            entry = replace(entry, n_live=source.n_live, deletes=state.number)
        segments += [entry] if source.n_live else []
    return replace(state, segments=tuple(segments))
