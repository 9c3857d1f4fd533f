"""A folder for results, and measurements to write there."""

import json

import pytest

from experiments import _cells, _pages


@pytest.fixture
def results(tmp_path, monkeypatch):
    """Return the folder that stands in for docs/results and docs/images."""
    for module in (_cells, _pages):
        monkeypatch.setattr(module, "RESULTS", tmp_path)
    return tmp_path


@pytest.fixture
def write_cells():
    """Return a function that writes measurements as experiments do."""

    def write(path, cells):
        lines = [json.dumps({"cell": cell, "figures": found}) for cell, found in cells]
        path.write_text("\n".join(lines) + "\n", "utf-8")

    return write
