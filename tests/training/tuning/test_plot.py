"""The frontier as characters and as a drawing."""

import re
from dataclasses import replace

from fewbits.training.tuning import frontier_drawing, frontier_text
from tests.training.tuning._measured import measured

FOUND = [measured(0.3, 2, 9.0), measured(0.6, 8, 3.0), measured(0.9, 256, 70.5)]


def drawn(tmp_path, *how):
    frontier_drawing(FOUND, FOUND, "recall@10", *how).save(tmp_path / "p.svg")
    return (tmp_path / "p.svg").read_text()


def test_bytes_have_ticks_on_an_axis_that_is_called_logarithmic(tmp_path):
    title, *_, axis, below = frontier_text(FOUND, FOUND, "recall@10").splitlines()
    assert title == "recall@10 against bytes per item (logarithmic)"
    assert below.split() == ["2", "8", "32", "128", "256"]
    for number in ("2", "256"):  # at the ends
        assert axis[below.index(number) + len(number) // 2] in "─┬"
    assert axis[8 + round(2 / 7 * 59)] == "┬"
    assert max(map(len, (axis, below))) <= 68
    svg = drawn(tmp_path)
    assert "bytes per item (logarithmic)</text>" in svg
    assert re.findall(r'middle">([\d,.]+)</text>', svg) == below.split()


def test_time_may_be_drawn_in_place_of_bytes(tmp_path):
    """What is slower and worse is not a circle, although it is shorter."""
    text = frontier_text(FOUND, FOUND, "recall@10", "encode time")
    title, *_, below = text.splitlines()
    assert title.endswith("against microseconds to encode a vector (logarithmic)")
    assert below.split() == ["3", "8", "16", "32", "70.5"]
    assert (text.count("●"), text.count("·")) == (2, 1)
    svg = drawn(tmp_path, "encode time")
    assert svg.count('class="dot class-0"') == 2
    assert "microseconds to encode a vector (logarithmic)</text>" in svg
    assert "lsh, 16 bits: 0.300, 2 bytes, 9.00 microseconds" in svg


def test_bytes_in_memory_may_be_drawn():
    stored = [replace(each, bytes_per_item=500) for each in FOUND]
    title, *_, below = frontier_text(stored, stored, "map", "memory").splitlines()
    assert title == "map against bytes per item in memory (logarithmic)"
    assert below.split() == ["2", "8", "32", "128", "256"]


def test_an_axis_between_two_powers_of_two_has_its_ends():
    close = [measured(0.3, 8, 8.25), measured(0.6, 8, 9.08)]
    below = frontier_text(close, close, "map", "encode time").splitlines()[-1]
    assert below.split() == ["8.25", "9.08"]


def test_one_point_has_one_tick():
    below = frontier_text(FOUND[:1], FOUND[:1], "recall@10").splitlines()[-1]
    assert below.split() == ["2"]
