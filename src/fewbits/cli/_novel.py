"""``fewbits novel``."""

from typing import Annotated, Any

import typer

from fewbits.cli._options import (
    AsJson,
    BundlePath,
    Column,
    Where,
    parse_bits,
    print_hits,
    print_json,
    read_for,
    typed_items,
)


def register(app: typer.Typer) -> None:
    app.command("novel")(novel)


def novel(
    bundle: BundlePath,
    examples: Annotated[
        list[str] | None,
        typer.Argument(metavar="EXAMPLE", help="Texts, or paths of images."),
    ] = None,
    unlike: Annotated[
        list[str] | None,
        typer.Option("--not", help="A text or image that does not belong."),
    ] = None,
    ids: Annotated[
        list[int] | None,
        typer.Option("--id", help="Id of an item that belongs; once for each."),
    ] = None,
    not_ids: Annotated[
        list[int] | None,
        typer.Option("--not-id", help="Id of an item that does not belong."),
    ] = None,
    source: Annotated[
        str | None, typer.Option("--input", "-i", help="Read examples from here.")
    ] = None,
    k: Annotated[int, typer.Option("-k", help="Number of answers.")] = 10,
    where: Where = None,
    column: Column = None,
    seed: Annotated[
        int, typer.Option(help="Seed of the random items to tell the class from.")
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Find more items of a class that a few examples define.

    Nobody need have trained on the class: what the examples share, against random items
    of BUNDLE, is learnt on the spot, and the whole collection is ranked by it.

    Example: fewbits novel my-bundle "dog bite" "cat bite" --not "snake bite"

    Example: fewbits novel my-bundle --id 4711 --id 4712 --not-id 99

    Example: fewbits novel my-bundle "dog bite" "cat bite" --where 12=1
    """
    from fewbits.bundle import Bundle

    loaded = Bundle.load(bundle)
    given: list[Any] = typed_items(loaded, bundle, examples or [])
    if source:
        given += list(read_for(loaded, source, column).values)
    found = loaded.find_class(
        given,
        typed_items(loaded, bundle, unlike or []),
        ids=ids or [],
        not_ids=not_ids or [],
        k=k,
        where=parse_bits(where or []),
        random_state=seed,
    )
    hits = [
        {"id": int(i), "score": score, **loaded.collection.row(int(i))}
        for i, score in zip(found.ids, found.scores.tolist(), strict=True)
    ]
    if as_json:
        print_json({"hits": hits})
    else:
        print_hits("items that fit the examples best", hits)
