"""Damage of a collection is named, repaired, and told by the exit status."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from fewbits.cli import app
from fewbits.collection import Collection
from fewbits.encoders import LinearEncoder
from fewbits.store import Store, one_at_a_time

X = np.random.default_rng(0).normal(size=(40, 8)).astype(np.float32)
ENCODER = LinearEncoder(np.eye(8), np.zeros(8))


@pytest.fixture
def folder(tmp_path):
    Collection.create(tmp_path / "b", X, encoder=ENCODER)
    return tmp_path / "b"


def call(*arguments):
    result = CliRunner().invoke(app, [*map(str, arguments)])
    return result.exit_code, result.stdout


def damage(folder):
    (path,) = folder.glob("rows-*/seg-*.arrow")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    return path.name


def test_an_absolute_path_is_told_once(folder):
    for path in folder.glob("rows-*/*"):
        path.unlink()
    status, printed = call("verify", folder)
    (items,) = folder.glob("rows-*")
    assert status == 1
    assert printed == f"{items}: it holds no collection: it has no manifest\n"


def test_a_relative_path_is_told_once(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    for path in folder.glob("rows-*/*"):
        path.unlink()
    (items,) = folder.glob("rows-*")
    told = f"b/{items.name}: it holds no collection: it has no manifest\n"
    assert call("verify", "b") == (1, told)


def unfinished_save(folder):
    """Return a store that no manifest names, as a killed `reencode` leaves it."""
    (items,) = folder.glob("rows-*")
    left = folder / "rows-0123456789ab"
    shutil.copytree(items, left)
    return left, sum(path.stat().st_size for path in left.iterdir())


def test_what_a_killed_save_left_is_named_and_removed(folder):
    left, n_bytes = unfinished_save(folder)
    status, printed = call("verify", folder)
    assert status == 0
    assert f"{left}: {n_bytes:,} bytes" in printed
    assert json.loads(call("verify", folder, "--json")[1])["unused_files"] == {
        str(left): n_bytes
    }
    told = json.loads(call("compact", folder, "--json")[1])
    assert told["bytes_before"] >= told["bytes"] + n_bytes
    assert not left.exists()
    assert call("verify", folder)[1].startswith("40 rows")
    assert len(call("verify", folder)[1].splitlines()) == 1


def test_what_somebody_uses_is_not_removed(folder):
    left, _ = unfinished_save(folder)
    with Store(left).snapshot():
        call("compact", folder)
        assert left.exists()
    with Store(left).writer():
        call("compact", folder)
        assert left.exists()
    with one_at_a_time(folder / ".saving.tmp"):  # it goes when that save ends
        call("compact", folder)
        assert left.exists()
    (folder / "collection.json").write_bytes(b"{}")
    assert call("compact", folder)[0] != 0
    assert left.exists()
    assert len([*folder.glob("rows-*")]) == 2


def test_replaced_files_are_named(folder):
    (path,) = folder.glob("rows-*/seg-*.arrow")
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    call("verify", folder, "--repair")
    damaged = sorted(folder.glob("rows-*/damaged-*"))
    status, printed = call("verify", folder)
    assert status == 0
    assert damaged
    for each in damaged:
        assert f"{each}: {each.stat().st_size:,} bytes that a repair" in printed
    told = json.loads(call("compact", folder, "--json")[1])
    assert told["bytes"] > sum(each.stat().st_size for each in damaged)
    # They stay when another collection takes the place of theirs.
    Collection.create(folder, X, encoder=ENCODER, overwrite=True)
    assert sorted(folder.glob("rows-*/damaged-*")) == damaged
    printed = call("verify", folder)[1].splitlines()
    assert len(printed) == 1 + len(damaged)


def test_deletes_that_come_back_are_told_by_the_status(tmp_path):
    folder = tmp_path / "b"
    Collection.create(folder, np.resize(X, (1000, 8)), encoder=ENCODER)
    Collection.open(folder).delete(range(300))  # few would be in the manifest
    (path,) = folder.glob("rows-*/del-*")
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    assert "300 deletes depend on it" in call("verify", folder)[1]
    status, printed = call("verify", folder, "--repair")
    assert (status, printed.splitlines()[0]) == (0, "700 rows are there, 0 are lost")
    Collection.open(folder).delete(range(300, 310))
    path = max(folder.glob("rows-*/del-*"), key=lambda path: path.stat().st_mtime_ns)
    path.write_bytes(path.read_bytes()[:-1])
    assert "300 deletes depend on it" in call("verify", folder)[1]
    status, printed = call("verify", folder, "--repair")
    assert status == 1
    assert "300 deleted rows are there again" in printed
    assert call("verify", folder)[0] == 0


def test_intact(folder):
    status, printed = call("verify", folder)
    assert (status, printed.split(" in ")[0]) == (0, "40 rows")
    assert call("verify", folder, "--repair")[0] == 0


def test_damage_is_named_and_repaired(folder):
    name = damage(folder)
    status, printed = call("verify", folder)
    assert status == 1
    assert name in printed
    assert json.loads(call("verify", folder, "--json")[1])["damages"]
    status, printed = call("verify", folder, "--repair", "--json")
    lost = json.loads(printed)["n_lost"]
    assert status == (1 if lost else 0)
    assert lost + len(Collection.open(folder)) == 40
    assert call("verify", folder)[0] == 0


def flip(path, *places):
    content = bytearray(path.read_bytes())
    for place in places:
        content[place] ^= 4
    path.write_bytes(content)


def told(folder, *options):
    """Return the exit status, and what is wrong with which file."""
    status, printed = call("verify", folder, "--json", *options)
    report = json.loads(printed)
    damages = report.get("before", report)["damages"]
    return status, [Path(each["file"]).name for each in damages], report


def test_a_collection_is_checked_where_the_manifest_is_damaged(folder):
    flip(folder / "collection.json", 100, 200)
    name = damage(folder)
    status, files, report = told(folder)
    assert (status, report["n_rows"]) == (1, 40)
    assert {files[0], Path(files[1]).name} == {"collection.json", name}


@pytest.mark.parametrize("place", [0, 3, 150, 300, -70, -1])
def test_a_flipped_bit_of_the_manifest_is_put_back(folder, place):
    before = (folder / "collection.json").read_bytes()
    flip(folder / "collection.json", place)
    assert "verify --repair" in CliRunner().invoke(app, ["inspect", str(folder)]).stderr
    status, files, report = told(folder, "--repair")
    assert (status, files, report["n_lost"]) == (0, ["collection.json"], 0)
    assert "a flipped bit" in report["notes"][0]
    assert (folder / "collection.json").read_bytes() == before
    assert call("verify", folder)[0] == call("inspect", folder)[0] == 0


def test_a_collection_is_repaired_where_the_manifest_stays_damaged(folder):
    before = (folder / "collection.json").read_bytes()
    flip(folder / "collection.json", 100, 200)
    damage(folder)
    status, printed = call("verify", folder, "--repair")
    assert status == 1
    assert "40 rows are there, 0 are lost" in printed
    (line,) = [each for each in printed.splitlines() if "collection.json" in each]
    assert line.endswith("put back a copy from a backup")
    (folder / "collection.json").write_bytes(before)
    assert call("verify", folder)[0] == 0


def test_no_collection_is_guessed(folder):
    flip(folder / "collection.json", 100, 200)
    (folder / "rows-0123456789ab").mkdir()
    assert told(folder)[1] == ["collection.json"]
    result = CliRunner().invoke(app, ["verify", str(folder), "--repair"])
    assert result.exit_code == 2
    assert "collection.json: it is damaged" in result.stderr


@pytest.mark.parametrize("gone", [False, True])
def test_a_collection_is_repaired_where_the_encoder_is_damaged(folder, gone):
    (encoder,) = folder.glob("encoder-*")
    flip(encoder, 20)
    if gone:
        encoder.unlink()
    assert told(folder)[:2] == (1, [encoder.name])
    damage(folder)
    status, printed = call("verify", folder, "--repair")
    assert (status, printed.splitlines()[0]) == (1, "40 rows are there, 0 are lost")
    (line,) = [each for each in printed.splitlines() if encoder.name in each]
    assert line.endswith("put back a copy from a backup")  # there are no vectors
    assert told(folder)[:2] == (1, [encoder.name])


@pytest.mark.parametrize("gone", [False, True])
def test_stored_vectors_are_encoded_where_the_encoder_is_damaged(tmp_path, gone):
    folder, other = tmp_path / "b c", tmp_path / "other"
    Collection.create(folder, X, encoder=ENCODER, keep_vectors="float32")
    new = LinearEncoder(-np.eye(8), np.zeros(8))
    Collection.create(other, X[:1], encoder=new)
    (encoder,) = folder.glob("encoder-*")
    flip(encoder, 20)
    if gone:
        encoder.unlink()
    status, printed = call("verify", folder, "--repair")
    assert status == 1
    assert printed.strip().endswith(f"fewbits reencode '{folder}' --encoder OTHER")
    assert call("reencode", folder, "--encoder", other)[0] == 0
    status, printed = call("verify", folder)
    assert (status, len(printed.splitlines())) == (0, 1)  # the old rows are gone
    made = Collection.open(folder)
    np.testing.assert_array_equal(made.codes, new.encode(X))
    np.testing.assert_array_equal(made.ids, np.arange(40))


def test_an_encoder_alone(tmp_path):
    np.save(tmp_path / "x.npy", X)
    folder = tmp_path / "b"
    assert call("fit", tmp_path / "x.npy", "-o", folder, "-b", "8")[0] == 0
    assert call("verify", folder) == (0, call("verify", folder)[1])
    assert call("verify", folder, "--repair")[0] == 2  # there is nothing to repair
    flip(folder / "collection.json", 50)
    assert told(folder, "--repair")[:2] == (0, ["collection.json"])
    assert call("reencode", folder, "--encoder", folder)[0] == 2  # there are no rows
    (encoder,) = folder.glob("encoder-*")
    flip(encoder, 20)
    assert told(folder)[:2] == told(folder, "--repair")[:2] == (1, [encoder.name])
    assert call("reencode", tmp_path, "--encoder", folder)[0] == 2
