"""``fewbits demo``."""

from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from fewbits.cli import _options as opt
from fewbits.cli._printing import (
    learning_bar,
    print_comparison,
    print_json,
    progress_bar,
)

_COLUMNS = """recall@10: share of the 10 nearest neighbours by float vectors found
re-ranked: recall@10 after re-ranking the best 100 by the query's scores
queries/s: all queries in one batch, including the time to encode them"""


def demo(
    output: Annotated[
        Path, Option("--output", "-o", help="Folder for the demo's collection.")
    ] = Path("fewbits-demo"),
    bits: Annotated[int, Option("--bits", "-b", help="Number of bits per code.")] = 256,
    as_json: opt.Json = False,
) -> None:
    """Encode 74,724 real diagnoses, search them, and compare with float vectors.

    Needs the extra 'demo'; takes a minute or two on two cores.

    Example: fewbits demo --bits 128 --output my-demo
    """
    from fewbits import backbones, demo
    from fewbits.collection import tools

    tools.check_target(output, overwrite=demo.made(output))
    backbone = backbones.load(demo.BACKBONE)
    data = demo.load()
    if not as_json:
        typer.echo(f"{len(data):,} diagnoses of ICD-10-CM, e.g. {data.items[0]!r}")
    with progress_bar("reading") as progress:
        features = backbone.extract(data.items, progress=progress)
    with learning_bar("learning") as progress:
        built = demo.build(output, data, features, n_bits=bits, progress=progress)
    with learning_bar("comparing") as progress:
        rows = demo.compare(features, built.encoder, progress=progress)
    answers = demo.ask(built, demo.QUESTIONS)
    if as_json:
        print_json(
            {
                "collection": str(output),
                "comparison": [row._asdict() for row in rows],
                "answers": [vars(answer) for answer in answers],
            }
        )
        return
    print_comparison("1,000 diagnoses as queries among all others", rows, 10)
    typer.echo(_COLUMNS)
    for answer in answers:
        typer.echo(f"\n? {answer.question}")
        if answer.chapter is None:
            typer.echo(
                "  rejected as out-of-distribution (the nearest item is "
                f"{answer.distances[0]} bits away)"
            )
            continue
        share = f"{answer.share:.0%} of its neighbours vote"
        typer.echo(_cut(f"  {share}: {answer.chapter}"))
        for text, distance in zip(answer.texts[:3], answer.distances, strict=False):
            typer.echo(_cut(f"  {distance:4d} bits  {text}"))
    typer.echo(f"\nThe collection is in {output}. Try it yourself:")
    question = "cannot sleep at night"
    typer.echo(f"  {opt.command_line('search', output, question, '--rerank')}")
    typer.echo(f"  {opt.command_line('like', output, 'dog bite', 'cat bite')}")
    typer.echo(f"  {opt.command_line('serve', output)}")


def _cut(text: str, width: int = 79) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"
