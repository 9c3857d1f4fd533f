import pytest

from fewbits.cli import _progress


@pytest.fixture(autouse=True)
def _no_width_from_outside(monkeypatch):
    """Print as into a pipe, whatever the shell that runs the tests has set."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture(autouse=True)
def _no_progress_on_a_slow_machine(monkeypatch):
    """Tell nothing of progress on standard error, however long a command takes."""
    monkeypatch.setattr(_progress, "PAUSE", float("inf"))
