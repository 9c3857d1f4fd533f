"""A disk that loses power: what is not synced may be lost, zeroed or torn.

It has the methods of `fewbits.store._disk.Disk`. A file has the content that processes
see, and a synced part, its beginning. Names that were made or removed since the last
sync of the folder are pending: of these any may have reached the disk.
"""

import errno
import os
import random
from itertools import combinations
from pathlib import Path

from fewbits.store import Store

SECTOR = 512
#: What becomes of bytes that were not synced.
MODES = ("kept", "lost", "zeroed", "torn")


def simulated_store(disk, schema):
    """Return an empty store on a disk."""
    return Store.create(disk, schema, n_bits=64, fingerprint="of a test")


class SimulatedDisk:
    """Files in memory.

    Parameters
    ----------
    without : str
        Syncs whose name begins so are not done: "seg-", "folder 1", "parent" ...
    after : callable
        Called after each operation that changes something.
    fail_at, error : int, int
        The operation that fails, and how; a write that fails writes a half.
    """

    def __init__(self, without=None, after=None, fail_at=None, error=errno.ENOSPC):
        self.folder = Path("/simulated")
        self.names_, self.durable, self.pending = {}, {}, []
        self.exists, self.exists_durably = False, False
        self.without, self.after = without, after
        self.fail_at, self.error = fail_at, error
        self.n_operations, self.operations = 0, []
        self.unreadable = ()  # how the names begin of files on bad sectors
        self.locks, self.n_folder_syncs = {}, 0

    # what a store asks for

    def make_folder(self):
        self._begin("mkdir")
        self.exists = True
        self._end()

    def sync_parent(self):
        self._begin("sync parent")
        self.exists_durably |= self.without != "parent"
        self._end()

    def names(self):
        if not self.exists:
            raise FileNotFoundError(errno.ENOENT, "no folder", str(self.folder))
        return list(self.names_)

    def create(self, name):
        self._begin(f"create {name}")
        if name in self.names_:
            raise FileExistsError(errno.EEXIST, "exists", name)
        inode = Inode()
        self._link(name, inode)
        self._end()
        return SimulatedFile(self, name, inode)

    def publish(self, draft, name):
        self._begin(f"publish {name}")
        if name in self.names_:
            raise FileExistsError(errno.EEXIST, "exists", name)
        if draft not in self.names_:
            raise FileNotFoundError(errno.ENOENT, "missing", draft)
        self._link(name, self.names_[draft])
        self._unlink(draft)
        self._end()

    def remove(self, name):
        self._begin(f"remove {name}")
        self._unlink(name)
        self._end()

    def sync_folder(self):
        self.n_folder_syncs += 1
        which = f"folder {2 - self.n_folder_syncs % 2}"  # before and after a manifest
        self._begin(f"sync {which}")
        if self.without != which:
            self.durable, self.pending = dict(self.names_), []
        self._end()

    def check_lengths(self, is_used):
        """Do nothing: what is mapped is a copy."""

    def map(self, name):
        if name not in self.names_:
            raise FileNotFoundError(errno.ENOENT, "missing", name)
        if name.startswith(self.unreadable):
            raise OSError(errno.EIO, os.strerror(errno.EIO), name)
        return bytes(self.names_[name].data)

    def read(self, name, most=-1):
        return self.map(name)

    def size(self, name):
        if name not in self.names_:
            raise FileNotFoundError(errno.ENOENT, "missing", name)
        return len(self.names_[name].data)

    def lock(self, name, *, shared):
        if shared and name not in self.names_:
            raise FileNotFoundError(errno.ENOENT, "missing", name)
        held = self.locks.setdefault(name, [])
        if held and not (shared and all(lock.shared for lock in held)):
            return None
        lock = SimulatedLock(held, shared)
        held.append(lock)
        return lock

    # what a test asks for

    def crashed(self, mode, kept, seed=0):
        """Return the disk after a power failure.

        Parameters
        ----------
        mode : str
            What becomes of bytes that were not synced.
        kept : sequence of int
            Which of the pending changes of names are done.
        """
        names = dict(self.durable)
        for i in kept:
            name, inode = self.pending[i]
            names.pop(name, None)
            if inode is not None:
                names[name] = inode
        after = SimulatedDisk()
        after.exists = after.exists_durably = self.exists_durably
        if self.exists_durably:
            # After the crash a file is what is on the disk, whatever its name.
            rng = random.Random(seed)
            made = {}
            for name, inode in names.items():
                if id(inode) not in made:
                    made[id(inode)] = Inode(inode.after(mode, rng))
                after.names_[name] = made[id(inode)]
            after.durable = dict(after.names_)
        return after

    def crashes(self, n_random=4, seen=None):
        """Yield disks after power failures that may happen now, each only once."""
        seen = set() if seen is None else seen
        for mode in MODES:
            for seed, kept in enumerate(subsets(len(self.pending), n_random)):
                disk = self.crashed(mode, kept, seed)
                if (state := disk.state()) not in seen:
                    seen.add(state)
                    yield disk

    def state(self):
        """Return all that is on the disk, to compare."""
        files = {name: bytes(inode.data) for name, inode in self.names_.items()}
        return self.exists, frozenset(files.items())

    def _link(self, name, inode):
        self.names_[name] = inode
        self.pending.append((name, inode))

    def _unlink(self, name):
        if name not in self.names_:
            raise FileNotFoundError(errno.ENOENT, "missing", name)
        del self.names_[name]
        self.pending.append((name, None))

    def _begin(self, what):
        self.n_operations += 1
        self.operations.append(what)
        if self.fail_at == self.n_operations:
            raise OSError(self.error, os.strerror(self.error), what)

    def _end(self):
        if self.after is not None:
            self.after(self)


