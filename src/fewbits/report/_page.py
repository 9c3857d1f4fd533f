"""A page about the bits of a collection that needs nothing but a browser."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._checks import check_bits, check_choice
from fewbits.analysis.bits import BitRanking, BitReport, ClassProfile, Extremes
from fewbits.analysis.maps import CodeMap
from fewbits.analysis.names import Names, Proposals, name_bits
from fewbits.errors import ArgumentError
from fewbits.report._document import summary, table, write_document
from fewbits.report._figures import Pictures, histogram, map_section
from fewbits.report.html import Html, element, join, text

_KINDS = ("texts", "images", "vectors")
_SHOWN = 32
_BINS = 20
_OTHERS = 8  # bits that are listed in a cell
_PLACEHOLDER = 40  # characters in the place of an image
_PROFILE_BITS = 5  # of a class


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
        Names that override those proposed; None keeps what is proposed.
    ranking : BitRanking, default=None
        From `rank_bits`.
    bits : iterable of int, default=None
        The bits to show, in this order. None shows those named by hand, then the best
        of the ranking, or the first ones when there is none, 32 in all.
    alike : mapping of int to sequence of int, default=None
        Bits that correlate with a shown one or are its opposite; they are listed with
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
    check_choice(kind, "kind", _KINDS)
    n_bits, n_codes = report.n_bits, report.n_codes
    sized = {"items": items, "captions": captions, "classes": classes}
    widths = {"extreme items": len(extremes.ones.rows)}
    widths |= {} if ranking is None else {"a ranking": len(ranking.order)}
    for name, width in widths.items():
        if width != n_bits:
            raise ArgumentError(
                f"the report is about {n_bits} bits, but there are {name} of {width}"
            )
    for name, values in sized.items():
        if values is not None and len(values) != n_codes:
            raise ArgumentError(
                f"the report is about {n_codes} items, but there are {len(values)} "
                f"{name}"
            )
    if not all(len(code_map.rows) for code_map in maps):
        raise ArgumentError("need a map of at least one item, got none")
    for name, parts in (("extreme items are", extremes), ("map is", maps)):
        if any(part.rows.max() >= n_codes for part in parts):
            raise ArgumentError(f"the {name} of a larger collection")
    first = check_bits(by_hand or (), report.n_bits)
    first = first if bits is None else check_bits(bits, report.n_bits)
    shown = list(dict.fromkeys(first))
    if bits is None:
        best = range(report.n_bits) if ranking is None else ranking.order.tolist()
        shown = list(dict.fromkeys([*shown, *best]))[: max(_SHOWN, len(shown))]
    if not shown:
        raise ArgumentError("need at least one bit to show, got none")
    names = name_bits(proposals, by_hand)
    pictures = Pictures(items) if kind == "images" else None
    sheet = _Sheet(
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
    sections = [sheet.section(bit) for bit in shown]
    # Only now is it known which images could be read.
    unread = [] if pictures is None else pictures.notes()
    lead = f"{report.n_codes:,} items, {report.n_bits} bits each"
    if len(shown) < report.n_bits:
        lead += f"; {len(shown)} of them are shown"
        n_alike = len({other for bit in shown for other in sheet.alike.get(bit, ())})
        if n_alike:
            verb = "goes" if n_alike == 1 else "go"
            lead += f", {n_alike} of the others {verb} with these"
    legend = "Ones: share of the items in which the bit is 1; entropy in bits."
    if ranking is not None:
        what = "the bit itself" if ranking.information is None else "the class"
        legend += (
            " Stability: probability that a bit stays as it is when normal noise of "
            f"{ranking.noise:g} standard deviations is added to its scores; any bit "
            "whose scores are normal around 0 has "
            f"{ranking.usual_stability:.1%}, whatever it means. Reliable information: "
            f"information of the noisy bit about {what}, in bits; the best bits have "
            "the most of it."
        )
    write_document(
        path,
        title,
        lead,
        _report_section(report, [*notes, *unread]),
        drawings,
        element("h2", "Bits at a glance"),
        element("p", legend, class_="soft"),
        sheet.overview(shown),
        _profile_table(profiles, names, shown),
        element("h2", "Bit by bit"),
        element("p", _bits_legend(sheet), class_="soft"),
        *sections,
    )


def _report_section(report: BitReport, notes: Sequence[str]) -> Html:
    """Return the whole report, with `notes` below its warnings."""
    metrics = {
        "items": f"{report.n_codes:,}",
        "bits": f"{report.n_bits:,}",
        "effective bits": f"{report.effective_bits:.1f}",
        "mean entropy of a bit": f"{report.entropy.mean():.3f}",
        "different codes": f"{report.n_distinct:,}",
        "mean |correlation|": _decimal(report.mean_correlation),
        "largest |correlation|": _decimal(report.largest_correlation),
    }
    if report.separation is not None:
        metrics["separation of classes"] = _decimal(report.separation)
    series = {"all pairs": report.distances}
    if report.within is not None and report.between is not None:
        series = {"within classes": report.within, "between": report.between}
    series = {name: counted for name, counted in series.items() if counted.n_pairs}
    distances = element("p", "There is no pair of items to compare.", class_="soft")
    if series:
        middle, last = report.n_bits // 2, report.n_bits
        means = ", ".join(f"{name} {part.mean:.1f}" for name, part in series.items())
        distances = histogram(
            "Hamming distance",
            {name: counted.shares for name, counted in series.items()},
            {0.5: "0", middle + 0.5: str(middle), last + 0.5: f"{last}"},
            f"mean distance {means}",
        )
    counts: NDArray[np.int64] = np.histogram(report.balance, _BINS, (0, 1))[0]
    balance = histogram(
        "Bits by their share of ones",
        {"bits": counts / report.n_bits},
        {0: "0%", _BINS / 2: "50%", _BINS: "100%"},
        f"from {report.balance.min():.0%} to {report.balance.max():.0%}",
    )
    charts = element(
        "div",
        element("div", distances, class_="card"),
        element("div", balance, class_="card"),
        class_="charts",
    )
    warnings = [*report.warnings, *map(text, notes)]
    return summary("The code", warnings, metrics, charts)


def _decimal(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.2f}"


@dataclass(frozen=True, eq=False, slots=True)
class _Sheet:
    """All that is known about the bits, and the items that show it."""

    report: BitReport
    extremes: Extremes
    items: Sequence[Any]
    kind: str
    pictures: Pictures | None  # where the kind is images
    captions: Sequence[Any] | None
    names: dict[int, Names]
    proposals: Proposals | None
    ranking: BitRanking | None
    alike: Mapping[int, Sequence[int]]
    ids: Sequence[int] | None

    def overview(self, bits: Sequence[int]) -> Html:
        """Return a table with one row per bit, each a link to its section."""
        any_alike = any(self.alike.values())
        columns: list[str] = [
            element("th", name, scope="col", class_="number")
            for name in self._metrics(bits[0])
        ]
        last = ["says the same"] if any_alike else []
        rows = []
        for bit in bits:
            row: list[str] = [element("a", str(bit), href=f"#bit-{bit}")]
            for name in self.names.get(bit, ("", "")):
                row.append(text(name) if name else self._nameless(bit))
            for value in self._metrics(bit).values():
                row.append(element("td", value, class_="number"))
            if any_alike:
                others = [str(other) for other in self.alike.get(bit, ())]
                more = len(others) - _OTHERS
                rest = [f"and {more} more"] if more > 0 else []
                row.append(", ".join([*others[:_OTHERS], *rest]))
            rows.append(row)
        header = ["bit", "0", "1", *columns, *last]
        return table(header, rows, "Bits at a glance")

    def _nameless(self, bit: int) -> Html:
        tested = self.proposals is not None and bit in self.proposals.bits
        return element(
            "span", "–", title="no significant word" if tested else "no name"
        )

    def _metrics(self, bit: int) -> dict[str, str]:
        metrics = {
            "ones": f"{self.report.balance[bit]:.1%}",
            "entropy": f"{self.report.entropy[bit]:.2f}",
        }
        if (ranking := self.ranking) is not None:
            metrics["stability"] = f"{ranking.stability[bit]:.1%}"
            if ranking.information is not None:
                metrics["information"] = f"{ranking.information[bit]:.3f}"
            reliable = ranking.reliable_information[bit]
            metrics["reliable information"] = f"{reliable:.3f}"
        return metrics

    def section(self, bit: int) -> Html:
        """Return both sides of a bit, each with its name, items and words."""
        metrics = [f"{name} {value}" for name, value in self._metrics(bit).items()]
        others = ", ".join(str(other) for other in self.alike.get(bit, ()))
        like = element("p", f"like bit {bit}: {others}", class_="soft")
        return element(
            "section",
            element("h3", f"Bit {bit}", id=f"bit-{bit}"),
            element("p", ", ".join(metrics), class_="soft"),
            like if others else "",
            element("div", *(self._side(bit, side) for side in (0, 1)), class_="sides"),
            class_="card",
        )

    def _side(self, bit: int, side: int) -> Html:
        name = self.names.get(bit, ("", ""))[side]
        heading = element(
            "p", f"{side} ", element("span", text(name), class_="name") if name else ""
        )
        kind = "texts" if self.pictures is None else "pictures"
        return element(
            "div",
            heading,
            element("ol", *self._side_items(bit, side), class_=kind),
            self._evidence(bit, side),
            class_=f"side {('zero', 'one')[side]}",
        )

    def _side_items(self, bit: int, side: int) -> Iterator[Html]:
        rows, scores = self.extremes[side].rows[bit], self.extremes[side].scores[bit]
        for row, score in zip(rows.tolist(), scores, strict=True):
            if row < 0:
                return
            called = f"item {row}" if self.ids is None else f"id {self.ids[row]}"
            title = f"{called}, score {score:.3g}"
            if self.pictures is not None:
                yield self._picture(self.pictures, row, called, title)
                continue
            words: list[str] = [
                text(self.items[row] if self.kind == "texts" else called)
            ]
            if self.captions is not None:
                words += [" ", element("span", text(self.captions[row]), class_="soft")]
            yield element("li", *words, title=title)

    def _picture(self, pictures: Pictures, row: int, called: str, title: str) -> Html:
        caption = called if self.captions is None else str(self.captions[row])
        title = title if self.captions is None else f"{caption}, {title}"
        thumbnail = pictures.get(row)
        if thumbnail is None:
            words = element("span", text(caption, _PLACEHOLDER), class_="absent soft")
            return element("li", words, title=f"{title}; the image cannot be read")
        source, tiny = thumbnail
        size = "tiny" if tiny else "photo"
        return element(
            "li", element("img", src=source, alt=caption, title=title, class_=size)
        )

    def _evidence(self, bit: int, side: int) -> Html:
        """Return the words that speak for the proposed name."""
        if self.proposals is None or bit not in self.proposals.bits:
            return Html("")
        words = self.proposals.bits[bit][side]
        if not words:
            rare = "frequent " if self.proposals.min_share else ""
            return element(
                "p", f"no {rare}word is significant here", class_="words soft"
            )
        shown = []
        for word in words:
            p_value = "< 1e-16" if word.p_value < 1e-16 else f"= {word.p_value:.1g}"
            metrics = (
                f" {_share(word.share)} against {_share(word.other_share)}, "
                f"z = {word.z:.1f}, p {p_value} "
            )
            shown.append(element("span", element("b", text(word.word)), metrics))
        return element("p", *shown, class_="words soft")


def _share(value: float) -> str:
    return f"{value:.0%}" if value >= 0.1 or not value else f"{value:.2%}"


def _bits_legend(sheet: _Sheet) -> str:
    sentences = ["On each side the items with the most extreme scores."]
    if sheet.ids is not None:
        sentences.append(
            "Hover over an item to see its id; 'fewbits like COLLECTION --good-ids "
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
        if proposals.n_groups is None:
            sentences.append(
                "Items count as independent: that a word belongs to a side is shown "
                "for classes such as these, not for others."
            )
        else:
            sentences.append(
                "Classes count, not items: that a word belongs to a side is shown for "
                f"other classes, too, of which these {proposals.n_groups:,} are a "
                "sample."
            )
    return " ".join(sentences)


def _profile_table(
    profiles: Sequence[ClassProfile], names: Mapping[int, Names], shown: Sequence[int]
) -> Html:
    """Return a table with a row per class: its most telling bits and their shares."""
    if not profiles:
        return Html("")
    rows = []
    for profile in profiles:
        bits = []
        for bit in profile.order[:_PROFILE_BITS].tolist():
            if not profile.z[bit]:
                continue
            side = int(profile.z[bit] > 0)
            inside, outside = profile.inside[bit], profile.outside[bit]
            if not side:
                inside, outside = 1 - inside, 1 - outside
            link = element("a", str(bit), href=f"#bit-{bit}")
            words = [link if bit in shown else str(bit), f" = {side}"]
            if name := names.get(bit, ("", ""))[side]:
                words += [" ", text(name)]
            bits.append(element("li", *words, f" ({inside:.0%} / {outside:.0%})"))
        n_items = element("td", f"{profile.n_inside:,}", class_="number")
        rows.append([text(profile.label), n_items, element("ul", *bits)])
    header = ("class", "items", "its bits, and the share of items inside and outside")
    label = "What sets classes apart"
    return join([element("h2", label), table(header, rows, label)])
