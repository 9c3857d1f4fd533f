"""The main job on real data: diagnoses become a few bits that answer questions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fewbits import datasets
from fewbits._repr import one_line
from fewbits.collection import Collection, tools
from fewbits.encoders import Encoder, LinearEncoder
from fewbits.errors import ArtefactError
from fewbits.evaluation import Comparison, compare_encoders
from fewbits.learners import ITQ, LSH, NeighbourCodes, NeighbourTraining

__all__ = ["BACKBONE", "QUESTIONS", "Answer", "ask", "build", "compare", "load", "made"]

Progress = Callable[[int, int], None]

BACKBONE = "wordllama-256"
N_QUERIES = 1000
N_TRAINING = 20_000  # keeps the demo short
QUESTIONS = (
    "fractured wrist",
    "sugar in blood",
    "bitten by a shark",
    "fear of flying in airplanes",
    "quarterly earnings report of the bank",
)


@dataclass(frozen=True)
class Answer:
    """Answer to one question.

    Attributes
    ----------
    chapter : str or None
        The chapter that most neighbours belong to; None when the question is refused.
    share : float
        Share of the neighbours that voted for it.
    texts, distances : list
        The nearest diagnoses.
    """

    question: str
    chapter: str | None
    share: float
    texts: list[str]
    distances: list[int]

    def __repr__(self) -> str:
        return one_line(self)


def load() -> datasets.Dataset:
    """Return the diagnoses of ICD-10-CM."""
    return datasets.load_icd10()


def build(
    folder: Path,
    data: datasets.Dataset,
    features: NDArray[np.float32],
    *,
    n_bits: int = 256,
    progress: Progress | None = None,
) -> Collection:
    """Learn codes, and keep them with the diagnoses, whose categories are classes.

    Questions that are farther away than other categories are refused. The queries of
    `compare` are not learnt from.
    """
    import pyarrow as pa

    training = features[_split(len(features))[1]][:N_TRAINING]
    learner = ITQ(n_bits, random_state=0).fit(training)
    learnt = Collection.from_learner(learner, training, backbone=BACKBONE)
    table = {
        "icd10": data.keys,
        "text": data.items,
        "chapter": data.labels["chapter"],
        "category": data.labels["category"],
    }
    return Collection.create(
        folder,
        pa.table(table),
        column="text",
        label="category",
        encoder=tools.with_facts(learnt, data=data.name),
        overwrite=True,
        progress=progress,
    )


def compare(
    features: NDArray[np.float32],
    learnt: Encoder,
    *,
    progress: Progress | None = None,
) -> list[Comparison]:
    """Measure codes against the float vectors on diagnoses held out as queries.

    Beside the learnt codes: sign bits, random codes, and learnt ones of a quarter and
    of twice the length; as short ones, in a third of the usual iterations, also those
    that keep neighbours.
    """
    query_rows, rows = _split(len(features))
    queries, database = features[query_rows], features[rows]
    n_bits, n_features = learnt.n_bits, features.shape[1]
    encoders: dict[str, Encoder] = {
        "sign bits": LinearEncoder(np.eye(n_features), np.zeros(n_features)),
        f"random {n_bits} (LSH)": LSH(n_bits, random_state=0).fit(database).encoder_,
    }
    training = database[:N_TRAINING]
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


def _split(n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of the queries and all others."""
    order = np.random.default_rng(0).permutation(n)
    n_queries = min(N_QUERIES, n // 10)
    return order[:n_queries], order[n_queries:]


def made(folder: Path) -> bool:
    """Return whether `folder` holds the collection of an earlier demo."""
    try:
        return "data" in Collection.open(folder).facts.extra
    except (ArtefactError, OSError):
        return False


def ask(collection: Collection, questions: Sequence[str], k: int = 10) -> list[Answer]:
    """Answer typed questions: nearest diagnoses, their chapter, or a refusal."""
    hits = collection.search(questions, k)
    votes = collection.classify(questions, label="chapter", k=k)
    assert hits.out_of_distribution is not None
    assert votes.scores is not None
    return [
        Answer(
            question,
            None if refused else str(chapter),
            float(share),
            [str(hit["text"]) for hit in nearest],
            [int(hit.distance) for hit in nearest],
        )
        for question, nearest, refused, chapter, share in zip(
            questions,
            hits,
            hits.out_of_distribution,
            votes.classes,
            votes.scores,
            strict=True,
        )
    ]
