"""Pages about a collection, from what it keeps: its bits, and its class codes."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from threadpoolctl import threadpool_limits

from fewbits import Collection
from fewbits.classify import Codebook
from fewbits.codes import pack, unpack
from fewbits.collection.pages import (
    bit_scores,
    check_taxonomy,
    report_of,
    write_attributes,
    write_taxonomy,
)
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError, FeatureError
from fewbits.learners import LSH

FOLDERS = ["cats", "dogs"]


@pytest.fixture(autouse=True)
def _one_thread():
    """Draw maps of a few items by one thread: many wait for one another."""
    with threadpool_limits(1):
        yield


@pytest.fixture
def images(tmp_path, monkeypatch, colours):
    """Thirty images, made of the folder they lie in; it is not entered."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for i in range(30):
        Path("pictures", FOLDERS[i % 2]).mkdir(parents=True, exist_ok=True)
        pixels = np.full((40, 40, 3), rng.integers(0, 256, 3), np.uint8)
        Image.fromarray(pixels).save(f"pictures/{FOLDERS[i % 2]}/{i:02d}.png")
    encoder = LSH(8, random_state=0).fit(rng.normal(size=(50, 3))).encoder_
    made = {
        form: Collection.create(
            None, "pictures", encoder=encoder, backbone=colours, keep_vectors=form
        )
        for form in ("float32", None)
    }
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    return made


def of_vectors(col, **columns):
    return Collection.create(
        None,
        col.vectors,
        encoder=col.encoder,
        columns=columns,
        keep_vectors="float32",
    )


def page_of(col, **options):
    write_attributes(col, "p.html", **options)
    return Path("p.html").read_text("utf-8")


@pytest.mark.parametrize("form", ["float32", None])
def test_images_are_found_from_another_folder(images, form):
    page = page_of(images[form], label="label")
    assert page.count("<img ") == 8 * 16
    assert "cannot be read" not in page
    assert "images are left out" not in page


def test_one_image_is_gone(images, tmp_path):
    for path in (tmp_path / "pictures").rglob("0[0-3].png"):
        path.unlink()
    kept, made_again = page_of(images["float32"]), page_of(images[None])
    assert re.search(
        r"\d of the \d+ images .* cannot be read: there is no file /", kept
    )
    assert kept.count('class="absent soft"') > 0
    left_out = "4 of 30 images are left out where scores count: there is no file /"
    assert left_out in made_again
    assert left_out not in kept
    assert 'class="absent soft"' not in made_again
    scored = bit_scores(images[None])
    assert len(scored.positions) == 26
    assert scored.scores.shape == (26, 8)


def test_no_image_is_left(images, tmp_path):
    for path in (tmp_path / "pictures").rglob("*.png"):
        path.unlink()
    with pytest.raises(FeatureError, match=r"there is no file .*00\.png"):
        page_of(images[None])
    assert re.search(r"(\d+) of the \1 images", page_of(images["float32"]))


def test_bits_are_checked_before_any_work(images):
    def progress(done, total):
        raise AssertionError

    for options in ({"names": {8: ("a", "b")}}, {"bits": [8]}):
        with pytest.raises(ArgumentError, match="no bit 8 in codes of 8 bits"):
            page_of(images[None], progress=progress, **options)


def test_legend_says_what_names_hold_for(images):
    col = images["float32"]
    assert "Items count as independent" in page_of(col, label="label")
    with pytest.raises(ArgumentError, match="at least 3 groups"):
        page_of(col, label="label", groups="label")
    page = page_of(col, label="label", groups="path")
    assert "Classes count, not items" in page
    assert "these 30 are a sample" in page
    with pytest.raises(ArgumentError, match="no column 'kind'"):
        page_of(col, label="label", groups="kind")
    bare = of_vectors(col, side=["a"] * 30)
    with pytest.raises(ArgumentError, match="groups are for names, which need texts"):
        page_of(bare, groups="side")


def test_labels_of_a_folder_name_bits_unasked(images):
    page = page_of(images["float32"])
    assert page == page_of(images["float32"], captions="label")
    assert "cats" in page


def test_several_labels_do_not_rank_bits(images):
    several = of_vectors(images["float32"], label=[[1, 0], [1, 1], [0, 0]] * 10)
    with pytest.raises(ArgumentError, match="'label' has several labels for an item"):
        page_of(several, label="label")
    assert "bit-7" in page_of(several)


def test_ids_lead_to_a_search_by_example(images):
    page = page_of(images["float32"])
    shown = {*re.findall(r"[ \"]id (\S+), score", page)}
    assert shown
    assert shown <= {*images["float32"].ids.tolist()}
    assert "fewbits like" in page


