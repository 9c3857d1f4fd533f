"""``fewbits evaluate``."""

from typing import Annotated

import typer

from fewbits.cli._options import (
    BundlePath,
    LabelColumn,
    RowColumn,
    SkipBlank,
    check_unused,
    comparison_table,
    json_option,
    print_json,
    print_table,
    read_for,
)
from fewbits.cli._progress import progress_bar


def register(app: typer.Typer) -> None:
    app.command("evaluate")(evaluate)


def evaluate(
    bundle: BundlePath,
    queries: Annotated[
        str, typer.Argument(metavar="QUERIES", help="Held-out items to search with.")
    ],
    database: Annotated[
        str, typer.Argument(metavar="DATABASE", help="Items to search.")
    ],
    k: Annotated[int, typer.Option("-k", help="Neighbours per query.")] = 10,
    column: RowColumn = None,
    labels: LabelColumn = None,
    skip_blank: SkipBlank = False,
    query_labels: Annotated[
        str | None,
        typer.Option(
            help="Labels of the queries, if they differ from --labels: another "
            "column, or another file."
        ),
    ] = None,
    as_json: Annotated[
        bool, json_option("Print all metrics as one JSON object.")
    ] = False,
) -> None:
    """Compare search by the codes of BUNDLE with exact search by float vectors.

    Prints recall@k of the exact nearest neighbours, bytes per item and queries per
    second for float vectors, sign bits and the codes; with labels also mean average
    precision and k-NN accuracy. If BUNDLE has a shortlist or stores vectors,
    re-ranked search is measured too.

    Example: fewbits evaluate my-bundle queries.npy vectors.npy
    """
    from fewbits.bundle import Bundle
    from fewbits.training import evaluate_bundle

    if labels is None:
        check_unused(
            {"--query-labels": query_labels}, "--labels, the labels of the database"
        )
    loaded = Bundle.load(bundle)
    skip = {"skip_blank": skip_blank}
    asked = read_for(loaded, queries, column, query_labels or labels, **skip)
    among = read_for(loaded, database, column, labels, **skip)
    with progress_bar("evaluating") as progress:
        report = evaluate_bundle(loaded, asked, among, k=k, progress=progress)
    if as_json:
        print_json(report.as_dict())
        return
    print_table(
        f"{report.n_queries:,} queries among {report.n_items:,} items",
        *comparison_table(report.comparison, report.k),
    )
    if report.mean_average_precision is not None:
        typer.echo(
            f"mean average precision over labels: {report.mean_average_precision:.3f}"
        )
    if report.knn_accuracy is not None:
        typer.echo(f"k-NN accuracy (k = {report.k}): {report.knn_accuracy:.3f}")
