"""What the pages of results say about cells."""

import numpy as np
import pytest

from experiments._class_codes import PredictedClass
from experiments._summary import by_method, grid, not_measured
from experiments.discriminative import precision_of_class_codes
from fewbits.codes import unpack


def cell(method, bits, seed, value):
    key = {"method": method, "bits": bits, "seed": seed}
    return {"cell": key, "figures": {"value": value}}


def test_seeds_are_averaged_and_gaps_stay_empty():
    cells = [cell("A", 64, s, v) for s, v in enumerate((0.2, 0.4))]
    cells += [cell("B", 32, 0, 0.5), cell("B", 64, 0, None)]
    table = by_method(cells, lambda found: found["value"], "bits")
    assert table["A"][64][:2] == pytest.approx((0.3, 0.1))
    assert grid(table, "{} bits").splitlines()[2:] == [
        "| A |  | .300 ± .100 |",
        "| B | .500 |  |",
    ]


def test_what_is_not_measured_is_said():
    cells = [cell("A", 64, 0, 0.2), cell("B", 64, 0, 0.3)]
    planned = {"A": [64], "B": [64, 128, 256], "C": [64, 128]}
    said = "Not measured yet: B (128, 256 bits); C."
    assert not_measured(cells, planned) == said
    assert not_measured(cells, {"A": [64]}) == ""


@pytest.mark.parametrize(
    ("predictions", "expected"),
    [
        ("aabb", 1.0),
        ("bbaa", 0.0),
        ("aaaa", 0.5),  # any two of the four, for both classes
        ("abab", 0.5),
    ],
)
def test_precision_where_only_the_class_is_known(predictions, expected):
    truth = np.array(list("aabb"))
    found = precision_of_class_codes(truth, np.array(list(predictions)))
    assert found == pytest.approx(expected)


def test_codes_of_the_predicted_class():
    X = np.repeat(np.eye(3, dtype=np.float32), 5, axis=0)
    y = np.repeat(["x", "y", "z"], 5)
    numbered = PredictedClass(numbered=True).fit(X, y)
    assert numbered.n_bits == 2
    numbers = unpack(numbered.encode(X), 2) @ [1, 2]
    assert np.array_equal(numbers, np.unique(y, return_inverse=True)[1])
    bits = unpack(PredictedClass().fit(X, y).encode(X), 3)
    np.testing.assert_array_equal(bits, np.repeat(np.eye(3, dtype=np.uint8), 5, axis=0))
