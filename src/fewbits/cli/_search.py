"""``fewbits search``, ``get`` and ``like``."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from fewbits.cli import _options as opt
from fewbits.cli._printing import print_hits, print_json, say

#: Queries whose results are printed as tables; JSON has all.
_MOST_SHOWN = 20
_HITS = 1 << 18  # that are held at a time
#: What the distances are, by the metric of the answer.
_DISTANCES = {
    "hamming": "Hamming distances of codes, not re-ranked",
    "scores": "re-ranked by the scores of the query",
    "euclidean": "re-ranked by Euclidean distances of kept vectors",
}


def search(
    collection: opt.CollectionPath,
    queries: Annotated[
        list[str] | None, Argument(metavar="QUERY", help="Texts, or paths of images.")
    ] = None,
    source: opt.Source = None,
    k: Annotated[
        int | None,
        Option(
            "--k", "-k", help="Results per query. Default: 10, or all within --radius."
        ),
    ] = None,
    radius: Annotated[
        int | None,
        Option("--radius", "-r", help="Only items within this Hamming distance."),
    ] = None,
    ids: opt.Ids = None,
    codes: opt.QueryCodes = None,
    vectors: opt.QueryVectors = None,
    filter: opt.Filter = None,
    allowed: opt.Allowed = None,
    group_by: Annotated[
        str | None,
        Option(
            help="Column of the collection, such as the document of a passage: show "
            "the best item of each of k groups."
        ),
    ] = None,
    rerank: Annotated[
        bool | None,
        Option(
            "--rerank/--no-rerank",
            help="Rank a shortlist again, by kept vectors, or else by the query's "
            "scores before thresholding. Default: by kept vectors, if there are any.",
        ),
    ] = None,
    shortlist: Annotated[
        int | None,
        Option(help="Codes that are re-ranked. Default: 100, or ten times k."),
    ] = None,
    columns: opt.HitColumns = None,
    encoder: Annotated[
        Path | None,
        Option(
            help="Encode the queries with another collection that has the same class "
            "codes, for instance to find images by texts."
        ),
    ] = None,
    column: opt.RowColumn = None,
    skip_blank: opt.SkipBlank = False,
    at: opt.At = None,
    as_json: opt.JsonLines = False,
) -> None:
    """Find the items of COLLECTION that are nearest to each query.

    Type texts or paths of images, read queries from a file, or search by items of the
    collection (--ids). Prints the results of the first 20 queries; --json prints all.

    Example: fewbits search my-collection "broken arm" "cannot sleep" -k 5

    Example: fewbits search my-collection --input queries.npy --rerank

    Example: fewbits search my-collection "broken arm" --filter "year >= 2020"

    Example: fewbits search my-collection --input queries.npy --radius 10 --json

    Example: fewbits search my-images "a red flower" --encoder my-texts
    """
    from fewbits.collection import tools

    col = opt.open_at(collection, at)
    encoding = col
    if encoder is not None:
        encoding = opt.open_at(encoder)
        tools.check_same_codes(col, encoding)
    argument, values, names = opt.read_query(
        encoding, "queries", queries, source, column, ids, codes, vectors, skip_blank
    )
    n = len(names) if as_json else min(len(names), _MOST_SHOWN)
    most = (10 if radius is None else len(col)) if k is None else k
    step = max(1, _HITS // max(1, min(most, len(col))))
    shown: list[dict[str, Any]] = []
    for start in range(0, n, step):
        part = values[start : min(start + step, n)]
        query = {argument: part}
        if encoder is not None:
            name = "items" if argument == "queries" else argument
            query = {"codes": encoding.encode(**{name: part})}
        hits = col.search(
            **query,
            k=k,
            radius=radius,
            filter=filter,
            allowed=opt.typed_ids(col, allowed) if allowed else None,
            group_by=group_by,
            rerank=rerank,
            shortlist=shortlist,
            columns=columns or None,
        )
        facts = {"metric": hits.metric, "rerank": hits.rerank, "version": hits.version}
        answers = [
            {"query": name, **facts, "hits": rows}
            for name, rows in zip(names[start:], hits.to_list(), strict=False)
        ]
        if hits.out_of_distribution is not None:
            for answer, is_far in zip(answers, hits.out_of_distribution, strict=True):
                answer["out_of_distribution"] = bool(is_far)
        if as_json:
            print_json(*answers)
        else:
            shown += answers
    if as_json:
        return
    distances = _DISTANCES[shown[0]["metric"]] if shown else ""
    if len(shown) == 1:
        print_hits(f"{shown[0]['query']} ({distances})", shown[0]["hits"])
    else:
        rows = [{"query": x["query"], **hit} for x in shown for hit in x["hits"]]
        print_hits(distances, rows)
    for answer in shown:
        if answer.get("out_of_distribution"):
            which = "the query" if len(shown) == 1 else repr(answer["query"])
            say(
                f"note: {which} is out-of-distribution: the nearest item is more than "
                f"{col.facts.novelty_radius} bits away"
            )
    if len(names) > n:
        say(f"note: {len(names) - n:,} more queries; --json prints the results of all")


def get(
    collection: opt.CollectionPath,
    ids: Annotated[list[str], Argument(metavar="ID...", help="Ids of items.")],
    columns: opt.HitColumns = None,
    at: opt.At = None,
    as_json: opt.JsonLines = False,
) -> None:
    """Show the columns of items of COLLECTION.

    Example: fewbits get my-collection 4711 4712 --columns title
    """
    col = opt.open_at(collection, at)
    chosen = opt.typed_ids(col, ids)
    rows = col.get(chosen, columns or None)
    items = [{"id": id, "columns": row} for id, row in zip(chosen, rows, strict=True)]
    if as_json:
        print_json(*items)
    else:
        print_hits("", items)


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
    k: Annotated[int, Option("--k", "-k", help="Number of results.")] = 10,
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
        good_ids=opt.typed_ids(col, good_ids or ()),
        bad_ids=opt.typed_ids(col, bad_ids or ()),
        k=k,
        filter=filter,
        allowed=opt.typed_ids(col, allowed) if allowed else None,
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
