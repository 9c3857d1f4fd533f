"""How measurements are kept."""

import json

from experiments._cells import BY_DATA, RESULTS, Cells, compact


def test_figures_are_kept_with_seven_digits_and_curves_with_five(results):
    figures = {"map": 1 / 3, "curve": [1 / 3, (2e-9 / 3, 7)], "none": None}
    cell = {"rate": 1 / 3, "seed": 0}
    kept = Cells("any").measure(cell, lambda: figures)
    expected = {"map": 0.3333333, "curve": [0.33333, [6.6667e-10, 7]], "none": None}
    assert kept == expected == Cells("any").get(cell)
    (line,) = (results / "any.jsonl").read_text("utf-8").splitlines()
    assert json.loads(line) == {"cell": cell, "figures": expected}
    assert Cells("any").measure(cell, lambda: 1 / 0) == expected


def test_large_experiments_have_a_file_for_each_set_of_data(results):
    name = BY_DATA[0]
    cells = [{"data": data, "seed": 0} for data in ("caltech101", "cifar10")]
    for value, cell in enumerate(cells):
        Cells(name).measure(cell, lambda value=value: {"map": value})
    assert sorted(path.name for path in results.iterdir()) == [
        f"{name}-{cell['data']}.jsonl" for cell in cells
    ]
    assert [each["cell"] for each in Cells(name)] == cells
    assert [Cells(name).get(cell) for cell in cells] == [{"map": 0}, {"map": 1}]


def test_what_was_measured_again_is_dropped(results):
    cells = Cells("any")
    for value in (1, 2):
        for seed in (0, 1):
            found = {"x": value + seed}
            cells.measure({"seed": seed}, lambda found=found: found, again=True)
    path = results / "any.jsonl"
    assert len(path.read_text().splitlines()) == 4
    before = list(Cells("any"))
    compact(path)
    assert len(path.read_text().splitlines()) == 2
    assert list(Cells("any")) == before


def test_no_file_of_results_is_large():
    """Else `experiments.pages` has to compact it, or `BY_DATA` to split it."""
    sizes = {path.name: path.stat().st_size for path in RESULTS.glob("*.jsonl")}
    assert sizes
    assert max(sizes.values()) < 500_000, sizes


def test_every_picture_is_on_a_page():
    """What no page shows any more is to be removed."""
    root = RESULTS.parent.parent
    pages = [root / "README.md", *RESULTS.parent.rglob("*.md")]
    text = "".join(page.read_text("utf-8") for page in pages)
    pictures = {path.name for path in (RESULTS.parent / "images").iterdir()}
    assert pictures
    assert not {name for name in pictures if name not in text}
