"""``fewbits tune``."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from fewbits._extras import install_hint
from fewbits.cli._options import (
    AsJson,
    Column,
    InputPath,
    LabelColumn,
    SkipBlank,
    annotated,
    check_output,
    command_line,
    place_of,
    print_json,
    print_table,
    progress_bar,
    say,
)
from fewbits.errors import ArgumentError, ArtefactError


def register(app: typer.Typer) -> None:
    app.command("tune")(tune)


def tune(
    items: InputPath,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="A .json file for the best configuration."),
    ],
    recall: Annotated[
        float | None,
        typer.Option(help="Minimum recall@k of the nearest float vectors."),
    ] = None,
    mean_precision: Annotated[
        float | None,
        typer.Option("--map", help="Minimum mean average precision by labels."),
    ] = None,
    accuracy: Annotated[
        float | None, typer.Option(help="Minimum k-NN accuracy by labels.")
    ] = None,
    max_bytes: Annotated[
        int | None, typer.Option("--bytes", help="Maximum bytes per item.")
    ] = None,
    encode_us: Annotated[
        float | None,
        typer.Option(
            help="Maximum time in microseconds to encode a single vector on this "
            "machine; the choice keeps 5% of slack."
        ),
    ] = None,
    quality: Annotated[
        str | None,
        typer.Option(
            help="Quality to maximise when no minimum is set: recall, map or accuracy. "
            "Default: map with labels, else recall."
        ),
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option("--method", "-m", help="Method to try; may be repeated."),
    ] = None,
    bits: Annotated[
        list[int] | None,
        typer.Option(
            "--bits",
            "-b",
            help="Number of bits to try; may be repeated. Default: powers of two up "
            "to --bytes, or to 1024 or four per feature; if bytes are minimised, "
            "also lengths below the best of these.",
        ),
    ] = None,
    k: Annotated[int, typer.Option("-k", help="Neighbours per query.")] = 10,
    minutes: Annotated[
        float,
        typer.Option(
            help="Time budget in minutes. A learner that is running at its end gets a "
            "tenth more; the best candidate is always learnt to the end."
        ),
    ] = 10.0,
    rows: Annotated[
        int, typer.Option(help="Maximum number of rows to use, besides the queries.")
    ] = 200_000,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the Pareto frontier to a .svg file.")
    ] = None,
    measurements: Annotated[
        Path | None,
        typer.Option(
            help="A .jsonl file for the measurements, from which a second call "
            "resumes. Default: beside the output."
        ),
    ] = None,
    backbone: Annotated[
        str | None,
        typer.Option(help="Model that turns texts or images into features."),
    ] = None,
    column: Column = None,
    labels: LabelColumn = None,
    skip_blank: SkipBlank = False,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    device: Annotated[
        str | None,
        typer.Option(
            help="Device of torch, for methods that use it: cuda, cpu, or auto for a "
            "GPU if there is one."
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an existing configuration.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Choose method, number of bits and shortlist by measuring on held-out queries.

    Bounds on quality, bytes and encode time can be combined. The first of these without
    a bound is optimised within the bounds of the others.

    Example: fewbits tune vectors.npy --recall 0.9 -o tuned.json

    Example: fewbits tune vectors.npy --bytes 32 --encode-us 100 -o tuned.json
    """
    from fewbits import inputs
    from fewbits.training import tuning

    kept = measurements or output.with_suffix(".measurements.jsonl")
    _check_files(output, plot, kept, overwrite=overwrite)
    least = {"recall": recall, "map": mean_precision, "accuracy": accuracy}
    name, at_least = _wanted(least, quality, labels is not None)
    target = tuning.Target(name, at_least, max_bytes, encode_us)
    place = place_of(device, methods or ())
    source = inputs.read(
        items, column=column, label_column=labels, skip_blank=skip_blank
    )
    try:
        with place, progress_bar(f"tuning, {minutes:g} min", foretell=False) as bar:
            progress, notes = annotated(bar)
            found = tuning.tune(
                source,
                target,
                methods=methods,
                n_bits=bits,
                k=k,
                backbone=backbone,
                random_state=seed,
                minutes=minutes,
                max_rows=rows,
                journal=kept,
                progress=progress,
                notes=notes,
            )
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"interrupted; {kept} holds the measurements, and the same command resumes"
        ) from None
    if found.reached:
        found.save(output)
    if as_json:
        written = str(output) if found.reached else None
        print_json({"configuration_file": written, **found.as_dict()})
    else:
        _print(found, methods or ())
    if plot is not None:
        tuning.frontier_drawing(*_plotted(found)).save(plot)
    _refuse_unreached(found, output)
    if not as_json:
        options = {"--config": output, "--column": column, "--labels": labels}
        following = command_line("fit", items, "-o", "my-bundle", **options)
        typer.echo(f"{output}: {found.configuration.described()}\nnext: {following}")


def _check_files(
    output: Path, plot: Path | None, measurements: Path, *, overwrite: bool
) -> None:
    check_output(output, ".json", "configurations", _is_configuration)
    if output.is_file() and output.stat().st_size and not overwrite:
        raise ArtefactError(
            f"{output} holds a configuration already: name another file, or replace it "
            "by 'fewbits tune --overwrite'"
        )
    check_output(measurements, ".jsonl", "measurements")
    if plot is not None:
        check_output(plot, ".svg", "drawings")


