"""HTML in which text can only be text: everything is escaped unless it is `Html`."""

from collections.abc import Iterable
from html import escape
from typing import final

_VOID = {"img", "meta"}


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
    words = shortened(value, limit)
    # Its direction, and any override of it, ends with the element.
    return element("bdi", words)


def shortened(value: object, limit: int) -> str:
    """Return a user's text on one line, of no more than `limit` characters."""
    words = " ".join(str(value).split())
    return words if len(words) <= limit else words[: limit - 1].rstrip() + "…"
