"""``fewbits search``."""

from pathlib import Path
from typing import Annotated, Any

import typer

from fewbits.cli import _options as opt
from fewbits.cli._printing import print_json, print_results, say

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
        list[str] | None,
        typer.Argument(metavar="QUERY", help="Texts, or paths of images."),
    ] = None,
    source: opt.Source = None,
    k: Annotated[
        int | None,
        typer.Option(
            "--k",
            "-k",
            help="Results per query. Default: 10, or with --radius all there are.",
        ),
    ] = None,
    radius: Annotated[
        int | None,
        typer.Option(
            "--radius",
            "-r",
            help="Only items within this Hamming distance of the query.",
        ),
    ] = None,
    ids: opt.Ids = None,
    codes: opt.QueryCodes = None,
    vectors: opt.QueryVectors = None,
    filter: opt.Filter = None,
    allowed: opt.Allowed = None,
    group_by: Annotated[
        str | None,
        typer.Option(
            help="Column of the collection, such as the document of a passage: show "
            "the best item of each of k groups."
        ),
    ] = None,
    rerank: Annotated[
        bool | None,
        typer.Option(
            "--rerank/--no-rerank",
            help="Rank a shortlist again, by kept vectors, or else by the query's "
            "scores before thresholding. Default: by kept vectors, if there are any.",
        ),
    ] = None,
    shortlist: Annotated[
        int | None,
        typer.Option(help="Codes that are ranked again. Default: 100, or ten times k."),
    ] = None,
    columns: opt.Shown = None,
    encoder: Annotated[
        Path | None,
        typer.Option(
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
    from fewbits.collection import Collection, tools

    opened = opt.opened(collection, at)
    encoding = opened
    if encoder is not None:
        encoding = Collection.open(encoder)
        tools.check_same_codes(opened, encoding)
    query = opt.read_query(
        encoding, "queries", queries, source, column, ids, codes, vectors, skip_blank
    )
    n = len(query) if as_json else min(len(query), _MOST_SHOWN)
    most = (10 if radius is None else len(opened)) if k is None else k
    step = max(1, _HITS // max(1, min(most, len(opened))))
    records: list[dict[str, Any]] = []
    for start in range(0, n, step):
        part = query.part(start, min(start + step, n))
        if encoder is not None:
            items = {"items" if x == "queries" else x: part[x] for x in part}
            part = {"codes": encoding.encode(**items)}
        hits = opened.search(
            **part,
            k=k,
            radius=radius,
            filter=filter,
            allowed=opt.typed_ids(opened, allowed),
            group_by=group_by,
            rerank=rerank,
            shortlist=shortlist,
            columns=columns or None,
        )
        shared = {"metric": hits.metric, "rerank": hits.rerank}
        names = query.names[start : start + len(hits)]
        answers = [
            {"query": name, **shared, "version": hits.version, "hits": rows}
            for name, rows in zip(names, hits.to_list(), strict=True)
        ]
        if hits.out_of_distribution is not None:
            for record, is_far in zip(answers, hits.out_of_distribution, strict=True):
                record["out_of_distribution"] = bool(is_far)
        if as_json:
            print_json(*answers)
        else:
            records += answers
    if as_json:
        return
    print_results(
        [(record["query"], record["hits"]) for record in records],
        _DISTANCES[records[0]["metric"]] if records else "",
    )
    for record in records:
        if record.get("out_of_distribution"):
            which = "the query" if len(records) == 1 else repr(record["query"])
            say(
                f"note: {which} is out-of-distribution: the nearest item is more than "
                f"{opened.facts.novelty_radius} bits away"
            )
    if len(query) > n:
        say(f"note: {len(query) - n:,} more queries; --json prints the results of all")
