"""A failed write leaves the old file and nothing else."""

import errno
import os
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from fewbits import _files
from fewbits._files import atomic_write, remove_leftovers
from fewbits.errors import MissingDataError


def test_replaces_the_old_content(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with atomic_write(path) as file:
        file.write(b"new")
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["file"]


def test_permissions_follow_the_umask(tmp_path):
    with atomic_write(tmp_path / "file") as file:
        file.write(b"x")
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o666 & ~mask


def test_leftovers_of_a_killed_process_are_removed(tmp_path):
    names = [".a[1].x.tmp", ".a[1].tmp", ".b.x.tmp", "a[1]", ".a1.x.tmp"]
    for name in names:
        (tmp_path / name).touch()
    remove_leftovers(tmp_path / "a[1]")
    assert sorted(os.listdir(tmp_path)) == sorted(names[1:])


@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
def test_full_disk_keeps_the_old_file(tmp_path, monkeypatch, step):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    def write_until_full():
        with atomic_write(path) as file:
            file.write(b"new")
            if step == "write":
                full()

    if step != "write":
        monkeypatch.setattr(_files.os, step, full)
    with pytest.raises(OSError, match="No space left on device") as caught:
        write_until_full()
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(path))
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_interrupt_keeps_the_old_file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def interrupted():
        with atomic_write(path):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_interrupt_when_the_file_has_its_name(tmp_path, monkeypatch):
    replace = os.replace

    def late(*names):
        replace(*names)
        raise KeyboardInterrupt

    def interrupted():
        with atomic_write(tmp_path / "file") as file:
            file.write(b"new")

    monkeypatch.setattr(_files.os, "replace", late)
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert (tmp_path / "file").read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["file"]


def test_a_symbolic_link_stays_one(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    with atomic_write(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_pipe_is_written_to_and_stays_one(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        content = pool.submit(pipe.read_bytes)
        with atomic_write(pipe) as file:
            file.write(b"new")
        assert content.result() == b"new"
    assert pipe.is_fifo()


def test_errors_name_the_target(tmp_path, no_new_files):
    path = tmp_path / "file"
    with pytest.raises(PermissionError) as caught, atomic_write(path):
        pass
    assert caught.value.filename == str(path)
    assert caught.value.strerror == "Permission denied"


def test_errors_of_the_link_name_the_link(tmp_path):
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nowhere" / "target")
    with pytest.raises(FileNotFoundError) as caught, atomic_write(link):
        pass
    assert caught.value.filename == str(link)


def test_errors_about_another_file_stay_as_they_are(tmp_path):
    with (
        pytest.raises(FileNotFoundError) as caught,
        atomic_write(tmp_path / "file") as file,
    ):
        file.write((tmp_path / "source").read_bytes())
    assert caught.value.filename == str(tmp_path / "source")
    with (
        pytest.raises(MissingDataError, match="download it"),
        atomic_write(tmp_path / "file"),
    ):
        raise MissingDataError("download it")
    assert os.listdir(tmp_path) == []
