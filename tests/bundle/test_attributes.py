"""The page about a bundle's collection, from what the collection keeps."""

import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fewbits import backbones, inputs
from fewbits.backbones import Backbone, pixels
from fewbits.bundle import Bundle, write_attributes
from fewbits.encoders import LinearEncoder
from fewbits.errors import ArgumentError, FeatureError
from fewbits.learners import LSH

FOLDERS = ["cats", "dogs"]


class Colours(Backbone):
    """The mean colour of an image is its features."""

    id = "colours"
    kind = "images"
    n_features = 3
    fingerprint = "f"

    def extract(self, items, *, progress=None):
        return pixels(items, 8).mean(axis=(2, 3)).astype(np.float32)


@pytest.fixture
def bundle(tmp_path, monkeypatch):
    """Thirty images, built from the folder they lie in; it is not entered."""
    monkeypatch.setenv("FEWBITS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(backbones, "load", lambda name: Colours())
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for i in range(30):
        Path("pictures", FOLDERS[i % 2]).mkdir(parents=True, exist_ok=True)
        pixels = np.full((40, 40, 3), rng.integers(0, 256, 3), np.uint8)
        Image.fromarray(pixels).save(f"pictures/{FOLDERS[i % 2]}/{i:02d}.png")
    X = rng.normal(size=(50, 3))
    encoder = LSH(8, random_state=0).fit(X).encoder_
    source = inputs.read("pictures")
    empty = Bundle(encoder, backbone="colours")
    built = {
        keep: empty.with_items(
            source.values, columns=source.stored_columns(), keep_vectors=keep
        )
        for keep in ("float32", None)
    }
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    return built


def page_of(bundle, **options):
    write_attributes(bundle, "p.html", **options)
    return Path("p.html").read_text("utf-8")


@pytest.mark.parametrize("keep", ["float32", None])
def test_images_are_found_from_another_folder(bundle, keep):
    page = page_of(bundle[keep], labels="label")
    assert page.count("<img ") == 8 * 16
    assert "cannot be read" not in page
    assert "images are left out" not in page


def test_one_image_is_gone(bundle, tmp_path):
    for path in (tmp_path / "pictures").rglob("0[0-3].png"):
        path.unlink()
    kept, made_again = page_of(bundle["float32"]), page_of(bundle[None])
    assert re.search(
        r"\d of the \d+ images .* cannot be read: there is no file /", kept
    )
    assert kept.count('class="absent soft"') > 0
    left_out = "4 of 30 images are left out where scores count: there is no file /"
    assert left_out in made_again
    assert left_out not in kept
    assert 'class="absent soft"' not in made_again


def test_no_image_is_left(bundle, tmp_path):
    for path in (tmp_path / "pictures").rglob("*.png"):
        path.unlink()
    with pytest.raises(FeatureError, match=r"there is no file .*00\.png"):
        page_of(bundle[None])
    assert re.search(r"(\d+) of the \1 images", page_of(bundle["float32"]))


def test_bits_are_checked_before_any_work(bundle):
    def progress(done, total):
        raise AssertionError

    for options in ({"names": {8: ("a", "b")}}, {"bits": [8]}):
        with pytest.raises(ArgumentError, match="no bit 8 in codes of 8 bits"):
            page_of(bundle[None], progress=progress, **options)


def test_legend_says_what_names_hold_for(bundle):
    known = bundle["float32"]
    page = page_of(known, labels="label")
    assert "Items count as independent" in page
    with pytest.raises(ArgumentError, match="at least 3 groups"):
        page_of(known, labels="label", groups="label")
    page = page_of(known, labels="label", groups="path")
    assert "Classes count, not items" in page
    assert "these 30 are a sample" in page
    with pytest.raises(ArgumentError, match="no column 'kind'"):
        page_of(known, labels="label", groups="kind")
    X = known.collection.vectors
    bare = Bundle(known.encoder).with_items(
        X, columns={"side": ["a"] * 30}, keep_vectors="float32"
    )
    with pytest.raises(ArgumentError, match="groups are for names, which need texts"):
        page_of(bare, groups="side")


def test_labels_of_a_folder_name_bits_unasked(bundle):
    page = page_of(bundle["float32"])
    assert page == page_of(bundle["float32"], captions="label")
    assert "cats" in page


def test_several_labels_do_not_rank_bits(bundle):
    known = bundle["float32"]
    X, labels = known.collection.vectors, [[1, 0], [1, 1], [0, 0]] * 10
    several = Bundle(known.encoder).with_items(
        X, columns={"label": labels}, keep_vectors="float32"
    )
    with pytest.raises(ArgumentError, match="'label' has several labels for an item"):
        page_of(several, labels="label")
    assert "bit-7" in page_of(several)


def test_ids_lead_to_a_search_by_example(bundle):
    ids = bundle["float32"].collection.ids
    page = page_of(bundle["float32"])
    shown = {int(i) for i in re.findall(r"[ \"]id (\d+), score", page)}
    assert shown
    assert shown <= set(ids.tolist())
    assert "like BUNDLE --id" in page


def test_chosen_bits(bundle):
    page = page_of(bundle["float32"], bits=[5, 2], names={3: ("dark", "light")})
    assert re.findall(r'id="bit-(\d)"', page) == ["5", "2"]
    page = page_of(bundle["float32"], names={3: ("dark", "light")})
    assert re.findall(r'id="bit-(\d)"', page)[0] == "3"


def test_classes_name_sides_of_which_they_are_a_small_share(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = np.repeat(np.arange(30) < 15, 60)[:, None] - 0.5
    encoder = LinearEncoder([[1.0]], [0.0], zero_bit=1)
    labels = np.repeat([f"class{c}" for c in range(30)], 60).tolist()
    known = Bundle(encoder).with_items(
        X, columns={"label": labels, "words": labels}, keep_vectors="float32"
    )
    assert "<b><bdi>class" in page_of(known)
    assert "<b><bdi>class" not in page_of(known, captions="words")