def _is_configuration(path: Path) -> bool:
    from fewbits.training.tuning import Configuration

    try:
        Configuration.load(path)
    except ArtefactError:
        return False
    return True


def _wanted(
    least: dict[str, float | None], quality: str | None, labelled: bool
) -> tuple[str, float | None]:
    """Return the quality to measure, and its minimum."""
    given = {name: value for name, value in least.items() if value is not None}
    if len(given) > 1:
        raise ArgumentError(f"give one of {', '.join(f'--{name}' for name in given)}")
    for name, value in given.items():
        if quality not in (None, name):
            raise ArgumentError(
                f"--{name} and --quality {quality} contradict each other"
            )
        return name, value
    return quality or ("map" if labelled else "recall"), None


def _print(found: Any, asked: Sequence[str]) -> None:
    for untried in _untried(found, asked):
        typer.echo(f"note: {untried}")  # not wrapped: commands in it are copied
    _print_frontier(found)
    typer.echo(
        f"on held-out test queries: {found.measure} "
        f"{found.reported.quality:.3f} ± {found.reported.error:.3f} among "
        f"{found.reported.n_items:,} items"
    )
    if found.reached:
        _print_unconfirmed(found)
    if n := found.reported.n_constant_bits:
        say(f"note: {n} of the bits are constant over all items")
    if found.best.configuration.keep_vectors:
        typer.echo(
            "note: float16 vectors are stored for re-ranking, so the codes save time, "
            f"not space: {found.best.bytes_per_item:,} bytes per item, and "
            f"{found.vector_bytes:,} for the vectors alone"
        )
    elif found.best.bytes_per_item >= found.vector_bytes:
        say(
            f"note: a code takes {found.best.bytes_per_item:,} bytes, not less than a "
            f"float16 vector: {found.vector_bytes:,}"
        )


def _untried(found: Any, methods: Sequence[str]) -> Iterator[str]:
    """Yield the methods and lengths not tried, and why; unsuitable only if given."""
    if found.too_long:
        yield f"not tried: {_too_long(found)}"
    if found.beyond_axes:
        asked = ", ".join(map(str, found.beyond_axes))
        yield f"not tried: pcah with {asked} bits, more than features"
    if found.without_torch:
        names = ", ".join(found.without_torch)
        yield f"not tried: {names} need torch: {install_hint('deep')}"
    for method, reason in found.refused.items():
        if method in methods:
            yield f"some of {method} could not be learnt: {reason}"
    if found.n_untried:
        yield (
            f"time was up before {found.n_untried:,} more were measured: run again to "
            "resume, with more --minutes"
            f"{' and --overwrite' if found.reached else ''}"
        )


def _print_frontier(found: Any) -> None:
    from fewbits.training import tuning

    chosen = found.best.configuration.key
    shown = list(found.frontier)
    if all(each.configuration.key != chosen for each in shown):
        shown.append(found.best)  # it ties with another in the table
    rows = [
        [
            "*" if each.configuration.key == chosen else "",
            each.configuration.described(),
            f"{each.bytes_per_item:,}",
            f"{each.quality:.3f}",
            f"{each.encode_us:.2f}",
            f"{each.search_us:.0f}",
        ]
        for each in shown
    ]
    header = ["", "configuration", "bytes each", found.measure]
    header += ["encode µs", "search µs"]
    n_items = f"{found.best.n_items:,} items"
    print_table(f"Pareto frontier among {n_items}", header, rows)
    typer.echo(tuning.frontier_text(*_plotted(found)))


def _plotted(found: Any) -> tuple[Any, ...]:
    """Return the data of the plot, against encode time if the choice depends on it."""
    cost = "encode time" if found.target.goes_by_time else "bytes"
    return found.measured, found.frontier, found.measure, cost


def _print_unconfirmed(found: Any) -> None:
    if not found.quality_confirmed:
        wanted = f"{found.target.at_least:g}"
        typer.echo(
            f"that is below {wanted}, which the validation queries reach: ask for a "
            "little more"
        )
    if not found.time_confirmed:
        say(
            f"note: timed again, encoding took {found.reported.encode_us:.2f} "
            f"microseconds, above {found.target.max_encode_us:g}: ask for a "
            "little less, or the machine was busy"
        )


def _too_long(found: Any) -> str:
    asked = ", ".join(map(str, found.too_long))
    return f"{asked} bits take more than {found.target.max_bytes_named}"


def _refuse_unreached(found: Any, output: Path) -> None:
    if found.reached:
        return
    best, most = found.best, found.target.max_encode_us
    barely = most is not None and best.encode_us <= most
    faster = "" if most is None or barely else _fastest(found)
    margin = ", which must stay 5% below" if barely else ""
    unchanged = f"; {output} is as it was" if output.exists() else ""
    raise ArgumentError(
        f"nothing reaches {found.target.described()}: the closest is "
        f"{best.configuration.described()} with {found.target.named} of "
        f"{best.quality:.3f} ± {best.error:.3f}, {best.bytes_per_item:,} bytes and "
        f"{best.encode_us:.2f} microseconds{margin}{faster}{unchanged}"
    )


def _fastest(found: Any) -> str:
    """Return the fastest configuration, unless it is the closest."""
    fastest = min(found.measured, key=lambda each: each.encode_us)
    if fastest.encode_us >= found.best.encode_us:
        return ""
    return (
        f"; the fastest, {fastest.configuration.described()}, takes "
        f"{fastest.encode_us:.2f} microseconds"
    )
