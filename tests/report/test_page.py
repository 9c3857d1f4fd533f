"""The page shows what it was given, loads nothing, and cannot be broken out of."""

import builtins
import io
import re
from base64 import b64decode
from functools import partial

import numpy as np
import pytest
from PIL import Image

from fewbits.analysis.bits import bit_report, extreme_items, rank_bits
from fewbits.analysis.maps import fit_layout
from fewbits.analysis.names import name_bits, propose_names
from fewbits.codes import pack
from fewbits.errors import MissingExtraError
from fewbits.report import BitsPage

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</title></style><svg onload=alert(1)>",
    "' onmouseover='alert(1)",
    "&lt;already&gt; &amp;",
    "\u202eright to left",
    "half a pair \ud800",
    "]]> --> <!-- x\x00y",
]


@pytest.fixture
def scores():
    return np.random.default_rng(0).normal(size=(40, 5))


def placed(codes):
    return dict(enumerate(fit_layout(codes).place(codes)))


def write(path, scores, items, labels=None, **options):
    n, n_bits = scores.shape
    codes = pack(scores > 0)
    facts = {
        "report": bit_report(codes, n_bits, labels),
        "extremes": extreme_items(scores, 3),
        "ranking": rank_bits(scores, labels),
        "bits": {bit: [] for bit in range(n_bits)},
        "items": items,
        "ids": range(n),
        "names": {},
        "are_images": False,
        "places": placed(codes),
        **dict.fromkeys(["captions", "proposals", "classes"]),
        **dict.fromkeys(["profiles", "notes"], ()),
    }
    BitsPage(**{**facts, **options}).write(path)
    return path.read_text("utf-8")


@pytest.fixture
def written(tmp_path, scores):
    return partial(write, tmp_path / "page.html", scores)


def test_texts_names_and_report(written, scores, read_html):
    labels = np.where(scores[:, 2] > 0, "up", "down")
    page = written(
        [f"text {i}" for i in range(40)],
        labels,
        proposals=propose_names(labels.tolist(), pack(scores > 0), 5),
        names={1: ("left", "")},
        bits={2: [], 1: []},
    )
    found = read_html(page)
    texts = " ".join(found.texts)
    headings = re.findall(r"Bit \d", texts)
    assert headings == ["Bit 2", "Bit 1"]
    for expected in ("left", "separation of classes", "information"):
        assert expected in texts
    assert re.search(r"up +100% against 0%, z = \d+\.\d, p = \de-\d+", texts)
    assert "times 2 words and 5 bits" in texts
    assert "less than 10% of the items of a side carry are left out" in texts
    assert "no frequent word is significant here" in texts
    extremes = extreme_items(scores, 3)
    for row in [*extremes.zeros.rows[2], *extremes.ones.rows[2]]:
        assert f"text {row}" in found.texts
    assert found.tags.count("svg") == 3


def test_glance(written, scores):
    labels = np.where(scores[:, 2] > 0, "up", "down")
    proposals = propose_names(labels.tolist(), pack(scores > 0), 5, bits=[2, 1])
    names = name_bits(proposals)
    page = written(["x"] * 40, labels, proposals=proposals, names=names)
    glance = page[page.index("<h2>Bits at a glance") : page.index("<h2>Bit by bit")]
    legend, table = glance.split("<table>")
    assert "noisy bit about the class" in legend
    assert "whose scores are normal around 0 has 92.2%" in legend
    rows = dict(re.findall(r'<tr><td><a href="#bit-(\d)">(.*?)</tr>', table))
    assert "<bdi>down</bdi>" in rows["2"]
    assert rows["1"].count('<span title="no significant word">–</span>') == 2
    assert rows["0"].count('<span title="no name">–</span>') == 2
    shares = re.findall(r"[\d.]+%", table)
    assert len(shares) == 2 * 5
    assert all(re.fullmatch(r"\d+\.\d%", share) for share in shares)
    assert "noisy bit about the bit itself" in written(["x"] * 40)


