"""The page on what learning costs."""

import pytest

from experiments._picodes_parts import counted_bytes, parts
from experiments._training_cost_page import TIMED, against, exponent, whole_problem
from experiments.training_cost import BASE, LARGE, PARTS


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


def test_the_whole_problem_grows_by_its_parts():
    """Times here grow with the square of the items."""
    cells = []
    for size in LARGE:
        share = size["items"] / LARGE[-1]["items"]
        figures = {key: share**2 for key in TIMED}
        figures["peak_bytes"] = 3 << 30
        cells.append({"cell": {**size, "method": PARTS, "seed": 0}, "figures": figures})
    text = whole_problem(cells)
    rows = "| a projector | 0.25 s | 0.444 s | 1 s | 2.00 | 2.00 | 2.00 |"
    assert rows in text
    more = (79_770 / 15_000) ** 2
    classifiers = more * 2048 / 256 * 2659 / 86_400
    bits = more * 2048 * (1 + 2659 / 32) / 86_400
    assert f"take {classifiers:.2g} days of one thread in an iteration" in text
    assert f"its projectors {bits:.2g}, and" in text
    assert (
        f"with the start {10 * (classifiers + bits) + more / 86_400:.3g} days" in text
    )


@pytest.mark.filterwarnings("ignore:.*")
def test_parts_are_those_of_a_step_that_learns():
    found = parts(items=300, features=40, bits=16, classes=6, seed=0)
    assert found["idle"] == 0
    assert found["better"] > 0
    assert all(found[key] > 0 for key in TIMED)
    # What takes the most is there, and nothing as large is forgotten.
    few, many = (counted_bytes(n, 6415, 2048, 2659) / 2**30 for n in (10_000, 79_770))
    assert many / few == pytest.approx(7.977)
    assert many < 24
