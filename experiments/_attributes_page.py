"""The page on what bits mean."""

from collections import Counter
from collections.abc import Sequence

from experiments._attribute_exhibits import ALIKE, N_NEIGHBOURS
from experiments._attribute_figures import (
    BIT_COLUMNS,
    COMPARED,
    CONTROLS,
    DISTANCE_COLUMNS,
    EXTREME_COLUMNS,
    HALF_COLUMNS,
    NAME_COLUMNS,
    NOVEL_COLUMNS,
    RIVALS,
    Columns,
)
from experiments._attribute_items import N_HELD, N_LEARN, N_NOVEL
from experiments._attribute_map import TITLES as MAP_TITLES
from experiments._attribute_map import draw_maps
from experiments._attribute_names import MIN_ITEMS, N_EXTREMES, N_SWAPS, SIGNIFICANCE
from experiments._cells import Cell
from experiments._pages import IMAGES, write_page
from experiments._summary import (
    Pick,
    by_method,
    decimal,
    markdown,
    mean_and_error,
    shown,
)
from experiments._verdicts import RULE, minus, over_seeds, said, values_of
from experiments.attributes import N_BITS, stem_of

DBC = "DBC"

INTRODUCTION = f"""# What bits mean

Made by `python -m experiments.pages` from `attributes.jsonl`, which
`python -m experiments.attributes` writes. Figures 8 and 10 of the DBC paper (Rastegari,
Farhadi and Forsyth, ECCV 2012) on other data, with tests of what they claim. Codes of
{N_BITS} bits are learnt from up to {N_LEARN} items of each class but {N_NOVEL} novel
ones. All figures are about items that were not learnt from, up to {N_HELD} of each
class, novel classes included. Means over seeds ± one standard error; a seed draws the
classes, the items and the starting points.

Bits are named as `fewbits inspect --attributes` names them, but by words of any share
of a side: by those that one side carries more often than the other, by log-odds,
significant at {SIGNIFICANCE} after correction for all words and bits, items counting as
independent. ICD-10 is named by the words of the diagnoses.
Caltech-101 is named by the names of the classes, and by kinds of things, such as
"mammal" and "vehicle", which a table gives by hand (`_caltech_kinds.py`): a name of a
class says nothing about other classes. Whether a name means something is tested by its
best word, in these ways:

* **Shuffled:** each item gets the text of any other. No bit should have a name.
* **Other half:** bits are named on a half of the items, and the names tested on the
  other one, by another statistic (Fisher's exact test, one-sided, at {SIGNIFICANCE}
  after correction for the tested names).
* **Novel classes:** bits are named on known classes, and the names tested in the same
  way on classes that nobody trained on, where {MIN_ITEMS} items have the word and
  {MIN_ITEMS} have it not.
* **Swapped:** the same, but known classes have each other's texts, and novel ones,
  {N_SWAPS} times. Items of one class are alike, so that names are significant although
  they are wrong; chance keeps the direction of half of them.

Rivals are DBC with the same labels for all items of a class, ITQ, which knows no
classes, and random hyperplanes (LSH)."""

BITS = """Stability is the probability that noise of a quarter of the scores' standard
deviation leaves a bit as it is, and information what a bit under such noise tells about
the class, in bits; bits are ranked by it. "Found again" is the mean correlation of a
bit with the most similar one of a code that was learnt from other items of the same
classes, each from half of the items; for random hyperplanes it is what chance gives."""

NAMES = """"Words" counts different best words: many bits may have one name. "Direction"
is the share of tested names whose word is again more frequent on the side that it
names, "significant" the share that passes the test. An item with the word is on that
side as often as "with" says, and one without it as "without"."""

