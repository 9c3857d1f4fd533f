"""Folders of earlier days are read; those of later ones are refused and left alone.

``kept`` has a folder of each format that this version reads, made once by
``tools/keep_folder.py``, and what it answered then.
"""

import hashlib
import json
import re
import shutil
import time
from pathlib import Path

import numpy as np
import pytest
from fastapi.testclient import TestClient

from fewbits import Collection
from fewbits.collection import tools
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArtefactError, NewerFormatError
from fewbits.server import Settings, create_app
from tests.cli._calling import fail, run
from tests.collection._full import X, all_files, full
from tests.collection._sealed import reseal, sealed, unsealed
from tests.store import _format
from tests.store._sizes import small_segments

KEPT = Path(__file__).with_name("kept")
FORMATS = sorted(path.name for path in KEPT.iterdir() if path.is_dir())
DOCUMENT = Path(__file__).parents[2] / "FORMAT.md"


@pytest.fixture(params=FORMATS)
def kept(request, tmp_path):
    """Return a copy of a folder, and what it answered."""
    folder = shutil.copytree(KEPT / request.param, tmp_path / "c")
    return folder, json.loads((KEPT / f"{request.param}.json").read_text())


def without_locks(folder):
    paths = [path for path in all_files(folder) if not path.name.startswith("LOCK")]
    return {path: path.read_bytes() for path in paths}


def plain(value):
    return json.loads(json.dumps(value, default=str))


def test_a_kept_folder_answers_as_it_did(kept):
    folder, notes = kept
    col, queries = Collection.open(folder), np.array(notes["queries"])
    assert plain(col.to_arrow().to_pylist()) == notes["rows"]
    assert col.codes.tolist() == notes["codes"]
    assert col.ids.tolist() == [row["sku"] for row in notes["rows"]]
    for name, options in (
        ("hamming", {"k": 3, "rerank": False}),
        ("euclidean", {"k": 4, "columns": []}),
        ("filtered", {"k": 4, "columns": [], "filter": "year > 2004"}),
    ):
        assert plain(col.search(queries, **options).to_list()) == notes[name]
    classes = col.classify(queries, decoder="nearest").classes.tolist()
    assert classes == notes["classes"]
    assert {**notes["summary"], **plain(col.summary())} == plain(col.summary())
    tags = {name: col.at(name).ids.tolist() for name in col.tags()}
    assert tags == notes.get("tags", {})
    assert col.classify(queries, max_false_reject_rate=0.1).accepted is not None


def test_a_kept_folder_is_intact_and_can_be_changed(kept):
    folder, notes = kept
    assert Collection.verify_folder(folder).is_intact
    col = Collection.open(folder)
    n = len(notes["rows"])
    row = {**notes["rows"][0], "sku": "new", "v": [1.0] * 8}
    table = col.to_arrow().slice(0, 1)
    columns = {name: table[name] for name in col.columns}
    assert col.add(np.ones((1, 8)), ids=[row["sku"]], columns=columns) == 1
    assert col.delete([notes["rows"][1]["sku"]]) == 1
    col.compact()
    assert len(Collection.open(folder)) == n
    assert Collection.verify_folder(folder).is_intact


# What a newer fewbits has written.


def of_rows(**changes):
    """Return what commits one more state of rows, with some changes of its manifest."""

    def change(folder):
        for path in folder.glob("rows-*/*-000003.json"):
            content = {**_format.manifest(path.read_bytes()), "number": 4, **changes}
            newer = path.with_name(path.name.replace("3", "4"))
            newer.write_bytes(_format.manifest_bytes(content))

    return change


def of_kind(pattern):
    """Return what makes a file one of kind 2, with a checksum that fits."""

    def change(folder):
        for path in folder.glob(f"rows-*/{pattern}"):
            data = path.read_bytes()
            path.write_bytes(_format.sealed(data[:12] + b"2" + data[13:-4]))

    return change


NEWER = {
    "a format": (
        lambda folder: reseal(folder, format=7, files={"x": 1}, rows={"any": "thing"}),
        "format 7, this version reads formats up to 6",
    ),
    "a feature": (lambda f: reseal(f, reader_features=["tides"]), "needs 'tides'"),
    "a format of rows": (of_rows(format=3), "format 3, this version reads"),
    "a feature of rows": (of_rows(reader_features=["tides"]), "needs 'tides'"),
}
KINDS = {"deletes": of_kind("del-*"), "sums": of_kind("sum-*")}
FOR_WRITERS = {
    "the collection": lambda folder: reseal(folder, writer_features=["tides"]),
    "rows": of_rows(writer_features=["tides"]),
}