def test_warnings_are_shown(tmp_path):
    scores = np.column_stack([np.full(30, 1.0), np.linspace(-1, 1, 30)])
    page = write(tmp_path / "p.html", scores, ["x"] * 30)
    assert "bit 0 of 2 never changes" in page


@pytest.mark.parametrize("kind", ["texts", "images"])
def test_hostile_text_stays_text(written, kind, read_html):
    texts = (HOSTILE * 5)[:40]
    items = texts
    if kind == "images":
        items = [np.zeros((4, 4), np.uint8)] * 40
    page = written(
        items,
        are_images=kind == "images",
        captions=texts if kind == "images" else None,
        names={0: (HOSTILE[0], HOSTILE[1])},
        classes=texts,
        proposals=propose_names(
            [[text] for text in texts], np.zeros((40, 1), np.uint8), 5
        ),
    )
    items = ["x"] * 40 if kind == "texts" else items
    harmless = written(items, are_images=kind == "images", classes=["c"] * 40)
    found, plain = read_html(page), read_html(harmless)
    assert not set(found.tags) - {*plain.tags, "span"}
    assert not {name for name, _ in found.attributes if name.startswith("on")}
    assert found.tags.count("style") == 1
    assert HOSTILE[0] in "".join(found.texts)
    assert HOSTILE[4] in [*found.texts, *(value for _, value in found.attributes)]


def test_a_proposed_word_is_escaped(tmp_path, read_html):
    side = np.arange(100) % 2
    scores = 2.0 * side[:, None] - 1
    words = [["<i>"] if s else ["<u>"] for s in side]
    proposals = propose_names(words, pack(side[:, None]), 1)
    page = write(tmp_path / "p.html", scores, ["x"] * 100, proposals=proposals)
    assert "&lt;i&gt;" in page
    assert not {"i", "u"} & set(read_html(page).tags)


def test_nothing_is_loaded(written, read_html):
    page = written(["see https://example.org/x.png"] * 40)
    found = read_html(page)
    links = [value for name, value in found.attributes if name in {"src", "href"}]
    assert all(value.startswith(("#", "data:")) for value in links)
    assert "script" not in found.tags
    assert "url(" not in page
    assert "@import" not in page
    policies = [value for name, value in found.attributes if name == "content"]
    assert policies[0].startswith("default-src 'none'")


def test_images_of_every_kind(written, tmp_path, read_html):
    Image.new("RGB", (300, 200), "red").save(tmp_path / "photo.png")
    Image.new("P", (20, 10)).save(tmp_path / "tiny.gif")

    class Reference:
        def open(self):
            return Image.new("CMYK", (50, 500))

    kinds = [
        tmp_path / "photo.png",
        str(tmp_path / "tiny.gif"),
        np.zeros((8, 8), np.uint8),
        Image.new("RGBA", (40, 40)),
        Reference(),
    ]
    result = read_html(written(kinds * 8, are_images=True, places={}))
    attributes = [value for name, value in result.attributes if name == "src"]
    assert len(attributes) == 5 * 2 * 3
    assert {value.split(";")[0] for value in attributes} == {
        "data:image/png",
        "data:image/jpeg",
    }
    alts = [value for name, value in result.attributes if name == "alt"]
    assert len(alts) == len(attributes)
    assert all(alts)


def test_images_that_cannot_be_read_leave_their_captions(
    written, scores, tmp_path, read_html
):
    (tmp_path / "broken.png").write_bytes(b"no image")
    items = [np.zeros((50, 50), np.uint8)] * 40
    lost, broken, _ = extreme_items(scores, 3).ones.rows[2]
    items[lost], items[broken] = tmp_path / "<lost>.png", tmp_path / "broken.png"
    page = written(
        items,
        are_images=True,
        captions=[f"<caption> {i}" for i in range(40)],
        bits={2: []},
        notes=["<note>"],
    )
    found = read_html(page)
    for row in (lost, broken):
        assert f"<caption> {row}" in found.texts
    assert found.tags.count("img") == 4
    assert found.tags.count("circle") + found.tags.count("image") == 40
    told = [text for text in found.texts if "cannot be read" in text]
    assert re.search(r"^2 of the \d+ images", told[0])
    assert "<lost>.png" in told[0] or "broken.png is not a readable image" in told[0]
    assert "<note>" in found.texts


