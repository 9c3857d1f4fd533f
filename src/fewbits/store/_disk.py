"""Every operation on files: the one seam that tests put simulated disks behind.

Nothing else in this package opens, writes, renames or removes a file, but for locks.
Arrow writes to an `OutFile` and reads from a `Disk.map`.

The system kills a process that touches a mapped page which the disk cannot read, or
which has been cut off meanwhile. So what is mapped is read by `read_at` before it is
looked at for the first time, which raises OSError instead, and whether files are as
long as they were is checked before each use of a collection.
"""

import mmap
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from weakref import ref

from fewbits._files import link_or_copy, sync, sync_folder
from fewbits.errors import ArtefactError
from fewbits.store._lock import FileLock, lock_file


class Disk:
    """The files of one folder, by their names."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._prefix = os.path.join(folder, "")
        self._maps: list[ref[_MappedFile]] = []
        self._guard = threading.Lock()

    def make_folder(self) -> None:
        """Make the folder where it is not there."""
        self.folder.mkdir(parents=True, exist_ok=True)

    def sync_parent(self) -> None:
        """Put the name of the folder on the disk."""
        sync_folder(self.folder.absolute().parent)

    def names(self) -> list[str]:
        """Return the names of all files, ours or not."""
        return os.listdir(self.folder)

    def create(self, name: str) -> "OutFile":
        """Begin a file, or raise FileExistsError where there is one of this name."""
        return OutFile(self._prefix + name)

    def publish(self, draft: str, name: str) -> None:
        """Rename a file, or raise FileExistsError where the new name is taken."""
        source, target = self._prefix + draft, self._prefix + name
        if os.name != "posix":
            os.rename(source, target)  # refuses to replace there
            return
        try:
            os.link(source, target)
        except OSError:
            # Over a network the reply may get lost, and the call be made again.
            is_there = os.path.exists(target)
            if is_there and not os.path.samefile(source, target):
                raise
            if not is_there:
                os.rename(source, target)  # a file system without hard links
                return
        os.unlink(source)

    def take(self, folder: Path, name: str) -> None:
        """Share a file of another folder, by a link or a copy that is on the disk."""
        link_or_copy(folder / name, self._prefix + name)

    def remove(self, name: str) -> None:
        """Remove a file."""
        os.unlink(self._prefix + name)

    def sync_folder(self) -> None:
        """Put the names of files on the disk."""
        sync_folder(self.folder)

    def read(self, name: str, most: int = -1) -> bytes:
        """Return the bytes of a file, or only the first."""
        path = self._prefix + name
        with open(path, "rb") as file:
            # Python takes as much memory as is asked for, before it reads.
            size = os.fstat(file.fileno()).st_size
            try:
                return file.read(size if most < 0 else min(size, most))
            except OSError as error:
                error.filename = path
                raise

    def map(self, name: str) -> Any:
        """Return the bytes of a file, mapped for reading."""
        path = self._prefix + name
        with open(path, "rb", buffering=0) as file:
            if os.fstat(file.fileno()).st_size == 0:
                return b""
            mapped = _MappedFile(file.fileno(), 0, access=mmap.ACCESS_READ)
            mapped.path, mapped.opened = path, _Descriptor(os.dup(file.fileno()))
        with self._guard:
            maps = [other for other in self._maps if other() is not None]
            self._maps = [*maps, ref(mapped)]
        return mapped

    def check_lengths(self, is_used: Callable[[str], bool]) -> None:
        """Raise ArtefactError where a file in use has been cut since it was mapped.

        `is_used` is asked by name only of files that have been cut.
        """
        for reference in self._maps:
            file = reference()
            if file is None:
                continue
            if os.lseek(file.opened.number, 0, os.SEEK_END) >= len(file):
                continue
            if not is_used(os.path.basename(file.path)):
                continue
            raise ArtefactError(
                f"{file.path} was cut off while it was open; run 'fewbits verify' to "
                "see what is damaged"
            )

    def size(self, name: str) -> int:
        """Return the length of a file in bytes."""
        return os.stat(self._prefix + name).st_size

    def lock(self, name: str, *, shared: bool) -> FileLock | None:
        """Lock a file at once, or return None when another has, see `lock_file`."""
        return lock_file(self._prefix + name, shared=shared)


def write_file(disk: Disk, name: str, data: Any, *, sync: bool = True) -> None:
    """Write a new file and put its content, but not yet its name, on the disk."""
    file = disk.create(name)
    try:
        file.write(data)
        if sync:
            file.sync()
    finally:
        file.close()


class _MappedFile(mmap.mmap):
    """A file that is mapped, and kept open for calls that read it."""

    path: str
    opened: "_Descriptor"


class _Descriptor:
    """Closes a file when nothing refers to it any more.

    The map itself must not: a weak reference still gives an object that is being
    finalized, whose file is closed meanwhile.
    """

    def __init__(self, number: int) -> None:
        self.number = number

    def __del__(self) -> None:
        os.close(self.number)


def read_at(data: Any, start: int, stop: int) -> Any:
    """Return bytes of what `Disk.map` returned, or of a view of its beginning.

    There are fewer where the file has been cut.
    """
    file = data.obj if isinstance(data, memoryview) else data
    if not (isinstance(file, _MappedFile) and hasattr(os, "pread")):
        return memoryview(data)[start:stop]
    pieces, at = [], start
    try:
        while at < stop and (piece := os.pread(file.opened.number, stop - at, at)):
            pieces.append(piece)
            at += len(piece)
    except OSError as error:
        error.filename = file.path
        raise
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


class OutFile:
    """A new file that is written from its beginning to its end."""

    def __init__(self, path: str) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        self._descriptor = os.open(path, flags | getattr(os, "O_CLOEXEC", 0), 0o666)

    def write(self, data: Any) -> int:
        """Append all bytes of a buffer."""
        left = memoryview(data).cast("B")
        length = len(left)
        while left:
            left = left[os.write(self._descriptor, left) :]
        return length

    def sync(self) -> None:
        sync(self._descriptor)

    def close(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)