class SimulatedFile:
    def __init__(self, disk, name, inode):
        self.disk, self.name, self.inode = disk, name, inode

    def write(self, data):
        data = bytes(memoryview(data).cast("B"))
        try:
            self.disk._begin(f"write {self.name}")
        except OSError:
            self.inode.data += data[: len(data) // 2]
            raise
        self.inode.data += data
        self.disk._end()
        return len(data)

    def sync(self):
        self.disk._begin(f"sync {self.name}")
        if not (self.disk.without and self.name.startswith(self.disk.without)):
            self.inode.synced = len(self.inode.data)
        self.disk._end()

    def close(self):
        pass


class Inode:
    """A file, of which the first `synced` bytes are on the disk."""

    def __init__(self, data=b""):
        self.data, self.synced = bytearray(data), len(data)

    def after(self, mode, rng):
        safe, rest = bytes(self.data[: self.synced]), bytes(self.data[self.synced :])
        if mode == "lost":
            return safe
        if mode == "zeroed":
            return safe + bytes(len(rest))
        if mode == "torn":
            sectors = [rest[i : i + SECTOR] for i in range(0, len(rest), SECTOR)]
            sectors = [s if rng.random() < 0.5 else bytes(len(s)) for s in sectors]
            torn = b"".join(sectors)
            return safe + torn[: len(torn) - rng.randrange(len(torn) + 1)]
        return safe + rest


class SimulatedLock:
    is_own = True

    def __init__(self, held, shared):
        self.held, self.shared = held, shared

    def note(self, content):
        pass

    def release(self):
        if self in self.held:
            self.held.remove(self)

    def __del__(self):
        self.release()


def subsets(n, n_random):
    """Yield which of `n` changes are done: all ways for few, telling ones for many."""
    every = range(n)
    if n <= 4:
        for size in range(n + 1):
            yield from combinations(every, size)
        return
    yield ()
    yield tuple(every)
    for i in every:
        yield (i,)
        yield tuple(j for j in every if j != i)
    rng = random.Random(n)
    for _ in range(n_random):
        yield tuple(i for i in every if rng.random() < 0.5)
