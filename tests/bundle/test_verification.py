"""The result of the last verification, cached for the next process."""

import json
import os

import pytest

from fewbits.bundle import Bundle
from fewbits.bundle.serving import last_verified
from tests.server._running import small_bundle, vectors


@pytest.fixture
def folder(tmp_path):
    small_bundle().save(tmp_path / "b")
    return tmp_path / "b"


def test_the_note_is_what_was_found(folder):
    assert last_verified(folder) is None
    report = Bundle.verify(folder)
    assert last_verified(folder).report == report
    (rows,) = folder.glob("items-*/seg-*.arrow")
    rows.write_bytes(rows.read_bytes()[:-8])
    damaged = Bundle.verify(folder)
    assert damaged.damages
    assert last_verified(folder).report == damaged


def test_rows_that_come_later_leave_the_note(folder):
    report = Bundle.verify(folder)
    columns = {"kind": ["red"], "year": [1]}
    Bundle.load(folder).add(vectors(1), columns=columns)
    assert last_verified(folder).report.number == report.number


def test_another_collection_and_a_repair_have_no_note(folder):
    Bundle.verify(folder)
    Bundle.repair(folder)
    assert last_verified(folder) is None
    Bundle.verify(folder)
    small_bundle(50).save(folder)
    assert last_verified(folder) is None


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b"{}", b'{"at": 1}', b"\xff\xfe", b"[" * 9999],
)
def test_a_note_of_anything_else_is_none(folder, content):
    (folder / "verified.json").write_bytes(content)
    assert last_verified(folder) is None
    assert len(Bundle.load(folder).collection) == 200


def test_a_note_that_was_changed_is_none(folder):
    Bundle.verify(folder)
    note = json.loads((folder / "verified.json").read_bytes())
    note["at"] = 1
    (folder / "verified.json").write_text(json.dumps(note))
    assert last_verified(folder) is None


def test_a_folder_that_takes_no_note(folder, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "read-only")

    monkeypatch.setattr(os, "replace", refuse)
    assert Bundle.verify(folder).is_intact
    assert last_verified(folder) is None
    assert not [x for x in folder.iterdir() if x.name.startswith((".", "verified"))]


def test_a_bundle_that_lost_its_head_is_replaced_with_its_note(folder):
    Bundle.verify(folder)
    (folder / "bundle.json").unlink()
    small_bundle(50).save(folder)
    assert last_verified(folder) is None
    assert not (folder / "verified.json").exists()
