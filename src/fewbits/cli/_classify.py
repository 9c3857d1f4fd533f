"""``fewbits classify``."""

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from fewbits.cli._options import (
    AsJson,
    BundlePath,
    Column,
    SkipBlank,
    check_unused,
    item_label,
    print_json,
    print_table,
    read_for,
    say,
    typed_items,
)
from fewbits.errors import ArgumentError

#: How `AcceptanceRegion.model` reads in a sentence.
_MODELS = {
    "leave-one-class-out": "known classes, each left out in turn",
    "uniform": "the share of all codes",
}
#: How much of all codes may be near some class before it is told.
_LARGE_SHARE = 0.05
_N_VOTES = 10
#: The decoder that an option is of.
_NEEDED = {"--radius": "bounded", "--max-queries": "orbgrand", "--order": "orbgrand"}
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
    max_queries: Annotated[
        int | None,
        typer.Option(
            help="Guesses that the orbgrand decoder makes; 1000 when not given."
        ),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(
            help="What the orbgrand decoder's guesses go by: ranks of the scores, the "
            "same for all items, or costs, which finds what soft does and takes "
            "longer; ranks when not given."
        ),
    ] = None,
    max_false_accept_rate: Annotated[
        float | None,
        typer.Option(
            help="Reject out-of-distribution items: accept at most this share of them, "
            "as estimated from the code space and by leaving out one class at a time "
            "on held-out items, whichever is stricter. Start with 0.05. Real unknown "
            "items are often accepted several times as often, so test with some of "
            "yours. The accepted radius is printed below the table, and as 'accepted' "
            "with --json."
        ),
    ] = None,
    code_space: Annotated[
        bool,
        typer.Option(
            "--code-space",
            help="Estimate --max-false-accept-rate from the code space alone, even if "
            "there are held-out items.",
        ),
    ] = False,
    top: Annotated[
        int | None,
        typer.Option(
            help="Number of classes to show with their probabilities; 3 when not "
            "given, where 'fewbits fit' has kept items aside to calibrate them, else "
            "0. Of several labels an item the number to rank; 5 when not given."
        ),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            help="Classify by the votes of the nearest items instead: the column of "
            "the collection with their classes."
        ),
    ] = None,
    k: Annotated[
        int | None, typer.Option("-k", help="Items that vote; 10 when not given.")
    ] = None,
    linear: Annotated[
        bool,
        typer.Option(
            "--linear",
            help="With --labels: by linear models on bits, learnt from the collection, "
            "in place of votes.",
        ),
    ] = False,
    column: Column = None,
    skip_blank: SkipBlank = False,
    as_json: AsJson = False,
) -> None:
    """Predict the class of each item, or reject it as of no known class.

    By the codes of the classes, which 'fewbits fit' keeps for llc and all other deep
    methods; or, by --labels, from the items of the collection. Where items have
    several labels, all those whose score is high enough are told, and neither decoders
    nor rejection apply.

    Example: fewbits classify my-bundle "broken arm" --decoder bounded --radius 1

    Example: fewbits classify my-bundle "knit a sock" --max-false-accept-rate 0.05

    Example: fewbits classify my-bundle --input queries.npy --labels label -k 10

    Example: fewbits classify my-bundle --input queries.npy --labels label --linear
    """
    from fewbits.bundle import (
        SEVERAL_LABELS,
        Bundle,
        by_code_space,
        class_answers,
        label_answers,
        linear_answers,
        vote_answers,
    )

    if bool(items) == bool(source):
        raise ArgumentError("give either items or --input")
    options: dict[str, Any] = {
        "--decoder": decoder,
        "--radius": radius,
        "--max-queries": max_queries,
        "--order": order,
    }
    if labels is not None:
        options |= {
            "--top": top or None,
            "--max-false-accept-rate": max_false_accept_rate,
        }
        check_unused(options, "the codes of classes, --labels has votes")
        if linear:
            check_unused({"-k": k}, "votes, not --linear")
    else:
        check_unused({"--linear": linear or None, "-k": k}, "--labels")
    for option, needed in _NEEDED.items():
        if decoder != needed:
            check_unused({option: options[option]}, f"--decoder {needed}")
    if max_false_accept_rate is None:
        check_unused({"--code-space": code_space or None}, "--max-false-accept-rate")
    loaded = Bundle.load(bundle, items=labels is not None)
    if code_space:
        loaded = by_code_space(loaded)
    several = labels is None and loaded.info.get(SEVERAL_LABELS)
    if several:
        check_unused(
            {**options, "--max-false-accept-rate": max_false_accept_rate},
            "items of one class each, those of this bundle have several labels",
        )
    region = _region_of(loaded, max_false_accept_rate)
    asked: Any = typed_items(loaded, bundle, items or [])
    if source:
        asked = read_for(loaded, source, column, skip_blank=skip_blank).values
    if labels is not None:
        if linear:
            answers = linear_answers(loaded, asked, labels)
        else:
            answers = vote_answers(loaded, asked, labels, _N_VOTES if k is None else k)
    elif several:
        ranked = {} if top is None else {"top": top}
        answers = label_answers(loaded, asked, **ranked)
    else:
        given = {
            name.lstrip("-"): value
            for name, value in options.items()
            if value is not None
        }
        answers = class_answers(
            loaded, asked, **given, max_false_accept_rate=max_false_accept_rate, top=top
        )
    rows = [{"item": item_label(asked, i), **each} for i, each in enumerate(answers)]
    if as_json:
        for row in rows:
            print_json({**row, "accepted": region} if region else row)
        return
    header = [_HEADINGS.get(name, name) for name in rows[0]]
    print_table("classes", header, [_cells(row) for row in rows])
    for note in _notes(loaded, options, region):
        say(f"note: {note}")
    if top and loaded.calibration is None and not several:
        say("note: these probabilities are not calibrated: no items were held out")


def _notes(
    bundle: Any,
    options: dict[str, Any],
    region: dict[str, Any] | None,
) -> Iterator[str]:
    """Yield what has to be known of what is accepted as one of the classes."""
    if region:
        yield (
            f"accepted is what differs in at most {region['radius']} bits from a "
            f"class, as {region['predicted_rate']:.2g} of unknown items are expected "
            f"to by {_MODELS[region['model']]}; real ones often do several times as "
            "often, so try some"
        )
    elif (radius := _radius_of(options)) is not None:
        from fewbits.ood import acceptance_region

        book = bundle.classes
        share = acceptance_region(book.codes, book.n_bits, radius).predicted_rate
        if share > _LARGE_SHARE:
            yield (
                f"{share:.0%} of all codes differ in at most {radius} bits from a "
                "class, and unknown items do more often; longer codes leave more room"
            )


def _radius_of(options: dict[str, Any]) -> int | None:
    """Return how far from a class a decoder looks, None for one that finds always."""
    if options["--decoder"] == "exact":
        return 0
    if options["--decoder"] == "bounded":
        return 1 if options["--radius"] is None else int(options["--radius"])
    return None


def _region_of(bundle: Any, rate: float | None) -> dict[str, Any] | None:
    """Return what is accepted as known, None where everything is."""
    from fewbits.bundle import known_by

    if rate is None:
        return None
    found = known_by(bundle.classes, rate, bundle.calibration)
    names = ("radius", "predicted_rate", "model")
    told = {name: getattr(found, name) for name in names}
    return {**told, "requested_rate": rate, "met": found.predicted_rate <= rate}


def _cells(row: dict[str, Any]) -> list[str]:
    # No code differs from that of no class.
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
