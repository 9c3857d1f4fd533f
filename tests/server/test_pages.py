"""Pages that lie in the folder of a collection."""

import pytest

from tests.server._running import small_collection


def test_pages_that_are_there_are_linked_and_shown(client_of, tmp_path):
    small_collection(path=tmp_path / "b")
    page = "<!doctype html><title>Käse</title>"
    (tmp_path / "b" / "attributes.html").write_text(page, "utf-8")
    client = client_of(tmp_path / "b")
    assert client.get("/v1/facts").json()["pages"] == {
        "attributes": "v1/pages/attributes"
    }
    answer = client.get("/v1/pages/attributes")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.text == page
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline';")
    assert "script-src" not in policy
    assert policy.endswith("sandbox")
    told = client.get("/v1/pages/taxonomy")
    assert told.status_code == 404
    assert "--taxonomy FOLDER/taxonomy.html" in told.json()["error"]["message"]


@pytest.mark.parametrize(
    "name",
    ["collection.json", "attributes.html", "..%2Fcollection.json", "%2e%2e", "x" * 999],
)
def test_no_other_file_is_a_page(client_of, tmp_path, name):
    small_collection(path=tmp_path / "b")
    client = client_of(tmp_path / "b")
    answer = client.get(f"/v1/pages/{name}")
    assert answer.status_code == 404
    assert set(answer.json()) == {"error"}


def test_a_collection_in_memory_has_no_pages(client):
    assert client.get("/v1/facts").json()["pages"] == {}
    assert client.get("/v1/pages/attributes").status_code == 404
