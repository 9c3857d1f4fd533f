"""``fewbits evaluate``."""

from typing import Annotated

import typer

from fewbits.cli._options import (
    AsJson,
    BundlePath,
    Column,
    LabelColumn,
    SkipBlank,
    check_unused,
    comparison_table,
    print_json,
    print_table,
    progress_bar,
    read_for,
)


def register(app: typer.Typer) -> None:
    app.command("evaluate")(evaluate)


def evaluate(
    bundle: BundlePath,
    queries: Annotated[
        str, typer.Argument(metavar="QUERIES", help="Items that were not trained on.")
    ],
    database: Annotated[
        str, typer.Argument(metavar="DATABASE", help="Items to search among.")
    ],
    k: Annotated[int, typer.Option("-k", help="Neighbours that count.")] = 10,
    column: Column = None,
    labels: LabelColumn = None,
    skip_blank: SkipBlank = False,
    query_labels: Annotated[
        str | None,
        typer.Option(
            help="The labels of the queries, where --labels is not of both: another "
            "column, or the file beside that of --labels."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure how well the codes of BUNDLE stand for the features of its items.

    Prints the recall of the exact nearest neighbours, bytes per item and queries per
    second for float vectors, sign bits and the codes; with labels also the mean average
    precision and the accuracy of neighbour votes. A bundle that was tuned to re-rank,
    or that keeps vectors, is also searched so.

    Example: fewbits evaluate my-bundle queries.npy vectors.npy
    """
    from fewbits.bundle import Bundle
    from fewbits.training import evaluate_bundle

    if labels is None:
        check_unused(
            {"--query-labels": query_labels}, "--labels, those of the database"
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
    if report.label_map is not None:
        typer.echo(f"mean average precision over labels: {report.label_map:.3f}")
    if report.knn_accuracy is not None:
        typer.echo(
            f"accuracy of {report.k} neighbours' votes: {report.knn_accuracy:.3f}"
        )
