"""A page about the bits of a collection that needs nothing but a browser."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fewbits._checks import check_bits, check_choice
from fewbits.analysis.bits import BitRanking, BitReport, ClassProfile, Extremes
from fewbits.analysis.maps import CodeMap
from fewbits.analysis.names import Proposals, name_bits
from fewbits.errors import ArgumentError
from fewbits.report._document import write_document
from fewbits.report._map_chart import map_section
from fewbits.report._profile_table import profile_table
from fewbits.report._sheet import Sheet, bit_section, overview
from fewbits.report._summary import report_section
from fewbits.report._thumbnails import Pictures
from fewbits.report.html import element

KINDS = ("texts", "images", "vectors")
_SHOWN = 32


def write_page(
    path: str | Path,
    report: BitReport,
    extremes: Extremes,
    items: Sequence[Any],
    *,
    kind: str = "texts",
    captions: Sequence[Any] | None = None,
    proposals: Proposals | None = None,
    by_hand: Mapping[int, tuple[str | None, str | None]] | None = None,
    ranking: BitRanking | None = None,
    bits: Iterable[int] | None = None,
    alike: Mapping[int, Sequence[int]] | None = None,
    maps: Sequence[CodeMap] = (),
    classes: Sequence[Any] | None = None,
    profiles: Sequence[ClassProfile] = (),
    notes: Sequence[str] = (),
    ids: Sequence[int] | None = None,
    title: str = "What the bits mean",
) -> None:
    """Write an HTML page on the meaning of bits and how well they are used.

    The page is one file, without scripts and without anything from the network, in
    light or dark as the reader prefers. A crash leaves the old page, or the new one.

    Parameters
    ----------
    path : str or Path
    report : BitReport
        From `bit_report`.
    extremes : Extremes
        From `extreme_items`, for all bits.
    items : sequence of length n
        Items of the given `kind`; only the rows in `extremes` are read.
    kind : {"texts", "images", "vectors"}, default="texts"
        Images are paths, PIL images, uint8 arrays or `fewbits.datasets.ImageItem`; an
        image that cannot be read is shown by its caption, and so are vectors.
    captions : sequence of length n, default=None
        Texts shown beside items, and instead of images that cannot be read.
    proposals : Proposals, default=None
        From `propose_names`.
    by_hand : mapping of int to pair of str or None, default=None
        Names that override those proposed, see `name_bits`.
    ranking : BitRanking, default=None
        From `rank_bits`.
    bits : iterable of int, default=None
        The bits to show, in this order. None shows those named by hand, then the best
        of the ranking, or the first ones when there is none, 32 in all.
    alike : mapping of int to sequence of int, default=None
        Bits that correlate with a shown one, see `distinct_bits`; they are listed with
        it.
    maps : sequence of CodeMap, default=()
        From `map_codes`; images are drawn at their places as far as they fit.
    classes : sequence of length n, default=None
        Classes of the items; the most frequent ones have colours on the maps.
    profiles : sequence of ClassProfile, default=()
        From `class_profile`: the bits that set these classes apart.
    notes : sequence of str, default=()
        Further sentences to print below those of the report.
    ids : sequence of int of length n, default=None
        Ids of the items, shown when the pointer rests on one.
    title : str, default="What the bits mean"

    Raises
    ------
    ArgumentError
        When sizes do not fit, there is no such bit or kind, or no bit is chosen.
    MissingExtraError
        When images are to be shown without Pillow.

    Examples
    --------
    >>> import numpy as np
    >>> from tempfile import TemporaryDirectory
    >>> from fewbits.analysis.bits import bit_report, extreme_items
    >>> scores = np.array([[0.5], [-2.0], [3.0]])
    >>> report = bit_report(np.packbits(scores > 0, axis=1), n_bits=1)
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "bits.html")
    ...     write_page(path, report, extreme_items(scores), ["soup", "<b>sea", "sun"])
    ...     "&lt;b&gt;sea" in path.read_text("utf-8")
    True
    """
    _check(report, extremes, kind, ranking)
    _check_lengths(report, items=items, captions=captions, classes=classes)
    _check_maps(report, maps)
    named = check_bits(by_hand or (), report.n_bits)
    chosen = _chosen(report, ranking, named, bits)
    names = name_bits(proposals, by_hand)
    pictures = Pictures(items) if kind == "images" else None
    sheet = Sheet(
        report,
        extremes,
        items,
        kind,
        pictures,
        captions,
        names,
        proposals,
        ranking,
        alike or {},
        ids,
    )
    groups = None if classes is None else [str(name) for name in classes]
    words = captions if captions is not None else items if kind == "texts" else None
    drawings = map_section(maps, words, pictures, groups)
    sections = [bit_section(sheet, bit) for bit in chosen]
    # Only now is it known which images could be read.
    unread = [] if pictures is None else pictures.notes()
    write_document(
        path,
        title,
        _lead(sheet, chosen),
        report_section(report, [*notes, *unread]),
        drawings,
        element("h2", "Bits at a glance"),
        element("p", _glance_legend(sheet), class_="soft"),
        overview(sheet, chosen),
        profile_table(profiles, names, chosen),
        element("h2", "Bit by bit"),
        element("p", _legend(sheet), class_="soft"),
        *sections,
    )


def _chosen(
    report: BitReport,
    ranking: BitRanking | None,
    named: Sequence[int],
    bits: Iterable[int] | None,
) -> list[int]:
    best = range(report.n_bits) if ranking is None else ranking.order.tolist()
    first = check_bits(named if bits is None else bits, report.n_bits)
    chosen = list(dict.fromkeys(first))
    if bits is None:
        chosen = list(dict.fromkeys([*chosen, *best]))[: max(_SHOWN, len(chosen))]
    if not chosen:
        raise ArgumentError("need at least one bit to show, got none")
    return chosen


def _lead(sheet: Sheet, chosen: Sequence[int]) -> str:
    report = sheet.report
    lead = f"{report.n_codes:,} items, {report.n_bits} bits each"
    if len(chosen) == report.n_bits:
        return lead
    lead += f"; {len(chosen)} of them are shown"
    n_alike = len({bit for shown in chosen for bit in sheet.alike.get(shown, ())})
    verb = "goes" if n_alike == 1 else "go"
    return f"{lead}, {n_alike} of the others {verb} with these" if n_alike else lead


def _glance_legend(sheet: Sheet) -> str:
    sentences = ["Ones: share of the items in which the bit is 1; entropy in bits."]
    if (ranking := sheet.ranking) is not None:
        what = "the bit itself" if ranking.information is None else "the class"
        sentences.append(
            "Stability: probability that a bit stays as it is when normal noise of "
            f"{ranking.noise:g} standard deviations is added to its scores; any bit "
            "whose scores are normal around 0 has "
            f"{ranking.usual_stability:.1%}, whatever it means. Reliable information: "
            f"information of the noisy bit about {what}, in bits; the best bits "
            "have the most of it."
        )
    return " ".join(sentences)


def _legend(sheet: Sheet) -> str:
    sentences = ["On each side the items with the most extreme scores."]
    if sheet.ids is not None:
        sentences.append(
            "Hover over an item to see its id; 'fewbits like BUNDLE --id "
            "ID' finds more like it."
        )
    if any(sheet.alike.values()):
        sentences.append(
            "Bits listed with a shown one mostly have its values, or the "
            "opposite ones: an absolute correlation above 0.5."
        )
    if (proposals := sheet.proposals) is not None:
        sentences.append(
            f"Words: share of the items on this side against the other side; two-sided "
            f"p of the log-odds ratio, times {proposals.n_words:,} words and "
            f"{len(proposals.bits):,} bits, at most {proposals.significance:g}. They "
            "describe all the items of a side, not only the extreme ones."
        )
        if proposals.min_share:
            sentences.append(
                f"Words that less than {proposals.min_share:.0%} of the items of a "
                "side carry are left out."
            )
        sentences.append(_independence(proposals))
    return " ".join(sentences)


def _independence(proposals: Proposals) -> str:
    if proposals.n_groups is None:
        return (
            "Items count as independent: that a word belongs to a side is shown for "
            "classes such as these, not for others."
        )
    return (
        "Classes count, not items: that a word belongs to a side is shown for other "
        f"classes, too, of which these {proposals.n_groups:,} are a sample."
    )


def _check(
    report: BitReport,
    extremes: Extremes,
    kind: str,
    ranking: BitRanking | None,
) -> None:
    check_choice(kind, "kind", KINDS)
    widths = {"extreme items": len(extremes.ones.rows)}
    if ranking is not None:
        widths["a ranking"] = len(ranking.order)
    for name, width in widths.items():
        if width != report.n_bits:
            raise ArgumentError(
                f"the report is about {report.n_bits} bits, but there are {name} of "
                f"{width}"
            )
    if max(side.rows.max() for side in extremes) >= report.n_codes:
        raise ArgumentError("the extreme items are of a larger collection")


def _check_maps(report: BitReport, maps: Sequence[CodeMap]) -> None:
    for drawn in maps:
        if not len(drawn.rows):
            raise ArgumentError("need a map of at least one item, got none")
        if drawn.rows.max() >= report.n_codes:
            raise ArgumentError("the map is of a larger collection")


def _check_lengths(report: BitReport, **given: Sequence[Any] | None) -> None:
    for name, values in given.items():
        if values is not None and len(values) != report.n_codes:
            raise ArgumentError(
                f"the report is about {report.n_codes} items, but there are "
                f"{len(values)} {name}"
            )