_CALTECH = f"""By the names of the classes alone, few sides have names in
any code: a class has at most {N_HELD} items here, and the log-odds of a word that
occurs on one side only have a large variance."""
NAME_NOTES = {
    "caltech101-1280": _CALTECH,
    "caltech101-classic": f"""{_CALTECH} Features are reduced as for
[novel classes](novel_classes.md).""",
    "icd10": """The vector of a text is a mean over its words here, and bits are linear:
a word pushes a bit in the same direction in every text. Names must therefore hold on
other items and classes more or less, those of random hyperplanes, too.""",
}

CLAIMS = f"""### What holds

Differences paired by seed, mean ± standard error: DBC less its rival, which DBC shall
not be below. {RULE}"""

SHEET = f"""### The sheet (figure 8)

The best bits of DBC, seed 0, by their information, and for each the {N_EXTREMES} most
extreme held-out items of both sides. A bit that correlates by more than {ALIKE:g} with
one that is shown is passed over. With each word goes the share of items that carry it,
on its side and on the other. Items of novel classes are in italics."""

PICTURE = """The classes of those items, the most extreme first. `python -m
experiments.attributes` draws the photographs themselves as
`docs/images/attributes_caltech101.jpg`; they belong to their owners and are not kept
here. There zeros are on the left and ones on the right, the most extreme outermost;
photographs of novel classes have a frame."""

EXTREMES = """How often items carry the best word of their side, over all bits and
sides that have one:"""

MAP = f"""### The map (figure 10)

Codes of held-out items by DBC, seed 0, the largest groups in colours, crosses for items
of novel classes. Trustworthiness says how far the {N_NEIGHBOURS} nearest points of a
point have near codes, too: 1 is perfect, .5 is chance. The stress (Kruskal's) is 0 for
a perfect map of distances; t-SNE does not try to keep them."""

DISTANCES = """Mean Hamming distances of two held-out items, as shares of the bits.
Kinds are the chapters of ICD-10, and for Caltech-101 the narrowest kind of a class;
classes without a kind count as of several."""


def write() -> None:
    """Write the page, if anything was measured."""
    write_page("attributes", [INTRODUCTION], sections)


def sections(cells: list[Cell], name: str) -> list[str]:
    """Return the parts on one set of features."""
    names = "### Names", NAMES, NAME_NOTES[name], table(cells, NAME_COLUMNS)
    return [
        items_of(cells),
        *("### Bits", BITS, table(cells, BIT_COLUMNS)),
        *names,
        *("**On the other half**", table(cells, HALF_COLUMNS)),
        *("**On novel classes**", table(cells, NOVEL_COLUMNS)),
        *claims(cells),
        *exhibits(cells, name),
    ]


def items_of(cells: list[Cell]) -> str:
    """Say how many items there are."""
    counts = zip(*(cell["figures"]["items"] for cell in cells), strict=True)
    learn, known, novel = (f"{mean_and_error(each)[0]:,.0f}" for each in counts)
    return (
        f"Codes are learnt from {learn} items (means over seeds); {known} others of "
        f"the same classes and {novel} of novel ones are looked at."
    )


def table(cells: list[Cell], columns: Columns) -> str:
    """Return a row for each method; columns that no cell has are left out."""
    found = {
        title: (by_method(cells, pick, "bits"), digits)
        for title, (pick, digits) in columns.items()
    }
    known = {title: each for title, each in found.items() if each[0]}
    methods = dict.fromkeys(cell["cell"]["method"] for cell in cells)
    rows = [
        [
            method,
            *(
                shown(*means[method][N_BITS][:2], digits) if method in means else ""
                for means, digits in known.values()
            ),
        ]
        for method in methods
    ]
    return markdown(["", *known], rows)


def claims(cells: list[Cell]) -> list[str]:
    """Compare DBC with its rivals, and names with their controls."""
    rows = [
        [text, *(verdict(cells, (DBC, pick), (rival, pick)) for rival in RIVALS)]
        for text, pick in COMPARED.items()
    ]
    controls = [
        [text, verdict(cells, (DBC, one), (DBC, other))]
        for text, (one, other) in CONTROLS.items()
    ]
    return [
        CLAIMS,
        markdown(["DBC is no lower in", *RIVALS], rows),
        "Of DBC alone:",
        markdown(["claim", "difference"], controls),
    ]


