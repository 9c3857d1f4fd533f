"""``fewbits classify``."""

from collections.abc import Iterator
from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fewbits.cli._options import (
    BundlePath,
    RowColumn,
    SkipBlank,
    check_unread,
    check_unused,
    json_option,
    print_json,
    print_table,
    read_for,
    say,
    typed_items,
)
from fewbits.errors import ArgumentError

if TYPE_CHECKING:
    from fewbits.classify.decoders import Decoder

#: A larger share of all codes near some class gets a note.
_LARGE_SHARE = 0.05
_HEADINGS = {
    "distance": "bits that differ",
    "classes": "most probable classes",
    "share": "share of votes",
    "ranked": "best labels",
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
        typer.Option(
            "--input", "-i", help="File or folder of items, in place of ITEM."
        ),
    ] = None,
    decoder: Annotated[
        str | None,
        typer.Option(
            "--decoder",
            "-d",
            help="soft: the most probable class. nearest: the class whose code has "
            "the smallest Hamming distance. exact, bounded and orbgrand also reject "
            "items that match no class. Default: soft.",
        ),
    ] = None,
    radius: Annotated[
        int | None,
        typer.Option(
            help="Maximum Hamming distance to a class code, for --decoder bounded. "
            "Default: 1."
        ),
    ] = None,
    max_queries: Annotated[
        int | None,
        typer.Option(
            help="Maximum number of guesses, for --decoder orbgrand. Default: 1000."
        ),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(
            help="Order of the guesses, for --decoder orbgrand. ranks: by the ranks "
            "of the scores' magnitudes, in the same order for all items. costs: by "
            "the scores themselves; agrees with soft and takes longer. Default: ranks."
        ),
    ] = None,
    max_false_reject_rate: Annotated[
        float | None,
        typer.Option(
            help="Reject unknown items; wrongly reject at most this share of known "
            "ones. Start with 0.05. The expected false-accept rate is printed below "
            "the table, and is 'accepted' with --json."
        ),
    ] = None,
    max_false_accept_rate: Annotated[
        float | None,
        typer.Option(
            help="Instead of --max-false-reject-rate: accept at most this share of the "
            "items of unknown classes, estimated by leave-one-class-out. Needs many "
            "classes; 0.05 needs 52."
        ),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(
            help="Number of classes to show with their probabilities. Default: 3 if "
            "'fewbits fit' calibrated them on held-out items, else 0. For multi-label "
            "bundles the number of labels to rank; default: 5."
        ),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            help="Column of the collection with classes: classify by a vote of the "
            "nearest neighbours instead (k-NN)."
        ),
    ] = None,
    k: Annotated[
        int | None,
        typer.Option("-k", help="Neighbours that vote, with --labels. Default: 10."),
    ] = None,
    linear: Annotated[
        bool,
        typer.Option(
            "--linear",
            help="With --labels: use linear SVMs on bits, learnt from the collection, "
            "instead of k-NN.",
        ),
    ] = False,
    column: RowColumn = None,
    skip_blank: SkipBlank = False,
    as_json: Annotated[
        bool, json_option("Print one line of JSON for each item.")
    ] = False,
) -> None:
    """Predict the class of each item, or reject items of unknown classes.

    Compares with the class codes, which 'fewbits fit' stores for all deep methods; or,
    with --labels, with the items of the collection. Multi-label
    bundles return all labels whose score reaches a threshold; decoders and rejection do
    not apply to them.

    Example: fewbits classify my-bundle "broken arm" --decoder bounded --radius 1

    Example: fewbits classify my-bundle "knit a sock" --max-false-reject-rate 0.05

    Example: fewbits classify my-bundle --input queries.npy --labels label -k 10

    Example: fewbits classify my-bundle --input queries.npy --labels label --linear
    """
    from fewbits import engine
    from fewbits.bundle import Bundle

    if bool(items) == bool(source):
        raise ArgumentError("give either items or --input")
    check_unread(source, column, skip_blank)
    parameters = {"radius": radius, "max_queries": max_queries, "order": order}
    options: dict[str, Any] = {
        "--decoder": decoder,
        **{_option(name): value for name, value in parameters.items()},
    }
    rates = {
        "--max-false-reject-rate": max_false_reject_rate,
        "--max-false-accept-rate": max_false_accept_rate,
    }
    if labels is not None:
        options |= {
            "--top": top or None,
            **rates,
        }
        check_unused(options, "class codes, not --labels")
        if linear:
            check_unused({"-k": k}, "--labels without --linear")
    else:
        check_unused({"--linear": linear or None, "-k": k}, "--labels")
    chosen = _decoder(decoder, parameters)
    if None not in rates.values():
        raise ArgumentError(f"give either {' or '.join(rates)}")
    loaded = Bundle.load(bundle, items=labels is not None)
    several = labels is None and loaded.metadata.several_labels
    if several:
        check_unused(
            {**options, **rates},
            "one class per item, but items of this bundle have several labels",
        )
    asked: Any = typed_items(loaded, bundle, items or [])
    if source:
        asked = read_for(loaded, source, column, skip_blank=skip_blank).values
    request = engine.ClassifyRequest(
        asked,
        decoder=chosen,
        top=None if labels else top,
        max_false_reject_rate=max_false_reject_rate,
        max_false_accept_rate=max_false_accept_rate,
        labels=labels,
        k=k,
        linear=linear,
    )
    found = engine.classify(loaded, request)
    rows, held = found.results, found.accepted
    if as_json:
        for row in found.to_dict()["results"]:
            print_json(row)
        return
    header = [_HEADINGS.get(name, name) for name in rows[0]]
    print_table("classes", header, [_cells(row) for row in rows])
    for note in _notes(loaded, chosen, held):
        say(f"note: {note}")
    if top and loaded.calibration is None and not several:
        say(
            "note: these probabilities are not calibrated: there were no held-out items"
        )


