"""Authentication, and what is refused to every client."""

import json

import pytest
from fastapi.testclient import TestClient

from fewbits import Collection
from fewbits.errors import ArgumentError
from fewbits.server import Settings, create_app, read_token, run
from tests.server._images import image_collection
from tests.server._running import small_collection, vectors

TOKEN = "0123456789-a-long-token"
ROWS = vectors(2).tolist()


def routes(app):
    for path, operations in app.openapi()["paths"].items():
        for method in operations:
            yield method.upper(), path.replace("{id}", "1").replace("{bit}", "1")


@pytest.fixture(scope="module")
def closed():
    app = create_app(small_collection(), Settings(token=TOKEN, writable=True))
    with TestClient(app, base_url="http://localhost") as client:
        yield client


def test_no_route_is_open(closed):
    asked = {*routes(closed.app)}
    assert len(asked) > 12
    others = ["/", "/docs", "/openapi.json", "/index.html", "/metrics", "/nothing"]
    asked |= {("GET", path) for path in others}
    asked |= {("OPTIONS", "/v1/search"), ("HEAD", "/"), ("DELETE", "/v1/facts")}
    for method, path in sorted(asked):
        answer = closed.request(method, path)
        assert answer.status_code == 401, (method, path)
        assert answer.headers["WWW-Authenticate"] == "Bearer"
        if method != "HEAD":
            assert answer.json()["error"]["code"] == "unauthorized"


@pytest.mark.parametrize(
    "header",
    [
        "",
        TOKEN,
        f"Basic {TOKEN}",
        "Bearer",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        f"Bearer {TOKEN.upper()}",
        "Bearer \xff",
    ],
)
def test_wrong_tokens(closed, header):
    headers = {"Authorization": header.encode("latin-1")}
    assert closed.get("/v1/health", headers=headers).status_code == 401


@pytest.mark.parametrize("header", [f"Bearer {TOKEN}", f"bearer {TOKEN}"])
def test_the_right_token(closed, header):
    headers = {"Authorization": header}
    assert closed.get("/v1/health", headers=headers).status_code == 200


@pytest.mark.parametrize(
    "value",
    ["\\" * 60_000, "\\101" * 15_000, '\\"' * 30_000, "a=b; " * 10_000],
    ids=["backslashes", "octal", "quotes", "many"],
)
def test_long_cookies_are_refused_soon(closed, value):
    """Python's own parser takes minutes for each."""
    cookie = f'a="{value}"'
    assert closed.get("/v1/health", headers={"Cookie": cookie}).status_code == 401
    moved = closed.get(f"/?token={TOKEN}", follow_redirects=False)
    closed.cookies.clear()
    cookie = f"{cookie}; {moved.headers['set-cookie'].split(';')[0]}"
    assert closed.get("/v1/health", headers={"Cookie": cookie}).status_code == 200


def test_the_page_gets_a_cookie(closed):
    assert closed.get("/?token=wrong", follow_redirects=False).status_code == 401
    moved = closed.get(f"/?token={TOKEN}&view=bits", follow_redirects=False)
    cookie = moved.headers["set-cookie"]
    assert (moved.status_code, moved.headers["location"]) == (303, "/?view=bits")
    assert TOKEN not in cookie
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert closed.get("/v1/health").status_code == 200
    name, _, value = cookie.split(";")[0].partition("=")
    closed.cookies.clear()
    assert closed.get("/v1/health").status_code == 401
    for wrong in (value[:-1], TOKEN, ""):
        headers = {"Cookie": f"{name}={wrong}"}
        assert closed.get("/v1/health", headers=headers).status_code == 401


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("LOCALHOST:8000", 200),
        ("127.0.0.1:8000", 200),
        ("[::1]:8000", 200),
        ("192.168.1.7", 200),
        ("codes.example", 200),
        ("evil.example", 421),
        ("localhost.evil.example", 421),
        ("evil.example:localhost", 421),
        ("127.0.0.1.evil.example", 421),
        ("evil@localhost", 421),
        ("localhost/../evil", 421),
        ("", 421),
    ],
)
def test_hosts(client_of, host, status):
    client = client_of(allowed_hosts=["codes.example"])
    assert client.get("/v1/health", headers={"Host": host}).status_code == status


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        (None, 200),
        ("http://localhost", 200),
        ("https://a.example", 200),
        ("https://b.example", 403),
        ("http://localhost:99", 403),
        ("null", 403),
        ("http://[::1", 403),
    ],
)
def test_origins(client_of, origin, status):
    client = client_of(allowed_origins=["https://a.example"])
    headers = {} if origin is None else {"Origin": origin}
    answer = client.post("/v1/search", json={"vectors": ROWS}, headers=headers)
    assert answer.status_code == status
    allowed = answer.headers.get("Access-Control-Allow-Origin")
    assert allowed == (origin if origin == "https://a.example" else None)


def test_preflights(client_of):
    asking = {"Origin": "https://a.example", "Access-Control-Request-Method": "POST"}
    answer = client_of(allowed_origins=["https://a.example"]).options(
        "/v1/search", headers=asking
    )
    assert answer.status_code == 204
    assert "POST" in answer.headers["Access-Control-Allow-Methods"]
    assert client_of().options("/v1/search", headers=asking).status_code == 403


def test_headers(client):
    for path in ("/v1/health", "/nothing"):
        headers = client.get(path).headers
        assert "default-src 'self'" in headers["Content-Security-Policy"]
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "codes.example"])
def test_a_public_address_needs_a_token(host):
    with pytest.raises(ArgumentError, match="token"):
        run(small_collection(), host=host)


