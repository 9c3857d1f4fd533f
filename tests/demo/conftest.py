import pytest

from fewbits.cli import _progress


@pytest.fixture(autouse=True)
def _no_progress_on_a_slow_machine(monkeypatch):
    """Tell nothing of progress on standard error, however long the demo takes."""
    monkeypatch.setattr(_progress, "PAUSE", float("inf"))
