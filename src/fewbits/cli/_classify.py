"""``fewbits classify``."""

from typing import Annotated, Any

import typer

from fewbits.cli._options import (
    AsJson,
    BundlePath,
    Column,
    check_unused,
    item_label,
    print_json,
    print_table,
    read_for,
    typed_items,
)
from fewbits.errors import ArgumentError

_HEADINGS = {
    "distance": "bits that differ",
    "classes": "most probable classes",
    "share": "share of votes",
}


def register(app: typer.Typer) -> None:
    app.command("classify")(classify)


def classify(
    bundle: BundlePath,
    items: Annotated[
        list[str] | None,
        typer.Argument(metavar="ITEM", help="Texts, or paths of images."),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option("--input", "-i", help="Read the items from here instead."),
    ] = None,
    decoder: Annotated[
        str | None,
        typer.Option(
            "--decoder",
            "-d",
            help="soft, the most probable class; nearest, the code that fewest bits "
            "differ from; bounded, exact or ordered, which say when an item is of no "
            "class. soft when not given.",
        ),
    ] = None,
    radius: Annotated[
        int | None,
        typer.Option(help="Bits that the bounded decoder forgives; 1 when not given."),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            help="Guesses that the ordered decoder makes; 1000 when not given."
        ),
    ] = None,
    foreign_rate: Annotated[
        float | None,
        typer.Option(
            help="Reject an item as of no class unless its code is so near to that of "
            "a class that at most this share of foreign items would be accepted; 0.05 "
            "is a start. Estimated from classes that 'fewbits fit' kept aside, or else "
            "from the code space."
        ),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(
            help="Number of classes to show with their probabilities; 3 when not "
            "given, where 'fewbits fit' has kept items aside to calibrate them, else 0."
        ),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            help="Classify by the votes of the nearest items instead: the column of "
            "the collection with their classes."
        ),
    ] = None,
    k: Annotated[int, typer.Option("-k", help="Items that vote.")] = 10,
    column: Column = None,
    as_json: AsJson = False,
) -> None:
    """Say which class each item is of, or that it is of none.

    By the codes of the classes, which 'fewbits fit --method llc' learns; or by the
    votes of the nearest items of the collection.

    Example: fewbits classify my-bundle "broken arm" --decoder bounded --radius 1

    Example: fewbits classify my-bundle "how to knit a sock" --foreign-rate 0.05

    Example: fewbits classify my-bundle --input queries.npy --labels label -k 10
    """
    from fewbits.bundle import Bundle, class_answers, vote_answers

    if bool(items) == bool(source):
        raise ArgumentError("give either items or --input")
    options: dict[str, Any] = {
        "--decoder": decoder,
        "--radius": radius,
        "--budget": budget,
    }
    if labels is not None:
        options |= {"--top": top or None, "--foreign-rate": foreign_rate}
        check_unused(options, "the codes of classes, --labels has votes")
    for option, needed in (("--radius", "bounded"), ("--budget", "ordered")):
        if decoder != needed:
            check_unused({option: options[option]}, f"--decoder {needed}")
    loaded = Bundle.load(bundle, items=labels is not None)
    asked: Any = typed_items(loaded, bundle, items or [])
    if source:
        asked = read_for(loaded, source, column).values
    if labels is not None:
        answers = vote_answers(loaded, asked, labels, k)
    else:
        given = {k.lstrip("-"): v for k, v in options.items() if v is not None}
        answers = class_answers(
            loaded, asked, **given, foreign_rate=foreign_rate, top=top
        )
    rows = [{"item": item_label(asked, i), **each} for i, each in enumerate(answers)]
    if as_json:
        for row in rows:
            print_json(row)
        return
    header = [_HEADINGS.get(name, name) for name in rows[0]]
    print_table("classes", header, [_cells(row) for row in rows])
    if top and loaded.calibration is None:
        typer.echo("note: nothing was kept aside to calibrate these probabilities on")


def _cells(row: dict[str, Any]) -> list[str]:
    # No code differs from that of no class.
    return [
        "-" if name == "distance" and value == -1 else _shown(value)
        for name, value in row.items()
    ]


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(
            f"{_shown(each['class'])} {each['probability']:.2f}" for each in value
        )
    if isinstance(value, float):
        return f"{value:.3g}"
    return "none" if value is None else str(value)
