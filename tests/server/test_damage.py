"""A damaged collection: named by every route, without the path of the folder."""

import time

import numpy as np
import pytest

from fewbits import Collection
from fewbits.errors import ArtefactError
from fewbits.server import create_app
from tests.server._running import small_collection, vectors

Q = vectors(3, seed=9)


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "a folder" / "b"
    small_collection(path=folder, keep_vectors="float32")
    return folder


def spoil(folder, pattern):
    path = max(folder.glob(f"*/{pattern}"))  # of manifests the newest
    data = np.frombuffer(path.read_bytes(), np.uint8).copy()
    end = max(len(data) - 1024, len(data) // 2)
    data[min(512, end - 1) : end] ^= 255  # all columns; the frame stays
    overwrite(path, data.tobytes())
    return path.name


def overwrite(path, data):
    """Write over a file in place: one that is cut off first kills who has it mapped."""
    with path.open("r+b") as file:
        file.write(data)


def health(client):
    return client.get("/v1/health").json()


def await_change(client, before):
    """Wait until another version of the folder is served."""
    end = time.monotonic() + 20
    while health(client)["snapshot"] == before:
        assert time.monotonic() < end
        time.sleep(0.005)


def test_damage_is_told_by_health_and_repaired(folder, client_of):
    client = client_of(folder, refresh_seconds=0.01)
    assert health(client)["status"] == "ok"
    name = spoil(folder, "vec-*")
    found = client.post("/v1/search", json={"vectors": Q.tolist(), "rerank": True})
    assert found.status_code == 503
    error = found.json()["error"]
    assert error["code"] == "artefact_error"
    assert name in error["message"]
    assert name in health(client)["reason"]
    assert health(client)["status"] == "degraded"
    # Nothing was put right by rows that come, nor by another look at the folder.
    before = health(client)["snapshot"]
    Collection.open(folder).add(Q[:1], columns={"kind": ["red"], "year": [1]})
    await_change(client, before)
    assert health(client)["status"] == "degraded"
    verified = client.post("/v1/verify").json()
    assert not verified["intact"]
    for answer in (found.json(), health(client), verified):
        assert str(folder.parent) not in str(answer)
    before = health(client)["snapshot"]
    Collection.repair_folder(folder, drop_rows=True)
    await_change(client, before)
    assert health(client)["status"] == "ok"
    found = client.post("/v1/search", json={"vectors": Q.tolist(), "rerank": True})
    assert found.json()["metric"] == "euclidean"


@pytest.mark.parametrize("pattern", ["seg-*", "vec-*"])
def test_facts_and_quality_without_what_cannot_be_read(folder, client_of, pattern):
    name = spoil(folder, pattern)
    client = client_of(folder)
    facts = client.get("/v1/facts")
    assert facts.status_code == 200
    assert facts.json()["n_items"] == 200
    quality = client.get("/v1/quality")
    assert quality.status_code == 200
    assert quality.json()["bytes"]["vectors"] > 0
    assert str(folder.parent) not in facts.text + quality.text
    is_rows = pattern == "seg-*"
    assert facts.json()["unreadable"] == (["kind", "year"] if is_rows else [])
    if is_rows:
        assert quality.json()["n_dead_bits"] is None
        assert name in quality.json()["warnings"][0]
        assert health(client)["status"] == "degraded"
        assert client.post("/v1/search", json={"codes": ["00000000"]}).is_error
    recall = client.get("/v1/quality/recall").json()
    assert recall["estimates"] == []
    assert name in recall["reason"]
    assert str(folder.parent) not in recall["reason"]
    assert not client.post("/v1/verify").json()["intact"]
    if not is_rows:  # a service that may only read leaves no note
        assert health(client_of(folder))["status"] == "ok"
    client_of(folder, writable=True).post("/v1/verify")
    assert name in health(client_of(folder))["reason"]


def test_damage_that_verifying_finds(folder, client_of):
    client = client_of(folder)
    (path,) = folder.glob("*/seg-*")
    data = bytearray(path.read_bytes())
    data[600] ^= 1
    overwrite(path, data)
    name, verified = path.name, client.post("/v1/verify").json()
    assert (verified["intact"], name in str(verified["damages"])) == (False, True)
    assert health(client)["status"] == "degraded"
    assert Collection.repair_folder(folder).is_complete
    assert client.post("/v1/verify").json()["intact"]
    assert health(client)["status"] == "ok"


def test_a_manifest_that_is_damaged_while_it_is_served(folder, client_of):
    client = client_of(folder)
    path = max(folder.glob("*/manifest-*"))
    path.write_bytes(b"{}")
    assert not client.post("/v1/verify").json()["intact"]
    with pytest.raises(ArtefactError, match="verify --repair"):
        create_app(folder)
