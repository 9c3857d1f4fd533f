"""``fewbits recall`` and ``evaluate``."""

from typing import Annotated

import typer
from typer import Argument, Option

from fewbits.cli import _options as opt
from fewbits.cli._printing import (
    print_comparison,
    print_json,
    print_table,
    progress_bar,
    say,
)

_NAMES = {
    "hamming": "codes alone",
    "scores": "re-ranked by scores",
    "euclidean": "re-ranked by vectors",
}


def recall(
    collection: opt.CollectionPath,
    source: Annotated[
        str | None,
        Option(
            "--input",
            "-i",
            help="File or folder of held-out queries. Default: items of the "
            "collection, each left out of its own answers.",
        ),
    ] = None,
    k: opt.Neighbours = 10,
    vectors: Annotated[
        str | None,
        Option(
            help="File with the vector of each item, in their order, such as a .npy. "
            "Default: the vectors that COLLECTION keeps."
        ),
    ] = None,
    n_queries: Annotated[
        int | None,
        Option(help="Queries to draw. Default: all of --input, or 1,000 items."),
    ] = None,
    shortlist: Annotated[
        int | None, Option(help="Codes that are re-ranked. Default: as in search.")
    ] = None,
    confidence: Annotated[
        float, Option(help="Confidence level of the interval.")
    ] = 0.95,
    random_state: opt.Seed = 0,
    column: opt.RowColumn = None,
    skip_blank: opt.SkipBlank = False,
    at: opt.At = None,
    as_json: opt.Json = False,
) -> None:
    """Estimate how many of the true neighbours a search of COLLECTION finds.

    The truth is the k nearest vectors, found exactly. Prints recall@k and its
    confidence interval for search by the codes alone, re-ranked by scores and, where
    COLLECTION keeps vectors, re-ranked by these.

    Example: fewbits recall my-collection

    Example: fewbits recall my-collection --input queries.npy -k 100 --json
    """
    from fewbits.collection import tools

    opt.check_unread(source, column, skip_blank)
    col = opt.open_at(collection, at)
    held_out = None
    if source is not None:
        held_out = tools.read_queries(col, source, column, skip_blank=skip_blank)
    with progress_bar("comparing") as progress:
        estimates = col.recall(
            k,
            queries=held_out,
            vectors=None if vectors is None else opt.read_vectors(vectors),
            n_queries=n_queries,
            shortlist=shortlist,
            confidence=confidence,
            random_state=random_state,
            progress=progress,
        )
    if as_json:
        print_json({"estimates": [estimate.to_dict() for estimate in estimates]})
        return
    rows = [
        [
            _NAMES[estimate.search],
            "-" if estimate.shortlist is None else f"{estimate.shortlist:,}",
            *(f"{x:.3f}" for x in (estimate.recall, estimate.low, estimate.high)),
        ]
        for estimate in estimates
    ]
    print_table("", ["search", "shortlist", f"recall@{k}", "low", "high"], rows)
    first = estimates[0]
    what = "held-out queries" if first.held_out else "items of the collection"
    say(
        f"{first.n_queries:,} {what} as queries; low to high is the "
        f"{100 * first.confidence:g} % confidence interval"
    )
    if not first.held_out:
        say(
            "note: new queries may find less, if the encoder was fitted to these "
            "items: give held-out ones by --input"
        )


def evaluate(
    collection: opt.CollectionPath,
    queries: Annotated[
        str, Argument(metavar="QUERIES", help="Held-out items to search with.")
    ],
    database: Annotated[str, Argument(metavar="DATABASE", help="Items to search.")],
    k: opt.Neighbours = 10,
    column: opt.RowColumn = None,
    label: opt.Label = None,
    skip_blank: opt.SkipBlank = False,
    query_label: Annotated[
        str | None,
        Option(help="Labels of the queries, where not --label: a column or a file."),
    ] = None,
    as_json: opt.Json = False,
) -> None:
    """Compare search by the codes of COLLECTION with exact search by float vectors.

    Prints recall@k of the exact nearest neighbours, bytes per item and queries per
    second for float vectors, sign bits and the codes; with labels also mean average
    precision and k-NN accuracy. If COLLECTION keeps vectors, re-ranked search is
    measured too.

    Example: fewbits evaluate my-collection queries.npy vectors.npy
    """
    from fewbits.collection import evaluation, tools

    if label is None:
        opt.check_unused(
            {"--query-label": query_label}, "--label, the labels of the database"
        )
    col = opt.open_at(collection)
    held_out, items = (
        tools.read_queries(col, path, column, label=name, skip_blank=skip_blank)
        for path, name in ((queries, query_label or label), (database, label))
    )
    with progress_bar("evaluating") as progress:
        report = evaluation.evaluate(col, held_out, items, k=k, progress=progress)
    if as_json:
        print_json(report.to_dict())
        return
    title = f"{report.n_queries:,} queries among {report.n_items:,} items"
    print_comparison(title, report.comparison, report.k)
    if (precision := report.mean_average_precision) is not None:
        typer.echo(f"mean average precision over labels: {precision:.3f}")
    if report.knn_accuracy is not None:
        typer.echo(f"k-NN accuracy (k = {report.k}): {report.knn_accuracy:.3f}")
