"""``fewbits classify``."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from fewbits.cli import _options as opt
from fewbits.cli._printing import print_json, print_table, say
from fewbits.errors import ArgumentError

if TYPE_CHECKING:
    from fewbits.classify.decoders import Decoder
    from fewbits.collection import Classification, Collection

#: A larger share of all codes near some class gets a note.
_LARGE_SHARE = 0.05
_HEADINGS = {
    "distance": "bits that differ",
    "classes": "most probable classes",
    "share": "share of votes",
    "ranked": "best labels",
}


def classify(
    collection: opt.CollectionPath,
    items: Annotated[
        list[str] | None, Argument(metavar="ITEM", help="Texts, or paths of images.")
    ] = None,
    source: opt.Source = None,
    ids: opt.Ids = None,
    codes: opt.QueryCodes = None,
    vectors: opt.QueryVectors = None,
    label: Annotated[
        str | None,
        Option(
            help="Column of the collection with classes: classify by a vote of the "
            "nearest neighbours instead (k-NN)."
        ),
    ] = None,
    k: Annotated[
        int | None,
        Option("--k", "-k", help="Neighbours that vote, with --label. Default: 10."),
    ] = None,
    linear: Annotated[
        bool,
        Option(
            "--linear", help="With --label: by linear SVMs on bits instead of k-NN."
        ),
    ] = False,
    decoder: Annotated[
        str | None,
        Option(
            "--decoder",
            "-d",
            help="soft: the most probable class. nearest: the class whose code has "
            "the smallest Hamming distance. exact, bounded and orbgrand also reject "
            "items that match no class. Default: soft.",
        ),
    ] = None,
    radius: Annotated[
        int | None,
        Option(help="Most bits from a class code, for --decoder bounded. Default: 1."),
    ] = None,
    max_queries: Annotated[
        int | None, Option(help="Most guesses, for --decoder orbgrand. Default: 1000.")
    ] = None,
    order: Annotated[
        str | None,
        Option(
            help="Order of the guesses, for --decoder orbgrand. ranks: by the ranks "
            "of the scores' magnitudes, in the same order for all items. costs: by "
            "the scores themselves; agrees with soft and takes longer. Default: ranks."
        ),
    ] = None,
    max_false_reject_rate: Annotated[
        float | None,
        Option(
            help="Reject unknown items; wrongly reject at most this share of known "
            "ones. Start with 0.05. The expected false-accept rate is printed below "
            "the table, and is among 'expected' with --json."
        ),
    ] = None,
    max_false_accept_rate: Annotated[
        float | None,
        Option(
            help="Instead of --max-false-reject-rate: accept at most this share of the "
            "items of unknown classes, estimated by leave-one-class-out. Needs many "
            "classes; 0.05 needs 52."
        ),
    ] = None,
    top: Annotated[
        int | None,
        Option(
            help="Number of classes to show with their probabilities. Default: 3 if "
            "'fewbits fit' calibrated them on held-out items, else 0. For multi-label "
            "collections the number of labels to rank; default: 5."
        ),
    ] = None,
    column: opt.RowColumn = None,
    skip_blank: opt.SkipBlank = False,
    at: opt.At = None,
    as_json: opt.JsonLines = False,
) -> None:
    """Predict the class of each item, or reject items of unknown classes.

    Compares with the class codes, which all deep methods learn; or, with --label, with
    the items of the collection. Where items have several labels, prints all whose score
    reaches a threshold; decoders and rejection do not apply to them.

    Example: fewbits classify my-collection "broken arm" --decoder bounded --radius 1

    Example: fewbits classify my-collection "knit a sock" --max-false-reject-rate 0.05

    Example: fewbits classify my-collection --input queries.npy --label kind -k 10

    Example: fewbits classify my-collection --input queries.npy --label kind --linear
    """
    rule = _decoder(
        decoder, {"radius": radius, "max_queries": max_queries, "order": order}
    )
    if max_false_reject_rate is not None and max_false_accept_rate is not None:
        raise ArgumentError(
            "give either --max-false-reject-rate or --max-false-accept-rate"
        )
    if label is None:
        opt.check_unused({"--linear": linear, "-k": k}, "--label")
    col = opt.open_at(collection, at)
    argument, values, names = opt.read_query(
        col, "items", items, source, column, ids, codes, vectors, skip_blank
    )
    answer = col.classify(
        **{argument: values},
        label=label,
        k=k,
        linear=linear,
        decoder=rule,
        max_false_reject_rate=max_false_reject_rate,
        max_false_accept_rate=max_false_accept_rate,
        top=top,
    )
    records = zip(names, answer.to_list(), strict=True)
    rows = [{"item": name, **record} for name, record in records]
    if as_json:
        shared = {} if answer.expected is None else {"expected": answer.expected}
        print_json(*({**row, **shared} for row in rows))
        return
    header = [_HEADINGS.get(name, name) for name in rows[0]]
    cells = [[_cell(name, value) for name, value in row.items()] for row in rows]
    print_table("classes", header, cells)
    for note in _notes(col, rule, answer):
        say(f"note: {note}")
    if top and col.calibration is None and not col.facts.several_labels:
        say(
            "note: these probabilities are not calibrated: there were no held-out items"
        )


def _decoder(name: str | None, parameters: dict[str, Any]) -> "Decoder | None":
    """Return the decoder of that name, None for the default."""
    from fewbits.classify.decoders import DECODERS, decoder_of

    options = {key: value for key, value in parameters.items() if value is not None}
    for key in options:
        takers = [x for x, kind in DECODERS.items() if key in kind.__dataclass_fields__]
        if name not in takers:
            option = f"--{key.replace('_', '-')}"
            raise ArgumentError(f"{option} needs --decoder {' or '.join(takers)}")
    return None if name is None else decoder_of(name, **options)


def _notes(
    collection: "Collection", decoder: "Decoder | None", answer: "Classification"
) -> Iterator[str]:
    """Yield notes on the items that are accepted as one of the classes."""
    if expected := answer.expected:
        rejected, share = expected["false_reject_rate"], expected["false_accept_rate"]
        yield f"{rejected:.2g} of known items are expected to be rejected"
        if share is None:
            yield "too few classes to predict which share of unknown items is accepted"
            return
        low, high = expected["false_accept_interval"]
        yield (
            f"{share:.2g} of items of new classes are expected to be accepted (95 % "
            f"interval {low:.2g} to {high:.2g}), if these differ from known classes as "
            "those do from each other"
        )
    elif decoder is not None and decoder.max_distance is not None:
        from fewbits.ood import acceptance_region

        book, radius = collection.codebook, decoder.max_distance
        assert book is not None
        share = acceptance_region(book.codes, book.n_bits, radius).predicted_rate
        if share > _LARGE_SHARE:
            yield (
                f"{share:.0%} of all codes differ in at most {radius} bits from a "
                "class, and out-of-distribution items do more often; longer codes "
                "reject more"
            )


def _cell(name: str, value: Any) -> str:
    if name == "distance" and value == -1:
        return "-"  # a rejected item has none
    if isinstance(value, list):
        return ", ".join(_cell("", entry) for entry in value) or "none"
    if isinstance(value, dict):
        label, number = value.values()
        return f"{_cell('', label)} {number:.2f}"
    if isinstance(value, float):
        return f"{value:.3g}"
    return "none" if value is None else str(value)
