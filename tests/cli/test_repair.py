"""Damage of any file of a collection is named and repaired by the commands alone."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fewbits.bundle import Bundle
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArtefactError

N = 3000  # vectors of several blocks
ENCODER = LinearEncoder(np.eye(16), np.zeros(16))
X = np.random.default_rng(0).normal(size=(N, 16)).astype(np.float32)
NAMES = [f"t{i}" for i in range(N + 5)]


@pytest.fixture
def folder(tmp_path):
    bundle = Bundle(ENCODER).with_items(
        X, columns={"text": NAMES[:N]}, keep_vectors="float32"
    )
    bundle.save(tmp_path / "b")
    Bundle.load(tmp_path / "b").add(X[:5], columns={"text": NAMES[N:]})
    return tmp_path / "b"


def call(*arguments):
    """Run the command in a process of its own."""
    main = "from fewbits.cli import main; main()"
    found = subprocess.run(
        [sys.executable, "-c", main, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    return found.returncode, found.stdout, found.stderr


def paths(folder, pattern):
    return sorted(folder.glob(f"items-*/{pattern}"), key=lambda p: p.stat().st_size)


def overwrite(path, at=100_000, n=64):
    data = bytearray(path.read_bytes())
    at = min(at, len(data) // 2)
    data[at : at + n] = bytes(255 - each for each in data[at : at + n])
    path.write_bytes(data)


def flip_newest_manifest(folder):
    overwrite(max(folder.glob("items-*/manifest-*")), n=1)


def remove_manifests(folder):
    for path in folder.glob("items-*/manifest-*"):
        path.unlink()


def remove_manifests_and_copies(folder):
    remove_manifests(folder)
    for path in folder.glob("items-*/copy-*"):
        path.unlink()


@pytest.mark.parametrize(
    "hurt", [flip_newest_manifest, remove_manifests, remove_manifests_and_copies]
)
def test_a_collection_without_its_manifest(folder, hurt):
    hurt(folder)
    status, told, _ = call("verify", folder, "--json")
    assert status == 1
    assert json.loads(told)["damages"]
    with pytest.raises(ArtefactError, match="verify --repair"):
        Bundle.load(folder)
    status, told, _ = call("verify", folder, "--repair")
    assert (status, told.splitlines()[0]) == (0, "3,005 rows are there, 0 are lost")
    assert Bundle.verify(folder).is_intact
    found = Bundle.load(folder).collection
    assert found.column("text").tolist() == NAMES
    np.testing.assert_array_equal(found.some_vectors(), np.concatenate([X, X[:5]]))


@pytest.mark.parametrize("how", ["gone", "cut", "overwritten"])
def test_rows_stay_where_only_vectors_are_damaged(folder, how):
    codes = Bundle.load(folder).collection.codes.copy()
    path = paths(folder, "vec-*")[-1]
    if how == "overwritten":
        overwrite(path)
    else:
        path.write_bytes(path.read_bytes()[:70_000])
    if how == "gone":
        path.unlink()
    report = Bundle.repair(folder)
    assert (report.n_rows, report.n_lost) == (N + 5, 0)
    assert not report.is_complete
    n_blocks = {"gone": 3, "cut": 2, "overwritten": 1}[how]
    most = n_blocks * (65_536 // X[0].nbytes + 1)
    assert 0 < report.n_vectors_lost <= min(N + 5, most)
    assert set(report.lost_vector_ids) <= set(range(N + 5))
    assert f"{report.n_vectors_lost:,} rows" in str(report)
    assert Bundle.verify(folder).is_intact
    bundle = Bundle.load(folder)
    assert bundle.collection.column("text").tolist() == NAMES
    np.testing.assert_array_equal(bundle.collection.codes, codes)
    assert bundle.collection.vector_form is None
    assert bundle.search_records(X[:1], 1, rerank=True)[0][0]["metric"] == "asymmetric"
    grown = bundle.add(X[:1], columns={"text": ["later"]})
    assert len(grown.collection) == N + 6


def test_rows_go_in_place_of_all_vectors(folder):
    overwrite(paths(folder, "vec-*")[-1])
    status, _, error = call("verify", folder, "--drop-rows")
    assert (status, error) == (2, "fewbits: error: --drop-rows needs --repair\n")
    status, told, _ = call("verify", folder, "--repair", "--drop-rows", "--json")
    assert status == 1
    report = json.loads(told)
    lost = report["lost_ids"]
    assert len(lost) == min(report["n_lost"], 1000) > 0
    assert 0 < report["n_rows"] == N + 5 - report["n_lost"]
    assert report["n_vectors_lost"] == 0
    note = f"{report['n_lost']:,} of these rows lost only their vector"
    assert report["notes"][0].startswith(note)
    assert Bundle.verify(folder).is_intact
    found = Bundle.load(folder).collection
    stays = found.ids
    assert not set(lost) & set(stays)
    kept = np.concatenate([X, X[:5]])[stays]
    np.testing.assert_array_equal(found.some_vectors(), kept)


def test_rows_do_not_all_go_for_want_of_vectors(folder):
    paths(folder, "vec-*")[-1].unlink()
    status, _, error = call("verify", folder, "--repair", "--drop-rows")
    assert status == 2
    assert "so --drop-rows would drop all: without it 3,005 rows stay" in error
    assert Bundle.repair(folder).n_rows == N + 5


def test_a_damaged_vector_of_a_deleted_row_costs_nothing(folder):
    Bundle.load(folder).delete(range(900, 2100))
    overwrite(paths(folder, "vec-*")[-1])
    report = Bundle.repair(folder)
    assert report.is_complete
    assert not report.before.is_intact
    found = Bundle.load(folder).collection
    wanted = np.concatenate([X[:900], X[2100:], X[:5]])
    np.testing.assert_array_equal(found.some_vectors(), wanted)


def test_a_bundle_without_a_collection_is_verified(tmp_path):
    Bundle(ENCODER).save(tmp_path / "b")
    status, told, _ = call("verify", tmp_path / "b")
    assert status == 0
    assert "no collection" in told
    (path,) = (tmp_path / "b").glob("encoder-*")
    overwrite(path, n=1)
    status, told, _ = call("verify", tmp_path / "b")
    assert (status, told.partition(":")[0]) == (1, str(path))
    assert Path(told.partition(":")[0]).exists()


def test_every_damaged_file_is_named(folder):
    (encoder,) = folder.glob("encoder-*")
    rows = paths(folder, "seg-*")[-1]
    for path in (encoder, rows):
        overwrite(path)
    report = Bundle.verify(folder)
    assert {each.file for each in report.damages} == {str(encoder), str(rows)}
    rows.parent.rename(folder.parent / "away")
    encoder.unlink()
    report = Bundle.verify(folder)
    assert {each.file for each in report.damages} == {str(encoder), str(rows.parent)}


def test_of_two_damaged_manifests_neither_makes_the_other_again(folder):
    for path in folder.glob("items-*/*-000*.json"):
        path.write_bytes(path.read_bytes()[:-9])
    damages = Bundle.verify(folder).damages
    assert len(damages) == 2
    assert "nothing is lost" not in "".join(map(str, damages))
