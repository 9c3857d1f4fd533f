"""Generated requests: no answer fails, and all are as described."""

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    allow_header_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from fewbits.client.wire import ARROW
from fewbits.server import Settings, create_app
from tests.server._running import N_BITS, served, small_collection
from tests.server._sizes import NIGHTLY

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    allow_header_conformance,
    unsupported_method,
]
SETTINGS = Settings(writable=True, refresh_seconds=60.0)
DESCRIBED = create_app(small_collection(), SETTINGS).openapi()
schema = schemathesis.openapi.from_dict(DESCRIBED)
N_ROUTES = len([*schema.get_all_operations()])
EACH = (10_000 if NIGHTLY else 120) // N_ROUTES + 1


@schemathesis.serializer(ARROW)
def arrow(context, value):
    return value if isinstance(value, bytes) else str(value).encode()


@pytest.fixture(scope="module")
def url():
    with served(small_collection(), SETTINGS) as url:
        yield url


@schema.hook
def map_body(context, body):
    """Make half of the vectors as long as they must be; others are refused early."""
    if isinstance(body, dict) and isinstance(body.get("vectors"), list):
        rows = [row for row in body["vectors"] if isinstance(row, list) and row]
        if len(rows) % 2:
            body["vectors"] = [(row * N_BITS)[:N_BITS] for row in rows]
    return body


def test_a_path_with_several_methods_names_all(url):
    answer = httpx.delete(f"{url}/v1/bits/1")
    assert (answer.status_code, answer.headers["Allow"]) == (405, "GET, PUT")
    answer = httpx.get(f"{url}/v1/search")
    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")


@schema.parametrize()
@settings(max_examples=EACH, suppress_health_check=[*HealthCheck], derandomize=True)
def test_no_request_fails(case, url):
    answer = case.call(base_url=url, timeout=120)
    # An address of over 64 KiB is no request yet.
    assert "fewbits-snapshot" in answer.headers or answer.status_code == 400
    case.validate_response(answer, checks=CHECKS)


def test_all_routes_are_described():
    wanted = {"/v1/search", "/v1/items/{id}/image", "/v1/add", "/metrics"}
    assert wanted <= {*DESCRIBED["paths"]}
