"""A page as one file, without scripts or requests to the network."""

from pathlib import Path

from fewbits._files import atomic_write
from fewbits.report._style import STYLE
from fewbits.report.html import Html, element, text

# Even if a text broke out of its place, it could load and run nothing.
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def write_document(path: str | Path, title: str, lead: str, *sections: str) -> None:
    """Write a page; a crash leaves the old one, or the new one."""
    page = document(title, lead, *sections)
    with atomic_write(path) as file:
        # A text may hold halves of characters, which UTF-8 has no bytes for.
        file.write(page.encode("utf-8", "replace"))


def document(title: str, lead: str, *sections: str) -> str:
    """Return a whole page: a heading, a line below it, and sections."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", Html(STYLE)),
    )
    body = element(
        "body",
        element(
            "header",
            element("h1", text(title)),
            element("p", lead, class_="soft"),
        ),
        element("main", *sections),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"
