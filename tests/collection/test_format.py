"""Folders of earlier days are read; those of later ones are refused and left alone.

``kept`` has a folder of each format that this version reads, made once by
``tools/keep_folder.py``, and what it answered then.
"""

import hashlib
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from fewbits import Collection
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArtefactError
from tests.collection._full import X, all_files, full
from tests.collection._sealed import reseal, sealed, unsealed
from tests.store import _format

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


def test_a_later_format_is_refused_by_name_and_stays_as_it_is(kept):
    folder, _ = kept
    before = Collection.open(folder)
    reseal(folder, format=6, something="new", files={"x": 1}, rows={"any": "thing"})
    content = without_locks(folder)
    one = {name: before.to_arrow()[name].slice(0, 1) for name in before.columns}
    doors = {
        "open": lambda: Collection.open(folder),
        "verify": lambda: Collection.verify_folder(folder),
        "repair": lambda: Collection.repair_folder(folder),
        "drop rows": lambda: Collection.repair_folder(folder, drop_rows=True),
        "add": lambda: before.add(np.ones((1, 8)), ids=["new"], columns=one),
        "delete": lambda: before.delete([before.ids[0]]),
        "compact": lambda: before.compact(),
        "refresh": lambda: before.refresh(),
        "reencode": lambda: before.reencode(LinearEncoder(np.eye(8), np.zeros(8))),
        "build": lambda: Collection.create(folder, X, bits=8),
        "overwrite": lambda: Collection.create(folder, X, bits=8, overwrite=True),
        "save": lambda: full().save(folder, overwrite=True),
        "encoder": lambda: Collection.create(None, X, encoder=folder),
    }
    for name, door in doors.items():
        with pytest.raises(ArtefactError) as caught:
            pytest.fail(f"{name} gave {door()}")
        assert "format 6, this version reads format 5: install a newer" in str(
            caught.value
        )
        assert "\n" not in str(caught.value)
    assert without_locks(folder) == content


def test_rows_of_a_later_format_are_refused_and_stay_as_they_are(kept):
    folder, _ = kept
    for path in folder.glob("rows-*/*-000003.json"):
        made = _format.manifest(path.read_bytes())
        path.write_bytes(_format.manifest_bytes({**made, "format": 2}))
    content = without_locks(folder)
    for door in (
        Collection.open,
        Collection.repair_folder,
        lambda folder: Collection.repair_folder(folder, drop_rows=True),
    ):
        with pytest.raises(
            ArtefactError, match="format 2, this version reads format 1"
        ):
            door(folder)
    (damage,) = Collection.verify_folder(folder, note=False).damages
    assert "install a newer fewbits" in str(damage)
    assert without_locks(folder) == content


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
        "format": 5,
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
    assert len(DOCUMENT.read_text("utf-8").splitlines()) <= 150
