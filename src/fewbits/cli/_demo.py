"""``fewbits demo``: the main job on real data."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from fewbits._lazy import pa
from fewbits.cli import _options as opt
from fewbits.cli._printing import (
    learning_bar,
    print_comparison,
    print_json,
    progress_bar,
)

if TYPE_CHECKING:
    from fewbits.collection import Collection
    from fewbits.datasets import Dataset
    from fewbits.encoders import Encoder
    from fewbits.evaluation import Comparison

Progress = Callable[..., None]

_BACKBONE = "wordllama-256"
_N_QUERIES = 1000
_N_TRAINING = 20_000  # keeps the demo short
_QUESTIONS = (
    "fractured wrist",
    "sugar in blood",
    "bitten by a shark",
    "fear of flying in airplanes",
    "quarterly earnings report of the bank",
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
    from fewbits import backbones, datasets
    from fewbits.collection import tools

    tools.check_target(output, overwrite=_is_demo(output))
    backbone = backbones.load(_BACKBONE)
    data = datasets.load_icd10()
    if not as_json:
        typer.echo(f"{len(data):,} diagnoses of ICD-10-CM, e.g. {data.items[0]!r}")
    _announce("embedding the diagnoses")
    with progress_bar("reading") as progress:
        features = backbone.extract(data.items, progress=progress)
    _announce(f"learning codes of {bits} bits, and encoding")
    with learning_bar("learning") as progress:
        built = _build(output, data, features, bits, progress)
    _announce("comparing them with float vectors and with other codes: a minute or so")
    with learning_bar("comparing") as progress:
        rows = _compare(features, built.encoder, progress)
    answers = _answers(built)
    if as_json:
        comparison = [row._asdict() for row in rows]
        facts = {"collection": str(output), "comparison": comparison}
        print_json({**facts, "answers": answers})
        return
    print_comparison("1,000 diagnoses as queries among all others", rows, 10)
    typer.echo(_COLUMNS)
    for answer in answers:
        typer.echo(f"\n? {answer['question']}")
        if answer["chapter"] is None:
            typer.echo(
                "  rejected as out-of-distribution (the nearest item is "
                f"{answer['distances'][0]} bits away)"
            )
            continue
        lines = [f"{answer['share']:.0%} of its neighbours vote: {answer['chapter']}"]
        pairs = zip(answer["distances"], answer["texts"][:3], strict=False)
        lines += [f"{distance:4d} bits  {text}" for distance, text in pairs]
        for line in lines:
            typer.echo(f"  {line}" if len(line) < 78 else f"  {line[:76]}…")
    typer.echo(f"\nThe collection is in {output}. Try it yourself:")
    question = "cannot sleep at night"
    typer.echo(f"  {opt.command_line('search', output, question, '--rerank')}")
    typer.echo(f"  {opt.command_line('like', output, 'dog bite', 'cat bite')}")
    typer.echo(f"  {opt.command_line('serve', output)}")


def _announce(step: str) -> None:
    """Print the next step where no progress bar shows it."""
    if not sys.stderr.isatty():
        typer.echo(f"fewbits: {step}", err=True)


def _is_demo(folder: Path) -> bool:
    """Return whether a folder holds the collection of an earlier demo."""
    from fewbits.errors import ArtefactError

    try:
        return "data" in opt.open_at(folder).facts.extra
    except (ArtefactError, OSError):
        return False


def _build(
    folder: Path, data: "Dataset", features: Any, n_bits: int, progress: Progress
) -> "Collection":
    """Learn codes, and keep them with the diagnoses, whose categories are classes.

    Questions that are farther away than other categories are refused. The queries that
    codes are compared by are not learnt from.
    """
    from fewbits.collection import Collection, tools
    from fewbits.learners import ITQ

    training = features[_split(len(features))[1]][:_N_TRAINING]
    learner = ITQ(n_bits, random_state=0).fit(training)
    learnt = Collection.from_learner(learner, training, backbone=_BACKBONE)
    labels = {name: data.labels[name] for name in ("chapter", "category")}
    return Collection.create(
        folder,
        pa.table({"icd10": data.keys, "text": data.items, **labels}),
        column="text",
        label="category",
        encoder=tools.with_facts(learnt, data=data.name),
        overwrite=True,
        progress=progress,
    )


def _compare(
    features: Any, learnt: "Encoder", progress: Progress
) -> "list[Comparison]":
    """Measure codes against the float vectors on diagnoses held out as queries.

    Beside the learnt codes: sign bits, random codes, and learnt ones of a quarter and
    of twice the length; as short ones, in a third of the usual iterations, also those
    that keep neighbours.
    """
    import numpy as np

    from fewbits.encoders import LinearEncoder
    from fewbits.evaluation import compare_encoders
    from fewbits.learners import ITQ, LSH, NeighbourCodes, NeighbourTraining

    query_rows, rows = _split(len(features))
    queries, database = features[query_rows], features[rows]
    n_bits, n_features = learnt.n_bits, features.shape[1]
    encoders: dict[str, Encoder] = {
        "sign bits": LinearEncoder(np.eye(n_features), np.zeros(n_features)),
        f"random {n_bits} (LSH)": LSH(n_bits, random_state=0).fit(database).encoder_,
    }
    training = database[:_N_TRAINING]
    short = max(8, n_bits // 4)
    for length in sorted({short, n_bits, 2 * n_bits}):
        encoder = learnt
        if length != n_bits:
            encoder = ITQ(length, random_state=0).fit(training).encoder_
        encoders[f"learnt {length} (ITQ)"] = encoder
    settings = NeighbourTraining(n_anchors=5000)
    learner = NeighbourCodes(short, training=settings, n_iter=10, random_state=0)
    encoders[f"learnt {short} (neighbours)"] = learner.fit(training).encoder_
    return compare_encoders(encoders, database, queries, progress=progress)


def _split(n: int) -> tuple[Any, Any]:
    """Return the rows of the queries and all others."""
    import numpy as np

    order = np.random.default_rng(0).permutation(n)
    n_queries = min(_N_QUERIES, n // 10)
    return order[:n_queries], order[n_queries:]


def _answers(col: "Collection") -> list[dict[str, Any]]:
    """Answer the questions: nearest diagnoses, and their chapter, or a refusal."""
    hits = col.search(_QUESTIONS, 10)
    votes = col.classify(_QUESTIONS, label="chapter", k=10)
    refused, shares = hits.out_of_distribution, votes.scores
    assert refused is not None
    assert shares is not None
    return [
        {
            "question": question,
            "chapter": None if refused[i] else str(votes.classes[i]),
            "share": float(shares[i]),
            "texts": [str(hit["text"]) for hit in hits[i]],
            "distances": [int(hit.distance) for hit in hits[i]],
        }
        for i, question in enumerate(_QUESTIONS)
    ]
