"""A new state takes its place, and what no state needs any more goes."""

import contextlib

from fewbits.errors import ArtefactError
from fewbits.store._disk import Disk
from fewbits.store._files import write_file
from fewbits.store._lock import FileLock
from fewbits.store._manifest import Manifest, read_manifest
from fewbits.store._names import (
    copy_name,
    derived_name,
    draft_name,
    ids_name,
    is_own,
    manifest_name,
    manifest_numbers,
)

#: Manifests that stay, for `repair` and for people.
KEPT = 3


def publish(disk: Disk, manifest: Manifest) -> None:
    """Make a state the newest one. Its files are on the disk, their names need not be.

    The copy is for `repair` alone. It is written after the manifest is on the disk, so
    that a copy without its manifest means that the manifest got lost.
    """
    data = manifest.to_bytes()
    disk.sync_folder()
    draft = draft_name()
    write_file(disk, draft, data)
    disk.publish(draft, manifest_name(manifest.number))
    disk.sync_folder()
    with contextlib.suppress(OSError):
        write_file(disk, copy_name(manifest.number), data, sync=False)


def collect(disk: Disk, newest: Manifest, *, is_durable: bool = False) -> None:
    """Remove the files that neither the newest state nor a held one names.

    The caller holds the lock of the store. A file that cannot be removed stays until
    the next time: Windows keeps what is mapped.

    Parameters
    ----------
    disk : Disk
    newest : Manifest
        Nothing is removed where there is a newer one.
    is_durable : bool, default=False
        Whether its name is known to be on the disk. A process may have been killed
        before it made sure of that: then the state before must not go first.
    """
    names = disk.names()
    numbers = manifest_numbers(names)
    if numbers[-1] > newest.number:
        return
    older = numbers[:-1]
    locks = {n: lock for n in older if (lock := _unheld(disk, n)) is not None}
    try:
        held = [n for n in older if n not in locks]
        kept = _needed(disk, newest, held) | set(_stay(newest, older, held))
        gone = [name for name in names if is_own(name) and name not in kept]
        if gone and not is_durable:
            disk.sync_folder()
        for name in gone:
            with contextlib.suppress(OSError):
                disk.remove(name)
    finally:
        for lock in locks.values():
            lock.release()


def _unheld(disk: Disk, number: int) -> FileLock | None:
    """Lock a state that no reader holds."""
    try:
        return disk.lock(manifest_name(number), shared=False)
    except OSError:
        return None


def _needed(disk: Disk, newest: Manifest, held: list[int]) -> set[str]:
    states = [newest]
    for number in held:
        # A state whose manifest is damaged cannot be read.
        with contextlib.suppress(ArtefactError, OSError):
            states.append(read_manifest(disk, number))
    kept = {name for state in states for name in state.names()}
    tokens = {s.token for state in states for s in state.segments}
    return kept | {name(t) for t in tokens for name in (ids_name, derived_name)}


def _stay(newest: Manifest, older: list[int], held: list[int]) -> list[str]:
    stay = {newest.number, *held, *older[len(older) - KEPT + 1 :]}
    return [name(n) for n in stay for name in (manifest_name, copy_name)]
