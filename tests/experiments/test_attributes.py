"""What bits mean: tests of names, exhibits, and what the page says."""

import numpy as np
import pytest

from experiments._attribute_bits import distance_figures, found_again
from experiments._attribute_exhibits import different_bits, large_groups, map_rows
from experiments._attribute_items import N_HELD, N_LEARN, N_NOVEL, divide
from experiments._attribute_map import draw_maps, shortened
from experiments._attribute_names import (
    Claim,
    Sample,
    check,
    check_extremes,
    check_halves,
    check_novel,
    check_swapped,
    count_names,
    shuffled,
    swapped,
)
from experiments._attribute_sheet import draw_sheet
from experiments._attributes_page import (
    class_table,
    classes,
    item_text,
    table,
    text_part,
    verdict,
)
from experiments._caltech_kinds import KINDS, kinds_of
from fewbits.codes import pack

RNG = np.random.default_rng(0)


def sample_of(bits, texts):
    bits = np.asarray(bits, np.uint8)
    return Sample(pack(bits), bits.shape[1], list(texts))


def coloured(n=400, n_bits=3):
    """Bit 0 is 1 for what is red; nothing else means anything."""
    bits = np.random.default_rng(1).integers(0, 2, (n, n_bits))
    hues = np.where(bits[:, 0], "red", "blue")
    return sample_of(bits, [f"{hue} thing{i % 7}" for i, hue in enumerate(hues)])


def test_names_are_counted_and_vanish_when_texts_are_shuffled():
    sample = coloured()
    assert count_names(sample) == {"both": 1, "sides": 2, "words": 2}
    assert count_names(shuffled(sample, RNG)) == {"both": 0, "sides": 0, "words": 0}


def test_names_of_a_half_hold_on_the_other():
    found = check_halves(coloured(), RNG)
    assert found == {
        "claims": 2,
        "tested": 2,
        "direction": 2,
        "hold": 2,
        "with": 2.0,
        "without": 0.0,
    }


def test_false_and_rare_names_do_not_hold():
    bits = [[1]] * 50 + [[0]] * 50
    texts = ["red odd"] * 4 + ["red"] * 41 + ["blue"] * 10 + ["red"] * 45
    claims = [Claim(0, 1, "blue"), Claim(0, 0, "blue"), Claim(0, 1, "odd")]
    found = check(claims, sample_of(bits, texts))
    assert (found["claims"], found["tested"], found["direction"]) == (3, 2, 0)
    assert (found["with"], found["without"]) == (1.0, 1.0)  # .5 for each side
    assert check([], sample_of(bits, texts))["tested"] == 0


def test_more_often_is_not_yet_significant():
    bits = [[1]] * 6 + [[0]] * 4 + [[1]] * 45 + [[0]] * 45
    texts = ["red"] * 10 + ["blue"] * 90
    found = check([Claim(0, 1, "red")], sample_of(bits, texts))
    assert (found["direction"], found["hold"]) == (1, 0)


def test_significance_is_that_of_fishers_exact_test():
    from scipy.stats import fisher_exact

    bits = [[1]] * 16 + [[0]] * 4 + [[1]] * 30 + [[0]] * 30
    texts = ["red"] * 20 + ["blue"] * 60
    expected = fisher_exact([[16, 4], [30, 30]], "greater").pvalue
    assert 0.001 < expected < 0.02
    for n in (1, 2, 100):
        found = check([Claim(0, 1, "red")] * n, sample_of(bits, texts))
        assert found["hold"] == n * (expected * n <= 0.01)


def novel_problem():
    """Classes 0-19 are known, 20-39 new; what is odd sets bit 0, chance the others."""
    classes = np.repeat(np.arange(40), 20)
    odd = classes % 2
    chance = np.random.default_rng(3).integers(0, 2, (40, 15))[classes]
    hues = np.where(odd, "odd", "even")
    texts = [f"{h} class{c}" for h, c in zip(hues, classes, strict=True)]
    return sample_of(np.column_stack([odd, chance]), texts), classes, 400


