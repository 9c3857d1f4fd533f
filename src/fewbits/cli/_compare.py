"""``fewbits compare``."""

from pathlib import Path
from typing import Annotated, Any

import typer

from fewbits.cli._options import (
    Column,
    InputPath,
    LabelColumn,
    NoFeature,
    SkipBlank,
    check_output,
    json_option,
    parse_settings,
    place_of,
    print_json,
    print_table,
)
from fewbits.cli._progress import annotated, progress_bar

#: Signs of a random rotation find as much as what is learnt, ranked again by scores.
_ROTATION = "random rotation"
_USUAL = ("lsh", _ROTATION, "itq", "additive", "neighbours")


def register(app: typer.Typer) -> None:
    app.command("compare")(compare)


def compare(
    items: InputPath,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            "-m",
            help="Method to compare; may be repeated. Default: lsh, a random rotation, "
            "itq, additive, neighbours.",
        ),
    ] = None,
    bits: Annotated[
        list[int] | None,
        typer.Option("--bits", "-b", help="Number of bits; may be repeated."),
    ] = None,
    k: Annotated[int, typer.Option("-k", help="Neighbours per query.")] = 10,
    shortlist: Annotated[
        int, typer.Option(help="Items that are re-ranked by the query's scores.")
    ] = 100,
    fit_rows: Annotated[
        int | None,
        typer.Option(help="Rows to learn from. Default: half of all but the queries."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw metrics by bits to a .svg file.")
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            help="Metric of the plot: ann_map, label_map, recall, recall_reranked, "
            "svm, fit_seconds or encode_us. Default: a panel for each."
        ),
    ] = None,
    backbone: Annotated[
        str | None,
        typer.Option(help="Model that turns texts or images into features."),
    ] = None,
    column: Column = None,
    labels: LabelColumn = None,
    id_column: NoFeature = None,
    skip_blank: SkipBlank = False,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="Setting of one method, such as additive.correction=true, or of all, "
            "such as n_iter=100; may be repeated.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    device: Annotated[
        str | None, typer.Option(help="Device of torch, for methods that use it.")
    ] = None,
    as_json: Annotated[bool, json_option("Print one JSON object.")] = False,
) -> None:
    """Compare methods and numbers of bits, side by side.

    INPUT is split into training rows, a database and held-out queries. With labels,
    metrics by labels are measured too.

    Example: fewbits compare vectors.npy -m itq -m lsh -b 64 -b 256

    Example: fewbits compare vectors.npy -m itq -m additive --set
    additive.correction=true
    """
    from fewbits import inputs, training
    from fewbits._checks import check_choice
    from fewbits.errors import ArgumentError

    if plot is not None:
        check_output(plot, ".svg", "drawings")
        if metric is not None:
            check_choice(metric, "metric", training.COMPARED_METRICS)
    elif metric is not None:
        raise ArgumentError("--metric needs --plot, the file to draw it to")
    chosen = methods or [each for each in _USUAL if each != _ROTATION]
    if len({*chosen}) < len(chosen):
        twice = next(name for name in chosen if chosen.count(name) > 1)
        raise ArgumentError(f"--method {twice} is given more than once")
    parameters = parse_settings(settings or [])
    place = place_of(device, chosen)
    source = inputs.read(
        items,
        column=column,
        label=labels,
        id=id_column,
        columns=(),
        skip_blank=skip_blank,
    )
    with progress_bar("comparing", foretell=False) as bar, place:
        progress, notes = annotated(bar)
        found = training.compare(
            methods or _usual(seed),
            bits or [64, 256],
            source,
            k=k,
            shortlist=shortlist,
            n_fit=fit_rows,
            backbone=backbone,
            random_state=seed,
            parameters=parameters,
            progress=progress,
            notes=notes,
        )
    if plot is not None:
        found.plot(metric).save(plot)
    if as_json:
        print_json(found.as_dict())
        return
    print_table(
        f"{found.n_queries:,} queries among {found.n_base:,} items, learnt from "
        f"{found.n_fit:,} others",
        *_table(found),
    )
    for what, reason in found.refused.items():
        typer.echo(f"note: {what} could not be learnt: {reason}")


def _usual(seed: int) -> dict[str, Any]:
    """Return what is compared unless methods are named."""
    from fewbits.learners import ITQ

    rotation = ITQ(n_iter=0, random_state=seed)
    return {name: rotation if name == _ROTATION else name for name in _USUAL}


def _table(found: Any) -> tuple[list[str], list[list[str]]]:
    """Return header and cells; columns by labels only where there are labels."""
    labelled = any(row.label_map is not None for row in found.scores)
    classes = any(row.svm is not None for row in found.scores)
    header = ["method", "bits", "bytes each", "ANN mAP", f"recall@{found.k}"]
    header += ["re-ranked", *["label mAP"] * labelled, *["SVM"] * classes]
    rows = [
        [
            row.method,
            "-" if row.n_bits is None else f"{row.n_bits:,}",
            f"{row.bytes_per_item:,}",
            *(f"{each:.3f}" for each in (row.ann_map, row.recall)),
            f"{row.recall_reranked:.3f}",
            *[_number(row.label_map)] * labelled,
            *[_number(row.svm)] * classes,
            *(["-", "-"] if row.n_bits is None else _times(row)),
        ]
        for row in found.scores
    ]
    return [*header, "fit s", "encode µs"], rows


def _times(row: Any) -> list[str]:
    return [f"{row.fit_seconds:.1f}", f"{row.encode_us:.1f}"]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
