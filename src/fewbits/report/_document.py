"""A page as one file, without scripts or requests to the network."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from fewbits._files import atomic_write
from fewbits.report.html import Html, element, text

# Even if a text broke out of its place, it could load and run nothing.
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
_FOLDER = Path(__file__).parent
#: Drawings look the same on a page and in a file of their own.
DRAWINGS = (_FOLDER / "drawings.css").read_text("utf-8")


def write_document(path: str | Path, title: str, lead: str, *sections: str) -> None:
    """Write a page with a line below its title; a crash leaves the old one, or this."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", Html(DRAWINGS + (_FOLDER / "page.css").read_text("utf-8"))),
    )
    header = element(
        "header", element("h1", text(title)), element("p", lead, class_="soft")
    )
    body = element("body", header, element("main", *sections))
    page = f"<!doctype html>\n{element('html', head, body, lang='en')}\n"
    with atomic_write(path) as file:
        # A text may hold halves of characters, which UTF-8 has no bytes for.
        file.write(page.encode("utf-8", "replace"))


def summary(
    title: str, warnings: Sequence[str], metrics: Mapping[str, str], *figures: Html
) -> Html:
    """Return the first section of a page: what is worth knowing, and its metrics."""
    listed = element("ul", *(element("li", sentence) for sentence in warnings))
    cells = [
        element("div", element("dt", name), element("dd", value))
        for name, value in metrics.items()
    ]
    return element(
        "section",
        element("h2", title),
        element("div", element("h3", "Worth knowing"), listed, class_="card warnings")
        if warnings
        else "",
        element("div", element("dl", *cells), class_="card"),
        *figures,
    )


def table(
    header: Sequence[Html | str], rows: Iterable[Sequence[Html | str]], label: str
) -> Html:
    """Return a table that can be scrolled, also by keyboard.

    Cells that are elements of their own, "th" or "td", stay as they are.
    """

    def cell(content: str, name: str, **attributes: str) -> Html:
        is_cell = isinstance(content, Html) and content.startswith(f"<{name}")
        return Html(content) if is_cell else element(name, content, **attributes)

    top = element("tr", *(cell(name, "th", scope="col") for name in header))
    body = [element("tr", *(cell(content, "td") for content in row)) for row in rows]
    return element(
        "div",
        element("table", element("thead", top), element("tbody", *body)),
        class_="card scroll",
        tabindex=0,
        role="region",
        aria_label=label,
    )