def changing(folder, col):
    """Return the doors by which something changes, of an open collection too."""
    one = {name: col.to_arrow()[name].slice(0, 1) for name in col.columns}
    return {
        "repair": lambda: Collection.repair_folder(folder),
        "drop rows": lambda: Collection.repair_folder(folder, drop_rows=True),
        "another encoder": lambda: Collection.repair_folder(folder, encoder=full()),
        "add": lambda: col.add(np.ones((1, 8)), ids=["new"], columns=one),
        "delete": lambda: col.delete([col.ids[0]]),
        "compact": lambda: col.compact(),
        "reencode": lambda: col.reencode(LinearEncoder(np.eye(8), np.zeros(8))),
        "prefix": lambda: tools.check_target(folder),
        "overwrite": lambda: Collection.create(folder, X, bits=8, overwrite=True),
        "save": lambda: full().save(folder, overwrite=True),
        "command": lambda: command("compact", folder),
        "repairing command": lambda: command("verify", folder, "--repair"),
    }


def reading(folder, col):
    """Return the doors by which something is read."""
    return {
        "open": lambda: Collection.open(folder),
        "verify": lambda: Collection.verify_folder(folder),
        "at": lambda: col.at(4),
        "refresh": lambda: col.refresh(),
        "encoder": lambda: Collection.create(None, X, encoder=folder),
        "server": lambda: create_app(folder),
        **{
            name: lambda name=name: command(name, folder)
            for name in ("inspect", "verify")
        },
    }


def command(*words):
    """Raise what a command says in its one line of refusal."""
    raise NewerFormatError(fail(*words))


def check_refused(doors, reason):
    for name, door in doors.items():
        with pytest.raises(NewerFormatError) as caught:
            pytest.fail(f"{name} gave {door()}")
        assert reason in str(caught.value), name
        assert "install a newer fewbits" in str(caught.value), name
        assert "\n" not in str(caught.value).strip(), name


@pytest.mark.parametrize("case", NEWER)
def test_what_is_newer_is_refused_by_name_and_stays_as_it_is(kept, case):
    folder, _ = kept
    col, app = (
        Collection.open(folder),
        create_app(folder, Settings(refresh_seconds=0.01)),
    )
    change, reason = NEWER[case]
    change(folder)
    content = without_locks(folder)
    doors = reading(folder, col) | changing(folder, col)
    if "rows" in case:
        del doors["encoder"]  # which is not newer
        assert 4 in col.versions()
    else:
        del doors["at"]
    check_refused(doors, reason)
    with TestClient(app, base_url="http://localhost") as client:
        health, end = {"status": "ok"}, time.monotonic() + 20
        while health["status"] == "ok" and time.monotonic() < end:
            health = client.get("/v1/health").json()
        assert reason in health["reason"]
        assert client.get("/v1/facts").json()["n_items"] == len(col)
    assert without_locks(folder) == content


@pytest.mark.parametrize("kept", ["format-5", "format-6"], indirect=True)
@pytest.mark.parametrize("case", KINDS)
def test_a_newer_kind_of_file_is_no_damage(kept, case):
    folder, _ = kept
    before = without_locks(folder)
    KINDS[case](folder)
    assert without_locks(folder) != before
    content, col = without_locks(folder), Collection.open(folder)
    doors = {
        "search": lambda: col.search(np.ones((1, 8)), 3),
        "verify": lambda: Collection.verify_folder(folder),
        "repair": lambda: Collection.repair_folder(folder),
        "drop rows": lambda: Collection.repair_folder(folder, drop_rows=True),
        "compact": lambda: col.compact(),
        "command": lambda: command("verify", folder, "--repair"),
    }
    check_refused(doors, "2', this version reads 'fewbits")
    assert without_locks(folder) == content


@pytest.mark.parametrize("case", FOR_WRITERS)
def test_what_only_newer_ones_may_change_is_read(kept, case):
    folder, notes = kept
    FOR_WRITERS[case](folder)
    (rows,) = folder.glob("rows-*")
    (rows / "seg-0123456789abcdef.arrow").touch()  # perhaps of a newer kind of state
    content, col = without_locks(folder), Collection.open(folder)
    assert plain(col.to_arrow().to_pylist()) == notes["rows"]
    assert Collection.verify_folder(folder).is_intact
    assert run("verify", folder).startswith("10 rows")
    assert run("inspect", folder)
    assert tools.unused_files(folder) == {}
    check_refused(changing(folder, col), "'tides'")
    assert without_locks(folder) == content


@pytest.mark.parametrize(
    "fact",
    [{"extra": 3}, {"novelty_radius": "x"}, {"normalize": "no"}, {"index": 5}],
    ids=str,
)
def test_facts_of_another_type_are_damage(tmp_path, fact):
    col = full(tmp_path / "c")
    reseal(col.path, facts={**unsealed(col.path)["facts"], **fact})
    with pytest.raises(ArtefactError, match=rf"damaged: {next(iter(fact))} is"):
        Collection.open(col.path)


