"""``fewbits like``."""

from typing import Annotated, Any

import typer

from fewbits.cli._options import (
    BundlePath,
    Filter,
    RowColumn,
    SkipBlank,
    check_unread,
    json_option,
    print_hits,
    print_json,
    read_for,
    typed_ids,
    typed_items,
)


def register(app: typer.Typer) -> None:
    app.command("like")(like)


def like(
    bundle: BundlePath,
    examples: Annotated[
        list[str] | None,
        typer.Argument(metavar="EXAMPLE", help="Texts, or paths of images."),
    ] = None,
    unlike: Annotated[
        list[str] | None,
        typer.Option("--not", help="Text or image to avoid; may be repeated."),
    ] = None,
    ids: Annotated[
        list[str] | None,
        typer.Option(
            "--id", help="Id of an item to use as an example; may be repeated."
        ),
    ] = None,
    not_ids: Annotated[
        list[str] | None,
        typer.Option("--not-id", help="Id of an item to avoid; may be repeated."),
    ] = None,
    source: Annotated[
        str | None, typer.Option("--input", "-i", help="File or folder of examples.")
    ] = None,
    k: Annotated[int, typer.Option("-k", help="Number of results.")] = 10,
    filter: Filter = None,
    column: RowColumn = None,
    skip_blank: SkipBlank = False,
    seed: Annotated[
        int, typer.Option(help="Random seed for drawing the negative examples.")
    ] = 0,
    as_json: Annotated[bool, json_option("Print the hits as one JSON object.")] = False,
) -> None:
    """Find more items like a few examples.

    Learns a linear SVM from the examples against random items of BUNDLE and ranks the
    collection by it, leaving out the examples. The examples may be of a class that
    'fewbits fit' has never seen.

    Example: fewbits like my-bundle "dog bite" "cat bite" --not "snake bite"

    Example: fewbits like my-bundle --id 4711 --id 4712 --not-id 99

    Example: fewbits like my-bundle "dog bite" "cat bite" --filter "bit(12) = 1"
    """
    from fewbits import engine
    from fewbits.bundle import Bundle
    from fewbits.errors import ArgumentError

    if not (examples or source or ids):
        raise ArgumentError(
            "there are no examples: give texts or images, --id, or --input"
        )
    check_unread(source, column, skip_blank)
    loaded = Bundle.load(bundle)
    given: list[Any] = typed_items(loaded, bundle, examples or [])
    if source:
        given += list(read_for(loaded, source, column, skip_blank=skip_blank).values)
    others = typed_items(loaded, bundle, unlike or [])
    found = engine.like(
        loaded,
        engine.LikeRequest(
            given,
            others,
            ids=typed_ids(loaded, ids or []),
            not_ids=typed_ids(loaded, not_ids or []),
            k=k,
            filter=filter,
            random_state=seed,
        ),
    )
    if as_json:
        print_json(found.to_dict())
        return
    print_hits("items most like the examples", found.hits)
    if found.none_fits:
        typer.echo(
            "note: every score is negative: nothing in the collection looks like "
            "the examples"
        )
