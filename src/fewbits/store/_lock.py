"""Locks of the operating system on whole files, shared or exclusive.

They end with the process, however it ends. A process that was forked shares the lock of
its parent: it is held until both have closed it, unless the parent unlocks it itself.
"""

import contextlib
import errno
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

_PAUSE = 0.02  # seconds between two attempts
#: The file system has no locks; on read-only media none is needed.
_UNSUPPORTED = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EINVAL}


@dataclass(eq=False)
class FileLock:
    """A lock that is held until it is released or garbage-collected."""

    descriptor: int
    shared: bool
    owner: int = field(default_factory=os.getpid)

    @property
    def is_own(self) -> bool:
        """True where this process took the lock, not the one it was forked from."""
        return self.owner == os.getpid()

    def still_names(self, path: str | Path) -> bool:
        """Return whether the locked file is still the one of this path."""
        try:
            return os.path.samestat(os.fstat(self.descriptor), os.stat(path))
        except FileNotFoundError:
            return False

    def note(self, content: bytes) -> None:
        """Leave a note in the locked file; no harm when that is impossible."""
        with contextlib.suppress(OSError):
            os.ftruncate(self.descriptor, 0)
            os.write(self.descriptor, content)

    def release(self) -> None:
        """Give the lock back; twice is once."""
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor < 0:
            return
        try:
            # A writer's children must not keep the store locked; readers' may.
            if not self.shared and self.is_own:
                _unlock(descriptor)
        finally:
            os.close(descriptor)

    __del__ = release


def lock_file(path: str | Path, *, shared: bool) -> FileLock | None:
    """Lock a file at once, or return None when another has locked it.

    An exclusive lock makes the file where there is none. A shared one needs no right to
    write, and raises FileNotFoundError where there is no file.
    """
    flags = os.O_RDONLY if shared else os.O_RDWR | os.O_CREAT
    descriptor = os.open(path, flags | getattr(os, "O_CLOEXEC", 0), 0o666)
    try:
        is_locked = _lock(descriptor, shared=shared)
    except OSError as error:
        is_locked = shared and error.errno in _UNSUPPORTED
        if not is_locked:
            os.close(descriptor)
            raise
    if not is_locked:
        os.close(descriptor)
        return None
    lock = FileLock(descriptor, shared)
    if shared and not lock.still_names(path):
        lock.release()
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    return lock


@contextmanager
def one_at_a_time(path: Path, *, waits: bool = True) -> Iterator[bool]:
    """Wait for exclusive use of a path in the block; the file is gone afterwards.

    Where the file system has no locks, it does not wait. One that never `waits` gets
    False at once where the path is in use, or there are no locks.
    """
    lock = None
    try:
        while (lock := lock_file(path, shared=False)) is None or not lock.still_names(
            path
        ):
            lock = None  # one of a file that is removed already is of no use
            if not waits:
                break
            time.sleep(_PAUSE)
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
    try:
        yield waits or lock is not None
    finally:
        if lock is not None:
            with contextlib.suppress(OSError):  # Windows keeps open files
                path.unlink()
            lock.release()


if sys.platform != "win32":
    import fcntl

    def _lock(descriptor: int, *, shared: bool) -> bool:
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)

else:
    import ctypes
    import msvcrt
    from ctypes import wintypes

    _EXCLUSIVE, _AT_ONCE, _BUSY = 2, 1, 33
    _KERNEL32 = ctypes.WinDLL("kernel32", use_last_error=True)

    class _Overlapped(ctypes.Structure):
        _fields_ = (
            ("internal", ctypes.c_void_p),
            ("internal_high", ctypes.c_void_p),
            ("offset", wintypes.DWORD),
            ("offset_high", wintypes.DWORD),
            ("event", wintypes.HANDLE),
        )

    def _range() -> _Overlapped:
        # Far behind the end, since Windows refuses to read what is locked.
        return _Overlapped(offset_high=0x7FFFFFFF)

    def _lock(descriptor: int, *, shared: bool) -> bool:
        flags = _AT_ONCE | (0 if shared else _EXCLUSIVE)
        handle = wintypes.HANDLE(msvcrt.get_osfhandle(descriptor))
        place = ctypes.byref(_range())
        if _KERNEL32.LockFileEx(handle, flags, 0, 1, 0, place):
            return True
        code = ctypes.get_last_error()
        if code == _BUSY:
            return False
        raise ctypes.WinError(code)

    def _unlock(descriptor: int) -> None:
        handle = wintypes.HANDLE(msvcrt.get_osfhandle(descriptor))
        _KERNEL32.UnlockFileEx(handle, 0, 1, 0, ctypes.byref(_range()))
