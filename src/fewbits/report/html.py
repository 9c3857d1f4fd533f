"""A page as one file of HTML, in which text can only be text.

Everything is escaped unless it is `Html`; nothing runs, or comes from the network.
"""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import final

from fewbits._files import atomic_write

_VOID = {"img", "meta"}
# Even if a text broke out of its place, it could load and run nothing.
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
_FOLDER = Path(__file__).parent
#: Drawings look the same on a page and in a file of their own.
DRAWINGS = (_FOLDER / "drawings.css").read_text("utf-8")


@final
class Html(str):
    """Markup, made by `element`; any other string is a user's text."""

    __slots__ = ()


def element(name: str, /, *children: str, **attributes: str | int | float) -> Html:
    """Return an element.

    Children that are not `Html` are escaped, and so are the values of all attributes.
    An underscore at the end of a name is dropped, others become hyphens.

    Examples
    --------
    >>> print(element("p", "1 < 2 ", element("b", "&"), class_='"quoted"'))
    <p class="&quot;quoted&quot;">1 &lt; 2 <b>&amp;</b></p>
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
    )
    if name in _VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{join(children)}</{name}>")


def join(parts: Iterable[str]) -> Html:
    """Return parts one after the other, text escaped."""
    return Html(
        "".join(part if isinstance(part, Html) else escape(part) for part in parts)
    )


def text(value: object, limit: int = 300) -> Html:
    """Return a user's text, shortened, and unable to turn its surroundings around."""
    # Its direction, and any override of it, ends with the element.
    return element("bdi", shortened(value, limit))


def shortened(value: object, limit: int) -> str:
    """Return a user's text on one line, of no more than `limit` characters."""
    words = " ".join(str(value).split())
    return words if len(words) <= limit else words[: limit - 1].rstrip() + "…"


def soft(*children: str) -> Html:
    """Return a paragraph of less weight."""
    return element("p", *children, class_="soft")


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
    header = element("header", element("h1", text(title)), soft(lead))
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
