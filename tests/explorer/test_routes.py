"""Routes of the explorer: what they answer, and what they refuse."""

import pytest
from fastapi.testclient import TestClient

from fewbits.server import Settings, create_app
from tests.explorer._served import many_classes


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("routes") / "collection"
    many_classes(folder)
    return folder


def client_of(source, **settings):
    app = create_app(source, Settings(**settings))
    return TestClient(app, base_url="http://localhost")


@pytest.fixture(scope="module")
def client(folder):
    with client_of(folder, writable=True) as client:
        yield client


def test_bits(client):
    found = client.get("/v1/bits").json()
    assert [each["bit"] for each in found["bits"]] == list(range(40))
    assert found["bits"][0]["dead"]
    assert found["bits"][1]["proposed"] is None  # no texts, no labels


def test_one_bit(client):
    found = client.get("/v1/bits/3", params={"k": 2, "label": "kind"}).json()
    assert len(found["zeros"]) == len(found["ones"]) == 2
    assert found["n_classes"] == 1000
    assert found["by"] == "vectors"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/v1/bits/40", "no bit 40 "),
        ("/v1/bits/-1", "no bit -1 "),
        ("/v1/bits/3?label=nothing", "no column 'nothing'"),
        ("/v1/bits/3?k=101", "k: "),
        ("/v1/bits/x", "bit: "),
        ("/v1/novelty?label=nothing", "no column 'nothing'"),
        ("/v1/quality/recall?k=0", "k: "),
    ],
)
def test_what_is_wrong_is_told(client, path, message):
    answer = client.get(path)
    assert answer.status_code == 422
    assert message in answer.json()["error"]["message"]


def test_names_are_written_and_read(client, folder):
    answer = client.put("/v1/bits/3", json={"zeros": "left", "ones": None})
    assert answer.json() == {"bit": 3, "names": ["left", None]}
    assert client.get("/v1/bits/3").json()["names"] == ["left", None]
    assert client.get("/v1/bits").json()["bits"][3]["names"] == ["left", None]
    assert len(list(folder.glob("bit-names-*.json"))) == 1
    client.put("/v1/bits/3", json={"zeros": None, "ones": None})
    assert client.get("/v1/bits/3").json()["names"] == [None, None]


def test_names_that_cannot_be_given(client, folder):
    for content in (
        {"zeros": "a"},
        {"zeros": 1, "ones": None},
        {"zeros": "a\nb", "ones": None},
    ):
        assert client.put("/v1/bits/3", json=content).status_code == 422
    assert (
        client.put("/v1/bits/99", json={"zeros": "a", "ones": None}).status_code == 422
    )
    with client_of(folder) as reader:
        answer = reader.put("/v1/bits/3", json={"zeros": "a", "ones": None})
        assert (answer.status_code, answer.json()["error"]["code"]) == (
            403,
            "read_only",
        )
    with client_of(many_classes(), writable=True) as memory:
        answer = memory.put("/v1/bits/3", json={"zeros": "a", "ones": None})
        assert answer.status_code == 409
        assert memory.post("/v1/verify", json={}).status_code == 409


def test_quality_remembers_the_last_verification(folder):
    with client_of(folder, writable=True) as client:
        assert client.get("/v1/quality").json()["last_verify"] is None
        found = client.post("/v1/verify", json={}).json()
        assert found["intact"]
        assert client.get("/v1/quality").json()["last_verify"] == found
    with client_of(folder) as next_process:
        assert next_process.get("/v1/quality").json()["last_verify"] == found


def test_recall_and_novelty(client):
    found = client.get("/v1/quality/recall").json()
    ways = [each["search"] for each in found["estimates"]]
    assert ways == ["hamming", "scores", "euclidean"]
    found = client.get("/v1/novelty", params={"label": "kind"}).json()
    assert len(found["known"]) == len(found["unknown"]) == 41
    assert found["known"][-1] == 1


def test_groups_of_duplicates(client):
    few = client.post(
        "/v1/duplicate-groups", json={"radius": 0, "max_groups": 2}
    ).json()
    assert len(few["groups"]) == 2
    counted = client.post("/v1/duplicate-groups", json={"radius": 0, "max_groups": 0})
    assert {**few, "groups": [], "sizes": []} == counted.json()
    for wrong in (
        {"radius": -1},
        {"radius": 0, "max_groups": 10**6},
        {"radius": 0, "x": 1},
    ):
        assert client.post("/v1/duplicate-groups", json=wrong).status_code == 422


def test_the_page_and_its_files_are_served(client):
    page = client.get("/")
    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'self'" in page.headers["content-security-policy"]
    script = client.get("/app.js")
    assert "javascript" in script.headers["content-type"]


@pytest.mark.parametrize(
    ("path", "methods"),
    [("/v1/bits/3", "GET, PUT"), ("/v1/search", "POST"), ("/v1/facts", "GET")],
)
def test_a_wrong_method_is_told_which_are_right(client, path, methods):
    answer = client.request("PATCH", path)
    assert answer.status_code == 405
    assert answer.headers["allow"] == methods
    assert answer.json()["error"]["code"] == "method_not_allowed"


@pytest.mark.parametrize("path", ["/v1/nothing", "/nothing.js", "/../_app.py"])
def test_what_is_not_there(client, path):
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "not_found"
