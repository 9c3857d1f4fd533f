"""A collection of rows in a folder."""

import contextlib
import json
import logging
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from typing import Any, Self, cast
from weakref import WeakValueDictionary

from fewbits.errors import ArgumentError, ArtefactError, LockedError, NewerFormatError
from fewbits.store._disk import Disk
from fewbits.store._lock import FileLock
from fewbits.store._manifest import (
    KINDS,
    LOCK,
    Manifest,
    check_ours,
    collect,
    is_own,
    kind_of,
    manifest_name,
    manifest_numbers,
    newest_manifest,
    newest_number,
    publish,
    read_manifest,
)
from fewbits.store._memory import MemoryDisk
from fewbits.store._repair import RepairReport, repair_store
from fewbits.store._snapshot import FileCache, Snapshot
from fewbits.store._verify import Report, newest_readable, verify_store
from fewbits.store._writer import FULL, Writer

_PAUSE = 0.02  # seconds between two attempts to lock
_SILENT = 1.0  # seconds of waiting, after which a line says for whom
_LOG = logging.getLogger(__name__)


class Store:
    """Rows on disk that grow and shrink, and lose nothing when a machine stops.

    One process writes at a time, any number read. A reader holds a `Snapshot`, one
    state, for as long as it likes. One that is there is opened by its folder, or by a
    disk that simulates one; nothing is read, written or locked until it is asked for.
    """

    def __init__(self, disk: Disk | Path | str) -> None:
        self._disk = Disk(Path(disk)) if isinstance(disk, str | Path) else disk
        self._cache: FileCache = WeakValueDictionary()

    def __repr__(self) -> str:
        return f"Store({str(self._disk.folder)!r})"

    @classmethod
    def create(
        cls,
        folder: str | Path | None,
        schema: Any,
        *,
        n_bits: int,
        fingerprint: str,
        number: int = 0,
        next_id: int = 0,
    ) -> Self:
        """Begin an empty collection.

        Parameters
        ----------
        folder : str, Path or None
            Made where it is not there. Other files in it are left alone. None for a
            store in memory.
        schema : pyarrow.Schema
            Columns ``_id`` (int64 or large_string), ``_code`` (fixed-size binary),
            perhaps ``_correction`` (fixed-size binary of 2 bytes), ``_vector`` and
            ``_blocks`` (fixed-size lists), and the user's.
        n_bits : int
            Bits of a code.
        fingerprint : str
            Of the encoder that codes are from.
        number : int, default=0
            Of the first, empty state; those of others follow.
        next_id : int, default=0
            The first id that is given to a row without one.

        Examples
        --------
        >>> import tempfile
        >>> import pyarrow as pa
        >>> schema = pa.schema({"_id": pa.int64(), "_code": pa.binary(1)})
        >>> folder = tempfile.mkdtemp()
        >>> store = Store.create(folder, schema, n_bits=8, fingerprint="of what")
        >>> with store.writer() as writer:
        ...     codes = pa.array([b"a", b"b"], pa.binary(1))
        ...     ids = writer.append(pa.table({"_code": codes}))
        ...     writer.commit()
        1
        >>> store.snapshot().n_live
        2
        """
        store = cls(cast("Disk", MemoryDisk()) if folder is None else folder)
        disk = store._disk
        first = Manifest(number, schema, n_bits, fingerprint, 0, next_id, ())
        disk.make_folder()
        disk.sync_parent()
        with store._locked(60.0):
            names = [name for name in disk.names() if is_own(name)]
            # A process that ended while it made a store leaves a draft behind.
            if any(not name.startswith("draft-") for name in names):
                raise ArtefactError(f"{disk.folder} holds a collection already")
            publish(disk, first)
            collect(disk, first, is_durable=True)
        return store

    @property
    def folder(self) -> Path:
        return self._disk.folder

    @property
    def disk(self) -> Disk:
        """Its files."""
        return self._disk

    def numbers(self) -> list[int]:
        """Return the numbers of the states that are still there, rising.

        That of a new store, before any rows came, is none of them.
        """
        names = set(self._disk.names())
        *older, newest = manifest_numbers(names)
        whole = []
        for number in older:
            try:
                manifest = read_manifest(self._disk, number)
                if manifest.next_row > 0 and manifest.names() <= names:
                    whole.append(number)
            except NewerFormatError:
                whole.append(number)  # it is there, though `snapshot` refuses it
            except (ArtefactError, FileNotFoundError):
                pass
        return [*whole, newest]

    def tags(self) -> dict[str, int]:
        """Return the names of states that stay, with their numbers."""
        return dict(newest_manifest(self._disk).tags)

    def tag_times(self) -> dict[str, datetime]:
        """Return when states got their names, as far as this is known."""
        times = newest_manifest(self._disk).tag_times
        return {
            name: datetime.fromtimestamp(at, UTC) for name, (_, at) in times.items()
        }

    def newest(self) -> int:
        """Return the number of the newest state, by the names of files alone."""
        return newest_number(self._disk)

    def snapshot(self, number: int | None = None) -> Snapshot:
        """Return one state, or the newest, which no writer takes away while it is held.

        Raises ArgumentError where there is no such state any more.
        """
        missing = None
        while True:
            newest = newest_number(self._disk)
            target = newest if number is None else number
            with contextlib.suppress(FileNotFoundError):
                lock = self._disk.lock(manifest_name(target), shared=True)
                if lock is None:  # it is being removed, or checked for readers
                    time.sleep(_PAUSE)
                    continue
                is_newest = target == newest_number(self._disk)
                manifest = read_manifest(self._disk, target)
                if is_newest:
                    check_ours(self._disk, manifest)
                # What the newest state lacks is damage, which is found when it is read.
                if is_newest or manifest.names() <= {*self._disk.names()}:
                    return Snapshot(self._disk, manifest, lock, self._cache)
                lock.release()  # its files are gone already
            if target != newest:
                raise ArgumentError(
                    f"version {number} of {self.folder} is gone; the newest is {newest}"
                )
            if missing == newest:  # a newer one would have taken its place
                path = self.folder / manifest_name(newest)
                raise ArtefactError(f"{path} is a broken link")
            missing = newest

    @contextmanager
    def writer(
        self,
        timeout: float | None = 60.0,
        *,
        segment_bytes: int = FULL,
        name: Path | None = None,
        check: Callable[[], None] | None = None,
    ) -> Iterator[Writer]:
        """Open the collection for changes; other writers wait.

        Parameters
        ----------
        timeout : float or None, default=60.0
            Seconds to wait while another process writes, before LockedError; None waits
            without end. After a second, a line of the log says which process it is.
        segment_bytes : int, default=2**28
            Bytes of rows that are gathered in memory, and of the largest segment.
        name : Path, default=None
            What messages about the lock call the store; None for its folder.
        check : callable, default=None
            Called once the lock is held, before anything is removed; it may raise.
        """
        with self._locked(inf if timeout is None else timeout, name) as lock:
            if check is not None:
                check()
            writer = Writer(self._disk, lock, segment_bytes, self._cache)
            try:
                writer.pending().check_lengths()
                yield writer
            finally:
                writer.close()

    def verify(self) -> Report:
        """Compare every byte of the newest state that can be read with its checksum."""
        manifest, findings, _ = newest_readable(self._disk)
        try:
            snapshot = self.snapshot()
        except (ArtefactError, OSError):  # such a store cannot be written to
            return verify_store(self._disk, manifest, findings)
        with snapshot:
            return verify_store(self._disk, snapshot.manifest, findings)

    def repair(
        self,
        timeout: float | None = 60.0,
        *,
        drop_rows: bool = False,
        name: Path | None = None,
    ) -> RepairReport:
        """Make a new state of all that stands on a checksum, and say what is lost.

        A single bit that was flipped in a block is put back: its checksum tells which.
        What can be made again is: manifests from their copies, files of sums, indexes
        of ids. Rows whose deletion cannot be read any more are there again. What is
        still damaged stays as it is, unless `drop_rows`: then rows of such segments go,
        values that were changed are those of before, and where the newest state cannot
        be read, an older one takes its place. Files that are replaced or dropped stay
        under names that begin with ``damaged-``. Raises ArtefactError when no state can
        be read; then nothing has changed.
        """
        with self._locked(inf if timeout is None else timeout, name):
            return repair_store(self._disk, drop_rows)

    def copy_to(self, folder: str | Path, snapshot: Snapshot) -> None:
        """Make a new folder that holds one state, by links to files where possible.

        Others may write meanwhile.
        """
        manifest, disk = snapshot.manifest, Disk(Path(folder))
        disk.make_folder()
        disk.sync_parent()
        for name in sorted(manifest.names()):
            disk.take(self.folder, name)
        for segment in manifest.segments:
            for kind in ("ids", "mih"):
                with contextlib.suppress(OSError):
                    disk.take(self.folder, segment.name(kind))
        tags = {name: n for name, n in manifest.tags.items() if n == manifest.number}
        publish(disk, manifest.tagged(tags))

    def n_files(self) -> int:
        """Return how many files the collection has."""
        return sum(is_own(name) or name == LOCK for name in self._disk.names())

    def bytes_by_kind(self) -> dict[str, int]:
        """Return how many bytes the files of each of `KINDS` have."""
        sizes = dict.fromkeys(KINDS, 0)
        for name in self._disk.names():
            if is_own(name):
                sizes[kind_of(name)] += self._disk.size(name)
        return sizes

    @contextmanager
    def _locked(self, timeout: float, name: Path | None = None) -> Iterator[FileLock]:
        """Wait for the lock, and note who has it."""
        name = name or self.folder
        start = time.monotonic()
        end, has_warned = start + timeout, False
        while (lock := self._disk.lock(LOCK, shared=False)) is None:
            if not has_warned and time.monotonic() >= start + _SILENT:
                has_warned = True
                _LOG.warning("waiting: %s is being changed by %s", name, self._holder())
            if time.monotonic() >= end:
                raise LockedError(
                    f"{name} is being changed by {self._holder()}; waited {timeout:g} s"
                )
            time.sleep(min(_PAUSE, max(0.0, end - time.monotonic())))
        since = datetime.now(UTC).isoformat(timespec="seconds")
        holder = {"pid": os.getpid(), "host": socket.gethostname(), "since": since}
        try:
            lock.note(json.dumps(holder).encode())
            yield lock
        finally:
            lock.note(b"")
            lock.release()

    def _holder(self) -> str:
        try:
            note = json.loads(self._disk.read(LOCK))
            return f"process {note['pid']} on {note['host']} since {note['since']}"
        except (OSError, ValueError, LookupError, TypeError):
            return "another process"


def remove_store(folder: str | Path) -> bool:
    """Remove a collection, unless it is being read or written, and return whether.

    Other files stay, and with them the folder.
    """
    disk = Disk(Path(folder))
    locks = []
    try:
        names = disk.names()
        locked = [LOCK, *map(manifest_name, manifest_numbers(names))]
        for name in locked:
            lock = disk.lock(name, shared=False)
            if lock is None:
                return False
            locks.append(lock)
        gone = [name for name in names if is_own(name) and name not in locked]
        # Manifests first: after a crash, files without one are not a collection.
        # LOCK.holder is of earlier versions.
        for name in [*locked[1:], *gone, "LOCK.holder", LOCK]:
            with contextlib.suppress(FileNotFoundError):
                disk.remove(name)
        disk.folder.rmdir()
    except OSError:
        return False
    finally:
        for lock in locks:
            lock.release()
    return True
