"""``fewbits tune``."""

from collections.abc import Iterator
from contextlib import contextmanager
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
    command_line,
    json_option,
    place_of,
    print_json,
)
from fewbits.cli._progress import annotated, progress_bar
from fewbits.cli._tuning_report import plotted, print_tuning, refuse_unreached
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
        int | None,
        typer.Option(
            "--bytes",
            help="Maximum bytes per item on disk, stored vectors included.",
        ),
    ] = None,
    max_memory_bytes: Annotated[
        int | None,
        typer.Option(
            "--memory-bytes",
            help="Maximum bytes per item in memory, where vectors that are stored for "
            "re-ranking do not stay.",
        ),
    ] = None,
    minimise: Annotated[
        str | None,
        typer.Option(
            help="What to minimise for a minimum quality: bytes (on disk) or memory. "
            "Default: bytes, unless --bytes bounds them."
        ),
    ] = None,
    encode_us: Annotated[
        float | None,
        typer.Option(
            help="Maximum time in microseconds to encode a single vector on this "
            "machine; the configuration chosen stays 5% below it."
        ),
    ] = None,
    query_ms: Annotated[
        float | None,
        typer.Option(
            help="Maximum time in milliseconds from a single vector to its answer on "
            "this machine."
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
            "to the maximum of bytes, or to 1024 or four per feature; if bytes are "
            "minimised, "
            "also lengths below the best of these.",
        ),
    ] = None,
    k: Annotated[int, typer.Option("-k", help="Neighbours per query.")] = 10,
    minutes: Annotated[
        float,
        typer.Option(
            help="Time budget in minutes. A fit that is running when it ends gets 10% "
            "more; the best candidate is always trained to its end."
        ),
    ] = 10.0,
    rows: Annotated[
        int,
        typer.Option(help="Maximum number of rows to learn from, and to search among."),
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
    id_column: NoFeature = None,
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
        bool,
        typer.Option(
            "--overwrite",
            help="Replace an existing configuration, and measurements of other data or "
            "settings.",
        ),
    ] = False,
    as_json: Annotated[
        bool,
        json_option(
            "Print the best configuration and all measurements as one JSON object."
        ),
    ] = False,
) -> None:
    """Choose method, number of bits and shortlist by measuring on held-out queries.

    Quality, bytes and times can be bounded, alone or together. The first of quality,
    bytes and time to encode that has no bound is optimised, or what --minimise names.
    Metrics are measured on rows that were not used for training.

    Example: fewbits tune vectors.npy --recall 0.9 -o tuned.json

    Example: fewbits tune vectors.npy --bytes 32 --encode-us 100 -o tuned.json

    Example: fewbits tune vectors.npy --memory-bytes 32 -o tuned.json
    """
    from fewbits import inputs
    from fewbits.training import tuning

    kept = measurements or output.with_suffix(".measurements.jsonl")
    _check_files(output, plot, kept, overwrite=overwrite)
    least = {"recall": recall, "map": mean_precision, "accuracy": accuracy}
    name, at_least = _wanted(least, quality, labels is not None)
    target = tuning.Target(
        name,
        at_least,
        max_bytes,
        encode_us,
        query_ms,
        max_memory_bytes=max_memory_bytes,
        minimise=minimise,
    )
    place = place_of(device, methods or ())
    source = inputs.read(
        items,
        column=column,
        label=labels,
        id=id_column,
        columns=(),
        skip_blank=skip_blank,
    )
    with _resumed_by(kept), place:
        found = _tuned(
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
            overwrite=overwrite,
        )
    if found.reached:
        found.save(output)
    if as_json:
        written = str(output) if found.reached else None
        print_json({"configuration_file": written, **found.as_dict()})
    else:
        print_tuning(found, methods or ())
    if plot is not None:
        tuning.frontier_drawing(*plotted(found)).save(plot)
    refuse_unreached(found, output)
    if not as_json:
        options = {
            "--config": output,
            "--column": column,
            "--labels": labels,
            "--id": id_column,
            "--skip-blank": skip_blank,
        }
        following = command_line("fit", items, "-o", "my-bundle", **options)
        typer.echo(f"{output}: {found.configuration.described()}\nnext: {following}")


@contextmanager
def _resumed_by(journal: Path) -> Iterator[None]:
    """Point out, after Ctrl-C, that the same command resumes from measurements."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"interrupted; {journal} holds the measurements, and the same command "
            "resumes"
        ) from None


def _tuned(source: Any, target: Any, *, minutes: float, **options: Any) -> Any:
    """Tune with a progress bar."""
    from fewbits.training import tuning

    with progress_bar(f"tuning, {minutes:g} min", foretell=False) as bar:
        progress, notes = annotated(bar)
        return tuning.tune(
            source, target, minutes=minutes, progress=progress, notes=notes, **options
        )


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
