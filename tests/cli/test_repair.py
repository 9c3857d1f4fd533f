"""Damage of any file of a collection is named and repaired by the commands alone."""

import json

import numpy as np
import pytest

from fewbits.collection import Collection
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArtefactError
from tests.cli._calling import invoke

N = 5000  # vectors of several blocks, which stay a segment when others come
ENCODER = LinearEncoder(np.eye(16), np.zeros(16))
X = np.random.default_rng(0).normal(size=(N, 16)).astype(np.float32)
NAMES = [f"t{i}" for i in range(N + 5)]


@pytest.fixture
def folder(tmp_path):
    options = {"encoder": ENCODER, "keep_vectors": "float32"}
    made = Collection.create(tmp_path / "b", X, columns={"text": NAMES[:N]}, **options)
    made.add(X[:5], columns={"text": NAMES[N:]})
    return tmp_path / "b"


def call(*words):
    result = invoke(*words)
    return result.exit_code, result.stdout, result.stderr


def paths(folder, pattern):
    return sorted(folder.glob(f"rows-*/{pattern}"), key=lambda p: p.stat().st_size)


def overwrite(path, at=100_000, n=64):
    data = bytearray(path.read_bytes())
    at = min(at, len(data) // 2)
    data[at : at + n] = bytes(255 - each for each in data[at : at + n])
    path.write_bytes(data)


def flip_newest_manifest(folder):
    overwrite(max(folder.glob("rows-*/manifest-*")), n=1)


def remove_manifests(folder):
    for path in folder.glob("rows-*/manifest-*"):
        path.unlink()


@pytest.mark.parametrize("hurt", [flip_newest_manifest, remove_manifests])
def test_a_collection_without_its_manifest(folder, hurt):
    hurt(folder)
    status, told, _ = call("verify", folder, "--json")
    assert status == 1
    assert json.loads(told)["damages"]
    with pytest.raises(ArtefactError, match="verify --repair"):
        Collection.open(folder)
    status, told, _ = call("verify", folder, "--repair")
    assert (status, told.splitlines()[0]) == (0, "5,005 rows are there, 0 are lost")
    assert Collection.verify_folder(folder).is_intact
    found = Collection.open(folder)
    assert found.column("text").tolist() == NAMES
    np.testing.assert_array_equal(found.vectors, np.concatenate([X, X[:5]]))


def test_no_state_is_guessed_without_a_manifest(folder):
    remove_manifests(folder)
    for path in folder.glob("rows-*/copy-*"):
        path.unlink()
    before = sorted(folder.glob("rows-*/*"))
    status, _, error = call("verify", folder, "--repair", "--drop-rows")
    assert status == 2
    assert "no manifest can be read" in error
    assert sorted(folder.glob("rows-*/*")) == before


@pytest.mark.parametrize("how", ["gone", "cut", "overwritten"])
def test_damaged_vectors_stay_until_their_rows_may_go(folder, how):
    codes = Collection.open(folder).codes.copy()
    path = paths(folder, "vec-*")[-1]
    if how == "overwritten":
        overwrite(path)
    else:
        path.write_bytes(path.read_bytes()[:70_000])
    if how == "gone":
        path.unlink()
    report = Collection.repair_folder(folder)
    assert (report.n_rows, report.n_lost, report.n_damaged) == (N + 5, 0, N)
    assert report.damaged_ids == tuple(range(1000))
    assert not report.is_complete
    opened = Collection.open(folder)  # codes are searched as before
    assert opened.column("text").tolist() == NAMES
    np.testing.assert_array_equal(opened.codes, codes)
    assert opened.search(X[:1], 1, rerank=False)[0][0].distance == 0
    status, _, error = call("verify", folder, "--drop-rows")
    assert (status, error) == (2, "fewbits: error: --drop-rows needs --repair\n")
    status, told, _ = call("verify", folder, "--repair", "--drop-rows", "--json")
    report = json.loads(told)
    assert (status, report["n_rows"], report["n_lost"]) == (1, 5, N)
    assert report["lost_ids"] == [*range(1000)]
    assert Collection.verify_folder(folder).is_intact
    rest = Collection.open(folder)
    assert rest.ids.tolist() == [*range(N, N + 5)]
    np.testing.assert_array_equal(rest.vectors, X[:5])


def test_every_damaged_file_is_named(folder):
    (encoder,) = folder.glob("encoder-*")
    rows = paths(folder, "seg-*")[-1]
    for path in (encoder, rows):
        overwrite(path)
    report = Collection.verify_folder(folder)
    assert {each.file for each in report.damages} == {str(encoder), str(rows)}
    rows.parent.rename(folder.parent / "away")
    encoder.unlink()
    report = Collection.verify_folder(folder)
    assert {each.file for each in report.damages} == {str(encoder), str(rows.parent)}


def test_of_two_damaged_manifests_neither_makes_the_other_again(folder):
    for path in folder.glob("rows-*/*-000*.json"):
        path.write_bytes(path.read_bytes()[:-9])
    damages = Collection.verify_folder(folder).damages
    assert len(damages) == 2
    assert "nothing is lost" not in "".join(map(str, damages))
