"""ICD-10-CM diagnoses, from text to a bundle that answers questions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fewbits import backbones, datasets
from fewbits._repr import one_line
from fewbits.bundle import Bundle, Metadata
from fewbits.classify import nearest_vote
from fewbits.encoders import Encoder, LinearEncoder
from fewbits.errors import ArtefactError
from fewbits.evaluation import Comparison, compare_encoders
from fewbits.learners import ITQ, LSH, NeighbourCodes, NeighbourTraining

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
    """Return the diagnoses."""
    return datasets.load_icd10()


def build(
    data: datasets.Dataset,
    features: NDArray[np.float32],
    *,
    n_bits: int = 256,
) -> Bundle:
    """Learn codes, store them with the texts, and calibrate the refusal.

    The queries of `compare` are not learnt from.
    """
    encoder = _learn(features[_split(len(features))[1]], n_bits)
    codes = encoder.encode(features)
    bundle = Bundle(
        encoder,
        backbone=BACKBONE,
        backbone_fingerprint=backbones.load(BACKBONE).fingerprint,
        metadata=Metadata(method="itq", extra={"data": data.name}),
    )
    columns = {
        "icd10": data.keys,
        "text": data.items,
        "chapter": data.labels["chapter"],
    }
    filled = bundle.with_codes(codes, columns=columns)
    return filled.with_novelty_radius(data.labels["category"])


def compare(
    features: NDArray[np.float32],
    learnt: Encoder,
    *,
    progress: Progress | None = None,
) -> list[Comparison]:
    """Measure codes against the float vectors on diagnoses held out as queries.

    Beside the learnt codes: the signs of the features, random codes of the same length,
    learnt codes of a quarter and of twice the length, and as short ones that are
    trained, in a third of the usual iterations, to keep neighbours.
    """
    asked, others = _split(len(features))
    queries, database = features[asked], features[others]
    n_bits, n_features = learnt.n_bits, features.shape[1]
    encoders: dict[str, Encoder] = {
        "sign bits": LinearEncoder(np.eye(n_features), np.zeros(n_features)),
        f"random {n_bits} (LSH)": LSH(n_bits, random_state=0).fit(database).encoder_,
    }
    short = max(8, n_bits // 4)
    for length in sorted({short, n_bits, 2 * n_bits}):
        encoder = learnt if length == n_bits else _learn(database, length)
        encoders[f"learnt {length} (ITQ)"] = encoder
    encoders[f"learnt {short} (neighbours)"] = _keep_neighbours(database, short)
    return compare_encoders(encoders, database, queries, progress=progress)


def _split(n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of the queries and all others."""
    order = np.random.default_rng(0).permutation(n)
    n_queries = min(N_QUERIES, n // 10)
    return order[:n_queries], order[n_queries:]


def _learn(features: NDArray[np.float32], n_bits: int) -> Encoder:
    return ITQ(n_bits, random_state=0).fit(features[:N_TRAINING]).encoder_


def _keep_neighbours(features: NDArray[np.float32], n_bits: int) -> Encoder:
    training = NeighbourTraining(n_anchors=5000)
    learner = NeighbourCodes(n_bits, training=training, n_iter=10, random_state=0)
    return learner.fit(features[:N_TRAINING]).encoder_


def made(folder: Path) -> bool:
    """Return whether `folder` holds the bundle of an earlier demo, to be replaced."""
    try:
        return "data" in Bundle.load(folder, items=False).metadata.extra
    except (ArtefactError, OSError):
        return False


def ask(bundle: Bundle, questions: Sequence[str], k: int = 10) -> list[Answer]:
    """Answer typed questions: nearest diagnoses, their chapter, or a refusal."""
    codes = bundle.encode(questions)
    found = bundle.index.search(codes, k)
    items, radius = bundle.collection, bundle.novelty_radius
    assert radius is not None
    texts, chapters = items.column("text"), items.column("chapter")
    votes = nearest_vote(codes, items.codes, chapters.astype(str), k)
    return [
        Answer(
            question,
            str(label) if distances[0] <= radius else None,
            float(share),
            [str(texts[row]) for row in rows],
            [int(distance) for distance in distances],
        )
        for question, label, share, rows, distances in zip(
            questions,
            votes.labels,
            votes.shares,
            found.ids,
            found.distances,
            strict=True,
        )
    ]