@pytest.mark.parametrize("kind", ["texts", "images"])
def test_the_map_shows_every_item_once(written, scores, kind, read_html):
    items = [np.full((40, 30), i, np.uint8) for i in range(40)]
    page = written(
        items if kind == "images" else [f"t{i}" for i in range(40)],
        are_images=kind == "images",
        classes=["common"] * 30 + [f"rare {i}" for i in range(10)],
    )
    found = read_html(page)
    assert found.tags.count("circle") + found.tags.count("image") == 40
    assert ("image" in found.tags) == (kind == "images")
    keys = re.findall(r'class="key class-(\d)"><bdi>([^<]+)', page)
    assert keys[0] == ("0", "common")
    assert len(keys) == 10  # classes have a colour
    assert page.count('class="edge class-0"') == (kind == "images") * len(
        re.findall(r"<image[^>]*><title>common", page)
    )


def test_pictures_on_a_map_do_not_cover_each_other(written, scores):
    page = written(
        [np.zeros((9, 9), np.uint8)] * 40,
        are_images=True,
    )
    places = np.array(
        [
            [float(x), float(y)]
            for x, y in re.findall(r'x="([\d.]+)" y="([\d.]+)" w', page)
        ]
    )
    gaps = np.abs(places[:, None] - places).max(axis=2)
    assert len(places) > 5
    assert (gaps[~np.eye(len(places), dtype=bool)] >= 39.9).all()
    assert ((places > 0) & (places < 600)).all()


def test_equal_codes_have_a_map(written):
    places = placed(np.zeros((3, 1), np.uint8))
    assert written(["x"] * 40, places=places).count("<circle") == 3


def test_texts_on_a_map_are_cut(written):
    assert len(written(["word " * 10_000] * 40)) < 60_000


def test_fewer_items_than_asked_for(tmp_path):
    page = write(tmp_path / "p.html", np.array([[1.0]]), ["only"], ["a"], places={})
    assert page.count("<bdi>only</bdi>") == 2
    assert "There is no pair of items to compare." in page


def test_bits_like_one_that_is_shown_are_listed(written):
    page = written(["x"] * 40, bits={2: [0, 4], 1: []})
    assert "2 of them are shown, 2 of the others go with these" in page
    assert page.count("like bit") == 1
    one = written(["x"] * 40, bits={2: [0], 1: []})
    assert "2 of them are shown, 1 of the others goes with these" in one
    assert "like bit 2: 0, 4" in page
    assert page.count(">says the same<") == 1
    assert "<td>0, 4</td>" in page
    many = written(["x"] * 40, bits={2: [0, 1, *range(3, 11)]})
    assert "<td>0, 1, 3, 4, 5, 6, 7, 8, and 2 more</td>" in many
    assert "says the same" not in written(["x"] * 40, bits={2: []})


def test_without_pillow(written, monkeypatch):
    real = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name.split(".")[0] == "PIL":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingExtraError, match=r"pip install 'fewbits\[vision\]'"):
        written(["a.png"] * 40, are_images=True)


def test_thumbnails_show_what_backbones_see(written, tmp_path, read_html):
    picture = np.random.default_rng(0).integers(0, 256, (12, 20, 3), dtype=np.uint8)
    exif = Image.Exif()
    exif[0x0112] = 6  # turned once
    Image.fromarray(picture).save(tmp_path / "x.png", exif=exif)
    for item, expected in (
        (tmp_path / "x.png", np.rot90(picture, -1)),
        (picture / 255, picture),
    ):
        page = read_html(written([item] * 40, are_images=True, places={}))
        source = next(value for name, value in page.attributes if name == "src")
        image = Image.open(io.BytesIO(b64decode(source.partition(",")[2])))
        np.testing.assert_array_equal(image, expected)
        assert 0x0112 not in image.getexif()
    page = written([picture.astype(float)] * 40, are_images=True, places={})
    assert "floats must be from 0" in page
