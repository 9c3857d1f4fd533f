"""Trees as texts and drawings, similarities as a picture, and the page with them."""

import re
import sys
from base64 import b64decode
from html import unescape
from io import BytesIO
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from scipy.spatial.distance import squareform

from fewbits.analysis.taxonomy import bit_splits, taxonomy
from fewbits.codes import hamming_distances, pack, unpack
from fewbits.errors import ArgumentError
from fewbits.report import write_taxonomy_page

HOSTILE = [
    "<script>alert(1)</script>",
    '"><image href=x onerror=alert(1)>',
    "]]> --> <!-- x\x00y",
    "it's (a, b):1; [c]",
    "\u202eright to left",
    "half a pair \ud800",
    "&lt;already&gt; &amp;",
    "two\nlines",
]
SVG = "{http://www.w3.org/2000/svg}"


def random_codes(n, n_bits, seed=0):
    return pack(np.random.default_rng(seed).random((n, n_bits)) < 0.5)


def page_of(folder, codes, n_bits, names=None, paths=None):
    names = [f"class {i}" for i in range(len(codes))] if names is None else names
    write_taxonomy_page(folder / "page.html", codes, n_bits, names, paths)
    return (folder / "page.html").read_text("utf-8")


def tree_of(page):
    """Return the drawing of the tree on a page, which is its first."""
    return ElementTree.fromstring(re.search(r"(?s)<svg.*?</svg>", page)[0])


def newick_of(page):
    return unescape(re.search(r"</summary><p[^>]*><bdi>(.*?)</bdi>", page)[1])


def read_newick(source):
    """Return (name, length) or (children, length) for the node that the text is."""
    place = 0

    def node():
        nonlocal place
        if source[place] == "(":
            content = []
            while source[place] in "(,":
                place += 1
                content.append(node())
            place += 1
        else:
            found = re.compile(r"'((?:[^']|'')*)'").match(source, place)
            content, place = found[1].replace("''", "'"), found.end()
        found = re.compile(r":([-+.e\d]+)").match(source, place)
        if found is None:
            return content, 0.0
        place = found.end()
        return content, float(found[1])

    root = node()
    assert source[place:] == ";"
    return root


def ways(node):
    """Return the way from each leaf below a node to the end of its branch."""
    content, length = node
    if isinstance(content, str):
        return {content: length}, {}
    found = [ways(child) for child in content]
    pairs = {}
    for (first, _), (second, _) in combinations(found, 2):
        for a in first:
            for b in second:
                pairs[frozenset((a, b))] = first[a] + second[b]
    for _, below in found:
        pairs |= below
    leaves = {a: way + length for first, _ in found for a, way in first.items()}
    return leaves, pairs


def test_newick_keeps_every_distance(tmp_path):
    names = [f"class {i}" for i in range(12)]
    tree = taxonomy(random_codes(12, 16), 16, names)
    page = page_of(tmp_path, random_codes(12, 16), 16, names)
    _, pairs = ways(read_newick(newick_of(page)))
    meetings = squareform(tree.cophenetic)
    for i, j in combinations(range(12), 2):
        way = pairs[frozenset((names[i], names[j]))]
        assert way == pytest.approx(meetings[i, j], rel=1e-4)


def test_newick_keeps_strange_names(tmp_path):
    page = page_of(tmp_path, random_codes(len(HOSTILE), 16), 16, HOSTILE)
    leaves, _ = ways(read_newick(newick_of(page)))
    names = (" ".join(name.split()) for name in HOSTILE)
    assert set(leaves) == {name.encode("utf-8", "replace").decode() for name in names}


def test_dendrogram_has_leaves_in_order_and_a_branch_for_each_merge(tmp_path):
    names = [f"class {i}" for i in range(100)]
    tree = taxonomy(random_codes(100, 24), 24, names)
    paths = [["a"], ["b"]] * 50
    root = tree_of(page_of(tmp_path, random_codes(100, 24), 24, names, paths))
    leaves = [t for t in root.iter(f"{SVG}text") if t.get("class") == "leaf"]
    downs = {t[0].tail: float(t.get("y")) for t in leaves}
    assert sorted(names, key=downs.get) == [names[i] for i in tree.order]
    gaps = np.diff(sorted(downs.values()))
    assert (gaps == 16).all()
    branches = [p for p in root.iter(f"{SVG}path") if p.get("class") == "branch"]
    assert len(branches) == 99
    assert {t[0].text for t in leaves} == {
        f"class {i}, {'ab'[i % 2]}" for i in range(100)
    }
    colours = [c.get("class") for c in root.iter(f"{SVG}circle")]
    assert colours.count("dot class-0") == colours.count("dot class-1") == 51
    width, height = map(float, root.get("viewBox").split()[2:])
    assert height == pytest.approx(1700, abs=50)
    assert max(float(t.get("x")) for t in leaves) < width - 200


