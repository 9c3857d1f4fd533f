"""Pages that lie in the folder of a bundle."""

import pytest

from fewbits.bundle import write_attributes
from tests.server._running import small_bundle


def test_pages_that_are_there_are_linked_and_shown(client_of, tmp_path):
    bundle = small_bundle(keep_vectors="float32")
    bundle.save(tmp_path / "b")
    write_attributes(bundle, tmp_path / "b" / "attributes.html", labels="kind")
    client = client_of(tmp_path / "b")
    assert client.get("/v1/facts").json()["pages"] == {
        "attributes": "v1/pages/attributes"
    }
    answer = client.get("/v1/pages/attributes")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.text == (tmp_path / "b" / "attributes.html").read_text("utf-8")
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline';")
    assert "script-src" not in policy
    assert policy.endswith("sandbox")
    told = client.get("/v1/pages/taxonomy")
    assert told.status_code == 404
    assert "--taxonomy BUNDLE/taxonomy.html" in told.json()["error"]["message"]


@pytest.mark.parametrize(
    "name", ["bundle.json", "attributes.html", "..%2Fbundle.json", "%2e%2e", "x" * 999]
)
def test_no_other_file_is_a_page(client_of, tmp_path, name):
    small_bundle().save(tmp_path / "b")
    client = client_of(tmp_path / "b")
    answer = client.get(f"/v1/pages/{name}")
    assert answer.status_code == 404
    assert set(answer.json()) == {"error"}


def test_a_bundle_in_memory_has_no_pages(client):
    assert client.get("/v1/facts").json()["pages"] == {}
    assert client.get("/v1/pages/attributes").status_code == 404