def test_settings():
    read = Settings.from_environment(
        {
            "FEWBITS_SERVE_TOKEN": TOKEN,
            "FEWBITS_SERVE_MAX_K": "5",
            "FEWBITS_SERVE_WRITABLE": "true",
            "FEWBITS_SERVE_ALLOWED_HOSTS": "a.example, b.example",
            "FEWBITS_SERVE_TIME_LIMIT": "2.5",
            "FEWBITS_SERVE_THREADS": "3",
            "FEWBITS_CACHE": "elsewhere",
        },
        max_k=7,
    )
    assert read == Settings(
        token=TOKEN,
        max_k=7,
        writable=True,
        allowed_hosts=("a.example", "b.example"),
        time_limit=2.5,
        threads=3,
    )
    assert TOKEN not in repr(read)


@pytest.mark.parametrize(
    "variable",
    [
        {"FEWBITS_SERVE_TOKENS": TOKEN},
        {"FEWBITS_TOKEN": TOKEN},
        {"FEWBITS_SERVER_TOKEN": TOKEN},
        {"FEWBITS_SERVE_TOKEN": "short"},
        {"FEWBITS_SERVE_TOKEN": ""},
        {"FEWBITS_SERVE_MAX_K": "many"},
        {"FEWBITS_SERVE_MAX_K": "0"},
        {"FEWBITS_SERVE_WRITABLE": "perhaps"},
        {"FEWBITS_SERVE_TIME_LIMIT": "nan"},
    ],
)
def test_settings_that_are_none(variable):
    with pytest.raises(ArgumentError):
        Settings.from_environment(variable)


def test_token_files(tmp_path):
    path = tmp_path / "token"
    path.write_text(f"{TOKEN}\n")
    assert read_token(path) == TOKEN
    path.write_text("")
    with pytest.raises(ArgumentError, match="16 characters"):
        read_token(path)


def traversals():
    """Yield forms of ``../../etc/passwd`` and the like, 200 and more."""
    dots = [
        "..",
        "%2e%2e",
        "%2E%2e",
        ".%2e",
        "..%00",
        "..;",
        "%252e%252e",
        "%c0%ae%c0%ae",
    ]
    dots += ["....", "..\\", "%5c..", "．．"]
    slashes = ["/", "%2f", "%5c", "\\", "//", "/./", "%252f", "%c0%af"]
    for dot in dots:
        for slash in slashes:
            step = slash.join([dot] * 6)
            yield f"/{step}{slash}etc{slash}passwd"
            yield f"/v1/items/{step}{slash}etc{slash}passwd/image"
    for path in ("/etc/passwd", "C:%5cwindows%5cwin.ini", "file:///etc/passwd"):
        for root in ("/", "/v1/items/", "/explorer/", "/static/"):
            yield root + path


def test_no_path_leads_out(client_of, tmp_path, monkeypatch):
    client = client_of(image_collection(tmp_path, monkeypatch)[0])
    found = [*traversals()]
    assert len(found) >= 200
    for path in found:
        answer = client.get(path)
        assert answer.status_code in (200, 307, 400, 404, 405), path
        assert b"root:" not in answer.content
        assert "image" not in answer.headers.get("content-type", "")


@pytest.mark.parametrize("field", ["images", "texts", "ids", "codes"])
def test_names_of_files_and_addresses_are_not_followed(
    client_of, tmp_path, monkeypatch, field
):
    collection, paths = image_collection(tmp_path, monkeypatch)
    client = client_of(collection)
    for name in (str(paths[0]), f"file://{paths[0]}", "http://127.0.0.1:9/a.png"):
        answer = client.post("/v1/search", json={field: [name]})
        assert answer.status_code == 422


def test_images_are_not_added_by_path(client_of, tmp_path, monkeypatch):
    collection, paths = image_collection(tmp_path, monkeypatch)
    client = client_of(collection, writable=True)
    rows = [{"path": str(paths[0]), "_id": 9}]
    answer = client.post("/v1/add", json={"rows": rows})
    assert answer.status_code == 422
    assert "fewbits add" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    "asked",
    [
        ("GET", "/nothing", 404),
        ("GET", "/v1/search", 405),
        ("POST", "/v1/health", 405),
        ("POST", "/v1/search", 415),
    ],
)
def test_errors_have_one_shape(client, asked):
    method, path, status = asked
    answer = client.request(method, path)
    assert answer.status_code == status
    assert {*answer.json()} == {"error"}
    assert {*answer.json()["error"]} == {"code", "message"}


def test_a_fault_tells_nothing(client_of, monkeypatch, caplog):
    def broken(*_):
        raise ZeroDivisionError("a secret")

    monkeypatch.setattr(Collection, "summary", broken)
    answer = client_of().get("/v1/facts")
    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "internal_error"
    assert "secret" not in answer.text
    assert "X-Frame-Options" in answer.headers
    assert any("secret" in str(each.exc_info) for each in caplog.records)


@pytest.mark.parametrize("kind", ["text/plain", "multipart/form-data", ""])
def test_forms_of_other_pages_are_refused(client, kind):
    body = json.dumps({"vectors": ROWS})
    answer = client.post("/v1/search", content=body, headers={"Content-Type": kind})
    assert answer.status_code == 415


def test_unknown_fields_are_errors(client):
    answer = client.post("/v1/search", json={"vectors": ROWS, "limit": 3})
    assert answer.status_code == 422
    assert "limit" in answer.json()["error"]["message"]


# Refusals tell what to do.


def message(answer):
    return answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ({"text": ["a"]}, "unknown field 'text' (did you mean 'texts'?)"),
        ({"ids": [1], "filters": "x"}, "unknown field 'filters' (did you mean 'f"),
        ({"ids": [1], "\nzzz": 3}, "unknown field '\\nzzz'; known: "),
        ({"codes": ["00"]}, "a code of 32 bits has 8 hexadecimal digits, got '00'"),
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
