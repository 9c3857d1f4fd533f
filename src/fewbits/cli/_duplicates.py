"""``fewbits duplicates``."""

from typing import Annotated

import typer

from fewbits.cli._options import (
    BundlePath,
    Filter,
    json_option,
    print_hits,
    print_json,
    say,
)

#: Groups that people see; programs see all.
_MOST_SHOWN = 20


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
    as_json: Annotated[
        bool,
        json_option("Print all groups and pairs, with distances, as one JSON object."),
    ] = False,
) -> None:
    """Find near duplicates in the collection of BUNDLE.

    Items whose codes differ in at most --radius bits are a pair; items that are
    connected by pairs are a group, and the first of each group is the one to keep.
    The first 20 groups are shown; --json prints all, and the pairs.

    Example: fewbits duplicates my-bundle --radius 3

    Example: fewbits duplicates my-bundle -r 8 --max-vector-distance 0.1 --json
    """
    from fewbits import engine
    from fewbits.bundle import Bundle

    request = engine.DuplicatesRequest(
        radius, max_vector_distance=max_vector_distance, filter=filter
    )
    found = engine.duplicates(Bundle.load(bundle), request)
    if as_json:
        print_json(found.to_dict())
        return
    for i, group in enumerate(found.groups[:_MOST_SHOWN], start=1):
        print_hits(f"group {i}", group)
    n_items = sum(map(len, found.groups)) - len(found.groups)
    noun = "group" if len(found.groups) == 1 else "groups"
    say(
        f"{len(found.groups):,} {noun}, {len(found.pairs):,} pairs; "
        f"{n_items:,} items to remove if the first of each group is kept"
    )
    if len(found.groups) > _MOST_SHOWN:
        say(f"note: the first {_MOST_SHOWN} groups are shown; --json prints all")
