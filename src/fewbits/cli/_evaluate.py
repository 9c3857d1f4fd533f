"""``fewbits evaluate``."""

from typing import Annotated

import typer
from typer import Argument, Option

from fewbits.cli import _options as opt
from fewbits.cli._printing import print_comparison, print_json, progress_bar


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
        Option(
            help="Labels of the queries, if they differ from --label: another "
            "column, or another file."
        ),
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
    from fewbits.collection import Collection, evaluation, tools

    if label is None:
        opt.check_unused(
            {"--query-label": query_label}, "--label, the labels of the database"
        )
    col = Collection.open(collection)
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
    if report.mean_average_precision is not None:
        typer.echo(
            f"mean average precision over labels: {report.mean_average_precision:.3f}"
        )
    if report.knn_accuracy is not None:
        typer.echo(f"k-NN accuracy (k = {report.k}): {report.knn_accuracy:.3f}")