def test_heights_are_drawn_to_scale(tmp_path):
    codes = np.array([[0], [1], [127]], np.uint8)
    tree, source = taxonomy(codes, 8), page_of(tmp_path, codes, 8)
    low, high = re.findall(r'd="M([\d.]+) [\d.]+H([\d.]+)V', source)
    leaf = float(low[0])
    root, inner = float(high[1]), float(low[1])
    ratio = tree.linkage[0, 2] / tree.linkage[1, 2]
    assert (leaf - inner) / (leaf - root) == pytest.approx(ratio, abs=0.001)


def test_hostile_names_in_the_tree(tmp_path):
    names = [name for name in HOSTILE if "\x00" not in name]  # which XML has not
    paths = [[names[i // 2]] for i in range(len(names))]
    root = tree_of(page_of(tmp_path, random_codes(len(names), 16), 16, names, paths))
    tags = {"svg", "path", "text", "title", "circle"}
    assert {e.tag.removeprefix(SVG) for e in root.iter()} == tags
    assert HOSTILE[0] in "".join(root.itertext())


def test_equal_codes_have_a_tree(tmp_path):
    root = tree_of(page_of(tmp_path, np.zeros((5, 1), np.uint8), 8))
    assert b"nan" not in ElementTree.tostring(root)


@pytest.mark.parametrize("highest", [1, 3, 10, 64, 1000])
def test_ticks_are_few_and_round(tmp_path, highest):
    codes = pack(np.repeat([[0], [1]], highest, axis=1))
    page = page_of(tmp_path, codes, highest)
    ticks = re.findall(r'text-anchor="middle">([^<]+)<', page)
    ticks = [float(tick) for tick in ticks]
    assert 3 <= len(ticks) <= 6
    assert ticks[0] == 0
    assert highest - (ticks[1] - ticks[0]) < ticks[-1] <= highest


def pixels_of(page, n_rows, n_columns):
    """Return a brightness for each cell of the map."""
    pictures = re.findall(r"data:image/png;base64,([^\"]+)", page)
    image = Image.open(BytesIO(b64decode(pictures[0]))).convert("L")
    pixels = np.asarray(image).astype(int)
    down, across = pixels.shape[0] // n_rows, pixels.shape[1] // n_columns
    assert pixels.shape == (n_rows * down, n_columns * across)
    cells = pixels.reshape(n_rows, down, n_columns, across)
    assert (cells == cells[:, :1, :, :1]).all()
    return cells[:, 0, :, 0]


def test_heat_map_shows_distances_in_the_order_of_the_tree(tmp_path):
    codes = random_codes(30, 24)
    order = taxonomy(codes, 24).order
    cells = pixels_of(page_of(tmp_path, codes, 24), 30, 30)
    distances = hamming_distances(codes[order], codes[order])
    by_distance = [cells[distances == d] for d in np.unique(distances)]
    assert all(len(np.unique(shades)) == 1 for shades in by_distance)
    shades = [values[0] for values in by_distance]
    assert shades == sorted(shades)  # dark is alike
    assert (np.diag(cells) == cells.min()).all()


def test_heat_map_names_rows_and_columns(tmp_path):
    names = [f"class {i}" for i in range(5)]
    codes = random_codes(5, 24)
    order = taxonomy(codes, 24).order
    texts = re.findall(
        r'<text class="leaf"[^>]* x="([\d.]+)" y="([\d.]+)"( text-anchor|'
        r" transform)[^>]*><title>([^<]+)",
        page_of(tmp_path, codes, 24, names).split("<figure")[2],
    )
    wanted = [names[i] for i in order]
    rows = [(float(y), name) for _, y, kind, name in texts if "anchor" in kind]
    columns = [(float(x), name) for x, _, kind, name in texts if "trans" in kind]
    assert [name for _, name in sorted(rows)] == wanted
    assert [name for _, name in sorted(columns)] == wanted


def test_no_colour_of_the_heat_map_is_cut_off(tmp_path):
    bits = np.tri(9, 8, -1)  # 0, 1, ... 8 bits from the first
    page = page_of(tmp_path, pack(bits), 8)
    assert len(set(pixels_of(page, 9, 9).ravel().tolist())) == 9
    assert "from -1.00 to 1.00" in page


@pytest.mark.parametrize(("n", "on_map"), [(70, 140), (71, 0)])
def test_names_are_shown_where_there_is_room(tmp_path, n, on_map):
    figures = page_of(tmp_path, random_codes(n, 64), 64).split("<figure")
    assert figures[2].count('class="leaf"') == on_map


def test_bits_that_say_the_same_are_grouped(tmp_path):
    codes = random_codes(12, 6)
    bits = unpack(codes, 6)
    bits = np.column_stack([bits, 1 - bits[:, 2], bits[:, 0], bits[:, 2]])
    splits = bit_splits(pack(bits), 9, [f"class {i}" for i in range(12)])
    found = {bit: i for i, s in enumerate(splits) for bit in s.bits + s.inverted}
    assert sorted(found) == list(range(9))
    for i, j in combinations(range(9), 2):
        equal = (bits[:, i] == bits[:, j]).all()
        opposite = (bits[:, i] != bits[:, j]).all()
        assert (found[i] == found[j]) == (equal or opposite)
    page = page_of(tmp_path, pack(bits), 9)
    assert "<td>2, 8; inverted: 6</td>" in page
    assert "<td>0, 7</td>" in page
    assert page.count("<tr>") == 1 + len(splits)


def test_classes_of_each_bit():
    codes = random_codes(10, 12)
    names = [f"c{i}" for i in range(10)]
    bits = unpack(codes, 12)
    for split in bit_splits(codes, 12, names):
        for bit in split.bits:
            assert split.on == tuple(np.array(names)[bits[:, bit] == 1])
            assert split.balance == bits[:, bit].mean()
        for bit in split.inverted:
            assert split.off == tuple(np.array(names)[bits[:, bit] == 1])
        assert sorted(split.on + split.off) == names


def test_page_with_everything(tmp_path, read_html):
    codes = random_codes(24, 20)
    codes[1] = codes[0]
    paths = [("animals", "birds") if i < 9 else ("things", i % 3) for i in range(24)]
    found = read_html(page_of(tmp_path, codes, 20, paths=paths), void=("meta",))
    texts = " ".join(found.texts)
    for expected in (
        "24 classes, 20 bits each",
        "class 0 and class 1 share a code",
        "known tree: purity, 2 groups of 24 classes",
        "known tree: purity, 4 groups of 24 classes",
        "Newick",
    ):
        assert expected in texts
    assert found.tags.count("svg") == 2
    assert found.tags.count("tr") == 1 + 4 + 1 + 20
    assert "animals" in texts


def test_page_with_codes_only(tmp_path, read_html):
    codes = random_codes(20, 8)
    codes[:, 0] &= 0x7F
    found = read_html(page_of(tmp_path, codes, 8), void=("meta",))
    assert "1 of 8 bits are constant over classes: 0" in found.texts
    assert "Agreement" not in found.texts
    assert found.tags.count("svg") == 2


def test_hostile_names_on_the_page(tmp_path, read_html):
    codes = random_codes(8, 16)
    pages = []
    for names in (HOSTILE, list("abcdefgh")):
        paths = [[text] for text in names[:4]] + [["x"], ["x"], ["y"], ["y"]]
        page = page_of(tmp_path, codes, 16, names, paths)
        pages.append(read_html(page, void=("meta",)))
    assert pages[0].tags == pages[1].tags
    assert not {name for name, _ in pages[0].attributes if name.startswith("on")}
    assert HOSTILE[0] in "".join(pages[0].texts)


def test_page_loads_nothing(tmp_path, read_html):
    page = page_of(tmp_path, random_codes(9, 16), 16)
    found = read_html(page, void=("meta",))
    links = [value for name, value in found.attributes if name in {"src", "href"}]
    assert links
    assert all(value.startswith(("#", "data:")) for value in links)
    assert "script" not in found.tags
    assert "url(" not in page
    policies = [value for name, value in found.attributes if name == "content"]
    assert policies[0].startswith("default-src 'none'")


def test_page_needs_no_library_for_pictures(tmp_path, monkeypatch):
    for name in ("sklearn", "torch", "PIL", "matplotlib"):
        monkeypatch.setitem(sys.modules, name, None)
    codes = np.arange(9, dtype=np.uint8)[:, None]
    page_of(tmp_path, codes, 8)


def test_mistakes_leave_the_old_page(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("old")
    with pytest.raises(ArgumentError, match="a name for each of 6 classes, got 1"):
        page_of(tmp_path, random_codes(6, 8), 8, ["a"])
    with pytest.raises(ArgumentError, match="a path for each of 6 classes, got 1"):
        page_of(tmp_path, random_codes(6, 8), 8, paths=[["a"]])
    assert path.read_text() == "old"
