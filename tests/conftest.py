"""The same examples on every run, and no failures because a machine is busy."""

import errno
import gc
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings

NIGHTLY = os.environ.get("FEWBITS_NIGHTLY") == "1"
settings.register_profile(
    "fewbits",
    deadline=None,
    derandomize=True,
    max_examples=500 if NIGHTLY else 25,
)
settings.load_profile("fewbits")


#: Two fifths of the time, run by `make test-slow`: browsers, processes that are killed,
#: power failures, exported networks, documents and studies from end to end.
SLOW = Path(__file__).with_name("slow.txt").read_text().split()
IN_MEMORY = Path("/dev/shm")
ROOM = 4 << 30


def pytest_configure():
    """Keep the folders of tests in memory: disks take milliseconds for each sync."""
    if NIGHTLY or not os.access(IN_MEMORY, os.W_OK):
        return
    if shutil.disk_usage(IN_MEMORY).free > ROOM:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(IN_MEMORY))


def pytest_ignore_collect(collection_path, config):
    """Leave alone what ``-m slow`` and ``-m "not slow"`` would import for nothing."""
    if collection_path.is_dir():
        return None
    path = collection_path.relative_to(config.rootpath).as_posix()
    if config.option.markexpr == "slow":
        return not path.startswith(tuple(name.split("::")[0] for name in SLOW)) or None
    if config.option.markexpr == "not slow":
        whole = tuple(name for name in SLOW if "::" not in name)
        return path.startswith(whole) or None
    return None


def pytest_collection_modifyitems(items):
    slow = tuple(SLOW)
    for item in items:
        if item.nodeid.startswith(slow):
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish():
    """Leave what was collected, millions of objects, out of later collections."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def no_new_files(monkeypatch):
    """Folders take no new files: root, who often runs the tests, may write anywhere."""
    real = os.open

    def refusing(path, flags, *args, **kwargs):
        if flags & os.O_CREAT:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return real(path, flags, *args, **kwargs)

    monkeypatch.setattr(os, "open", refusing)
