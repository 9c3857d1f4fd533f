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
    Column,
    InputPath,
    LabelColumn,
    NoFeature,
    SkipBlank,
    command_line,
    json_option,
    parse_settings,
    place_of,
    print_json,
    say,
)
from fewbits.cli._progress import learning_reports_to, progress_bar
from fewbits.errors import ArgumentError


def register(app: typer.Typer) -> None:
    app.command("fit")(fit)


def fit(
    items: InputPath,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the new bundle.")
    ],
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            "-m",
            help="itq, block-itq, sp, additive, neighbours, fast-neighbours, bp, cbe, "
            "hadamard, lsh, pcah, sh, bre or threshold; with labels cca-itq, "
            "supervised-itq, classemes, picodes, picodes-relaxed, dbc or ecoc; with "
            "labels and torch llc, deep-supervised-itq, csq, dbdh, dch, dsdh, "
            "greedyhash, hashnet or orthohash; packed for vectors that are binary "
            "codes already. See 'fewbits methods'. Default: itq.",
        ),
    ] = None,
    bits: Annotated[
        int | None,
        typer.Option(
            "--bits",
            "-b",
            help="Number of bits per code, from 1 to 65,536. Default: 64; "
            "threshold, pcah, classemes and llc choose their own.",
        ),
    ] = None,
    backbone: Annotated[
        str | None,
        typer.Option(
            help="Model that turns texts or images into features. Default: one for "
            "the kind of items. For images also 'classic': descriptors without deep "
            "learning, all non-negative (see --kernel-map)."
        ),
    ] = None,
    column: Column = None,
    labels: LabelColumn = None,
    id_column: NoFeature = None,
    skip_blank: SkipBlank = False,
    groups: Annotated[
        str | None,
        typer.Option(
            help="Column of a table that is the same for copies of one item, such as "
            "augmentations of an image or frames of a video. The rate of 'classify "
            "--max-false-reject-rate' needs it where there are copies; identical "
            "items are recognised. For deep methods."
        ),
    ] = None,
    rows: Annotated[
        int | None,
        typer.Option(
            help="Learn from this many rows, drawn at random by --seed, instead of "
            "from all. Tens of thousands are enough for most methods."
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="Setting of the method, such as density=0.05 or, in a group, "
            "training.learning_rate=0.001; may be repeated. 'fewbits methods METHOD' "
            "lists them.",
        ),
    ] = None,
    kernel_map: Annotated[
        str | None,
        typer.Option(
            help="Approximate a kernel for non-negative features such as histograms: "
            "intersection, chi2 or js."
        ),
    ] = None,
    codebook: Annotated[
        Path | None,
        typer.Option(
            help="Class codes for llc to use instead of learning its own: a bundle "
            "with codes of the same classes, or a .json tree of the classes (see "
            "'fewbits inspect --tree') to make codes from."
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(help="Random seed. Default: 0."),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            help="File to save progress to: after an interruption the same command "
            "resumes from it. For iterative methods. llc writes a file per phase, "
            "with .codebook and .items appended to the name."
        ),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(
            help="Device of torch: cuda, cpu, or auto for a GPU if there is one. "
            "For deep methods, neighbours and fast-neighbours, and for large matrix "
            "products of itq, block-itq, sp, additive, pcah, cca-itq, supervised-itq, "
            "sh, classemes, picodes, picodes-relaxed, dbc and ecoc. A GPU speeds up "
            "short codes little."
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an existing bundle.")
    ] = False,
    as_json: Annotated[
        bool, json_option("Print the bundle's summary as one JSON object.")
    ] = False,
) -> None:
    """Learn an encoder from INPUT and write it to a new bundle.

    After Ctrl-C, or if training diverges (NaN or infinity) after the first epoch, the
    encoder learnt so far is saved, unless it would replace a bundle; the exit code is
    130.

    Deep methods except llc also take settings of their loss and of posterior control,
    under their names in Python: --set loss.quantization=0.01 --set control=posterior
    --set control.mode=replace --set control.weight=0.1.

    Example: fewbits fit vectors.npy --method itq --bits 256 -o my-bundle

    Example: fewbits fit more.csv --column text --labels kind --method llc --codebook
    my-bundle -o another
    """
    from fewbits import inputs, learners, training
    from fewbits.bundle import Bundle

    Bundle.check_target(output, overwrite=overwrite)
    if groups is not None and groups == id_column:
        raise ArgumentError("ids differ: --groups needs another column than --id")
    parameters = _parameters(settings or [], seed, checkpoint)
    if file := parameters.get("checkpoint"):
        checkpoint = Path(str(file))
    method, seed = method or "itq", 0 if seed is None else seed
    place = place_of(device, [method])
    with telling_what_is_left(output, checkpoint), learners.fitting.checkpoints_kept():
        source = inputs.read(
            items,
            column=column,
            label=labels,
            id=id_column,
            columns=() if groups is None else (groups,),
            skip_blank=skip_blank,
        )
        if rows is not None:
            source = source.sample(rows, seed)
        remember = {}
        if codebook is not None:
            if "codebook" in parameters:
                raise ArgumentError(
                    f"give one codebook, got {codebook} and {parameters['codebook']}"
                )
            parameters["codebook"] = training.given_codebook(
                codebook,
                source,
                method,
                n_bits=parameters.get("n_bits") if bits is None else bits,
                random_state=seed,
            )
            remember["codebook"] = str(codebook)
        with (
            interruptions() as caught,
            progress_bar("learning") as progress,
            learning_reports_to(progress),
            place,
        ):
            bundle = training.fit_bundle(
                source,
                method=method,
                n_bits=bits,
                backbone=backbone,
                random_state=seed,
                parameters=parameters,
                kernel_map=kernel_map,
                remember=remember,
                groups=None if groups is None else source.columns[groups],
                progress=progress,
            )
        if caught:
            stop_early(bundle, output, caught[-1], checkpoint)
        bundle.save(output)
    if as_json:
        print_json({"bundle": str(output), **bundle.summary()})
    else:
        typer.echo(f"{output}: {bundle.encoder!r} from {len(source):,} {source.kind}")
        for name, number in bundle.metadata.extra.get("chosen", {}).items():
            typer.echo(f"note: chose {name}={number:g}")
        _tell_of_repaired(bundle.metadata.repaired_classes)
        if labels is not None and not training.describe(method).needs_labels:
            say(
                f"note: {method} learns without labels; 'fewbits methods' names "
                "the methods that learn from them"
            )
        options = {
            "--column": column,
            "--labels": labels,
            "--id": id_column or source.likely_id,
            "--skip-blank": skip_blank,
        }
        typer.echo(f"next: {command_line('build', output, items, **options)}")


def _tell_of_repaired(n_classes: int | None) -> None:
    if n_classes:
        noun = "class" if n_classes == 1 else "classes"
        typer.echo(
            f"note: the codes of {n_classes:,} {noun} were changed, because they "
            "equalled those of other classes"
        )


def _parameters(
    settings: list[str], seed: int | None, checkpoint: Path | None
) -> dict[str, Any]:
    """Return the parameters of the learner that the options set."""
    parameters = parse_settings(settings)
    if seed is not None and "random_state" in parameters:
        raise ArgumentError(
            f"give one seed, got {seed} and {parameters['random_state']}"
        )
    if checkpoint is not None:
        parameters["checkpoint"] = str(checkpoint)
    return parameters
