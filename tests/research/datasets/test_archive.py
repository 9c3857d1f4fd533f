"""Archives: every form gives the same files, and hostile ones nothing else."""

import tarfile

import pytest

from fewbits.errors import ArtefactError
from research.common.datasets import _files
from research.common.datasets._files import list_files, list_tar_in_zip

FILES = {"a/one.txt": b"one", "a/two.bin": b"\x00" * 700, "three": b""}


def contents(files):
    return {name: region.read() for name, region in files.items()}


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz"])
def test_tar(tmp_path, make_tar, mode):
    path = make_tar(tmp_path / "t", {f"./{k}": v for k, v in FILES.items()}, mode)
    assert contents(list_files(path)) == FILES


def test_folder_without_links(tmp_path, make_folder):
    folder = make_folder(tmp_path / "folder", FILES)
    (folder / "link").symlink_to(folder / "three")
    assert contents(list_files(folder)) == FILES


def link(name, kind, target):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def test_members_that_point_outside_are_ignored(tmp_path, make_tar):
    hostile = {
        "../up": b"x",
        "a/../../up": b"x",
        "/etc/absolute": b"x",
        "..\\windows": b"x",
        "symbolic": link("symbolic", tarfile.SYMTYPE, "/etc/passwd"),
        "hard": link("hard", tarfile.LNKTYPE, "a/one.txt"),
        "device": link("device", tarfile.CHRTYPE, ""),
    }
    path = make_tar(tmp_path / "t.tar", hostile | FILES)
    assert contents(list_files(path)) == FILES


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz"])
def test_every_cut_is_noticed(tmp_path, make_tar, mode):
    path = make_tar(tmp_path / "t", FILES, mode)
    whole = path.read_bytes()
    # The padding after the first block of zeros carries nothing.
    needed = 5 * 512 + 2 * 512 if mode == "w" else len(whole)
    for size in range(0, needed, 64 if mode == "w" else 7):
        path.write_bytes(whole[:size])
        with pytest.raises(ArtefactError, match=str(path)):
            list_files(path)


def test_damaged_header_in_the_middle(tmp_path, make_tar):
    path = make_tar(tmp_path / "t", FILES)
    data = bytearray(path.read_bytes())
    data[1024:1100] = b"\xff" * 76
    path.write_bytes(data)
    with pytest.raises(ArtefactError, match="cut short or damaged"):
        list_files(path)


@pytest.mark.parametrize(
    "data", [b"", b"text" * 1000, b"\x1f\x8bnot gzip", b"PK\3\4"], ids=range(4)
)
def test_not_a_tar(tmp_path, data):
    path = tmp_path / "t"
    path.write_bytes(data)
    with pytest.raises(ArtefactError, match=str(path)):
        list_files(path)
    with pytest.raises(ArtefactError, match=str(path)):
        list_tar_in_zip(path, "inner.tar.gz")


def test_bomb(tmp_path, make_tar, monkeypatch):
    path = make_tar(tmp_path / "t", {"zeros": bytes(2**20)}, "w:xz")
    monkeypatch.setattr(_files, "MAX_UNPACKED", 2**16)
    with pytest.raises(ArtefactError, match="unpacks to more than"):
        list_files(path)


def test_file_that_shrank(tmp_path, make_tar):
    path = make_tar(tmp_path / "t", FILES)
    region = list_files(path)["a/two.bin"]
    path.write_bytes(b"")
    with pytest.raises(OSError, match="shorter"):
        region.read()
