"""A bundle on disk is the old one or the new one, and never silently damaged."""

import contextlib
import errno
import json
import os

import pytest

from fewbits import _files
from fewbits.bundle import _folder
from fewbits.bundle._folder import (
    MANIFEST,
    check_target,
    checked_path,
    read_manifest,
    write_folder,
)
from fewbits.errors import ArtefactError


def save(folder, content):
    files = {
        "a.bin": lambda file: file.write(content * 100),
        "b.bin": lambda file: file.write(content[::-1] * 50),
    }
    write_folder(folder, files, {"note": content.decode()})


def load(folder):
    manifest = read_manifest(folder)
    return [
        checked_path(folder, manifest, name).read_bytes() for name in ("a.bin", "b.bin")
    ]


@pytest.fixture
def folder(tmp_path):
    save(tmp_path / "bundle", b"old")
    return tmp_path / "bundle"


def test_overwriting_leaves_no_old_files(folder):
    save(folder, b"new")
    assert load(folder) == [b"new" * 100, b"wen" * 50]
    assert len(os.listdir(folder)) == 3


def test_same_content_again(folder):
    save(folder, b"old")
    assert load(folder) == [b"old" * 100, b"dlo" * 50]


@pytest.mark.parametrize("name", ["fsync", "chmod", "replace"])
@pytest.mark.parametrize("call", range(6))
def test_full_disk_at_any_step_keeps_the_old_bundle(folder, monkeypatch, name, call):
    calls = iter(range(100))
    real = getattr(os, name)

    def sometimes(*args, **kwargs):
        if next(calls) == call:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(*args, **kwargs)

    monkeypatch.setattr(_files.os, name, sometimes)
    with contextlib.suppress(OSError):
        save(folder, b"new")
    assert load(folder) in ([b"old" * 100, b"dlo" * 50], [b"new" * 100, b"wen" * 50])
    assert not [path for path in os.listdir(folder) if path.endswith(".tmp")]


def test_every_flipped_bit_is_found(folder):
    for path in sorted(folder.iterdir()):
        original = path.read_bytes()
        for position in range(len(original)):
            damaged = bytearray(original)
            damaged[position] ^= 1 << (position % 8)
            path.write_bytes(damaged)
            with pytest.raises(ArtefactError, match=r"damaged|missing|no bundle"):
                load(folder)
        path.write_bytes(original)
    assert load(folder) == [b"old" * 100, b"dlo" * 50]


def test_every_truncation_is_found(folder):
    for path in sorted(folder.iterdir()):
        original = path.read_bytes()
        for length in range(len(original)):
            path.write_bytes(original[:length])
            with pytest.raises(ArtefactError):
                load(folder)
        path.write_bytes(original)


def test_newer_format(folder):
    manifest = read_manifest(folder)
    manifest["format"] = _folder.FORMAT + 1
    (folder / MANIFEST).write_bytes(_folder.sealed(manifest))
    with pytest.raises(ArtefactError, match="install a newer fewbits"):
        read_manifest(folder)


def test_manifest_cannot_name_files_elsewhere(folder):
    manifest = read_manifest(folder)
    manifest["files"]["a.bin"]["path"] = "../outside"
    (folder / MANIFEST).write_bytes(_folder.sealed(manifest))
    with pytest.raises(ArtefactError, match="outside"):
        load(folder)


def test_hostile_manifests(folder):
    for text in (b"[]", b"1", b"null", b"{}", b"\xff\xfe", b"[" * 100_000, b""):
        (folder / MANIFEST).write_bytes(text)
        with pytest.raises(ArtefactError, match="damaged"):
            read_manifest(folder)
    (folder / MANIFEST).write_bytes(_folder.sealed({"format": _folder.FORMAT}))
    with pytest.raises(ArtefactError, match="damaged"):
        load(folder)
    (folder / MANIFEST).write_bytes(_folder.sealed({"format": 1}))
    with pytest.raises(ArtefactError, match=r"early version .*fit and build it again"):
        load(folder)


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(ArtefactError, match="holds other files"):
        save(tmp_path, b"new")
    assert os.listdir(tmp_path) == ["thesis.tex"]


def test_no_bundle(tmp_path):
    with pytest.raises(ArtefactError, match="is not a bundle"):
        read_manifest(tmp_path)
    assert json.dumps(os.listdir(tmp_path)) == "[]"


def test_what_is_left_of_a_bundle_is_not_lost_in_silence(folder):
    manifest = (folder / MANIFEST).read_bytes()
    (folder / MANIFEST).unlink()
    (folder / "a-new.bin").touch()  # begun only
    with pytest.raises(ArtefactError, match=r"holds [ab]-.*bin of a bundle, but no "):
        check_target(folder, overwrite=False)
    (folder / MANIFEST).write_bytes(manifest)
    assert load(folder) == [b"old" * 100, b"dlo" * 50]
    (folder / MANIFEST).unlink()
    check_target(folder)
    save(folder, b"new")
    assert load(folder) == [b"new" * 100, b"wen" * 50]
    assert len(os.listdir(folder)) == 3


@pytest.mark.parametrize("content", [b"", b"{", b"not JSON"])
def test_a_damaged_manifest_beside_files_of_a_bundle_is_ours(folder, content):
    (folder / MANIFEST).write_bytes(content)
    save(folder, b"new")
    assert load(folder) == [b"new" * 100, b"wen" * 50]
    for path in folder.glob("*-*"):
        path.unlink()
    (folder / MANIFEST).write_bytes(content)
    with pytest.raises(ArtefactError, match="of something else"):
        check_target(folder)
