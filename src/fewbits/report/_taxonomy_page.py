"""A page on class codes: their tree, their similarity and the classes of each bit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fewbits._typing import CodeArray
from fewbits.analysis.taxonomy import (
    Taxonomy,
    TaxonomyMetrics,
    bit_splits,
    taxonomy,
    tree_agreement,
)
from fewbits.codes import hamming_distances, unpack
from fewbits.report._drawing import Drawing, picture
from fewbits.report.html import (
    Html,
    element,
    shortened,
    soft,
    summary,
    table,
    text,
    write_document,
)

_LISTED = 3000  # characters of the classes of a bit
_WIDTH, _NAMES, _MARGIN = 1078, 280, 12  # inside a card of the widest page
_ROW, _TOP = 16, 44
_LONGEST = 40  # characters of a name; the whole of it shows under the pointer
_COLOURED = 6  # groups with a colour each; the style defines as many
_SIDE, _NAME_SIDE, _SCALE = 560, 200, 40
_READABLE = 70  # classes whose names have room beside rows and columns
_SHADES = 128
#: From the least alike to the most: shades between, where most pairs are, differ well.
_STOPS = np.array([[255, 255, 255], [173, 205, 238], [62, 124, 196], [12, 28, 62]])
_BITS = (
    "Bits that split the classes alike share a row; inverted ones have 0 where the "
    "first has 1."
)


def write_taxonomy_page(
    path: str | Path,
    codes: CodeArray,
    n_bits: int,
    names: Sequence[str],
    paths: Sequence[Sequence[str]] | None = None,
) -> TaxonomyMetrics:
    """Write an HTML page on class codes and the tree that they form.

    `fewbits.collection.pages.write_taxonomy` calls this. `paths` are a known tree, see
    `tree_agreement`; the groups of its first level have colours.
    """
    tree = taxonomy(codes, n_bits, names)
    agreement, groups, agreements = None, None, Html("")
    if paths is not None:
        agreement = tree_agreement(tree, paths)
        groups = [str(next(iter(path), "")) for path in paths]
        statistics = {
            "known tree: cophenetic correlation": agreement.cophenetic,
            "known tree: correlation of distances": agreement.distances,
        }
        for level in agreement.purity:
            groups_of = f"{level.n_groups} groups of {level.n_classes} classes"
            statistics[f"known tree: purity, {groups_of}"] = level.purity
        cells = [
            [name, f"{m.value:.3f}", f"{m.chance:.3f}", f"{m.p_value:.3g}"]
            for name, m in statistics.items()
        ]
        columns = ["agreement with", "value", "by chance", "p"]
        agreement_table = table(columns, cells, ", ".join(columns))
        agreements = element("section", element("h2", "Agreement"), agreement_table)
    bit_rows = []
    for split in bit_splits(codes, n_bits, tree.names):
        bits = ", ".join(map(str, split.bits))
        if split.inverted:
            bits += f"; inverted: {', '.join(map(str, split.inverted))}"
        on, off = (text(", ".join(side), _LISTED) for side in (split.on, split.off))
        bit_rows.append([bits, f"{split.balance:.0%}", on, off])
    header = ["bits", "ones", "on", "off"]
    newick = element(
        "details",
        element("summary", "The tree in Newick format"),
        soft(element("bdi", _newick(tree))),
        class_="card",
    )
    tree_section = element(
        "section",
        element("h2", "The tree"),
        soft("average linkage"),
        _figure(_dendrogram(tree, groups)),
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
        "How the classes are related",
        f"{len(codes):,} classes, {n_bits} bits each",
        summary("The codes", [*map(text, _notes(codes, n_bits, tree))], metrics),
        agreements,
        tree_section,
        element("h2", "All pairs of classes"),
        soft("In the order of the tree; dark means similar."),
        _figure(_heat_map(codes, n_bits, tree)),
        element("h2", "Bit by bit"),
        soft(_BITS),
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


def _dendrogram(tree: Taxonomy, groups: Sequence[str] | None) -> Drawing:
    """Draw merges at their heights, and classes in the order of the tree."""
    span, n = _WIDTH - _NAMES, len(tree.names)
    coloured = [name for name, _ in Counter(groups).most_common(_COLOURED)]
    top = _TOP + (_ROW if coloured else 0)
    highest = float(tree.linkage[-1, 2])

    def across(heights: Any) -> Any:
        """Place heights from left to right: the root first, classes last."""
        share = heights / (highest or 1.0)
        return (_MARGIN + (1 - share) * (span - 2 * _MARGIN)).round(1)

    def dot(x: float, y: float, group: str) -> Html:
        css = f"dot class-{coloured.index(group)}" if group in coloured else "dot"
        return element("circle", cx=x, cy=y, r=4, class_=css)

    parts = []
    for i, name in enumerate(coloured):
        x = _MARGIN + i * ((_WIDTH - _MARGIN) // _COLOURED)
        title = element("title", name)
        parts.append(dot(x, 12, name))
        parts.append(element("text", title, shortened(name, 18), x=x + 8, y=16))
    axis = top - 8
    parts.append(element("text", "height (bits)", x=span, y=axis - 8))
    path = f"M{_MARGIN} {axis}H{span - _MARGIN}"
    parts.append(element("path", d=path, class_="axis"))
    # Round heights, 0 among them, of which there are at most six.
    ticks = [0.0]
    if highest > 0:
        power = 10 ** np.floor(np.log10(highest))
        step = next(s * power for s in (0.2, 0.5, 1, 2) if highest / (s * power) < 6)
        ticks = [float(f"{i * step:.12g}") for i in range(int(highest / step) + 1)]
    for height in ticks:
        tick = float(across(np.float64(height)))
        parts.append(element("path", d=f"M{tick} {axis}v-4", class_="axis"))
        parts.append(
            element("text", f"{height:g}", x=tick, y=axis - 8, text_anchor="middle")
        )
    # Of each class and each merge, from the top and from the left.
    downs = np.empty(2 * n - 1)
    downs[tree.order] = top + _ROW * (np.arange(n) + 0.5)
    acrosses = across(np.concatenate([np.zeros(n), tree.linkage[:, 2]]))
    for merge, (a, b) in enumerate(tree.linkage[:, :2].astype(int)):
        downs[n + merge] = (downs[a] + downs[b]) / 2
        path = (
            f"M{acrosses[a]} {downs[a]:.1f}H{acrosses[n + merge]}"
            f"V{downs[b]:.1f}H{acrosses[b]}"
        )
        parts.append(element("path", d=path, class_="branch"))
    left = span - _MARGIN + 8
    for i, name in enumerate(tree.names):
        label, offset, y = name, 0, round(float(downs[i]), 1)
        if groups is not None:
            label, offset = f"{name}, {groups[i]}", 8
            parts.append(dot(left, y, groups[i]))
        words = element("title", label), shortened(name, _LONGEST)
        parts.append(element("text", *words, x=left + offset, y=y + 4, class_="leaf"))
    described = ", ".join(shortened(tree.names[i], _LONGEST) for i in tree.order)
    return Drawing(
        width=_WIDTH,
        height=top + _ROW * n + _MARGIN,
        description=f"Tree of {n} classes: {described}",
        parts=tuple(parts),
    )


def _heat_map(codes: CodeArray, n_bits: int, tree: Taxonomy) -> Drawing:
    """Draw the inner products of all pairs of class codes, as -1 and +1, over n_bits.

    Figure 2 of Kusupati et al., "LLC: Accurate, Multi-purpose Learnt Low-dimensional
    Binary Codes", NeurIPS 2021. The scale goes from the least alike pair to a class
    with itself; names are shown beside rows and columns of up to 70 classes.
    """
    values = 1 - 2 * hamming_distances(codes, codes) / n_bits
    names, rows = tree.names, tree.order
    low, high = float(values.min()), float(values.max())
    shades = (values[np.ix_(rows, rows)] - low) / (high - low if high > low else 1.0)
    pixels = (shades.clip(0, 1) * (_SHADES - 1)).round().astype(np.uint8)
    parts: list[Html] = []
    margin, side = (_NAME_SIDE if len(rows) <= _READABLE else 0), _SIDE / len(rows)
    style: dict[str, Any] = {
        "class_": "leaf",
        "style": f"font-size: {min(12.0, side):.1f}px",
    }
    for i, row in enumerate(rows if margin else ()):
        words = element("title", names[row]), shortened(names[row], 28)
        beside = round(margin + (i + 0.5) * side + 3, 1)
        end: dict[str, Any] = {"x": margin - 6, "y": beside, "text_anchor": "end"}
        parts.append(element("text", *words, **style, **end))
        turned = f"rotate(-90 {beside} {margin - 6})"
        above: dict[str, Any] = {"x": beside, "y": margin - 6, "transform": turned}
        parts.append(element("text", *words, **style, **above))
    channels = [
        np.interp(np.linspace(0, 1, _SHADES), np.linspace(0, 1, len(_STOPS)), channel)
        for channel in _STOPS.T
    ]
    palette = np.stack(channels, axis=1).round().astype(np.uint8)
    parts.append(picture(pixels, palette, margin, margin, _SIDE, _SIDE))
    # The shades with what they stand for, below the picture.
    y, width, scale = margin + _SIDE + 12, 160, np.arange(_SHADES, dtype=np.uint8)
    parts.append(element("text", f"{low:.2f}", x=margin, y=y + 12))
    parts.append(picture(scale[None], palette, margin + 44, y, width, 14))
    right = margin + 44 + width + 6
    parts.append(element("text", f"{high:.2f}", x=right, y=y + 12))
    description = (
        f"Inner products of {len(rows)} class codes, from {low:.2f} to {high:.2f}"
    )
    size = margin + _SIDE
    return Drawing(size, size + _SCALE, description, tuple(parts))


def _newick(tree: Taxonomy) -> str:
    """Return a taxonomy in the Newick format, which programs for phylogenies read.

    Branches are half as long as the difference of heights, so that the way from one
    class to another is as long as the height where they meet. Olsen, "Interpretation
    of the 'Newick's 8:45' Tree Format Standard", 1990.
    """
    names = (" ".join(name.split()).replace("'", "''") for name in tree.names)
    parts = [f"'{name}'" for name in names]
    heights = [0.0] * len(parts)
    for first, second, height, _ in tree.linkage.tolist():
        branches = []
        for child in (int(first), int(second)):
            length = max(0.0, height - heights[child]) / 2
            branches.append(f"{parts[child]}:{length:.6g}")
            parts[child] = ""  # a chain of merges must not keep all its texts
        parts.append(f"({','.join(branches)})")
        heights.append(height)
    return f"{parts[-1]};"