def _option(parameter: str) -> str:
    return f"--{parameter.replace('_', '-')}"


def _decoder(name: str | None, parameters: dict[str, Any]) -> "Decoder | None":
    """Return the decoder of that name, None for the default."""
    from fewbits.classify.decoders import DECODERS, decoder_of

    given = {each: x for each, x in parameters.items() if x is not None}
    for each in given:
        takers = [
            x for x, kind in DECODERS.items() if each in {f.name for f in fields(kind)}
        ]
        if name not in takers:
            raise ArgumentError(
                f"{_option(each)} needs --decoder {' or '.join(takers)}"
            )
    return None if name is None else decoder_of(name, **given)


def _notes(
    bundle: Any,
    decoder: "Decoder | None",
    held: dict[str, Any] | None,
) -> Iterator[str]:
    """Yield notes on the items that are accepted as one of the classes."""
    if held:
        rejected = held["false_reject_rate"]
        yield f"{rejected:.2g} of known items are expected to be rejected"
        share, interval = held["false_accept_rate"], held["false_accept_interval"]
        yield (
            "too few classes to predict which share of unknown items is accepted"
            if share is None
            else f"{share:.2g} of items of new classes are expected to be accepted (95 "
            f"% interval {interval[0]:.2g} to {interval[1]:.2g}), if these differ "
            "from known classes as those do from each other"
        )
    elif decoder is not None and decoder.max_distance is not None:
        from fewbits.ood import acceptance_region

        book, radius = bundle.classes, decoder.max_distance
        share = acceptance_region(book.codes, book.n_bits, radius).predicted_rate
        if share > _LARGE_SHARE:
            yield (
                f"{share:.0%} of all codes differ in at most {radius} bits from a "
                "class, and out-of-distribution items do more often; longer codes "
                "reject more"
            )


def _cells(row: dict[str, Any]) -> list[str]:
    # A rejected item has no distance.
    return [
        "-" if name == "distance" and value == -1 else _shown(value)
        for name, value in row.items()
    ]


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_shown, value)) or "none"
    if isinstance(value, dict):
        name, number = value.values()
        return f"{_shown(name)} {number:.2f}"
    if isinstance(value, float):
        return f"{value:.3g}"
    return "none" if value is None else str(value)
