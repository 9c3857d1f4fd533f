"""``fewbits duplicates``."""

from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from fewbits.cli import _options as opt
from fewbits.cli._printing import counted, print_hits, print_json, print_table, say

if TYPE_CHECKING:
    from fewbits.collection import Duplicates

#: Groups or pairs that people see; programs see all.
_MOST_SHOWN = 20
_LINES = 10_000  # of pairs that are made at a time


def duplicates(
    collection: opt.CollectionPath,
    radius: Annotated[
        int,
        Option(
            "--radius",
            "-r",
            help="Bits in which the codes of duplicates may differ, from 0 on.",
        ),
    ],
    max_vector_distance: Annotated[
        float | None,
        Option(
            help="Confirm each pair by the kept vectors: their Euclidean distance is "
            "at most this. Needs a collection built with --keep-vectors."
        ),
    ] = None,
    filter: opt.Filter = None,
    allowed: opt.Allowed = None,
    pairs: Annotated[
        bool, Option("--pairs", help="Print pairs, in the order of the collection.")
    ] = False,
    at: opt.At = None,
    as_json: opt.JsonLines = False,
) -> None:
    """Find near duplicates in COLLECTION.

    Items whose codes differ in at most --radius bits are a pair; items that are
    connected by pairs are a group, and the first of each group is the one to keep.
    The first 20 groups or pairs are shown; --json prints all. There may be more pairs
    than fit in memory.

    Example: fewbits duplicates my-collection --radius 3

    Example: fewbits duplicates my-collection -r 8 --max-vector-distance 0.1 --json

    Example: fewbits duplicates my-collection -r 3 --pairs --json
    """
    col = opt.open_at(collection, at)
    answer = col.duplicates(
        radius,
        max_vector_distance=max_vector_distance,
        filter=filter,
        allowed=opt.typed_ids(col, allowed) if allowed else None,
    )
    if pairs:
        _show_pairs(answer, as_json)
        return
    groups = answer.groups()
    if as_json:
        for items in groups.records():
            print_json({"items": items})
        return
    for number, items in enumerate(islice(groups.records(), _MOST_SHOWN), 1):
        n_more = len(items) - _MOST_SHOWN
        note = f", and {counted(n_more, 'more item')}" if n_more > 0 else ""
        print_hits(f"group {number}{note}", items[:_MOST_SHOWN])
    spare = len(groups.ids) - len(groups)
    say(
        f"{counted(len(groups), 'group')}, {counted(groups.n_pairs, 'pair')}; "
        f"{counted(spare, 'item')} to remove if the first of each group is kept"
    )
    if len(groups) > _MOST_SHOWN:
        say(f"note: the first {_MOST_SHOWN} groups are shown; --json prints all")


def _show_pairs(duplicates: "Duplicates", as_json: bool) -> None:
    count = 0
    shown: list[dict[str, Any]] = []
    for block in duplicates:
        if as_json:
            for start in range(0, len(block), _LINES):
                print_json(*block[start : start + _LINES].to_list())
        elif len(shown) < _MOST_SHOWN:
            shown += block[: _MOST_SHOWN - len(shown)].to_list()
        count += len(block)
    if as_json:
        return
    header = ["first", "second", *list(shown[0])[1:]] if shown else ["nothing found"]
    cells = [[*pair.pop("ids"), *pair.values()] for pair in shown]
    print_table("", header, cells)
    say(counted(count, "pair"))
    if count > _MOST_SHOWN:
        say(f"note: the first {_MOST_SHOWN} pairs are shown; --json prints all")
