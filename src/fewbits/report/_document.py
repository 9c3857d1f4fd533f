"""A page as one file, without scripts or requests to the network."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from fewbits._files import atomic_write
from fewbits.report.html import Html, element, text

# Even if a text broke out of its place, it could load and run nothing.
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
COLOURS = """
:root {
  color-scheme: light dark;
  --page: #f6f5f2; --card: #ffffff; --ink: #1d2126; --soft: #5b6470; --line: #dcdad4;
  --zero: #a8541a; --one: #1f5fa8; --warn: #fff4d6; --warn-line: #c58a00;
  --class-0: #3445b3; --class-1: #d57d11; --class-2: #04411d;
  --class-3: #780466; --class-4: #5b5801; --class-5: #25838c;
  --class-6: #a881c5; --class-7: #a53c55; --class-8: #739d6c;
  --class-9: #9b6f37;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14171b; --card: #1d2127; --ink: #e8e6e1; --soft: #a3abb5; --line: #353b44;
    --zero: #f0a36b; --one: #86b8f2; --warn: #33290f; --warn-line: #d9a520;
    --class-0: #6b99fa; --class-1: #bc4d1a; --class-2: #b7fed5;
    --class-3: #ee59a1; --class-4: #fbea0f; --class-5: #0fd6f2;
    --class-6: #9151c9; --class-7: #f2aba7; --class-8: #a4c91c;
    --class-9: #b78d3f;
  }
}
"""
# Drawings look the same on a page and in a file of their own.
_DRAWINGS = """
.axis { stroke: var(--soft); fill: none; }
.branch { stroke: var(--one); stroke-width: 1.2; fill: none; }
.frame { stroke: var(--line); fill: none; }
.pixels { image-rendering: pixelated; }
svg text { fill: var(--soft); font-size: 13px; }
svg .leaf { fill: var(--ink); font-size: 12px; }
.dot { fill: var(--soft); opacity: .8; }
"""
_LAYOUT = """
* { box-sizing: border-box; }
body {
  margin: 0; padding: 2rem 1rem 4rem; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
}
header, main { max-width: 70rem; margin: 0 auto; }
h1 { margin: 0; font-size: 1.9rem; line-height: 1.2; text-wrap: balance; }
h2 { margin: 2.5rem 0 1rem; font-size: 1.3rem; }
h3 { margin: 0 0 .25rem; font-size: 1.1rem; }
p { margin: .25rem 0; }
a { color: var(--one); }
.soft, figcaption, dt, th { color: var(--soft); font-size: .875rem; font-weight: 400; }
.card {
  background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
  padding: 1rem 1.25rem; margin: 1rem 0; overflow-wrap: anywhere;
}
.warnings { background: var(--warn); border-color: var(--warn-line); }
.warnings ul { margin: .25rem 0 0; padding-left: 1.2rem; }
dl {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr));
  gap: 1rem; margin: 0;
}
dd { margin: 0; font-size: 1.35rem; font-variant-numeric: tabular-nums; }
.charts {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(19rem, 1fr)); gap: 1rem;
}
figure { margin: 0; }
svg { display: block; width: 100%; height: auto; margin-top: .5rem; }
.charts .card { margin: 0; }
.area { fill: var(--one); stroke: none; opacity: .55; }
.line { fill: none; stroke: var(--zero); stroke-width: 2; }
.key { display: inline-block; margin-left: .75rem; }
.key::before {
  content: ""; display: inline-block; width: .8em; height: .8em; margin-right: .35em;
  border-radius: .15em; background: var(--one);
}
.key.series-1::before { height: .2em; background: var(--zero); vertical-align: .25em; }
.maps { grid-template-columns: repeat(auto-fit, minmax(22rem, 1fr)); }
.edge { fill: none; stroke: none; stroke-width: 3; }
.scroll { overflow-x: auto; overflow-wrap: break-word; }
table { border-collapse: collapse; width: 100%; }
th, td {
  text-align: left; padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--line);
}
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
.sides {
  display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1.5rem;
  margin-top: .75rem;
}
.side { border-top: 3px solid var(--zero); padding-top: .5rem; }
.side.one { border-color: var(--one); }
.name { font-weight: 600; }
.side ol { margin: .5rem 0 0; padding: 0; list-style: none; }
.texts li { padding: .25rem 0; border-bottom: 1px solid var(--line); }
.texts li:last-child { border: 0; }
.side ol.pictures { display: flex; flex-wrap: wrap; gap: .5rem; }
.pictures img {
  display: block; height: 5.5rem; max-width: 11rem; border-radius: .25rem;
}
.pictures img.tiny { height: 4rem; image-rendering: pixelated; }
.pictures .absent {
  display: block; height: 5.5rem; width: 5.5rem; padding: .3rem; overflow: hidden;
  border: 1px dashed var(--line); border-radius: .25rem;
}
.words { margin-top: .5rem; }
.words span { display: inline-block; margin-right: 1rem; }
@media (max-width: 40rem) { .sides { grid-template-columns: minmax(0, 1fr); } }
@media print { .card { break-inside: avoid; } }
"""


def _of_classes(rule: str) -> str:
    """Write a rule once for each of the ten classes that have colours."""
    return "".join(rule.replace("#", str(i)) + "\n" for i in range(10))


DRAWINGS = _DRAWINGS + _of_classes(".dot.class-# { fill: var(--class-#); }")
_STYLE = (
    COLOURS
    + DRAWINGS
    + _LAYOUT
    + _of_classes(".key.class-#::before { background: var(--class-#); }")
    + _of_classes(".edge.class-# { stroke: var(--class-#); }")
)


def write_document(path: str | Path, title: str, lead: str, *sections: str) -> None:
    """Write a page with a line below its title; a crash leaves the old one, or this."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", Html(_STYLE)),
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
