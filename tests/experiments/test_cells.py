"""How measurements are kept."""

import json

from experiments._cells import Cells


def test_figures_are_kept_with_seven_digits(results):
    figures = {"curve": [1 / 3, (2e-9 / 3, 7)], "name": "any", "none": None}
    cell = {"rate": 1 / 3, "seed": 0}
    kept = Cells("any").measure(cell, lambda: figures)
    expected = {"curve": [0.3333333, [6.666667e-10, 7]], "name": "any", "none": None}
    assert kept == expected == Cells("any").get(cell)
    (line,) = (results / "any.jsonl").read_text("utf-8").splitlines()
    assert json.loads(line) == {"cell": cell, "figures": expected}
    assert Cells("any").measure(cell, lambda: 1 / 0) == expected
