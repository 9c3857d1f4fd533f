"""The page on LLC."""

from collections import Counter
from collections.abc import Callable, Iterator

from experiments._cells import Cell
from experiments._pages import IMAGES, TITLES, write_page
from experiments._plots import line_plot
from experiments._public_code import CODES, pair
from experiments._summary import (
    by_method,
    decimal,
    figure,
    grid,
    markdown,
    mean_and_error,
)
from experiments.llc import (
    CHEAP_INPUTS,
    CODEBOOK_EPOCHS,
    CODEBOOKS,
    MHD,
    N_ITER,
    N_VOTES,
    ORDERS,
    SMOOTH,
)

INTRODUCTION = f"""# Codes for classes, and how to decode them

Made by `python -m experiments.pages` from `llc-*.jsonl`, which
`python -m experiments.llc` writes. Tables 1 and 2 and the ablations of LLC (Kusupati et
al., NeurIPS 2021) on frozen features and a linear head: {CODEBOOK_EPOCHS} epochs for
the codebook, {N_ITER} for the items; the epoch that is kept is chosen on a tenth of the
training items. The projection has no bias, as in the paper, but for *LLC with a bias*,
the form that `fewbits.learners.deep.LLC` has by default. *Exact* asks for the very code
of the class, and counts classes that share one as wrong (as right in the paper's way
of counting); *nearest* is the smallest Hamming distance, where one of k classes that
are equally near counts 1 / k; *soft* weighs bits by their scores. Where they are
measured, OrthoHash stands beside LLC, with its centres as the codes of classes, and
rotated principal components, with the signs of the mean of each class; a code of the
class that a linear SVM predicts is right as often as that SVM. Means over seeds ± one
standard error.

Codebooks: *LLC* is learnt with a rate of its own; *published rate* with that of the
network, as in the paper's repository, though by AdamW; *from SVD*, *from CCA* start
there and take 15 epochs; *cheap* is learnt on a fifth of the items, by a linear map of
their {CHEAP_INPUTS} first principal components, and given; *predictable* is learnt on
what the features foretell of each item by the others (not of the paper); that of the
*known tree* looks at no item, only at where classes are in ICD-10 or WordNet. Of *SVD*
and *CCA* codes that classes share are changed; *as it is* leaves them, with the SVD of
a logistic regression (C = {SMOOTH:g}) that is smoother than the classifier of *SVD*."""

TABLES = {
    MHD: "Nearest code (MHD)",
    "nearest": "Nearest code, the first of equals in the order of names",
    "exact": "Exact (ED)",
    "exact, paper": "Exact, a code that classes share counts as right",
    "soft": "Soft",
    "linear on scores": "A linear SVM on the scores",
    "linear on bits": "A linear SVM on the bits",
    "votes": f"{N_VOTES} nearest training items vote",
    "unique": "Different codes of classes",
    "repaired": "Classes whose code was another's, and was changed",
    "turned": "Share of the codebook's bits that phase 1 turned",
    "matching_bits": "Bits shared with the own class",
    "min_distance": "Smallest distance of two codes",
}
BESIDE_PUBLIC = """Public code (LLC's repository; phase 2 with Adam until nothing
changes) was run with three seeds on one split, and repairs no codes. Of classes that
are equally near it takes what torch's top-k gives first; ours stands beside it by both
ways of counting these. Of 100 codes some are the same there, .88 of them different for
SVD at 10 bits and .82 for CCA. Our figures below it are in bold. How well exact
decoding does with SVD depends on the classifier: of a smooth one its codes are easier
to predict, and farther from telling all classes apart (*as it is*, in the tables
above). Why a random codebook of 20 bits stays below was not found: other rates, more
epochs and all items to train on do not change it (`docs/decisions/0010-deep-codes.md`
has what was tried)."""
PUBLIC_LENGTHS = (10, 14, 20)
#: Decoders that have no budget.
FLAT = {
    "exact": "exact",
    MHD: "nearest",
    "soft": "soft",
    "votes": "votes of items",
    "linear on bits": "linear on bits",
}
PREFERRED = """**The best codebook for each decoder**. Exact decoding asks that all bits
are right: it likes bits that are easy to tell, whatever the distance of codes. The
nearest code forgives some wrong bits where codes are apart. The codebook is the best in
the mean over seeds on the items held out, where of equally near codes the first
counts; its accuracy is that on test items."""
#: What test items tell of that which items held out were asked.
ON_TEST = {"exact": "exact", "nearest": MHD}

Tables = dict[str, dict[str, dict[int, tuple[float, float, int]]]]


def write() -> None:
    """Write the page, if anything was measured."""
    write_page("llc", [INTRODUCTION], sections)


def sections(cells: list[Cell], name: str) -> Iterator[str]:
    """Yield the parts on one set of features."""
    floats = by_method(cells, figure("accuracy"), "bits").get("float", {}).get(0)
    if floats:
        yield f"A linear SVM on the features: {floats[0]:.3f}."
    for key, title in TABLES.items():
        table = by_method(cells, figure(key), "bits")
        if table:
            yield f"**{title}**"
            yield grid(table, "{} bits")
    yield from beside_public_code(cells, name)
    yield from preferred(cells)
    yield from nested(cells)
    yield from decoders(cells, name)


