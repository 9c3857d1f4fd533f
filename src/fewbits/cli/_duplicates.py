"""``fewbits duplicates``."""

from itertools import islice
from typing import Annotated, Any

import typer

from fewbits.cli._options import (
    BundlePath,
    Filter,
    json_option,
    print_hits,
    print_json,
    print_table,
    say,
)

#: Groups or pairs that people see; programs see all.
_MOST_SHOWN = 20
_LINES = 10_000  # of pairs that are made at a time


def register(app: typer.Typer) -> None:
    app.command("duplicates")(duplicates)


def duplicates(
    bundle: BundlePath,
    radius: Annotated[
        int,
        typer.Option(
            "--radius",
            "-r",
            help="Bits in which the codes of duplicates may differ; 0 finds items of "
            "the same code.",
        ),
    ],
    max_vector_distance: Annotated[
        float | None,
        typer.Option(
            help="Confirm each pair by the kept vectors: their Euclidean distance is "
            "at most this. Needs a collection built with --keep-vectors."
        ),
    ] = None,
    filter: Filter = None,
    pairs: Annotated[
        bool,
        typer.Option(
            "--pairs",
            help="Print pairs in place of groups, in the order of the collection.",
        ),
    ] = False,
    as_json: Annotated[
        bool,
        json_option("Print one line of JSON for each group, or pair."),
    ] = False,
) -> None:
    """Find near duplicates in the collection of BUNDLE.

    Items whose codes differ in at most --radius bits are a pair; items that are
    connected by pairs are a group, and the first of each group is the one to keep.
    The first 20 groups or pairs are shown; --json prints all. There may be more pairs
    than fit in memory.

    Example: fewbits duplicates my-bundle --radius 3

    Example: fewbits duplicates my-bundle -r 8 --max-vector-distance 0.1 --json

    Example: fewbits duplicates my-bundle -r 3 --pairs --json
    """
    from fewbits.bundle import Bundle

    show = _show_pairs if pairs else _show_groups
    loaded = Bundle.load(bundle)
    asked = {"max_vector_distance": max_vector_distance, "filter": filter}
    show(loaded, radius, asked, as_json)


def _show_groups(bundle: Any, radius: int, asked: Any, as_json: bool) -> None:
    from fewbits.engine.rows import group_records

    found = bundle.duplicate_groups(radius, **asked)
    if as_json:
        for group in group_records(bundle, found):
            print_json({"items": group})
        return
    shown = [rows[:_MOST_SHOWN] for rows in islice(found, _MOST_SHOWN)]
    for number, group in enumerate(group_records(bundle, shown)):
        n_more = len(found[number]) - len(group)
        note = f", and {_counted(n_more, 'more item')}" if n_more else ""
        print_hits(f"group {number + 1}{note}", group)
    spare = len(found.members) - len(found)
    say(
        f"{_counted(len(found), 'group')}, {_counted(found.n_pairs, 'pair')}; "
        f"{_counted(spare, 'item')} to remove if the first of each group is kept"
    )
    _say_more(len(found), "groups")


def _show_pairs(bundle: Any, radius: int, asked: Any, as_json: bool) -> None:
    count = 0
    shown: list[dict[str, Any]] = []
    for found in bundle.stream_duplicates(radius, **asked):
        if as_json:
            for start in range(0, len(found), _LINES):
                print_json(*found.records(slice(start, start + _LINES)))
        elif len(shown) < _MOST_SHOWN:
            shown += found.records(slice(_MOST_SHOWN - len(shown)))
        count += len(found)
    if not as_json:
        _print_pairs(shown)
        say(_counted(count, "pair"))
        _say_more(count, "pairs")


def _print_pairs(pairs: list[dict[str, Any]]) -> None:
    header = ["first", "second", *list(pairs[0])[1:]] if pairs else ["nothing found"]
    cells = [[*pair.pop("ids"), *pair.values()] for pair in pairs]
    print_table("", header, cells)


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def _say_more(count: int, what: str) -> None:
    if count > _MOST_SHOWN:
        say(f"note: the first {_MOST_SHOWN} {what} are shown; --json prints all")