def test_chosen_bits(images):
    page = page_of(images["float32"], bits=[5, 2], names={3: ("dark", "light")})
    assert re.findall(r'id="bit-(\d)"', page) == ["5", "2"]
    page = page_of(images["float32"], names={3: ("dark", "light")})
    assert re.findall(r'id="bit-(\d)"', page)[0] == "3"


def test_classes_name_sides_of_which_they_are_a_small_share(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = np.repeat(np.arange(30) < 15, 40)[:, None] - 0.5
    encoder = LinearEncoder([[1.0]], [0.0], zero_bit=1)
    labels = np.repeat([f"class{c}" for c in range(30)], 40).tolist()
    columns = {"label": labels, "words": labels}
    col = Collection.create(
        None, X, encoder=encoder, columns=columns, keep_vectors="float32"
    )
    assert "<b><bdi>class" in page_of(col)
    assert "<b><bdi>class" not in page_of(col, captions="words")


@pytest.mark.parametrize("form", ["int8", "float16"])
def test_pages_of_vectors(home, tmp_path, form):
    X = np.random.default_rng(0).normal(size=(60, 16)).astype(np.float32)
    encoder = LinearEncoder(np.eye(16), np.zeros(16))
    col = home(Collection.create(None, X, encoder=encoder, keep_vectors=form))
    write_attributes(col, tmp_path / "page.html", bits=[0, 1])
    assert "<html" in (tmp_path / "page.html").read_text("utf-8")
    ones = unpack(col.codes, 16).sum(axis=0)
    np.testing.assert_allclose(report_of(col).balance, ones / 60)
    scored = bit_scores(col, np.array([7, 3]))
    np.testing.assert_allclose(scored.scores, col.vectors[[7, 3]], rtol=1e-3)
    plain = Collection.create(None, X, encoder=encoder)
    with pytest.raises(ArgumentError, match=r"told by vectors, .* keeps none"):
        write_attributes(plain, tmp_path / "none.html")
    assert not (tmp_path / "none.html").exists()


# Classes.

NAMES = ["ant", "bee", "cat"]
SIGNS = np.array([[1, 1, 1, 1, 1, 1], [1, 1, -1, -1, -1, -1], [-1, -1, -1, -1, 1, 1]])


@pytest.fixture
def with_classes(home):
    learnt = Collection.from_parts(
        LinearEncoder(np.eye(6), np.zeros(6), zero_bit=1),
        codebook=Codebook(pack(SIGNS > 0), 6, NAMES),
    )
    columns = {
        "label": np.repeat(NAMES, 4).tolist(),
        "y": np.repeat([[1, 1, 0], [1, 0, 0], [0, 0, 1]], 4, axis=0).tolist(),
    }
    signs = np.repeat(SIGNS, 4, axis=0)
    return home(Collection.create(None, signs, encoder=learnt, columns=columns))


def test_taxonomy(with_classes, tmp_path):
    write_taxonomy(with_classes, tmp_path / "tree.html")
    page = (tmp_path / "tree.html").read_text("utf-8")
    assert all(name in page for name in NAMES)
    for part in ("The tree", "All pairs of classes", "Bit by bit"):
        assert f"<h2>{part}</h2>" in page
    assert page.count("<svg") == 2
    assert "Agreement" not in page  # there is nothing to agree with
    tree = {"ant": ["insects"], "bee": ["insects"], "cat": ["mammals"]}
    write_taxonomy(with_classes, tmp_path / "tree.html", tree)
    assert "Agreement" in (tmp_path / "tree.html").read_text("utf-8")


def test_what_has_no_taxonomy(with_classes, tmp_path):
    plain = Collection.from_parts(with_classes.encoder)
    for ask in (
        lambda: check_taxonomy(plain),
        lambda: write_taxonomy(plain, tmp_path / "tree.html"),
    ):
        with pytest.raises(ArgumentError, match="--learner llc"):
            ask()
    with pytest.raises(ArgumentError, match="cat"):
        check_taxonomy(with_classes, {"ant": ["insects"], "bee": ["insects"]})
    assert not (tmp_path / "tree.html").exists()


def test_figures_of_labels(with_classes):
    report = report_of(with_classes, "y")
    assert (report.within.counts.sum(), report.between.counts.sum()) == (34, 32)
    json.dumps(report.summary())
    assert report_of(with_classes, "label").within.counts.sum() == 18
    with pytest.raises(ArgumentError, match="no column 'kind'"):
        report_of(with_classes, "kind")
