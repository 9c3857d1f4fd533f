"""Clients of applications in this process."""

import contextlib

import pytest
from fastapi.testclient import TestClient

from fewbits.server import Settings, create_app
from tests.server._running import small_collection


@contextlib.contextmanager
def _clients():
    with contextlib.ExitStack() as stack:

        def make(source=None, **settings):
            source = small_collection() if source is None else source
            app = create_app(source, Settings(**settings))
            client = TestClient(
                app, base_url="http://localhost", raise_server_exceptions=False
            )
            return stack.enter_context(client)

        yield make


@pytest.fixture
def client_of():
    """Return a function that makes clients, which are closed afterwards."""
    with _clients() as make:
        yield make


@pytest.fixture(scope="module")
def module_client_of():
    with _clients() as make:
        yield make


@pytest.fixture(scope="module")
def client():
    app = create_app(small_collection(), Settings())
    with TestClient(app, base_url="http://localhost") as client:
        yield client
