"""A page about the bits of a collection that needs nothing but a browser."""

from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._images import open_rgb
from fewbits._repr import short_repr
from fewbits.analysis.bits import BitRanking, BitReport, ClassProfile, Extremes
from fewbits.analysis.names import Names, Proposals
from fewbits.errors import FeatureError
from fewbits.report.html import (
    Html,
    element,
    join,
    shortened,
    soft,
    summary,
    table,
    text,
    write_document,
)

_OTHERS = 8  # bits that are listed in a cell
_PROFILE_BITS = 5  # of a class
_PLACEHOLDER = 40  # characters in the place of an image
_SIZE = 96  # pixels of the longer side of a picture
_TINY = 32  # pictures up to this size are enlarged by the reader, pixel by pixel
_BINS, _WIDTH, _HEIGHT = 20, 560, 180  # of a histogram
_LEFT, _BOTTOM, _TOP = 4, 24, 8
_SIDE, _ROOM = 600, 28  # of the longer side of a map; room around the points
_PICTURE, _MAX_PICTURES = 40, 90  # side of a picture on a map
_LONGEST = 120  # characters of a text that shows when the pointer rests on it
_COLOURED = 10  # classes with a colour each; the style defines as many
FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class BitsPage:
    """What the bits of items mean, and how well they are used.

    `fewbits.collection.pages.write_attributes` makes it. Of images only the rows in
    `extremes` and at `places` on the map are read; captions stand for those that
    cannot be. `bits` are shown in this order, each with bits that say the same.
    """

    report: BitReport
    extremes: Extremes
    ranking: BitRanking
    bits: dict[int, list[int]]
    items: Sequence[Any]
    ids: Sequence[Any]
    are_images: bool
    captions: Sequence[str] | None
    proposals: Proposals | None
    names: dict[int, Names]
    places: Mapping[int, Any]
    classes: Sequence[str] | None
    profiles: Sequence[ClassProfile]
    notes: Sequence[str]

    def __repr__(self) -> str:
        return short_repr(self)

    def write(self, path: str | Path) -> None:
        """Write the page: one file, in light or dark as the reader prefers."""
        pictures = self._pictures
        words = self.captions if self.are_images else self.items
        drawn = _map(self.places, words, pictures, self.classes) if self.places else ""
        sections = [self._section(bit) for bit in self.bits]
        # Only now is it known which images could be read.
        unread = [] if pictures is None else pictures.notes()
        n_bits, shown = self.report.n_bits, self.bits
        lead = f"{self.report.n_codes:,} items, {n_bits} bits each"
        if len(shown) < n_bits:
            lead += f"; {len(shown)} of them are shown"
            if n_alike := sum(map(len, shown.values())):
                verb = "goes" if n_alike == 1 else "go"
                lead += f", {n_alike} of the others {verb} with these"
        ranking = self.ranking
        what = "the bit itself" if ranking.information is None else "the class"
        legend = (
            "Ones: share of the items in which the bit is 1; entropy in bits. "
            "Stability: probability that a bit stays as it is when normal noise of "
            f"{ranking.noise:g} standard deviations is added to its scores; any bit "
            "whose scores are normal around 0 has "
            f"{ranking.usual_stability:.1%}, whatever it means. Reliable information: "
            f"information of the noisy bit about {what}, in bits; the best bits have "
            "the most of it."
        )
        write_document(
            path,
            "What the bits mean",
            lead,
            _report_section(self.report, [*self.notes, *unread]),
            element("section", element("h2", "Map"), drawn) if drawn else "",
            element("h2", "Bits at a glance"),
            soft(legend),
            self._overview(),
            self._profile_table(),
            element("h2", "Bit by bit"),
            soft(self._legend()),
            *sections,
        )

    @cached_property
    def _pictures(self) -> "_Pictures | None":
        return _Pictures(self.items) if self.are_images else None

    def _overview(self) -> Html:
        """Return a table with one row per bit, each a link to its section."""
        any_alike = any(self.bits.values())
        columns: list[str] = [
            element("th", name, scope="col", class_="number")
            for name in self._metrics(0)
        ]
        last = ["says the same"] if any_alike else []
        rows = []
        for bit in self.bits:
            row: list[str] = [element("a", str(bit), href=f"#bit-{bit}")]
            tested = self.proposals is not None and bit in self.proposals.bits
            why = "no significant word" if tested else "no name"
            for name in self.names.get(bit, ("", "")):
                row.append(text(name) if name else element("span", "–", title=why))
            for value in self._metrics(bit).values():
                row.append(element("td", value, class_="number"))
            if any_alike:
                others = [str(other) for other in self.bits[bit]]
                more = len(others) - _OTHERS
                rest = [f"and {more} more"] if more > 0 else []
                row.append(", ".join([*others[:_OTHERS], *rest]))
            rows.append(row)
        header = ["bit", "0", "1", *columns, *last]
        return table(header, rows, "Bits at a glance")

    def _metrics(self, bit: int) -> dict[str, str]:
        ranking = self.ranking
        metrics = {
            "ones": f"{self.report.balance[bit]:.1%}",
            "entropy": f"{self.report.entropy[bit]:.2f}",
            "stability": f"{ranking.stability[bit]:.1%}",
        }
        if ranking.information is not None:
            metrics["information"] = f"{ranking.information[bit]:.3f}"
        reliable = f"{ranking.reliable_information[bit]:.3f}"
        return {**metrics, "reliable information": reliable}

    def _profile_table(self) -> Html:
        """Return a table with a row per class: its most telling bits, their shares."""
        if not self.profiles:
            return Html("")
        rows = []
        for profile in self.profiles:
            bits = []
            for bit in profile.order[:_PROFILE_BITS].tolist():
                if not profile.z[bit]:
                    continue
                side = int(profile.z[bit] > 0)
                inside, outside = profile.inside[bit], profile.outside[bit]
                if not side:
                    inside, outside = 1 - inside, 1 - outside
                link = element("a", str(bit), href=f"#bit-{bit}")
                words = [link if bit in self.bits else str(bit), f" = {side}"]
                if name := self.names.get(bit, ("", ""))[side]:
                    words += [" ", text(name)]
                bits.append(element("li", *words, f" ({inside:.0%} / {outside:.0%})"))
            n_items = element("td", f"{profile.n_inside:,}", class_="number")
            rows.append([text(profile.label), n_items, element("ul", *bits)])
        last = "its bits, and the share of items inside and outside"
        label = "What sets classes apart"
        return join(
            [element("h2", label), table(["class", "items", last], rows, label)]
        )

    def _legend(self) -> str:
        sentences = [
            "On each side the items with the most extreme scores.",
            "Hover over an item to see its id; 'fewbits like COLLECTION --good-ids "
            "ID' finds more like it.",
        ]
        if any(self.bits.values()):
            sentences.append(
                "Bits listed with a shown one mostly have its values, or the "
                "opposite ones: an absolute correlation above 0.5."
            )
        if (proposals := self.proposals) is None:
            return " ".join(sentences)
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

    # One bit: both sides, each with its name, items and words.

    def _section(self, bit: int) -> Html:
        metrics = [f"{name} {value}" for name, value in self._metrics(bit).items()]
        others = ", ".join(str(other) for other in self.bits[bit])
        return element(
            "section",
            element("h3", f"Bit {bit}", id=f"bit-{bit}"),
            soft(", ".join(metrics)),
            soft(f"like bit {bit}: {others}") if others else "",
            element("div", *(self._side(bit, side) for side in (0, 1)), class_="sides"),
            class_="card",
        )

    def _side(self, bit: int, side: int) -> Html:
        name = self.names.get(bit, ("", ""))[side]
        heading = element(
            "p", f"{side} ", element("span", text(name), class_="name") if name else ""
        )
        kind = "pictures" if self.are_images else "texts"
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
            title = f"id {self.ids[row]}, score {score:.3g}"
            if self._pictures is None:
                yield element("li", text(self.items[row]), title=title)
                continue
            caption = f"id {self.ids[row]}"
            if self.captions is not None:
                caption = str(self.captions[row])
                title = f"{caption}, {title}"
            if (thumbnail := self._pictures.get(row)) is None:
                words = text(caption, _PLACEHOLDER)
                absent = element("span", words, class_="absent soft")
                yield element("li", absent, title=f"{title}; the image cannot be read")
                continue
            source, tiny = thumbnail
            size = "tiny" if tiny else "photo"
            yield element(
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
    series = {name: counted for name, counted in series.items() if counted.counts.any()}
    distances = soft("There is no pair of items to compare.")
    if series:
        middle, last = report.n_bits // 2, report.n_bits
        means = ", ".join(f"{name} {part.mean:.1f}" for name, part in series.items())
        distances = _histogram(
            "Hamming distance",
            {name: counted.shares for name, counted in series.items()},
            {0.5: "0", middle + 0.5: str(middle), last + 0.5: f"{last}"},
            f"mean distance {means}",
        )
    counts: NDArray[np.int64] = np.histogram(report.balance, _BINS, (0, 1))[0]
    balance = _histogram(
        "Bits by their share of ones",
        {"bits": counts / report.n_bits},
        {0: "0%", _BINS / 2: "50%", _BINS: "100%"},
        f"from {report.balance.min():.0%} to {report.balance.max():.0%}",
    )
    cards = (element("div", chart, class_="card") for chart in (distances, balance))
    charts = element("div", *cards, class_="charts")
    warnings = [*report.warnings, *map(text, notes)]
    return summary("The code", warnings, metrics, charts)


def _decimal(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.2f}"


def _share(value: float) -> str:
    return f"{value:.0%}" if value >= 0.1 or not value else f"{value:.2%}"


# Maps, and pictures on them.


class _Pictures:
    """Thumbnails of items by row, each made once; what cannot be read has none."""

    def __init__(self, items: Sequence[Any]) -> None:
        self._items = items
        self._thumbnails: dict[int, tuple[str, bool] | None] = {}
        self._reasons: list[str] = []

    def get(self, row: int) -> tuple[str, bool] | None:
        """Return an image as a ``data:`` URI, and whether it is tiny; or None."""
        if row not in self._thumbnails:
            try:
                image = open_rgb(self._items[row])
                from PIL import Image

                tiny = max(image.size) <= _TINY
                image.thumbnail((_SIZE, _SIZE), Image.Resampling.LANCZOS)
                file, kind = BytesIO(), "png" if tiny else "jpeg"
                image.save(file, kind.upper(), **({} if tiny else {"quality": 80}))
                data = b64encode(file.getvalue()).decode()
                self._thumbnails[row] = f"data:image/{kind};base64,{data}", tiny
            except FeatureError as error:
                self._thumbnails[row] = None
                self._reasons.append(str(error))
        return self._thumbnails[row]

    def notes(self) -> list[str]:
        """Return a sentence about what could not be read so far, if anything."""
        if not self._reasons:
            return []
        return [
            f"{len(self._reasons):,} of the {len(self._thumbnails):,} images that "
            f"belong on this page cannot be read: {self._reasons[0]}"
        ]


def _map(
    places_of: Mapping[int, Any],
    words: Sequence[Any] | None,
    pictures: _Pictures | None,
    classes: Sequence[str] | None,
) -> Html:
    # The same scale on both axes.
    rows, coordinates = [*places_of], np.array([*places_of.values()], np.float64)
    low, high = coordinates.min(axis=0), coordinates.max(axis=0)
    scale = (_SIDE - 2 * _ROOM) / (float((high - low).max()) or 1.0)
    width, height = (int(z) + 2 * _ROOM for z in (high - low) * scale)
    places = (coordinates - low) * scale + _ROOM
    common, colours = [], [0] * len(rows)
    if classes is not None:
        counts = Counter(classes[row] for row in rows)
        common = [name for name, _ in counts.most_common(_COLOURED)]
        number = {name: i for i, name in enumerate(common)}
        colours = [number.get(classes[row], _COLOURED) for row in rows]
    thumbnails = {}
    if pictures is not None:
        shown: list[int] = []  # whose pictures do not cover each other
        for i, place in enumerate(places):
            gaps = np.abs(places[shown] - place).max(axis=1)
            if (gaps >= _PICTURE).all() and len(shown) < _MAX_PICTURES:
                shown.append(i)
        for i in shown:
            if (thumbnail := pictures.get(rows[i])) is not None:
                thumbnails[i] = thumbnail[0]
    dots, images = [], []
    for i, row in enumerate(rows):
        parts = [] if words is None else [shortened(words[row], _LONGEST)]
        if classes is not None and classes[row] not in parts:
            parts.append(shortened(classes[row], _LONGEST))
        title = element("title", ", ".join(parts) or f"item {row}")
        css = f" class-{colours[i]}" if colours[i] < _COLOURED else ""
        if i not in thumbnails:
            x, y = (round(float(z), 1) for z in places[i])
            dots.append(element("circle", title, cx=x, cy=y, r=4, class_=f"dot{css}"))
            continue
        x, y = (round(float(z) - _PICTURE / 2, 1) for z in places[i])
        side = {"width": _PICTURE, "height": _PICTURE}
        images.append(
            element(
                "image",
                title,
                href=thumbnails[i],
                x=x,
                y=y,
                **side,
                preserveAspectRatio="xMidYMid slice",
            )
        )
        if css and classes is not None:
            images.append(element("rect", class_=f"edge{css}", **side, x=x, y=y))
    figure = element(
        "svg",
        *dots,
        *images,
        viewBox=f"0 0 {width} {height}",
        role="img",
        aria_label=f"Map of {len(places)} codes",
    )
    keys = [
        element("span", text(name, 40), class_=f"key class-{i}")
        for i, name in enumerate(common)
    ]
    caption = f"{len(places):,} items by t-SNE: only small distances are meaningful"
    title = element("figcaption", caption, element("span", *keys))
    return element("figure", title, figure, class_="card map")


def _histogram(
    title: str,
    series: Mapping[str, FloatArray],
    ticks: Mapping[float, str],
    description: str,
) -> Html:
    """Draw shares per bin, the first series filled, further ones as lines."""
    n_bins = len(next(iter(series.values())))
    highest = max(float(values.max()) for values in series.values()) or 1.0
    base, shapes = _HEIGHT - _BOTTOM, []
    for i, values in enumerate(series.values()):
        path = f"M{_x(0, n_bins)} {base}"
        for place, height in enumerate(values / highest, 1):
            path += f"V{base - height * (base - _TOP):.1f}H{_x(place, n_bins)}"
        # Plain colours for readers that do not apply the page's style to drawings.
        paint = {"fill": "none" if i else "currentColor", "stroke": "currentColor"}
        css = f"{'line' if i else 'area'} series-{i}"
        shapes.append(element("path", d=f"{path}V{base}", class_=css, **paint))
    # The first and the last label stay inside.
    anchors = ["start", *["middle"] * (len(ticks) - 2), "end"]
    labels = [
        element("text", label, x=_x(place, n_bins), y=_HEIGHT - 6, text_anchor=anchor)
        for (place, label), anchor in zip(ticks.items(), anchors, strict=True)
    ]
    axis = element("path", d=f"M{_LEFT} {base}H{_WIDTH - _LEFT}", class_="axis")
    drawing = element(
        "svg",
        *shapes,
        axis,
        *labels,
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        role="img",
        aria_label=f"{title}: {description}",
    )
    keys = [
        element("span", name, class_=f"key series-{i}") for i, name in enumerate(series)
    ]
    legend = join(keys) if len(keys) > 1 else ""
    return element("figure", element("figcaption", title, legend), drawing)


def _x(place: float, n_bins: int) -> float:
    return round(_LEFT + place / n_bins * (_WIDTH - 2 * _LEFT), 1)
