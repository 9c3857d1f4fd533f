"""``fewbits search``."""

from typing import Annotated, Any

import typer

from fewbits.cli._options import (
    AsJson,
    BundlePath,
    Column,
    print_json,
    print_table,
)


def register(app: typer.Typer) -> None:
    app.command("search")(search)


def search(
    bundle: BundlePath,
    queries: Annotated[
        list[str] | None,
        typer.Argument(metavar="[QUERY]...", help="Texts, or paths of images."),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option("--input", "-i", help="Read the queries from here instead."),
    ] = None,
    k: Annotated[int, typer.Option("-k", help="Answers per query.")] = 10,
    rerank: Annotated[
        bool,
        typer.Option(
            help="Rank a shortlist again: by kept vectors, or by the query's scores."
        ),
    ] = False,
    column: Column = None,
    as_json: AsJson = False,
) -> None:
    """Find the items of BUNDLE that are nearest to each query.

    Examples: fewbits search my-bundle "broken arm"; fewbits search my-bundle -i q.npy
    """
    from fewbits import inputs
    from fewbits.bundle import Bundle
    from fewbits.errors import ArgumentError

    if bool(queries) == bool(source):
        raise ArgumentError("give either queries or --input")
    loaded = Bundle.load(bundle)
    asked: Any = queries or inputs.read(source or "-", column=column).values
    if queries and loaded.backbone is None:
        raise ArgumentError(
            f"{bundle} searches vectors, which cannot be typed: use --input FILE.npy"
        )
    answers = loaded.answers(asked, k, rerank=rerank)
    for i, hits in enumerate(answers):
        if as_json:
            print_json({"query": _label(asked, i), "hits": hits})
        else:
            header = list(hits[0]) if hits else ["nothing found"]
            rows = [[_cell(value) for value in hit.values()] for hit in hits]
            print_table(_label(asked, i), header, rows)


def _label(asked: Any, i: int) -> str:
    value = asked[i]
    return value if isinstance(value, str) else f"query {i}"


def _cell(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
