"""``fewbits like``."""

from typing import Annotated, Any

import typer
from typer import Argument, Option

from fewbits.cli import _options as opt
from fewbits.cli._printing import print_hits, print_json


def like(
    collection: opt.CollectionPath,
    examples: Annotated[
        list[str] | None,
        Argument(metavar="EXAMPLE", help="Texts, or paths of images, as by --good."),
    ] = None,
    good: Annotated[
        list[str] | None,
        Option(help="Text or image that belongs to the class; may be repeated."),
    ] = None,
    bad: Annotated[
        list[str] | None, Option(help="Text or image that does not; may be repeated.")
    ] = None,
    good_ids: Annotated[
        list[str] | None,
        Option(help="Id of an item that belongs to it; may be repeated."),
    ] = None,
    bad_ids: Annotated[
        list[str] | None, Option(help="Id of an item that does not; may be repeated.")
    ] = None,
    source: Annotated[
        str | None,
        Option("--input", "-i", help="File or folder of items that belong to it."),
    ] = None,
    k: opt.K = 10,
    filter: opt.Filter = None,
    allowed: opt.Allowed = None,
    columns: opt.HitColumns = None,
    n_random: Annotated[
        int, Option(help="Random items that stand for everything else.")
    ] = 1000,
    C: Annotated[
        float, Option("--C", help="Weight of the errors for one example.")
    ] = 100.0,
    random_state: opt.Seed = 0,
    column: opt.RowColumn = None,
    skip_blank: opt.SkipBlank = False,
    at: opt.At = None,
    as_json: opt.Json = False,
) -> None:
    """Find more items like a few examples.

    Learns a linear SVM from the examples against random items of COLLECTION and ranks
    the items by it, leaving out the examples. The distance is minus the margin: below 0
    for what is taken for a member. The examples may be of a class that the encoder has
    never seen.

    Example: fewbits like my-collection "dog bite" "cat bite" --bad "snake bite"

    Example: fewbits like my-collection --good-ids 4711 --good-ids 4712 --bad-ids 99

    Example: fewbits like my-collection "dog bite" "cat bite" --filter "bit(12) = 1"
    """
    from fewbits.collection import tools
    from fewbits.errors import ArgumentError

    typed = [*(examples or ()), *(good or ())]
    if not (typed or source or good_ids):
        raise ArgumentError(
            "there are no examples: give texts or images, --good-ids, or --input"
        )
    opt.check_unread(source, column, skip_blank)
    col = opt.open_at(collection, at)
    items: list[Any] = opt.typed_items(col, typed, "--good-ids")
    if source:
        more = tools.read_queries(col, source, column, skip_blank=skip_blank)
        items += list(more.values)
    hits = col.like(
        items,
        opt.typed_items(col, bad or (), "--bad-ids"),
        good_ids=opt.typed_ids(col, good_ids) or (),
        bad_ids=opt.typed_ids(col, bad_ids) or (),
        k=k,
        filter=filter,
        allowed=opt.typed_ids(col, allowed),
        columns=columns or None,
        n_random=n_random,
        C=C,
        random_state=random_state,
    )
    answer = hits.to_dict()
    records = answer["hits"] = answer["hits"][0]
    if as_json:
        print_json(answer)
        return
    print_hits("items most like the examples: distances are minus margins", records)
    # The members of a small collection serve as random items, too.
    if records and records[0]["distance"] > 0 and len(col) > n_random:
        typer.echo(
            "note: every score is negative: nothing in the collection looks like "
            "the examples"
        )