def test_names_that_classes_share_hold_on_novel_ones():
    sample, classes, n_known = novel_problem()
    odd = sample._replace(codes=sample.codes[:, :1] & 128, n_bits=1)
    found = check_novel(odd, n_known)
    assert (found["claims"], found["direction"], found["hold"]) == (2, 2, 2)
    control = check_swapped(sample, classes, n_known, np.random.default_rng(0))
    assert control["tested"] > 50
    assert 0.2 < control["direction"] / control["tested"] < 0.8


def test_swapped_classes_have_the_texts_of_one_other_class():
    sample, classes, _ = novel_problem()
    texts = swapped(sample, classes, RNG).texts
    givers = [
        {texts[row].split("class")[1] for row in np.flatnonzero(classes == each)}
        for each in range(40)
    ]
    assert all(len(giver) == 1 for giver in givers)
    assert all(giver != {str(each)} for each, giver in enumerate(givers))
    assert set.union(*givers) == {str(each) for each in range(40)}


def test_extreme_items_are_asked_for_the_word():
    sample = coloured()
    scores = np.where(np.unpackbits(sample.codes, axis=1)[:, :3], 1.0, -1.0)
    found = check_extremes(sample, scores.astype(np.float32))
    assert found == {"tested": 2, "extreme": 2.0, "all": 2.0}


def test_bits_are_found_again_whatever_their_order_and_sign():
    bits = RNG.integers(0, 2, (500, 8)).astype(np.uint8)
    assert found_again(pack(bits), pack(1 - bits[:, ::-1]), 8) == pytest.approx(1)
    others = RNG.integers(0, 2, (500, 8)).astype(np.uint8)
    assert found_again(pack(bits), pack(others), 8) < 0.2
    assert found_again(pack(bits), pack(np.ones_like(bits)), 8) == 0


def test_distances_by_what_items_share():
    codes = pack(np.array([[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 1], [1, 1, 1, 1]]))
    classes, kinds = np.array(list("aabc")), np.array(["k", "k", "k", ""])
    found = distance_figures(codes, 4, classes, kinds)
    assert found == pytest.approx({"class": 1 / 4, "kind": 3 / 8, "other": 3 / 4})


def test_nothing_is_both_learnt_from_and_looked_at():
    classes = np.repeat([f"c{i}" for i in range(120)], 70)
    parts = divide(classes, 0)
    rows = np.concatenate([parts.learn, parts.known, parts.novel])
    assert len(np.unique(rows)) == len(rows)
    novel = set(classes[parts.novel])
    assert len(novel) == N_NOVEL
    assert novel.isdisjoint(classes[parts.learn])
    assert novel.isdisjoint(classes[parts.known])
    assert (len(parts.learn), len(parts.novel)) == (95 * N_LEARN, N_NOVEL * N_HELD)
    np.testing.assert_array_equal(parts.held, divide(classes, 0).held)


def test_bits_like_one_that_is_shown_are_passed_over():
    bits = RNG.integers(0, 2, (300, 9)).astype(np.uint8)
    bits[:, 1] = 1 - bits[:, 0]
    assert different_bits(np.arange(9), bits) == [0, 2, 3, 4, 5, 6]


def test_points_of_maps_are_mostly_of_large_groups():
    groups = np.repeat([f"g{i:02}" for i in range(30)], [50] * 20 + [20] * 10)
    names = large_groups(groups, groups[:500], groups[400:])
    assert names == [f"g{i:02}" for i in (0, 1, 2, 3, 4, 8, 9, 10, 11, 12)]
    rows = map_rows(groups, names)
    assert len(rows) == 600
    assert np.isin(groups[rows], names).sum() == 400


def test_kinds_of_classes():
    assert kinds_of("cougar_face") == ["animal", "mammal"]
    assert kinds_of("ferry") == ["artefact", "vehicle"]
    assert kinds_of("Faces") == []
    assert all(len(set(c.split())) == len(c.split()) for c in KINDS.values())


class Picture:
    """Stands for an item of a data set."""

    def __init__(self, colour):
        self.colour = colour

    def open(self):
        from PIL import Image

        return Image.new("L", (80, 60), self.colour)


