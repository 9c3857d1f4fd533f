"""Table of the distinctive attributes of each class."""

from collections.abc import Mapping, Sequence

from fewbits.analysis.bits import ClassProfile
from fewbits.report.html import Html, element, join, text

_BITS = 5  # of a class
_LABEL = "What sets classes apart"


def profile_table(
    profiles: Sequence[ClassProfile],
    names: Mapping[int, tuple[str, str]],
    shown: Sequence[int],
) -> Html:
    """Return a table with a row per class: its most informative bits and their shares.

    Parameters
    ----------
    profiles : sequence of ClassProfile
        There may be none; then there is no table.
    names : mapping of int to pair of str
        Of the sides of bits.
    shown : sequence of int
        The bits with a part on the page, which those named here link to.
    """
    if not profiles:
        return Html("")
    titles = ("class", "items", "its bits, and the share of items inside and outside")
    header = element("tr", *(element("th", title, scope="col") for title in titles))
    rows = [_row(profile, names, set(shown)) for profile in profiles]
    table = element("table", element("thead", header), element("tbody", *rows))
    # Focusable, so that it can be scrolled by keyboard.
    scrolled = element(
        "div",
        table,
        class_="card scroll",
        tabindex=0,
        role="region",
        aria_label=_LABEL,
    )
    return join([element("h2", _LABEL), scrolled])


def _row(
    profile: ClassProfile, names: Mapping[int, tuple[str, str]], shown: set[int]
) -> Html:
    telling = [bit for bit in profile.order[:_BITS].tolist() if profile.z[bit]]
    bits = [element("li", *_bit(profile, bit, names, bit in shown)) for bit in telling]
    return element(
        "tr",
        element("td", text(profile.label)),
        element("td", f"{profile.n_inside:,}", class_="number"),
        element("td", element("ul", *bits)),
    )


def _bit(
    profile: ClassProfile, bit: int, names: Mapping[int, tuple[str, str]], link: bool
) -> list[str]:
    side = int(profile.z[bit] > 0)
    inside, outside = profile.inside[bit], profile.outside[bit]
    if not side:
        inside, outside = 1 - inside, 1 - outside
    number = element("a", str(bit), href=f"#bit-{bit}") if link else str(bit)
    name = names.get(bit, ("", ""))[side]
    return [
        number,
        f" = {side}",
        *([" ", text(name)] if name else []),
        f" ({inside:.0%} / {outside:.0%})",
    ]
