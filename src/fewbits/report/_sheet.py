"""The parts of the page that show one bit each, and the table that leads to them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fewbits.analysis.bits import BitRanking, BitReport, Extremes, Side
from fewbits.analysis.names import Names, Proposals, Word
from fewbits.report._thumbnails import Pictures
from fewbits.report.html import Html, element, text

SIDES = ("zero", "one")
_OTHERS = 8  # bits that are listed in a cell
_PLACEHOLDER = 40  # characters in the place of an image


@dataclass(frozen=True, eq=False, slots=True)
class Sheet:
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

    def item(self, row: int) -> str:
        """Return what an item without text is called."""
        return f"item {row}" if self.ids is None else f"id {self.ids[row]}"


def overview(sheet: Sheet, bits: Sequence[int]) -> Html:
    """Return a table with one row per bit, each a link to its part of the page."""
    columns = list(_metrics(sheet, bits[0]))
    header = element(
        "tr",
        element("th", "bit", scope="col"),
        element("th", "0", scope="col"),
        element("th", "1", scope="col"),
        *(element("th", name, scope="col", class_="number") for name in columns),
        *([element("th", "says the same", scope="col")] if _any_alike(sheet) else []),
    )
    rows = [_overview_row(sheet, bit) for bit in bits]
    table = element("table", element("thead", header), element("tbody", *rows))
    # Focusable, so that it can be scrolled by keyboard.
    return element(
        "div",
        table,
        class_="card scroll",
        tabindex=0,
        role="region",
        aria_label="Bits at a glance",
    )


def bit_section(sheet: Sheet, bit: int) -> Html:
    """Return both sides of a bit, each with its name, items and words."""
    metrics = ", ".join(
        f"{name} {value}" for name, value in _metrics(sheet, bit).items()
    )
    return element(
        "section",
        element("h3", f"Bit {bit}", id=f"bit-{bit}"),
        element("p", metrics, class_="soft"),
        _alike(sheet, bit),
        element("div", *(_side(sheet, bit, side) for side in (0, 1)), class_="sides"),
        class_="card",
    )


def _alike(sheet: Sheet, bit: int) -> Html:
    """Return the bits that are not shown because of this one."""
    others = sheet.alike.get(bit, ())
    if not others:
        return Html("")
    listed = ", ".join(str(other) for other in others)
    return element("p", f"like bit {bit}: {listed}", class_="soft")


def _overview_row(sheet: Sheet, bit: int) -> Html:
    names = [
        element("td", text(name) if name else _nameless(sheet, bit))
        for name in sheet.names.get(bit, ("", ""))
    ]
    metrics = [
        element("td", value, class_="number") for value in _metrics(sheet, bit).values()
    ]
    link = element("a", str(bit), href=f"#bit-{bit}")
    others = [element("td", _listed(sheet, bit))] if _any_alike(sheet) else []
    return element("tr", element("td", link), *names, *metrics, *others)


def _any_alike(sheet: Sheet) -> bool:
    return any(sheet.alike.values())


def _listed(sheet: Sheet, bit: int) -> str:
    """Return the first of the bits that say the same as one that is shown."""
    others = [str(other) for other in sheet.alike.get(bit, ())]
    rest = [f"and {len(others) - _OTHERS} more"] if len(others) > _OTHERS else []
    return ", ".join([*others[:_OTHERS], *rest])


def _nameless(sheet: Sheet, bit: int) -> Html:
    tested = sheet.proposals is not None and bit in sheet.proposals.bits
    return element("span", "–", title="no significant word" if tested else "no name")


def _metrics(sheet: Sheet, bit: int) -> dict[str, str]:
    metrics = {
        "ones": f"{sheet.report.balance[bit]:.1%}",
        "entropy": f"{sheet.report.entropy[bit]:.2f}",
    }
    if sheet.ranking is not None:
        metrics["stability"] = f"{sheet.ranking.stability[bit]:.1%}"
        if sheet.ranking.information is not None:
            metrics["information"] = f"{sheet.ranking.information[bit]:.3f}"
        metrics["reliable information"] = (
            f"{sheet.ranking.reliable_information[bit]:.3f}"
        )
    return metrics


def _side(sheet: Sheet, bit: int, side: int) -> Html:
    name = sheet.names.get(bit, ("", ""))[side]
    heading = element(
        "p", f"{side} ", element("span", text(name), class_="name") if name else ""
    )
    items = element(
        "ol",
        *_items(sheet, sheet.extremes[side], bit),
        class_="texts" if sheet.pictures is None else "pictures",
    )
    return element(
        "div", heading, items, _words(sheet, bit, side), class_=f"side {SIDES[side]}"
    )


def _items(sheet: Sheet, side: Side, bit: int) -> Iterator[Html]:
    for row, score in zip(side.rows[bit].tolist(), side.scores[bit], strict=True):
        if row < 0:
            return
        shown = f"{sheet.item(row)}, score {score:.3g}"
        if sheet.pictures is None:
            yield _line(sheet, row, shown)
        else:
            yield _picture(sheet, sheet.pictures, row, shown)


def _picture(sheet: Sheet, pictures: Pictures, row: int, score: str) -> Html:
    captions = sheet.captions
    caption = sheet.item(row) if captions is None else str(captions[row])
    title = score if captions is None else f"{caption}, {score}"
    made = pictures.get(row)
    if made is None:
        words = element("span", text(caption, _PLACEHOLDER), class_="absent soft")
        return element("li", words, title=f"{title}; the image cannot be read")
    source, tiny = made
    size = "tiny" if tiny else "photo"
    return element(
        "li", element("img", src=source, alt=caption, title=title, class_=size)
    )


def _line(sheet: Sheet, row: int, score: str) -> Html:
    words: list[str] = [
        text(sheet.items[row] if sheet.kind == "texts" else sheet.item(row))
    ]
    if sheet.captions is not None:
        words += [" ", element("span", text(sheet.captions[row]), class_="soft")]
    return element("li", *words, title=score)


def _words(sheet: Sheet, bit: int, side: int) -> Html:
    """Return the evidence for the proposed name."""
    if sheet.proposals is None or bit not in sheet.proposals.bits:
        return Html("")
    words = sheet.proposals.bits[bit][side]
    if not words:
        rare = "frequent " if sheet.proposals.min_share else ""
        return element("p", f"no {rare}word is significant here", class_="words soft")
    return element("p", *(_evidence(word) for word in words), class_="words soft")


def _evidence(word: Word) -> Html:
    p_value = "< 1e-16" if word.p_value < 1e-16 else f"= {word.p_value:.1g}"
    metrics = (
        f" {_share(word.share)} against {_share(word.other_share)}, "
        f"z = {word.z:.1f}, p {p_value} "
    )
    return element("span", element("b", text(word.word)), metrics)


def _share(value: float) -> str:
    return f"{value:.0%}" if value >= 0.1 or not value else f"{value:.2%}"
