import pytest

from fewbits.cli import _options


@pytest.fixture(autouse=True)
def _no_progress_on_a_slow_machine(monkeypatch):
    """Tell nothing of progress on standard error, however long the demo takes."""
    monkeypatch.setattr(_options, "PAUSE", float("inf"))