def verdict(cells: list[Cell], one: tuple[str, Pick], other: tuple[str, Pick]) -> str:
    """Say whether one figure is not below another of the same seed."""
    gaps = over_seeds(minus(values_of(cells, *one), values_of(cells, *other)))
    return ", ".join(said(gap, -gap[0]) for gap in gaps.values())


def exhibits(cells: list[Cell], name: str) -> list[str]:
    """Return the sheet and the maps, where they were made."""
    stem = stem_of(name)
    for cell in cells:
        if "sheet" in cell["figures"]:
            found = cell["figures"]
            return [
                *sheet_parts(found["sheet"]),
                table(cells, EXTREME_COLUMNS),
                *map_parts(found["map"], stem),
                table(cells, DISTANCE_COLUMNS),
            ]
    return []


def sheet_parts(sheet: Sequence[Cell]) -> list[str]:
    """Return the most extreme items of both sides of the best bits (figure 8)."""
    if "text" in sheet[0]["items"][0][0]:
        return [SHEET, *(text_part(row) for row in sheet), EXTREMES]
    return [SHEET, PICTURE, class_table(sheet), EXTREMES]


def text_part(row: Cell) -> str:
    """Return a bit: its figures, the names of its sides, and texts that show them."""
    header = [f"{side}: {named(words)}" for side, words in enumerate(row["names"])]
    lines = zip(*(map(item_text, side) for side in row["items"]), strict=True)
    figures = ", ".join(f"{k} {v}" for k, v in bit_values(row).items())
    return f"**Bit {row['bit']}** ({figures})\n\n{markdown(header, lines)}"


def class_table(sheet: Sequence[Cell]) -> str:
    """Return a row for each bit: its figures, names, and classes of the images."""
    rows = []
    for row in sheet:
        sides = zip(row["names"], row["items"], strict=True)
        shown_sides = [f"{named(words)}: {classes(items)}" for words, items in sides]
        rows.append([row["bit"], *bit_values(row).values(), *shown_sides])
    return markdown(["bit", *bit_values(sheet[0]), "0", "1"], rows)


def bit_values(row: Cell) -> dict[str, str]:
    """Return the figures of a bit, by name."""
    figures = {"ones": 2, "stability": 3, "information": 3}
    return {"place": str(row["place"])} | {
        name: decimal(row[name], digits) for name, digits in figures.items()
    }


def named(words: Sequence[tuple[str, float, float]]) -> str:
    """Return words with the shares of items that carry them, on their side and not."""
    parts = [
        f"**{word}** ({decimal(share, 2)} against {decimal(other, 2)})"
        for word, share, other in words
    ]
    return ", ".join(parts) or "no name"


def classes(items: Sequence[Cell]) -> str:
    """Return the classes of items, each once, with their numbers."""
    counts = Counter(map(item_text, items))
    return ", ".join(f"{c} ({n})" if n > 1 else c for c, n in counts.items())


def item_text(item: Cell) -> str:
    """Return the text or the class of an item, in italics if that is novel."""
    text = str(item.get("text", item["class"])).replace("|", "/").replace("_", " ")
    return f"*{text}*" if item["novel"] else text


def map_parts(found: Cell, stem: str) -> list[str]:
    """Draw the maps, and say how good they are (figure 10)."""
    image = IMAGES / f"{stem}_map.svg"
    draw_maps(image, found)
    rows = [
        [MAP_TITLES[method], decimal(each["trust"], 3), decimal(each["stress"], 3)]
        for method, each in found["maps"].items()
    ]
    return [
        MAP,
        f"![maps of codes](../images/{image.name})",
        markdown(["map", "trustworthiness", "stress"], rows),
        DISTANCES,
    ]
