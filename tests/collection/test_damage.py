"""Damage of any file of a collection is named in one line, reported and repaired."""

import contextlib
import json
import os
import random
import shutil

import numpy as np
import pytest

from fewbits import Collection
from fewbits.collection import tools
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError, ArtefactError, FewbitsError
from fewbits.learners import AdditiveCodes
from fewbits.store import Store, one_at_a_time
from tests.collection._full import NAMES, WIDTH, X, all_files, answers, full, learnt
from tests.collection._sealed import reseal, sealed, unsealed
from tests.store._sizes import NIGHTLY

OTHER = LinearEncoder(-np.eye(WIDTH), np.zeros(WIDTH))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return a folder with every kind of file, some rows of which are deleted."""
    col = full(tmp_path_factory.mktemp("whole") / "c")
    col.delete(["k7"])
    return col.path


@pytest.fixture
def folder(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "c")


def needed(folder):
    """Return the files that cannot be made again, and no older versions."""
    newest = max(folder.glob("rows-*/manifest-*.json")).name
    return [
        path
        for path in all_files(folder)
        if not path.name.startswith(("ids-", "copy-", "LOCK", "mih-"))
        and (not path.name.startswith("manifest-") or path.name == newest)
    ]


def check_told(folder, path, before):
    """Check that damage of a file is told by its name before anything is answered."""
    with pytest.raises(ArtefactError) as caught:
        assert answers(Collection.open(folder)) != before, path
    assert "\n" not in str(caught.value)
    assert path.name in str(caught.value)
    report = Collection.verify_folder(folder, record=False)
    assert any(path.name in damage.file for damage in report.damages)
    assert not report.to_rebuild


def test_each_flipped_bit_is_told(folder):
    before, rng = answers(Collection.open(folder)), random.Random(0)
    for path in needed(folder):
        data = path.read_bytes()
        for _ in range(200 if NIGHTLY else 6):
            at = rng.randrange(8 * len(data))
            flipped = bytearray(data)
            flipped[at // 8] ^= 1 << at % 8
            path.write_bytes(flipped)
            check_told(folder, path, before)
        path.write_bytes(data)
    assert answers(Collection.open(folder)) == before


@pytest.mark.parametrize("share", [0.2, 0.4, 0.9])  # in its keys, and in positions
def test_a_damaged_index_of_ids_hides_no_row(tmp_path, share):
    ids = [f"key {i * 7919 % 30011}" for i in range(30_000)]  # some blocks of 64 KiB
    codes, columns = np.zeros((len(ids), 1), np.uint8), {"n": np.arange(len(ids))}
    Collection.create(tmp_path / "c", codes=codes, ids=ids, columns=columns)
    (path,) = tmp_path.glob("c/rows-*/ids-*")
    data = bytearray(path.read_bytes())
    first = int(share * len(data))
    data[first : first + 2000] = bytes(2000)
    path.write_bytes(data)
    col = Collection.open(tmp_path / "c")
    for i in range(0, len(ids), 97):
        assert col[ids[i]]["n"] == i
    assert len(Collection.open(tmp_path / "c").get(ids[:9000])) == 9000


def test_reads_that_return_less_than_they_should_are_continued(folder, monkeypatch):
    before, read = answers(Collection.open(folder)), os.pread
    monkeypatch.setattr(os, "pread", lambda f, n, at: read(f, min(n, 999), at))
    assert answers(Collection.open(folder)) == before
    assert not Collection.verify_folder(folder, record=False).damages


def test_each_cut_or_longer_file_is_told(folder):
    before, rng = answers(Collection.open(folder)), random.Random(0)
    for path in needed(folder):
        data = path.read_bytes()
        for other in (data[: rng.randrange(len(data))], b"", data + b"x"):
            path.write_bytes(other)
            check_told(folder, path, before)
        path.write_bytes(data)
    assert answers(Collection.open(folder)) == before


def test_each_missing_file_is_told(folder):
    before = answers(Collection.open(folder))
    for path in needed(folder):
        data = path.read_bytes()
        path.unlink()
        if path.name == "collection.json":
            (rows,) = folder.glob("rows-*")
            with pytest.raises(ArtefactError, match=rf"{rows.name}.*no collec.*backup"):
                Collection.open(folder)
            (damage,) = Collection.verify_folder(folder).damages
            assert (damage.file, damage.reason) == (str(path), "it is missing")
            report = Collection.repair_folder(folder)
            assert report.n_rows == 29
            assert "from a backup" in str(report)
        else:
            check_told(folder, path, before)
        path.write_bytes(data)
    assert answers(Collection.open(folder)) == before


def test_what_can_be_made_again_does_no_harm(folder):
    before = answers(Collection.open(folder))
    for path in sorted({*all_files(folder)} - {*needed(folder)}):
        if path.name.startswith("LOCK"):
            continue
        data = path.read_bytes()
        for other in (b"", data[:9], bytes(len(data))):
            path.write_bytes(other)
            assert answers(Collection.open(folder)) == before
        path.write_bytes(data)


def test_every_damaged_file_is_reported(folder):
    (encoder,) = folder.glob("encoder-*")
    (book,) = folder.glob("codebook-*")
    (rows,) = folder.glob("rows-*/seg-*")
    for path in (encoder, book, rows):
        path.write_bytes(path.read_bytes()[:-1])
    report = Collection.verify_folder(folder)
    assert {damage.file for damage in report.damages} == {
        str(path) for path in (encoder, book, rows)
    }
    rows.parent.rename(folder.parent / "away")
    encoder.unlink()
    report = Collection.verify_folder(folder)
    assert {damage.file for damage in report.damages} == {
        str(path) for path in (encoder, book, rows.parent)
    }
    assert Collection.verify_folder(folder, rows=False).damages == report.damages[:2]
    with pytest.raises(ArtefactError, match="missing from the collection"):
        Collection.open(folder)


def test_a_path_is_told_once(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    for path in folder.glob("rows-*/*"):
        path.unlink()
    (rows,) = folder.glob("rows-*")
    for name in (folder, "c"):
        (damage,) = Collection.verify_folder(name).damages
        assert str(damage).count(rows.name) == 1
        assert "no manifest" in str(damage)


def test_files_of_two_collections(folder, tmp_path):
    Collection.create(tmp_path / "d", X, encoder=OTHER)
    (source,) = folder.glob("rows-*")
    (target,) = (tmp_path / "d").glob("rows-*")
    shutil.rmtree(target)
    shutil.copytree(source, target)
    with pytest.raises(ArtefactError, match="are of another encoder"):
        Collection.open(tmp_path / "d")
    (source,) = folder.glob("encoder-*")
    (target,) = (tmp_path / "d").glob("encoder-*")
    target.write_bytes(source.read_bytes())
    with pytest.raises(ArtefactError, match="damaged"):
        Collection.open(tmp_path / "d")
    entry = unsealed(folder)["files"]["encoder.safetensors"]
    (tmp_path / "d" / entry["path"]).write_bytes(source.read_bytes())
    reseal(tmp_path / "d", files={"encoder.safetensors": entry})
    with pytest.raises(ArtefactError, match="mixes the files of two"):
        Collection.open(tmp_path / "d")


# Manifests that somebody has forged, with a checksum that fits.

DOORS = {
    "open": Collection.open,
    "verify": Collection.verify_folder,
    "repair": Collection.repair_folder,
    "encoder": lambda folder: Collection.create(None, X, encoder=folder),
    "left over": tools.unused_files,
    "overwrite": lambda folder: tools.check_target(folder),
}


@pytest.mark.parametrize(
    "text", [b"[]", b"1", b"null", b"{}", b"\xff\xfe", b"[" * 100_000, b""]
)
def test_manifests_that_are_none(folder, text):
    (folder / "collection.json").write_bytes(text)
    with pytest.raises(ArtefactError, match=r"collection\.json is damaged") as caught:
        Collection.open(folder)
    assert "\n" not in str(caught.value)
    (damage,) = Collection.verify_folder(folder).damages
    assert damage.file == str(folder / "collection.json")
    with contextlib.suppress(FewbitsError):
        report = Collection.repair_folder(folder)
        assert "collection.json" in report.notes[-1]
        assert "backup" in report.notes[-1]
    with pytest.raises(FewbitsError, match="damaged"):
        Collection.open(folder)


VALUES = [None, "", "x" * 9, "../x", 7, -1, 1.5, True, [], {}, [[]], {"a": 1}, ["a"]]


def forged(content, rng):
    """Return a manifest with one to three other values, or without some."""
    content = json.loads(json.dumps(content))
    for _ in range(rng.randint(1, 3)):
        target = content
        while True:
            name = rng.choice(sorted(target))
            below = target[name]
            if isinstance(below, dict) and below and rng.random() < 0.7:
                target = below
                continue
            break
        if rng.random() < 0.2:
            del target[name]
        else:
            target[name] = rng.choice(VALUES)
        if not isinstance(content.get("files"), dict) or not content:
            break
    return content


def test_forged_manifests_are_told_in_one_line(folder):
    content, before = unsealed(folder), answers(Collection.open(folder))
    for case in range(600 if NIGHTLY else 120):
        rng = random.Random(case)
        made = forged(content, rng)
        (folder / "collection.json").write_bytes(sealed(made))
        for name, door in DOORS.items():
            try:
                door(folder)
            except FewbitsError as error:
                assert "\n" not in str(error), (case, name)  # noqa: PT017
        with contextlib.suppress(FewbitsError):
            col = Collection.open(folder)
            col.search(X[:3], 2).to_dict()
            col.summary()
            repr(col)
    (folder / "collection.json").write_bytes(sealed(content))
    assert answers(Collection.open(folder)) == before


def test_a_manifest_names_no_files_elsewhere(folder):
    files = unsealed(folder)["files"]
    outside = folder.parent / "outside"
    outside.write_bytes((folder / files["encoder.safetensors"]["path"]).read_bytes())
    for path in ("../outside", str(outside), "./../c/../outside", "rows/../../outside"):
        files["encoder.safetensors"]["path"] = path
        reseal(folder, files=files)
        with pytest.raises(ArtefactError, match="outside"):
            Collection.open(folder)
    for rows in ("../c", "rows-../../aaaaaa", "/tmp", 7, "rows-000000000000"):
        reseal(folder, rows=rows)
        with pytest.raises(ArtefactError):
            Collection.open(folder)


@pytest.mark.parametrize("number", [1, 2, 4])
def test_early_formats_are_told_by_name(tmp_path, number):
    (tmp_path / "bundle.json").write_bytes(sealed({"format": number, "files": {}}))
    (tmp_path / "encoder-0123456789ab.safetensors").touch()
    before = {path: path.read_bytes() for path in all_files(tmp_path)}
    for door in ("open", "verify", "repair", "encoder"):
        with pytest.raises(ArtefactError, match="early version of fewbits: build it"):
            DOORS[door](tmp_path)
    with pytest.raises(ArtefactError, match="holds a collection already"):
        Collection.create(tmp_path, X, encoder=OTHER)
    assert {path: path.read_bytes() for path in all_files(tmp_path)} == before
    Collection.create(tmp_path, X, encoder=OTHER, overwrite=True)
    assert len(Collection.open(tmp_path)) == len(X)


def test_a_folder_of_nothing(tmp_path):
    for door in ("open", "verify", "repair", "encoder"):
        with pytest.raises(ArtefactError, match=r"it has no collection\.json"):
            DOORS[door](tmp_path)
        with pytest.raises(ArtefactError, match="there is no such folder"):
            DOORS[door](tmp_path / "none")
    assert os.listdir(tmp_path) == []


# What a verification notes.


def test_the_note_is_what_was_found(folder):
    assert Collection.open(folder).last_verified() is None
    report = Collection.verify_folder(folder)
    assert report.is_intact
    noted = Collection.open(folder).last_verified()
    assert noted.report == report
    assert noted.to_dict()["intact"]
    (rows,) = folder.glob("rows-*/seg-*.arrow")
    rows.write_bytes(rows.read_bytes()[:-8])
    damaged = Collection.verify_folder(folder)
    noted = Collection.open(folder).last_verified()
    assert noted.report == damaged != report
    assert noted.to_dict()["damages"][0]["text"] == str(damaged.damages[0])
    Collection.verify_folder(folder, rows=False)
    assert Collection.open(folder).last_verified().report == damaged


def test_rows_that_come_later_leave_the_note_and_a_save_does_not(folder):
    report = Collection.verify_folder(folder)
    Collection.open(folder).delete(["k1"])
    assert Collection.open(folder).last_verified().report.number == report.number
    Collection.repair_folder(folder)  # which has nothing to do
    assert Collection.open(folder).last_verified().report.number == report.number
    full(form="int8").save(folder, overwrite=True)
    assert Collection.open(folder).last_verified() is None
    Collection.verify_folder(folder)
    (folder / "collection.json").unlink()
    full().save(folder, overwrite=True)
    assert not (folder / "verified.json").exists()
    assert full().last_verified() is None


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b"{}", b'{"at": 1}', b"\xff\xfe", b"[" * 9999],
)
def test_a_note_of_anything_else_is_none(folder, content):
    (folder / "verified.json").write_bytes(content)
    assert Collection.open(folder).last_verified() is None
    Collection.verify_folder(folder)
    note = json.loads((folder / "verified.json").read_bytes())
    note["at"] = 1
    (folder / "verified.json").write_text(json.dumps(note))
    assert Collection.open(folder).last_verified() is None


def test_a_folder_that_takes_no_note(folder, no_new_files):
    assert Collection.verify_folder(folder).is_intact
    assert Collection.open(folder).last_verified() is None
    names = [path.name for path in folder.iterdir()]
    assert not [name for name in names if name.startswith((".", "verified"))]


# Repair.


def test_nothing_is_repaired_where_nothing_is_damaged(folder):
    before = {path: path.read_bytes() for path in all_files(folder)}
    report = Collection.repair_folder(folder)
    assert report.is_complete
    assert str(report) == f"nothing is damaged: {len(Collection.open(folder))} rows"
    after = {path: path.read_bytes() for path in all_files(folder)}
    assert {path: data for path, data in after.items() if "LOCK" not in path.name} == {
        path: data for path, data in before.items() if "LOCK" not in path.name
    }


def test_flipped_bits_are_put_back(folder):
    before, rng = answers(Collection.open(folder)), random.Random(0)
    (rows,) = folder.glob("rows-*/seg-*.arrow")
    (vectors,) = folder.glob("rows-*/vec-*.arrow")
    newest = max(folder.glob("rows-*/manifest-*.json"))
    for path in (folder / "collection.json", rows, vectors, newest):
        data = bytearray(path.read_bytes())
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        path.write_bytes(data)
    report = Collection.repair_folder(folder)
    assert report.is_complete
    assert any("collection.json" in note for note in report.notes)
    assert Collection.verify_folder(folder).is_intact
    assert answers(Collection.open(folder)) == before


def test_damaged_rows_stay_until_they_may_go(folder):
    col = Collection.open(folder)
    before = {path: path.read_bytes() for path in all_files(folder)}
    codes = col.codes.copy()
    (path,) = folder.glob("rows-*/vec-*.arrow")
    data = bytearray(path.read_bytes())
    data[900:1000] = bytes(100)
    path.write_bytes(data)
    report = Collection.repair_folder(folder)
    assert (report.n_rows, report.n_lost, report.n_damaged) == (29, 0, 29)
    assert not report.is_complete
    assert set(report.damaged_ids) == set(col.ids.tolist())
    col = Collection.open(folder)  # codes are searched as before
    np.testing.assert_array_equal(col.codes, codes)
    assert col.search(X[:1], 1, rerank=False).ids.tolist() == [["k0"]]
    with pytest.raises(ArtefactError, match="damaged"):
        col.search(X[:1], 1)
    path.write_bytes(before[path])  # from a backup
    assert Collection.verify_folder(folder).is_intact
    path.write_bytes(data)
    del col
    report = Collection.repair_folder(folder, drop_rows=True)
    assert (report.n_rows, report.n_lost) == (0, 29)
    assert set(report.lost_ids) == {f"k{i}" for i in range(30)} - {"k7"}
    assert Collection.verify_folder(folder).is_intact
    assert len(Collection.open(folder)) == 0
    assert list(folder.glob("rows-*/damaged-vec-*"))
    assert all("damaged-" in path for path in tools.unused_files(folder))
    assert (
        Collection.open(folder).add(
            {"sku": ["k0"], "v": X[:1], "kind": ["red"], "year": [1]}
        )
        == 1
    )


def test_a_damaged_encoder_is_replaced_by_another(folder):
    col = Collection.open(folder)
    vectors, table = col.vectors, col.to_arrow()
    (path,) = folder.glob("encoder-*")
    path.write_bytes(b"damaged")
    report = Collection.repair_folder(folder)
    assert any("fewbits reencode" in note for note in report.notes)
    assert not report.before.is_intact
    with pytest.raises(ArtefactError, match="damaged"):
        Collection.open(folder)
    Collection.repair_folder(folder, encoder=OTHER)
    col = Collection.open(folder)
    np.testing.assert_array_equal(col.codes, OTHER.encode(vectors))
    np.testing.assert_array_equal(col.vectors, vectors)
    assert col.to_arrow() == table
    assert Collection.verify_folder(folder).is_intact


def test_a_damaged_encoder_without_vectors_needs_a_backup(tmp_path):
    Collection.create(tmp_path / "c", X, encoder=OTHER)
    (path,) = (tmp_path / "c").glob("encoder-*")
    content = path.read_bytes()
    path.write_bytes(content[:-1])
    report = Collection.repair_folder(tmp_path / "c")
    (note,) = report.notes
    assert "backup" in note
    assert "reencode" not in note
    with pytest.raises(ArgumentError, match="keeps no vectors"):
        Collection.repair_folder(tmp_path / "c", encoder=OTHER)
    path.write_bytes(content)
    assert len(Collection.open(tmp_path / "c")) == len(X)


def test_a_manifest_that_cannot_be_put_back(folder):
    (folder / "collection.json").write_bytes(b"nothing")
    report = Collection.repair_folder(folder)
    assert "put back a copy from a backup" in report.notes[-1]
    for path in folder.glob("rows-*"):
        shutil.rmtree(path)
    with pytest.raises(ArtefactError, match="backup"):
        Collection.repair_folder(folder)


def test_a_damaged_encoder_of_no_rows_is_told(tmp_path):
    learnt().save(tmp_path / "c")
    with pytest.raises(ArtefactError, match="holds no rows"):
        Collection.repair_folder(tmp_path / "c")
    (path,) = (tmp_path / "c").glob("codebook-*")
    path.write_bytes(b"x")
    report = Collection.repair_folder(tmp_path / "c")
    assert str(path) in report.notes[0]
    assert str(Collection.verify_folder(tmp_path / "c")).startswith(f"{path}")


def test_a_repair_waits_for_who_writes(folder):
    (rows,) = folder.glob("rows-*")
    with Store(rows).writer(), pytest.raises(FewbitsError, match="being changed"):
        Store(rows).repair(timeout=0)
    with one_at_a_time(folder / ".saving.tmp"):
        assert Collection.verify_folder(folder).is_intact


def test_damage_of_corrections_is_told(tmp_path):
    rows = np.random.default_rng(0).normal(size=(300, 12)).astype(np.float32) + 1
    encoder = AdditiveCodes(24, correction=True, random_state=0).fit(rows).encoder_
    Collection.create(tmp_path / "c", rows, encoder=encoder)
    (path,) = (tmp_path / "c").glob("rows-*/seg-*.arrow")
    stored = encoder.corrections(rows, encoder.encode(rows)).values.tobytes()
    data = bytearray(path.read_bytes())
    at = data.find(stored)
    data[at + 14] ^= 3  # two bits: one could be put back
    path.write_bytes(data)
    (damage,) = Collection.verify_folder(tmp_path / "c").damages
    assert "_correction" in damage.columns
    with pytest.raises(ArtefactError, match="damaged"):
        Collection.open(tmp_path / "c").search(rows[:2], rerank=True)
    assert Collection.repair_folder(tmp_path / "c").n_damaged == 300


def test_classes_are_read_again(folder):
    col = Collection.open(folder)
    assert col.codebook.names.tolist() == NAMES
    assert col.summary()["calibrated"]
    assert col.summary()["rejects"]
