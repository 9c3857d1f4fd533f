"""The page of benchmarks: what was measured, ratios beside their targets."""

import json

import pytest

from benchmarks import _page


def test_the_page_is_that_of_the_results(tmp_path):
    _page.write(tmp_path / "page.md")
    assert (tmp_path / "page.md").read_text("utf-8") == _page.PAGE.read_text("utf-8")


@pytest.fixture
def section(tmp_path, monkeypatch):
    """Return a function that shows rows as a section does."""
    monkeypatch.setattr(_page, "RESULTS", tmp_path)

    def shown(columns, rows, **report):
        found = {**report, "rows": rows} if report else rows
        (tmp_path / "some.json").write_text(json.dumps(found), "utf-8")
        return str(_page.Section("some", "Title", "Text.", columns)).splitlines()[2:]

    return shown


def test_what_misses_its_target_is_in_bold(section):
    rows = [{"ratio": 2.0, "target": t} for t in (None, 1.5, 2.5)]
    faster = section({"r": _page.against_target()}, rows)
    assert faster[4:] == ["| 2.00 |", "| 2.00 (1.5) |", "| **2.00** (2.5) |"]
    cheaper = section({"r": _page.against_target(at_most=True)}, rows)
    assert cheaper[5:] == ["| **2.00** (1.5) |", "| 2.00 (2.5) |"]


def test_times_are_plain_numbers_with_a_unit(section):
    times = (1234.5, 2.0, 0.0345, 0.000123, None)
    found = section({"t": _page.seconds("s")}, [{"s": each} for each in times])
    assert found[4:] == [
        *("| 1,234 s |", "| 2 s |", "| 34.5 ms |", "| 123 us |", "|  |")
    ]


def test_projections_are_told_by_the_vector(section):
    rows = [
        {"name": "hadamard 3 rounds single 4096", "ms": 0.5},
        {"name": "sparse 10% batch 256 4096", "ms": 16.0},
    ]
    columns = {
        "p": _page.value("name"),
        "n": _page.value("count"),
        "us": _page.per_row("ms"),
    }
    assert section(columns, rows)[4:] == [
        "| hadamard 3 rounds | 1 | 500 |",
        "| sparse 10% | 256 | 62.5 |",
    ]


def test_the_machine_is_told_where_it_was_noted(section):
    machine = {"isa": "avx512", "gflops": 117.4}
    found = section({"a": _page.value("a")}, [{"a": 1000}], machine=machine)
    assert found[-3:] == [*("| 1,000 |", "", "The machine: avx512, 117 GFLOP/s.")]
