"""Removal of a whole collection that is not in use."""

import contextlib
from pathlib import Path

from fewbits.store._disk import Disk
from fewbits.store._names import (
    HOLDER,
    LOCK,
    is_own,
    manifest_name,
    manifest_numbers,
)


def remove_store(folder: str | Path) -> bool:
    """Remove a collection, unless it is being read or written.

    Other files stay, and with them the folder.

    Parameters
    ----------
    folder : str or Path

    Returns
    -------
    bool
        Whether nothing of it is left.
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
        for name in [*locked[1:], *gone, HOLDER, LOCK]:
            with contextlib.suppress(FileNotFoundError):
                disk.remove(name)
        disk.folder.rmdir()
    except OSError:
        return False
    finally:
        for lock in locks:
            lock.release()
    return True