def beside_public_code(cells: list[Cell], name: str) -> Iterator[str]:
    """Yield public code beside ours, where it was run."""
    public = CODES.get(name, {})
    for key, i in (("nearest", 0), (MHD, 0), ("exact", 1)):
        ours = by_method(cells, figure(key), "bits")
        rows = [
            [book, *(pair(ours.get(book, {}).get(n), at[n][i]) for n in PUBLIC_LENGTHS)]
            for book, at in public.items()
        ]
        if rows:
            yield f"**Public code / ours**: {TABLES[key]}"
            yield markdown(["", *(f"{n} bits" for n in PUBLIC_LENGTHS)], rows)
    if public:
        yield BESIDE_PUBLIC


def preferred(cells: list[Cell]) -> Iterator[str]:
    """Yield which codebook each decoder likes best, and what those have of it."""
    chosen = [cell for cell in cells if cell["cell"]["method"] in CODEBOOKS]
    tables = {
        key: by_method(chosen, figure(key), "bits")
        for key in ("exact", MHD, "matching_bits", "min_distance")
    }
    for key in ("exact", "nearest"):
        tables[f"aside, {key}"] = by_method(chosen, _aside(key), "bits")
    tried = Counter(bits for found in tables["exact"].values() for bits in found)
    lengths = sorted(bits for bits, n in tried.items() if n > 1)
    rows = [
        [f"{bits} bits", _best(tables, "exact", bits), _best(tables, "nearest", bits)]
        for bits in lengths
    ]
    if rows:
        yield PREFERRED
        yield markdown(["", "best for exact", "best for nearest"], rows)


def _aside(key: str) -> Callable[[Cell], float | None]:
    return lambda found: found.get("held_out", {}).get(key)


def _best(tables: Tables, key: str, bits: int) -> str:
    aside = tables[f"aside, {key}"]
    known = {book: at[bits][0] for book, at in aside.items() if bits in at}
    if not known:
        return ""
    book = max(known, key=lambda name: known[name])
    found, right, apart = (
        tables[k][book][bits][0]
        for k in (ON_TEST[key], "matching_bits", "min_distance")
    )
    share = decimal(right / bits, 3)
    return f"{book} {decimal(found, 3)} ({share} of bits right, {apart:.1f} apart)"


def nested(cells: list[Cell]) -> Iterator[str]:
    """Yield how the prefixes of a nested codebook do beside codebooks of their own."""
    chosen = [cell for cell in cells if cell["cell"]["method"] == "LLC, nested"]
    lengths = sorted(
        {
            int(key.split()[1])
            for cell in chosen
            for key in cell["figures"]
            if "at" in key
        }
    )
    if not lengths:
        return
    prefixes = [
        {
            "cell": {
                **cell["cell"],
                "bits": length,
                "method": "first bits of the nested",
            },
            "figures": cell["figures"][f"at {length}"],
        }
        for cell in chosen
        for length in lengths
    ]
    own = [
        cell
        for cell in cells
        if cell["cell"]["method"] == "LLC" and cell["cell"]["bits"] in lengths
    ]
    yield "**Nested and of its own, nearest code**"
    yield grid(by_method([*own, *prefixes], figure(MHD), "bits"), "{} bits")


def decoders(cells: list[Cell], name: str) -> Iterator[str]:
    """Draw accuracy against look-ups, from exact to beyond nearest."""
    chosen = [cell for cell in cells if cell["cell"]["method"] == "LLC"]
    for bits in sorted({cell["cell"]["bits"] for cell in chosen}):
        runs = [c["figures"] for c in chosen if c["cell"]["bits"] == bits]
        curves = {
            **{
                f"guesses by {o}": _curve(runs, f"guesses by {o}", f"guessed by {o}")
                for o in ORDERS
            },
            "within a radius": _curve(runs, "within, look-ups", "within"),
        }
        look_ups = [x for curve in curves.values() for x, *_ in curve]
        ends = min(look_ups), max(look_ups)
        for key, title in FLAT.items():
            mean, error, n = mean_and_error([run[key] for run in runs])
            spread = error if n > 1 else 0.0
            curves[title] = [(x, mean, spread) for x in ends]
        image = IMAGES / f"llc_{name}_{bits}.svg"
        line_plot(
            image,
            curves,
            x="look-ups, mean",
            y="accuracy",
            title=f"{TITLES[name]}, {bits} bits",
        )
        yield f"![accuracy against look-ups](../images/{image.name})"


def _curve(runs: list[Cell], x: str, y: str) -> list[tuple[float, float, float]]:
    points = []
    for i in range(len(runs[0][x])):
        look_ups = [run[x][i] for run in runs]
        mean, error, n = mean_and_error([run[y][i] for run in runs])
        points.append((sum(look_ups) / len(runs), mean, error if n > 1 else 0.0))
    return points
