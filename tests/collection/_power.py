"""What power failures leave of real folders, while something is written to them.

Each folder is a `SimulatedDisk`. What becomes of names is seen after each call of the
system that changes one; what is on the disk follows from the syncs.
"""

import os
import stat

from tests.store._simulated import Inode, SimulatedDisk

CALLS = ("open", "fsync", "mkdir", "rmdir", "link", "unlink", "remove")
MOVES = ("rename", "replace")
ROOT = b"root"


class PowerLoss:
    """A folder, and all that may be there after a power failure.

    Parameters
    ----------
    root : Path
        It is on the disk with all that it holds.
    after : callable
        Called after each call that changes something.
    without : int
        This sync, counted from 0, is not done.
    error : OSError
        It is raised then.
    """

    def __init__(self, root, after=None, without=None, error=None):
        self.root, self.after, self.without = root, None, without
        self.error = error
        self.folders, self.inodes, self.calls, self.syncs = {}, {}, [], []
        self.is_looking = False
        self.look()
        for disk in self.folders.values():
            for inode in disk.names_.values():
                inode.synced = len(inode.data)
            disk.durable, disk.pending = dict(disk.names_), []
        self.after = after

    def watch(self, monkeypatch):
        for name in CALLS + MOVES:
            monkeypatch.setattr(os, name, self._watched(name, getattr(os, name)))

    def look(self):
        """Take over the names and the content that are there now."""
        there = {}
        self._look(self.root, ROOT, there)
        self.inodes = there

    def trees(self, folder=ROOT, n_random=1):
        """Yield files by their paths, after power failures that may happen now."""
        for disk in self.folders[folder].crashes(n_random):
            trees = [{}]
            for name, inode in disk.names_.items():
                data = bytes(inode.data)
                if data not in self.folders:
                    trees = [{**tree, name: data} for tree in trees]
                    continue
                below = [
                    {f"{name}/{path}": content for path, content in files.items()}
                    for files in self.trees(data, n_random)
                ]
                trees = [{**tree, **files} for tree in trees for files in below]
            yield from trees

    def _look(self, path, key, there):
        disk = self.folders.setdefault(key, SimulatedDisk())
        disk.exists = disk.exists_durably = True
        now = {entry.name: entry.inode() for entry in os.scandir(path)}
        inodes = {}
        for name, number in now.items():
            inode = there[number] = self._inode(path / name, number)
            inodes[name] = inode
            if disk.names_.get(name) is not inode:
                disk._link(name, inode)
            if (path / name).is_dir():
                self._look(path / name, bytes(inode.data), there)
        for name in disk.names_.keys() - now.keys():
            disk._unlink(name)

    def _inode(self, path, number):
        inode = self.inodes.get(number)
        if path.is_dir():
            key = f"folder {len(self.folders)}".encode()
            return Inode(key) if inode is None else inode
        inode = inode or Inode()
        data = path.read_bytes()
        inode.synced = min(inode.synced, len(data))
        inode.data = bytearray(data)
        return inode

    def _watched(self, name, call):
        def watched(*arguments, **options):
            result = call(*arguments, **options)
            if self.is_looking or (name == "open" and not arguments[1] & os.O_CREAT):
                return result
            where = arguments[-1] if name in MOVES or name == "link" else arguments[0]
            self.is_looking = True
            try:
                self._done(name, where)
            finally:
                self.is_looking = False
            return result

        return watched

    def _done(self, name, where):
        self.look()
        call = name
        if name == "fsync":
            call = f"sync {self._synced(where)}"
            self.syncs.append(call)
        elif name in MOVES:
            call = f"move {os.path.relpath(where, self.root)}"
        self.calls.append(call)
        if self.after is not None:
            self.after(self)
        if name == "fsync" and len(self.syncs) - 1 == self.without and self.error:
            raise self.error

    def _synced(self, descriptor):
        """Put a file or a folder on the disk; return its path."""
        status = os.fstat(descriptor)
        is_done = len(self.syncs) != self.without
        path = os.readlink(f"/proc/self/fd/{descriptor}")
        if not stat.S_ISDIR(status.st_mode):
            inode = self.inodes.get(status.st_ino)
            if is_done and inode is not None:
                inode.synced = len(inode.data)
        elif is_done:
            is_root = os.path.samestat(status, os.stat(self.root))
            inode = None if is_root else self.inodes.get(status.st_ino)
            if is_root or inode is not None:
                disk = self.folders[ROOT if is_root else bytes(inode.data)]
                disk.durable, disk.pending = dict(disk.names_), []
        return os.path.relpath(path, self.root)
