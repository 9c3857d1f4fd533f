import pytest


@pytest.fixture(autouse=True)
def _no_width_from_outside(monkeypatch):
    """Print as into a pipe, whatever the shell that runs the tests has set."""
    monkeypatch.delenv("COLUMNS", raising=False)
