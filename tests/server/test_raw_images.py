"""An image as the body itself, its options in the address."""

import base64
import io

import numpy as np
import pytest
from PIL import Image

from tests.server._images import image_collection

PNG = {"Content-Type": "image/png"}


@pytest.fixture
def client(client_of, tmp_path, monkeypatch):
    collection, paths = image_collection(tmp_path, monkeypatch)
    client = client_of(collection)
    client.paths = paths
    return client


def test_an_image_finds_what_it_finds_in_base64(client):
    data = client.paths[2].read_bytes()
    asked = {"k": 3, "filter": "path like '%.png'"}
    sent = base64.b64encode(data).decode()
    wanted = client.post("/v1/search", json={"images": [sent], **asked})
    found = client.post("/v1/search", content=data, params=asked, headers=PNG)
    assert found.status_code == 200, found.text
    assert found.json() == wanted.json()
    assert found.json()["hits"][0][0]["id"] == 2


@pytest.mark.parametrize(
    ("path", "params"),
    [("encode", {}), ("search", {"radius": 3}), ("search", {}), ("search", {"k": 2})],
)
def test_other_routes(client, path, params):
    data = client.paths[1].read_bytes()
    answer = client.post(f"/v1/{path}", content=data, params=params, headers=PNG)
    assert answer.status_code == 200, answer.text
    sent = base64.b64encode(data).decode()
    same = client.post(f"/v1/{path}", json={"images": [sent], **params})
    assert answer.json() == same.json()


def test_an_image_that_is_too_large_for_json_is_sent_by_itself(client):
    noise = np.random.default_rng(0).integers(0, 256, (1700, 1700, 3), dtype=np.uint8)
    sink = io.BytesIO()
    Image.fromarray(noise).save(sink, "PNG")
    data = sink.getvalue()
    assert len(data) > 6.5e6
    sent = base64.b64encode(data).decode()
    refused = client.post("/v1/search", json={"images": [sent]})
    assert refused.status_code == 413
    assert "as image/png" in refused.json()["error"]["message"]
    assert client.post("/v1/search", content=data, headers=PNG).status_code == 200


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ({"k": "0"}, "k must be at least 1"),
        ({"k": "x"}, "k: "),
        ({"kk": "1"}, "unknown field 'kk' (did you mean 'k'?)"),
        ([("k", "1"), ("k", "2")], "give 'k' once"),
        ({"texts": "x"}, "texts: "),
        ({"filter": "nothing = 1"}, "nothing"),
        ({"rerank": "perhaps"}, "rerank: "),
    ],
)
def test_mistakes(client, params, told):
    data = client.paths[0].read_bytes()
    answer = client.post("/v1/search", content=data, params=params, headers=PNG)
    assert answer.status_code == 422
    assert told in answer.json()["error"]["message"]


def test_what_is_no_image_and_who_takes_none(client, client_of):
    answer = client.post("/v1/search", content=b"<svg/>", headers=PNG)
    assert answer.status_code == 422
    data = client.paths[0].read_bytes()
    answer = client_of().post("/v1/search", content=data, headers=PNG)
    assert "takes vectors" in answer.json()["error"]["message"]
    answer = client.post("/v1/items", content=data, headers=PNG)
    assert answer.status_code == 415


def test_options_of_json_stand_in_the_body(client_of):
    answer = client_of().post("/v1/search?k=3", json={"ids": [1]})
    assert answer.status_code == 422
    assert "'k' belongs in the body" in answer.json()["error"]["message"]
