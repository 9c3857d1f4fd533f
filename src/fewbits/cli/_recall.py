"""``fewbits recall``."""

from typing import Annotated, Any

import typer

from fewbits.cli._options import (
    BundlePath,
    RowColumn,
    SkipBlank,
    check_unread,
    json_option,
    print_json,
    print_table,
    read_for,
    say,
)
from fewbits.cli._progress import progress_bar

_NAMES = {
    "hamming": "codes alone",
    "asymmetric": "re-ranked by scores",
    "euclidean": "re-ranked by vectors",
}


def register(app: typer.Typer) -> None:
    app.command("recall")(recall)


def recall(
    bundle: BundlePath,
    source: Annotated[
        str | None,
        typer.Option(
            "--input",
            "-i",
            help="File or folder of held-out queries. Default: items of the "
            "collection, each left out of its own answers.",
        ),
    ] = None,
    k: Annotated[int, typer.Option("-k", help="Neighbours per query.")] = 10,
    vectors: Annotated[
        str | None,
        typer.Option(
            help="File with the vector of each item, in their order, such as a .npy. "
            "Default: the vectors that BUNDLE keeps."
        ),
    ] = None,
    n_queries: Annotated[
        int | None,
        typer.Option(
            help="How many queries are drawn. Default: all of --input, or 1,000 items."
        ),
    ] = None,
    confidence: Annotated[
        float, typer.Option(help="Confidence level of the interval.")
    ] = 0.95,
    seed: Annotated[int, typer.Option(help="Random seed for drawing queries.")] = 0,
    column: RowColumn = None,
    skip_blank: SkipBlank = False,
    as_json: Annotated[
        bool, json_option("Print all estimates as one JSON object.")
    ] = False,
) -> None:
    """Estimate how many of the true neighbours a search of BUNDLE finds.

    The truth is the k nearest vectors, found exactly. Prints recall@k and its
    confidence interval for search by the codes alone, re-ranked by scores and, where
    BUNDLE keeps vectors, re-ranked by these.

    Example: fewbits recall my-bundle

    Example: fewbits recall my-bundle --input queries.npy -k 100 --json
    """
    from fewbits import engine
    from fewbits.bundle import Bundle

    check_unread(source, column, skip_blank)
    loaded = Bundle.load(bundle)
    asked = None
    if source is not None:
        asked = read_for(loaded, source, column, skip_blank=skip_blank).values
    request = engine.RecallRequest(
        k,
        queries=asked,
        vectors=None if vectors is None else _vectors(vectors),
        n_queries=n_queries,
        confidence=confidence,
        random_state=seed,
    )
    with progress_bar("comparing") as progress:
        found = engine.recall(loaded, request, progress=progress)
    if as_json:
        print_json(found.to_dict())
        return
    _print(found, k)


def _vectors(path: str) -> Any:
    from fewbits import inputs
    from fewbits.errors import ArgumentError

    read = inputs.read(path, columns=())
    if read.kind != "vectors":
        raise ArgumentError(f"--vectors needs vectors, but {path} holds {read.kind}")
    return read.values


def _print(found: Any, k: int) -> None:
    rows = [
        [
            _NAMES[each.search],
            "-" if each.shortlist is None else f"{each.shortlist:,}",
            *(f"{share:.3f}" for share in (each.recall, each.low, each.high)),
        ]
        for each in found.estimates
    ]
    print_table("", ["search", "shortlist", f"recall@{k}", "low", "high"], rows)
    one = found.estimates[0]
    what = "held-out queries" if found.held_out else "items of the collection"
    say(
        f"{one.n_queries:,} {what} as queries; low to high is the "
        f"{100 * one.confidence:g} % confidence interval"
    )
    if not found.held_out:
        say(
            "note: new queries may find less, if the encoder was fitted to these "
            "items: give held-out ones by --input"
        )
