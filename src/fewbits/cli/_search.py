"""``fewbits search``."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from fewbits.cli._options import (
    BundlePath,
    Filter,
    RowColumn,
    SkipBlank,
    check_unread,
    json_option,
    print_json,
    print_results,
    read_for,
    say,
    typed_items,
)

#: Queries whose results are printed as tables; JSON has all.
_MOST_SHOWN = 20


def register(app: typer.Typer) -> None:
    app.command("search")(search)


def search(
    bundle: BundlePath,
    queries: Annotated[
        list[str] | None,
        typer.Argument(metavar="QUERY", help="Texts, or paths of images."),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            "--input", "-i", help="File or folder of queries, in place of QUERY."
        ),
    ] = None,
    k: Annotated[
        int | None,
        typer.Option(
            "-k", help="Results per query. Default: 10, or with --radius all there are."
        ),
    ] = None,
    radius: Annotated[
        int | None,
        typer.Option(
            "--radius",
            "-r",
            help="Return all items within this Hamming distance of the query.",
        ),
    ] = None,
    rerank: Annotated[
        bool | None,
        typer.Option(
            "--rerank/--no-rerank",
            help="Re-rank a shortlist by stored vectors, or else by the query's "
            "scores before thresholding. Default: by the shortlist of the bundle, if "
            "it has one.",
        ),
    ] = None,
    by: Annotated[
        Path | None,
        typer.Option(
            help="Encode the queries with another bundle that has the same class "
            "codes, for instance to find images by texts.",
        ),
    ] = None,
    filter: Filter = None,
    group_by: Annotated[
        str | None,
        typer.Option(
            help="Column of the collection, such as the document of a passage: show "
            "the best item of each of k groups."
        ),
    ] = None,
    column: RowColumn = None,
    skip_blank: SkipBlank = False,
    as_json: Annotated[
        bool, json_option("Print one line of JSON for each query, with its hits.")
    ] = False,
) -> None:
    """Find the items of BUNDLE that are nearest to each query.

    Type texts or paths of images; read vectors from a file. Prints the results of the
    first 20 queries; --json prints all.

    Example: fewbits search my-bundle "broken arm" "cannot sleep" -k 5

    Example: fewbits search my-bundle --input queries.npy --rerank

    Example: fewbits search my-bundle "broken arm" --filter "year >= 2020"

    Example: fewbits search my-bundle --input queries.npy --radius 10 --json

    Example: fewbits search my-images "a red flower" --by my-texts
    """
    from fewbits import engine
    from fewbits.bundle import Bundle
    from fewbits.errors import ArgumentError

    if bool(queries) == bool(source):
        raise ArgumentError("give either queries or --input")
    check_unread(source, column, skip_blank)
    loaded = Bundle.load(bundle)
    if by is not None:
        loaded = Bundle.load(by, items=False).with_collection_of(loaded)
    asked: Any = typed_items(loaded, by or bundle, queries or [])
    if source:
        asked = read_for(loaded, source, column, skip_blank=skip_blank).values
    n_more = 0 if as_json else len(asked) - _MOST_SHOWN
    if n_more > 0:
        asked = asked[:_MOST_SHOWN]
    results: Iterable[Any]
    if radius is None:
        request = engine.SearchRequest(
            asked, 10 if k is None else k, rerank, filter, group_by=group_by
        )
        results = engine.search(loaded, request).results
    else:
        if rerank is not None:
            raise ArgumentError(
                "--rerank and --no-rerank cannot be combined with --radius"
            )
        if group_by is not None:
            raise ArgumentError("--group-by cannot be combined with --radius")
        within = engine.RangeRequest(asked, radius, filter, limit=k)
        results = _within(loaded, within)
    if as_json:
        for found in results:
            print_json(found.to_dict())
        return
    results = list(results)
    print_results(results)
    for found in results:
        if found.out_of_distribution:
            which = "the query" if len(results) == 1 else repr(found.query)
            say(
                f"note: {which} is out-of-distribution: the nearest item is more than "
                f"{loaded.novelty_radius} bits away"
            )
    if n_more > 0:
        say(f"note: {n_more:,} more queries; --json prints the results of all")


def _within(bundle: Any, request: Any) -> Iterable[Any]:
    """Return all hits of one query after another, or as many of each as asked for."""
    from fewbits.engine import range_search
    from fewbits.engine.rows import stream_range

    if request.limit is None:
        return stream_range(bundle, request)
    found: Iterable[Any] = range_search(bundle, request).results
    return found