def test_sheet_is_drawn_the_same_every_time(tmp_path):
    pillow = pytest.importorskip("PIL.Image")
    images = {"a": Picture(0), "b": Picture(255)}
    sides = [[{"key": key, "novel": key == "b"}] * 6 for key in "ab"]
    sheet = [{"names": [[["animal", 0.5, 0.1]], []], "items": sides}] * 2
    for name in ("one.jpg", "two.jpg"):
        draw_sheet(tmp_path / name, sheet, images)
    assert (tmp_path / "one.jpg").read_bytes() == (tmp_path / "two.jpg").read_bytes()
    with pillow.open(tmp_path / "one.jpg") as picture:
        assert picture.width > 12 * 56


def test_maps_are_drawn_the_same_every_time(tmp_path):
    pytest.importorskip("matplotlib")
    points = RNG.normal(size=(40, 2)).tolist()
    found = {
        "groups": ["x", "y (A00-B99)"],
        "group": [-1, 0, 1, 1] * 10,
        "novel": [0, 1] * 20,
        "maps": {"smacof": {"points": points}, "tsne": {"points": points}},
    }
    for name in ("one.svg", "two.svg"):
        draw_maps(tmp_path / name, found)
    one = (tmp_path / "one.svg").read_text()
    assert one == (tmp_path / "two.svg").read_text()


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("car_side", "car side"),
        ("Neoplasms (C00-D49)", "Neoplasms"),
        (
            "Injury, poisoning and certain other consequences of causes (S00-T88)",
            "Injury, poisoning and certain other …",
        ),
    ],
)
def test_names_of_groups_are_cut_at_words(name, short):
    assert shortened(name) == short


def test_text_of_items_fits_a_table():
    assert item_text({"class": "car_side", "novel": False}) == "car side"
    found = item_text({"class": "x", "text": "a | b", "novel": True})
    assert found == "*a / b*"


def test_classes_are_listed_once():
    items = [{"class": name, "novel": name == "b"} for name in "abaa"]
    assert classes(items) == "a (3), *b*"


def test_sheets_in_text():
    shown = {"class": "car_side", "novel": True}
    bit = {
        "bit": 3,
        "place": 2,
        "ones": 0.5,
        "stability": 0.93,
        "information": 0.4,
        "names": [[["sea", 0.5, 0.125]], []],
        "items": [[shown], [shown | {"text": "Hull"}]],
    }
    assert text_part(bit).splitlines() == [
        "**Bit 3** (place 2, ones .50, stability .930, information .400)",
        "",
        "| 0: **sea** (.50 against .12) | 1: no name |",
        "|---|---|",
        "| *car side* | *Hull* |",
    ]
    assert class_table([bit]).splitlines()[2] == (
        "| 3 | 2 | .50 | .930 | .400 | **sea** (.50 against .12): *car side* "
        "| no name: *Hull* |"
    )


def cells_of(**values):
    return [
        {"cell": {"method": m, "bits": 64, "seed": s}, "figures": {"value": v}}
        for m, each in values.items()
        for s, v in enumerate(each)
    ]


def pick(found):
    return found["value"]


def test_tables_leave_out_what_no_cell_has():
    cells = cells_of(A=[0.25, 0.75], B=[None, None])
    columns = {"value": (pick, 2), "nothing": (lambda found: None, 2)}
    assert table(cells, columns).splitlines()[0] == "|  | value |"
    assert table(cells, columns).splitlines()[2:] == ["| A | .50 ± .25 |", "| B |  |"]


def test_verdicts_pair_the_seeds():
    cells = cells_of(A=[0.5, 0.6], B=[0.4, 0.5, 0.9], C=[0.7, 0.8])
    assert verdict(cells, ("A", pick), ("B", pick)) == "holds: +.100 ± .000"
    found = verdict(cells, ("A", pick), ("C", pick))
    assert found == "**does not hold**: -.200 ± .000"
    assert verdict(cells, ("A", pick), ("D", pick)) == ""
