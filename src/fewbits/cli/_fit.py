"""``fewbits fit``."""

from pathlib import Path
from typing import Annotated, Any

import typer

from fewbits.cli._interrupts import (
    interruptions,
    stop_early,
    telling_what_is_left,
)
from fewbits.cli._options import (
    AsJson,
    Column,
    InputPath,
    LabelColumn,
    SkipBlank,
    command_line,
    learning_reports_to,
    parse_settings,
    place_of,
    print_json,
    progress_bar,
)
from fewbits.errors import ArgumentError


def register(app: typer.Typer) -> None:
    app.command("fit")(fit)


def fit(
    items: InputPath,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the new bundle.")
    ],
    config: Annotated[
        Path | None,
        typer.Option(
            help="A file made by 'fewbits tune'; the other options override it."
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            "-m",
            help="itq, sp, neighbours, fast-neighbours, bp, cbe, hadamard, lsh, pcah, "
            "sh, bre or threshold; with labels cca-itq, classemes, picodes, "
            "picodes-relaxed or dbc; with labels and torch llc, csq, dbdh, dch, dsdh, "
            "greedyhash, hashnet or orthohash; packed for codes that are there "
            "already. itq when not given.",
        ),
    ] = None,
    bits: Annotated[
        int | None,
        typer.Option(
            "--bits",
            "-b",
            help="Length of the codes, from 1 to 65,536. When not given, that of "
            "--config or 64; but threshold, pcah, classemes and llc decide it.",
        ),
    ] = None,
    backbone: Annotated[
        str | None,
        typer.Option(
            help="What turns items into features; chosen by kind when not given. For "
            "images also classic, the descriptors of before deep learning, which are "
            "all of at least 0: see --kernel-map."
        ),
    ] = None,
    column: Column = None,
    labels: LabelColumn = None,
    skip_blank: SkipBlank = False,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="A setting of the method, as density=0.05, or, in a group, as "
            "training.learning_rate=0.001; once for each. 'fewbits methods METHOD' "
            "lists them.",
        ),
    ] = None,
    kernel_map: Annotated[
        str | None,
        typer.Option(
            help="Map features of at least 0, such as histograms, so that the method "
            "approximates a kernel: intersection, chi2 or js."
        ),
    ] = None,
    codebook: Annotated[
        Path | None,
        typer.Option(
            help="Codes of classes that llc shall learn to give to items: a bundle "
            "that has codes for them, or a tree of the classes as 'fewbits inspect "
            "--tree' reads it (.json), of which codes are made."
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(help="Seed of everything random; 0 when not given."),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            help="File from which the same command goes on after an interruption; for "
            "methods with iterations. Of llc there is one for each phase, with "
            ".codebook and .items behind the name."
        ),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(
            help="Where torch computes: cuda, cpu, or auto for a GPU if there is one. "
            "For deep methods, neighbours and fast-neighbours, and for heavy products "
            "of itq, sp, pcah, cca-itq, sh, classemes, picodes, picodes-relaxed and "
            "dbc; no others. Short codes gain little there."
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an existing bundle.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Learn an encoder from INPUT and write it to a new bundle.

    Ctrl-C keeps what was learnt so far where no bundle is lost by it, and so do numbers
    that cease to be finite after the first epoch; the exit code is 130 then.

    Deep methods but llc also take settings of their loss and of a control, by the names
    that Python has for them: --set loss.quantization=0.01 --set control=posterior --set
    control.mode=replace --set control.weight=0.1.

    Example: fewbits fit vectors.npy --method itq --bits 256 -o my-bundle

    Example: fewbits fit vectors.npy --config tuned.json -o my-bundle

    Example: fewbits fit more.csv --column text --labels kind --method llc --codebook
    my-bundle -o another
    """
    from fewbits import inputs, learners, training
    from fewbits.bundle import Bundle

    Bundle.check_target(output, overwrite=overwrite)
    parameters = parse_settings(settings or [])
    if seed is not None and "random_state" in parameters:
        raise ArgumentError(f"two seeds: {seed} and {parameters['random_state']}")
    if checkpoint is not None:
        parameters["checkpoint"] = str(checkpoint)
    made_by = _configuration(config)
    chosen = made_by.changed(
        method=method,
        n_bits=bits,
        backbone=backbone,
        random_state=seed,
        parameters=parameters,
    )
    if kept := chosen.parameters.get("checkpoint"):
        checkpoint = Path(str(kept))
    place = place_of(device, [chosen.method])
    with telling_what_is_left(output, checkpoint), learners.checkpoints_kept():
        source = inputs.read(
            items, column=column, label_column=labels, skip_blank=skip_blank
        )
        if codebook is not None:
            chosen = _with_codebook(chosen, codebook, source)
        options = chosen.options()
        if codebook is not None:
            options["remember"]["codebook"] = str(codebook)
        with (
            interruptions() as told,
            progress_bar("learning") as progress,
            learning_reports_to(progress),
            place,
        ):
            bundle = training.fit_bundle(
                source, **options, kernel_map=kernel_map, progress=progress
            )
        if told:
            stop_early(bundle, output, told[-1], checkpoint)
        bundle.save(output)
    if as_json:
        print_json({"bundle": str(output), **bundle.summary()})
    else:
        typer.echo(f"{output}: {bundle.encoder!r} from {len(source):,} {source.kind}")
        _tell_of_repaired(bundle.metadata.repaired_classes)
        options = {"--column": column, "--labels": labels}
        flags = ["--skip-blank"] if skip_blank else []
        typer.echo(f"next: {command_line('build', output, items, *flags, **options)}")


def _tell_of_repaired(n_classes: int | None) -> None:
    if n_classes:
        noun = "class" if n_classes == 1 else "classes"
        typer.echo(
            f"note: the codes of {n_classes:,} {noun} were changed, because they were "
            "those of other classes"
        )


def _with_codebook(chosen: Any, path: Path, source: Any) -> Any:
    from fewbits.training import given_codebook

    given = chosen.parameters
    if "codebook" in given:
        raise ArgumentError(f"two codebooks: {path} and {given['codebook']}")
    n_bits = given.get("n_bits") if chosen.n_bits is None else chosen.n_bits
    book = given_codebook(
        path, source, chosen.method, n_bits=n_bits, random_state=chosen.random_state
    )
    return chosen.changed(parameters={"codebook": book})


def _configuration(path: Path | None) -> Any:
    from fewbits.training.tuning import Configuration

    return Configuration("itq") if path is None else Configuration.load(path)
