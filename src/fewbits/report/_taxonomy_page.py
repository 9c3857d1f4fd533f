"""A page on class codes: their tree, their similarity and the classes of each bit."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fewbits._typing import CodeArray
from fewbits.analysis.taxonomy import (
    Measured,
    Taxonomy,
    TaxonomyMetrics,
    bit_splits,
    taxonomy,
    tree_agreement,
)
from fewbits.codes import as_codes, unpack
from fewbits.report._document import summary, table, write_document
from fewbits.report._drawing import Drawing
from fewbits.report._trees import (
    code_heat_map,
    codebook_picture,
    dendrogram,
    to_newick,
)
from fewbits.report.html import Html, element, text

_LISTED = 3000  # characters of the classes of a bit
_CARD = 1078  # pixels inside a card of the widest page
_BITS = (
    "Bits that split the classes alike share a row; inverted ones have 0 where the "
    "first has 1."
)


def write_taxonomy_page(
    path: str | Path,
    codes: CodeArray,
    n_bits: int,
    names: Sequence[Any] | None = None,
    *,
    paths: Sequence[Sequence[Any]] | None = None,
    n_permutations: int = 999,
    title: str = "How the classes are related",
) -> TaxonomyMetrics:
    """Write an HTML page on class codes and the tree that they form.

    The page is one file, without scripts and without anything from the network, in
    light or dark as the reader prefers. A crash leaves the old page, or the new one.

    Parameters
    ----------
    path : str or Path
    codes : ndarray of shape (n_classes, n_bytes), dtype uint8
        A packed code for each class; from 2 to 5,000.
    n_bits : int
        Length of the codes.
    names : sequence of length n_classes, default=None
        None numbers the classes.
    paths : sequence of length n_classes of sequences of str, default=None
        A known tree, see `tree_agreement`. The groups of its first level have colours.
    n_permutations : int, default=999
        For p-values; each takes some milliseconds with a thousand classes.
    title : str, default="How the classes are related"

    Returns
    -------
    TaxonomyMetrics
        The tree, and the metrics on the page.

    Raises
    ------
    CodeError, FeatureError, ArgumentError
        As in the functions that are named here.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> codes = np.array([[0b000], [0b001], [0b111]], np.uint8) << 5
    >>> with TemporaryDirectory() as folder:
    ...     page = Path(folder, "classes.html")
    ...     metrics = write_taxonomy_page(page, codes, 3, ["cat", "<b>lynx", "trout"])
    ...     "&lt;b&gt;lynx" in page.read_text("utf-8")
    True
    >>> metrics.summary()["smallest_distance"]
    1.0
    """
    codes = as_codes(codes, n_bits)
    tree = taxonomy(codes, n_bits, names)
    heat_map = code_heat_map(codes, n_bits, tree)
    agreement = groups = None
    if paths is not None:
        agreement = tree_agreement(tree, paths, n_permutations=n_permutations)
        groups = [str(next(iter(path), "")) for path in paths]
    bit_rows = []
    for split in bit_splits(codes, n_bits, tree.names):
        bits = ", ".join(map(str, split.bits))
        if split.inverted:
            bits += f"; inverted: {', '.join(map(str, split.inverted))}"
        on, off = (text(", ".join(side), _LISTED) for side in (split.on, split.off))
        bit_rows.append([bits, f"{split.balance:.0%}", on, off])
    header = ["bits", "ones", "on", "off"]
    statistics: list[tuple[str, Measured]] = []
    if agreement is not None:
        statistics += [
            ("known tree: cophenetic correlation", agreement.cophenetic),
            ("known tree: correlation of distances", agreement.distances),
        ]
        statistics += [
            (
                f"known tree: purity, {level.n_groups} groups of "
                f"{level.n_classes} classes",
                level.purity,
            )
            for level in agreement.purity
        ]
    agreements = Html("")
    if statistics:
        columns = ["agreement with", "value", "by chance", "p"]
        cells = [
            [name, f"{m.value:.3f}", f"{m.chance:.3f}", f"{m.p_value:.3g}"]
            for name, m in statistics
        ]
        agreement_table = table(columns, cells, ", ".join(columns))
        agreements = element("section", element("h2", "Agreement"), agreement_table)
    newick = element(
        "details",
        element("summary", "The tree in Newick format"),
        element("p", element("bdi", to_newick(tree)), class_="soft"),
        class_="card",
    )
    tree_section = element(
        "section",
        element("h2", "The tree"),
        element("p", "average linkage", class_="soft"),
        _figure(dendrogram(tree, groups, width=_CARD)),
        newick,
    )
    metrics = {
        "different codes": f"{len(np.unique(codes, axis=0)):,}",
        "smallest distance": f"{tree.distances.min():.0f}",
        "mean distance": f"{tree.distances.mean():.1f}",
        "cophenetic correlation": f"{tree.cophenetic_correlation:.2f}",
    }
    write_document(
        path,
        title,
        f"{len(codes):,} classes, {n_bits} bits each",
        summary("The codes", [*map(text, _notes(codes, n_bits, tree))], metrics),
        agreements,
        tree_section,
        element("h2", "All pairs of classes"),
        element("p", "In the order of the tree; dark means similar.", class_="soft"),
        element("div", _figure(heat_map), class_="charts maps"),
        element("h2", "The codebook"),
        _figure(codebook_picture(codes, n_bits, tree)),
        element("h2", "Bit by bit"),
        element("p", _BITS, class_="soft"),
        table(header, bit_rows, ", ".join(header)),
    )
    return TaxonomyMetrics(tree, agreement)


def _notes(codes: CodeArray, n_bits: int, tree: Taxonomy) -> Iterator[str]:
    ones = unpack(codes, n_bits).sum(axis=0)
    constant = np.flatnonzero((ones == 0) | (ones == len(codes)))
    if len(constant):
        listed = ", ".join(map(str, constant))
        yield f"{len(constant)} of {n_bits} bits are constant over classes: {listed}"
    first, second = np.triu_indices(len(codes), 1)
    for pair in np.flatnonzero(tree.distances == 0)[:8]:
        yield f"{tree.names[first[pair]]} and {tree.names[second[pair]]} share a code"
    if (more := int((tree.distances == 0).sum()) - 8) > 0:
        yield f"{more:,} more pairs of classes share a code"


def _figure(drawing: Drawing) -> Html:
    caption = drawing.description.partition(": ")[0]
    return element(
        "figure", element("figcaption", caption), drawing.inline(), class_="card"
    )