def test_fields_that_are_not_known_stay(kept, monkeypatch):
    small_segments(monkeypatch)
    folder, notes = kept
    facts = unsealed(folder)["facts"]
    (folder / "tides-0123456789ab.bin").write_bytes(b"new")
    entry = {"path": "tides-0123456789ab.bin", "bytes": 3}
    entry["sha256"] = hashlib.sha256(b"new").hexdigest()
    files = {**unsealed(folder)["files"], "tides.bin": entry}
    reseal(folder, moon={"a": [1]}, facts={**facts, "sun": 2}, files=files)
    (newest,) = folder.glob("rows-*/manifest-000003.json")
    segments = _format.manifest(newest.read_bytes())["segments"]
    for segment in segments:
        segment["tide"], segment["rows"]["sea"] = 1, "high"
    of_rows(segments=segments, moon=[2])(folder)
    col = Collection.open(folder)
    assert plain(col.to_arrow().to_pylist()) == notes["rows"]
    col.delete([col.ids[0]])
    assert Collection.repair_folder(folder).is_complete
    (newest,) = folder.glob("rows-*/manifest-000005.json")
    content = _format.manifest(newest.read_bytes())
    assert content["moon"] == [2]
    assert [each["tide"] for each in content["segments"]] == [1, 1]
    assert [each["rows"]["sea"] for each in content["segments"]] == ["high", "high"]
    col.compact()
    (newest,) = folder.glob("rows-*/manifest-000006.json")
    (segment,) = _format.manifest(newest.read_bytes())["segments"]
    assert "tide" not in segment  # which was about those before
    for name in col.tags():
        col.untag(name)
    col.reencode(LinearEncoder(-np.eye(8), np.zeros(8)))
    content = unsealed(folder)
    assert (content["moon"], content["facts"]["sun"]) == ({"a": [1]}, 2)
    assert content["files"]["tides.bin"] == entry
    assert (folder / entry["path"]).read_bytes() == b"new"
    assert Collection.verify_folder(folder).is_intact
    full().save(folder, overwrite=True)  # another collection
    assert "moon" not in unsealed(folder)


@pytest.mark.parametrize("features", [7, "tides", {"a": 1}, [1]])
def test_features_that_are_none(kept, features):
    folder, _ = kept
    clean = (folder / "collection.json").read_bytes()
    reseal(folder, reader_features=features)
    with pytest.raises(ArtefactError, match="reader_features"):
        Collection.open(folder)
    (folder / "collection.json").write_bytes(clean)
    of_rows(writer_features=features)(folder)
    with pytest.raises(ArtefactError, match="writer_features"):
        Collection.open(folder)


def test_the_manifest_is_as_it_is_documented(tmp_path):
    col = full(tmp_path / "c")
    content = unsealed(col.path)
    written = json.loads((col.path / "collection.json").read_bytes())
    assert written == json.loads(sealed(content))
    rows = content.pop("rows")
    assert re.fullmatch("rows-[0-9a-f]{12}", rows)
    assert (col.path / rows).is_dir()
    for name, entry in content.pop("files").items():
        data = (col.path / entry["path"]).read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        stem, suffix = name.split(".")
        assert entry == {
            "path": f"{stem}-{digest[:12]}.{suffix}",
            "bytes": len(data),
            "sha256": digest,
        }
    assert content.pop("facts") == col.facts.to_dict()
    assert content == {
        "format": 6,
        "reader_features": [],
        "writer_features": [],
        "encoder": {
            "kind": "linear",
            "n_features": 12,
            "n_bits": 12,
            "fingerprint": col.encoder.fingerprint,
        },
        "backbone": None,
        "backbone_fingerprint": None,
    }
    Collection.verify_folder(col.path)
    note = json.loads((col.path / "verified.json").read_bytes())
    assert note == json.loads(
        sealed({name: note[name] for name in ("collection", "at", "seconds", "report")})
    )
    manifest = (col.path / "collection.json").read_bytes()
    assert note["collection"] == hashlib.sha256(manifest).hexdigest()


def test_the_document_names_every_field_and_file(tmp_path):
    words = {*re.findall(r"`([^`]+)`", DOCUMENT.read_text("utf-8"))}
    col = full(tmp_path / "c")
    content = unsealed(col.path)
    fields = {*content, *content["encoder"], *content["files"]["encoder.safetensors"]}
    assert fields <= words
    assert {*type(col.facts).__dataclass_fields__} <= words
    assert {name.partition(".")[0] for name in content["files"]} <= {
        word.partition("-")[0] for word in words
    }
    assert len(DOCUMENT.read_text("utf-8").splitlines()) <= 180
