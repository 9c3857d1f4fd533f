"""``fewbits search``."""

from pathlib import Path
from typing import Annotated, Any

import typer

from fewbits.cli._options import (
    AsJson,
    BundlePath,
    Column,
    Filter,
    SkipBlank,
    item_label,
    print_hits,
    print_json,
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
    k: Annotated[int, typer.Option("-k", help="Results per query.")] = 10,
    rerank: Annotated[
        bool | None,
        typer.Option(
            "--rerank/--no-rerank",
            help="Re-rank a shortlist by stored vectors, or else by the query's "
            "scores before thresholding. Default: as 'fewbits tune' found best.",
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
    column: Column = None,
    skip_blank: SkipBlank = False,
    as_json: AsJson = False,
) -> None:
    """Find the items of BUNDLE that are nearest to each query.

    Type texts or paths of images; read vectors from a file. Prints the results of the
    first 20 queries; --json prints all.

    Example: fewbits search my-bundle "broken arm" "cannot sleep" -k 5

    Example: fewbits search my-bundle --input queries.npy --rerank

    Example: fewbits search my-bundle "broken arm" --filter "year >= 2020"

    Example: fewbits search my-images "a red flower" --by my-texts
    """
    from fewbits.bundle import Bundle
    from fewbits.errors import ArgumentError

    if bool(queries) == bool(source):
        raise ArgumentError("give either queries or --input")
    loaded = Bundle.load(bundle)
    if by is not None:
        loaded = Bundle.load(by, items=False).with_collection_of(loaded)
    asked: Any = typed_items(loaded, by or bundle, queries or [])
    if source:
        asked = read_for(loaded, source, column, skip_blank=skip_blank).values
    if rerank is None:
        rerank = loaded.shortlist is not None
    n_more = 0 if as_json else len(asked) - _MOST_SHOWN
    if n_more > 0:
        asked = asked[:_MOST_SHOWN]
    answers = loaded.search_records(asked, k, rerank=rerank, filter=filter)
    for i, hits in enumerate(answers):
        # Re-ranked distances are not Hamming, and filters hide near items.
        comparable = not (rerank or filter)
        unknown = _out_of_distribution(
            hits, loaded.novelty_radius if comparable else None
        )
        if as_json:
            found = {"query": item_label(asked, i, "query"), "hits": hits}
            print_json(
                found if unknown is None else {**found, "out_of_distribution": unknown}
            )
            continue
        print_hits(item_label(asked, i, "query"), hits)
        if unknown:
            say(
                "note: the query is out-of-distribution: the nearest item is more "
                f"than {loaded.novelty_radius} bits away"
            )
    if n_more > 0:
        say(f"note: {n_more:,} more queries; --json prints the results of all")


def _out_of_distribution(hits: list[Any], radius: int | None) -> bool | None:
    """Return whether the nearest item is too far; None without a radius."""
    if radius is None or not hits:
        return None
    return bool(hits[0]["distance"] > radius)
