"""``fewbits search``."""

from pathlib import Path
from typing import Annotated, Any

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
            "--k",
            "-k",
            help="Results per query. Default: 10, or with --radius all there are.",
        ),
    ] = None,
    radius: Annotated[
        int | None,
        Option(
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
        Option(help="Codes that are ranked again. Default: 100, or ten times k."),
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
    from fewbits.collection import Collection, tools

    col = opt.open_at(collection, at)
    encoding = col
    if encoder is not None:
        encoding = Collection.open(encoder)
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
