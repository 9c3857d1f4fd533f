"""The files of a store that lives in memory."""

import errno
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any


class MemoryDisk:
    """What `fewbits.store._disk.Disk` does, without a disk.

    Files are Arrow buffers, which cannot change and lie as mapped files do.
    """

    folder = Path("memory")

    def __init__(self) -> None:
        self._files: dict[str, Any] = {}
        self._readers: dict[str, int] = {}  # by name; -1 for a writer
        self._guard = threading.RLock()

    def __getstate__(self) -> dict[str, bytes]:
        return {name: bytes(data) for name, data in self._files.items()}

    def __setstate__(self, files: dict[str, bytes]) -> None:
        MemoryDisk.__init__(self)
        for name, data in files.items():
            self._files[name] = _buffer(data)

    def make_folder(self) -> None: ...
    def sync_parent(self) -> None: ...
    def sync_folder(self) -> None: ...
    def check_lengths(self, is_used: Callable[[str], bool]) -> None: ...

    def names(self) -> list[str]:
        return list(self._files)

    def create(self, name: str) -> "_MemoryFile":
        with self._guard:
            if name in self._files:
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name)
            self._files[name] = b""
        return _MemoryFile(self._files, name)

    def publish(self, draft: str, name: str) -> None:
        with self._guard:
            if name in self._files:
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name)
            self._files[name] = self._files.pop(draft)

    def remove(self, name: str) -> None:
        with self._guard:
            self._file(name)
            del self._files[name]

    def map(self, name: str) -> Any:
        return self._file(name)

    def read(self, name: str, most: int = -1) -> bytes:
        return bytes(self._file(name))

    def size(self, name: str) -> int:
        return len(self._file(name))

    def _file(self, name: str) -> Any:
        try:
            return self._files[name]
        except KeyError:
            raise FileNotFoundError(
                errno.ENOENT, os.strerror(errno.ENOENT), name
            ) from None

    def lock(self, name: str, *, shared: bool) -> "_MemoryLock | None":
        with self._guard:
            if shared:
                self._file(name)
            n_readers = self._readers.get(name, 0)
            if n_readers < 0 or (n_readers and not shared):
                return None
            self._readers[name] = n_readers + 1 if shared else -1
        return _MemoryLock(self, name)

    def unlock(self, name: str) -> None:
        with self._guard:
            n_readers = self._readers.pop(name)
            if n_readers > 1:
                self._readers[name] = n_readers - 1


class _MemoryFile:
    def __init__(self, files: dict[str, Any], name: str) -> None:
        self._files, self._name = files, name
        self._pieces: list[bytes] = []

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        self._pieces.append(bytes(view))
        return len(view)

    def sync(self) -> None:
        if self._pieces:
            before = self._files[self._name]
            self._files[self._name] = _buffer(bytes(before), *self._pieces)
            self._pieces = []

    def close(self) -> None:
        self.sync()


class _MemoryLock:
    """A lock within this process, held until it is released or collected."""

    is_own = True

    def __init__(self, disk: MemoryDisk, name: str) -> None:
        self._disk: MemoryDisk | None = disk
        self._name = name

    def note(self, content: bytes) -> None: ...

    def release(self) -> None:
        disk, self._disk = self._disk, None
        if disk is not None:
            disk.unlock(self._name)

    def __del__(self) -> None:
        self.release()


def _buffer(*pieces: bytes) -> Any:
    import pyarrow as pa

    stream = pa.BufferOutputStream()
    for piece in pieces:
        stream.write(piece)
    whole = stream.getvalue()
    return whole.slice(0, len(whole))  # which, unlike the whole, is immutable
