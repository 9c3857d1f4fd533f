"""Refusals tell what to do."""

import pytest

TOKEN = "0123456789-a-long-token"


def message(answer):
    return answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ({"text": ["a"]}, "unknown field 'text' (did you mean 'texts'?)"),
        ({"ids": [1], "filters": "x"}, "unknown field 'filters' (did you mean 'f"),
        ({"ids": [1], "\nzzz": 3}, "unknown field '\\nzzz'; there are "),
        ({"codes": ["00"]}, "a code of 32 bits has 8 hexadecimal digits, got 2"),
    ],
)
def test_what_a_body_cannot_have(client, body, wanted):
    answer = client.post("/v1/search", json=body)
    assert answer.status_code == 422
    assert message(answer).startswith(wanted)


@pytest.mark.parametrize("body", [b"{", b'{"nothing": 3}', b""])
def test_a_read_only_service_does_not_look_at_the_body(client, body):
    headers = {"Content-Type": "application/json"}
    for path in ("add", "upsert", "delete"):
        answer = client.post(f"/v1/{path}", content=body, headers=headers)
        assert answer.status_code == 403
        assert "--writable" in message(answer)


def test_a_wrong_token_is_told_from_none(client_of):
    client = client_of(token=TOKEN)
    none = client.get("/v1/health")
    wrong = client.get("/v1/health", headers={"Authorization": "Bearer wrong"})
    assert none.status_code == wrong.status_code == 401
    assert "send the token" in message(none)
    assert "not the token" in message(wrong)


def test_a_browser_is_told_how_to_get_in(client_of):
    client = client_of(token=TOKEN)
    headers = {"Accept": "text/html,application/xhtml+xml;q=0.9"}
    none = client.get("/", headers=headers)
    wrong = client.get("/?token=wrong", headers=headers)
    for answer in (none, wrong):
        assert answer.status_code == 401
        assert answer.headers["content-type"].startswith("text/html")
        assert "/?token=TOKEN" in answer.text
        assert "default-src 'self'" in answer.headers["content-security-policy"]
    assert "asks for a token" in none.text
    assert "That is not the token" in wrong.text
    assert client.get("/").headers["content-type"] == "application/json"
