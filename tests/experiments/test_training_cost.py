"""The page on what learning costs."""

import pytest

from experiments._training_cost_page import against, exponent, extrapolation
from experiments.training_cost import BASE, LARGE


def measured(method="PiCoDes"):
    """Return times that grow with the square of the items, and with the classes."""
    cells = []
    for items, classes in ((1, 1), (2, 1), (4, 1), (1, 2), (1, 4)):
        cell = {**BASE, "items": BASE["items"] * items, "seed": 0}
        cell |= {"classes": BASE["classes"] * classes, "method": method}
        figures = {"seconds_per_bit": 0.1 * items**2 * classes}
        cells.append({"cell": cell, "figures": figures})
    return cells


def test_exponents_are_those_of_the_times():
    assert exponent(against(measured(), "items")) == pytest.approx(2)
    assert exponent(against(measured(), "classes")) == pytest.approx(1)


def test_the_whole_problem_grows_from_the_mean_of_all_iterations():
    figures = {"seconds_to_start": 90.0, "seconds_per_bit": 0.1875}
    figures |= {"peak_bytes": 3 << 30, "input_bytes": 1 << 29}
    cell = {"cell": {"method": "PiCoDes", **LARGE, "seed": 0}, "figures": figures}
    text = extrapolation(cell, measured())
    # (90 + 2 * 16 * .1875) s over 3 * 16 bits, times 7.977^2 * 2659 / 333
    assert "that is 2.0 s per bit and iteration" in text
    assert "takes 241 days on one thread, and 24 GiB" in text
