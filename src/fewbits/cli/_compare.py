"""``fewbits compare``, and ``methods`` that it may compare."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from fewbits.cli import _options as opt
from fewbits.cli._printing import annotated, print_json, print_table, progress_bar, say


def compare(
    items: opt.InputPath,
    learners: Annotated[
        list[str] | None,
        Option(
            "--learner",
            "-m",
            help="Method to compare; may be repeated. Default: lsh, a random rotation, "
            "itq, additive, neighbours.",
        ),
    ] = None,
    bits: Annotated[
        list[int] | None,
        Option(
            "--bits",
            "-b",
            help="Number of bits; may be repeated. Default: 64 and 256; with a target "
            "powers of two up to 1024, as long as they can be the cheapest.",
        ),
    ] = None,
    recall: Annotated[
        float | None,
        Option(
            help="Choose the smallest codes that reach this recall of the k nearest, "
            "with confidence and on new rows too."
        ),
    ] = None,
    max_bytes: Annotated[
        int | None,
        Option(
            "--bytes", help="Choose within so many bytes an item, with stored vectors."
        ),
    ] = None,
    latency: Annotated[
        float | None,
        Option(help="Choose within so many milliseconds of processor time a query."),
    ] = None,
    k: opt.Neighbours = 10,
    shortlist: Annotated[
        int | None,
        Option(help="Items that are re-ranked. Default: 100, at most a tenth."),
    ] = None,
    n_fit: Annotated[
        int | None,
        Option(help="Rows to learn from. Default: half of all but the queries."),
    ] = None,
    n_queries: Annotated[
        int, Option(help="Rows that are queries: at most an eighth of all.")
    ] = 1000,
    plot: Annotated[
        Path | None, Option(help="Draw metrics by bits to a .svg file.")
    ] = None,
    metric: Annotated[
        str | None,
        Option(
            help="Metric of the plot: ann_map, label_map, recall, recall_reranked, "
            "svm, fit_seconds, encode_us or query_ms. Default: a panel for each."
        ),
    ] = None,
    backbone: opt.Backbone = None,
    column: opt.Column = None,
    label: opt.Label = None,
    id: opt.IgnoredId = None,
    skip_blank: opt.SkipBlank = False,
    settings: Annotated[
        list[str] | None,
        Option(
            "--set",
            help="Setting of one method, such as additive.correction=true, or of all, "
            "such as n_iter=100; may be repeated.",
        ),
    ] = None,
    random_state: opt.Seed = 0,
    device: opt.Device = None,
    as_json: opt.Json = False,
) -> None:
    """Compare methods, lengths and re-rankings; choose the cheapest for a target.

    INPUT is split into training rows, a database and held-out queries. With labels,
    metrics by labels are measured too. The recall of a choice is measured on queries
    that had no part in it; where nothing meets the target, the exit code is 2.

    Example: fewbits compare vectors.npy -m itq -m lsh -b 64 -b 256

    Example: fewbits compare vectors.npy --recall 0.9 --bytes 64

    Example: fewbits compare vectors.npy -m itq -m additive --set
    additive.correction=true
    """
    from fewbits import inputs, training
    from fewbits._checks import check_choice
    from fewbits.errors import ArgumentError

    if plot is not None:
        opt.check_output(plot, ".svg", "drawings")
        if metric is not None:
            check_choice(metric, "metric", training.COMPARED_METRICS)
    elif metric is not None:
        raise ArgumentError("--metric needs --plot, the file to draw it to")
    names = learners or ()
    if len({*names}) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ArgumentError(f"--learner {twice} is given more than once")
    parameters = opt.parse_settings(settings or [])
    place = opt.on_device(device, names)
    source = inputs.read(
        items, column=column, label=label, id=id, columns=(), skip_blank=skip_blank
    )
    with progress_bar("comparing", foretell=False) as bar, place:
        progress, notes = annotated(bar)
        comparison = training.compare(
            learners or None,
            bits or None,
            source,
            k=k,
            recall=recall,
            bytes=max_bytes,
            latency=latency,
            shortlist=shortlist,
            n_fit=n_fit,
            n_queries=n_queries,
            backbone=backbone,
            random_state=random_state,
            parameters=parameters,
            progress=progress,
            notes=notes,
        )
    if plot is not None:
        comparison.plot(metric).save(plot)
    if as_json:
        print_json(comparison.as_dict())
    else:
        title = (
            f"{comparison.n_queries:,} queries among {comparison.n_base:,} items, "
            f"learnt from {comparison.n_fit:,} others, {comparison.shortlist:,} "
            "re-ranked"
        )
        rows = list(comparison.scores)
        if comparison.choice is not None:
            best = {*comparison.frontier(), comparison.choice.scores}
            rows = [row for row in rows if row in best]
            title += f"; the frontier of {len(comparison.scores)} rows"
        print_table(title, *_table(rows, comparison.k))
        for what, reason in comparison.refused.items():
            typer.echo(f"note: {what} could not be learnt: {reason}")
    choice = comparison.choice
    if choice is None:
        return
    if not choice.reached:
        raise ArgumentError("; ".join(choice.sentences))
    if as_json:
        return
    first, *others = choice.sentences
    typer.echo(f"choice: {first}")
    for sentence in others:
        say(f"note: {sentence}")
    options = {
        "--backbone": backbone,
        "--column": column,
        "--label": label,
        "--id": id,
        "--skip-blank": skip_blank,
    }
    if choice.scores.rerank in ("int8", "float16"):
        options["--keep-vectors"] = choice.scores.rerank
    learner = choice.as_dict()["learner"]
    learning = {
        "--learner": learner["method"],
        "--bits": choice.learner.get_params().get("n_bits"),
        "--set": [
            f"{name}={value if isinstance(value, str) else json.dumps(value)}"
            for name, value in learner["parameters"].items()
            if name not in ("n_bits", "random_state")
        ],
        "--random-state": random_state or None,
    }
    build = opt.command_line("build", "my-collection", items, **learning, **options)
    typer.echo(f"next: {build}")


def _table(scores: Sequence[Any], k: int) -> tuple[list[str], list[list[str]]]:
    """Return header and cells; columns by labels only where there are labels."""
    by_label = {"label mAP": "label_map", "SVM": "svm"}
    more = {
        title: name
        for title, name in by_label.items()
        if any(getattr(row, name) is not None for row in scores)
    }
    header = ["method", "bits", "re-ranked by", "bytes each", f"recall@{k}"]
    header += ["query ms", "ANN mAP", *more, "fit s", "encode µs"]
    rows = []
    for row in scores:
        is_code = row.n_bits is not None
        values = [getattr(row, name) for name in more.values()]
        rows.append(
            [
                row.method,
                f"{row.n_bits:,}" if is_code else "-",
                row.rerank or "-",
                f"{row.bytes_per_item:,}",
                f"{row.recall:.3f}",
                f"{row.query_ms:.3g}",
                f"{row.ann_map:.3f}",
                *("-" if value is None else f"{value:.3f}" for value in values),
                f"{row.fit_seconds:.1f}" if is_code else "-",
                f"{row.encode_us:.1f}" if is_code else "-",
            ]
        )
    return header, rows


def methods(
    method: Annotated[
        str | None, Argument(metavar="METHOD", help="A method, to list its settings.")
    ] = None,
    as_json: opt.Json = False,
) -> None:
    """List the methods that learn codes, or the settings of METHOD.

    Example: fewbits methods

    Example: fewbits methods sp
    """
    from fewbits.training import describe, describe_all

    if method is None:
        descriptions = describe_all()
        if as_json:
            print_json([asdict(row) for row in descriptions])
            return
        rows = [
            [
                row.method,
                ", ".join(["labels"] * row.needs_labels + ["torch"] * row.needs_torch),
                f"{row.name}. {row.summary}",
            ]
            for row in descriptions
        ]
        print_table("", ["method", "needs", "description"], rows)
        typer.echo("'fewbits methods METHOD' lists the settings of a method")
        return
    described = describe(method)
    if as_json:
        print_json(asdict(described))
        return
    typer.echo(f"{described.method}: {described.name}. {described.summary}")
    if not described.settings and not described.needs_torch:
        typer.echo("it has no settings")
    if described.settings:
        rows = [[row.name, row.values, row.text] for row in described.settings]
        print_table("", ["--set name=value", "values", "description"], rows)
