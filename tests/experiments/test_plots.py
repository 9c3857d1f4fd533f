"""Methods look the same in all plots, and names of dots stand apart."""

import itertools

import numpy as np
import pytest
from matplotlib.colors import to_hex

from experiments import _dot_plots, _plots
from experiments._labels import Box, settled
from experiments._looks import COMMANDS, LOOKS, in_order, look_of
from experiments._plain_ticks import round_numbers
from experiments._projections import METHODS
from experiments.neighbour_codes import FORMS, NESTED, TRAININGS
from experiments.tune import FIXED, SUPERVISED

CURVE = [(64, 0.5, 0.01), (128, 0.6, 0.0)]
DOTS = {"LSH": (1.0, 0.7, 0.0), "ITQ": (2.0, 0.8, 0.0), "SP 1%": (2.1, 0.81, 0.01)}


@pytest.fixture
def drawn(monkeypatch):
    """Return the axes of what is drawn, which is not written."""
    found = []
    monkeypatch.setattr(_plots, "save", lambda figure, _: found.extend(figure.axes))
    return found


def looks(axes):
    return {
        bars.get_label(): (
            to_hex(bars[0].get_color()),
            bars[0].get_marker(),
            bars[0].get_linestyle(),
        )
        for bars in axes.containers
    }


def draw(tmp_path, curves, **options):
    _plots.line_plot(tmp_path / "a.svg", curves, x="bits", y="", **options)


def test_a_method_looks_the_same_beside_other_methods(tmp_path, drawn):
    few, many = ("SP 10%", "ITQ"), ("BRE", "ITQ", "LSH", "SH", "SP 10%", *FORMS)
    for names in (few, many):
        draw(tmp_path, dict.fromkeys(names, CURVE), methods=True)
    one, other = map(looks, drawn)
    assert list(one) == ["ITQ", "SP 10%"]
    assert one == {name: other[name] for name in one}
    assert len(set(other.values())) == len(other)


def test_names_that_are_not_known_follow_the_cycle_and_come_last(tmp_path, drawn):
    draw(tmp_path, {"ours": CURVE, "theirs": CURVE, "ITQ": CURVE}, methods=True)
    draw(tmp_path, {"ours": CURVE, "theirs": CURVE, "ITQ": CURVE})
    known, plain = map(looks, drawn)
    assert list(known) == ["ITQ", "ours", "theirs"]
    assert known["ours"] == plain["ours"] == ("#1f77b4", "o", "-")
    assert known["theirs"] == plain["theirs"] == ("#ff7f0e", "o", "-")
    assert plain["ITQ"] == ("#2ca02c", "o", "-")


def test_every_method_that_is_compared_has_a_look_of_its_own():
    names = {*METHODS, NESTED, *FORMS, *TRAININGS, "threshold", "PCAH", "tuned"}
    assert names <= set(LOOKS)
    assert {*FIXED, *SUPERVISED} <= set(COMMANDS)
    each = [tuple(sorted(map(str, look_of(name).items()))) for name in LOOKS]
    assert len(set(each)) == len(each)
    assert in_order(["other", "itq", "LSH"]) == ["LSH", "itq", "other"]


def test_lines_break_where_nothing_was_measured(tmp_path, drawn):
    curves = {"ITQ": [(256, 0.7, 0.0), (64, 0.5, 0.0)], "LSH": [*CURVE, (256, 0.7, 0)]}
    draw(tmp_path, curves, methods=True, x_ticks=(32, 64, 128, 256, 512))
    lsh, itq = (np.asarray(c[0].get_ydata(), float) for c in drawn[0].containers)
    np.testing.assert_array_equal(itq, [0.5, np.nan, 0.7])
    np.testing.assert_array_equal(lsh, [0.5, 0.6, 0.7])


def test_times_are_joined_from_short_to_long_codes(tmp_path, drawn):
    draw(tmp_path, {"ITQ": [(3.0, 0.5, 0.0), (2.0, 0.6, 0.0)]}, methods=True)
    assert list(drawn[0].containers[0][0].get_xdata()) == [3.0, 2.0]


def test_lengths_that_are_near_are_written_in_two_rows(tmp_path, drawn):
    lengths = (64, 1024, 1280, 5120)
    curve = [(bits, 0.5, 0.0) for bits in lengths]
    draw(tmp_path, {"ITQ": curve}, methods=True, x_ticks=lengths)
    texts = [label.get_text() for label in drawn[0].get_xticklabels()]
    assert texts == ["64", "1024", "\n1280", "5120"]


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ((4, 60), [5, 10, 20, 50]),
        ((0.1, 2), [0.1, 0.2, 0.5, 1, 2]),
        ((4.5, 9), [5, 6, 8]),
        ((4.55, 4.85), [4.6, 4.7, 4.8]),
    ],
)
def test_round_numbers(ends, expected):
    assert round_numbers(*ends) == expected


def test_a_dot_far_below_stands_at_the_foot_with_its_mean(tmp_path, monkeypatch):
    found = []
    monkeypatch.setattr(_dot_plots, "save", lambda figure, _: found.append(figure))
    dots = {**DOTS, "SH": (3.0, 0.27, 0.0), "BRE": (3.1, 0.7, 0.0)}
    _dot_plots.dot_plot(tmp_path / "a.svg", dots, x="", y="", title="")
    (axes,) = found[0].axes
    assert {text.get_text() for text in axes.texts} == {
        *("LSH", "ITQ", "SP 1%", "BRE"),
        "SH: .270, below",
    }
    assert axes.get_ylim()[0] > 0.65


def test_no_dot_is_left_below_if_it_is_one_of_few_or_near():
    low = {"SH": (3.0, 0.1, 0.0)}
    assert _dot_plots.far_below({"ITQ": DOTS["ITQ"], **low}) == []
    assert _dot_plots.far_below({**DOTS, "SH": (3.0, 0.66, 0.0)}) == []
    assert _dot_plots.far_below({**DOTS, **low}) == ["SH"]


def test_the_same_dots_give_the_same_file(tmp_path):
    paths = [tmp_path / f"{name}.svg" for name in "ab"]
    for path in paths:
        _dot_plots.dot_plot(path, DOTS, x="", y="", title="")
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_names_cover_neither_each_other_nor_dots():
    marks = {f"{i}": Box(100 + 3 * i, 100, 108 + 3 * i, 108) for i in range(6)}
    frame = Box(0, 0, 300, 200)
    places = settled(marks, dict.fromkeys(marks, (60.0, 10.0)), frame)
    boxes = [box for _, box in places.values()]
    for one, other in itertools.combinations([*boxes, *marks.values()], 2):
        if not {one, other} <= set(marks.values()):
            assert one.common(other) == 0
    assert all(box.common(frame) == box.common(box) for box in boxes)
