"""ICD-10-CM diagnoses, from text to a bundle that answers questions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fewbits import backbones, datasets
from fewbits.bundle import Bundle
from fewbits.decoding import familiar_radius, vote
from fewbits.encoders import Encoder, LinearEncoder
from fewbits.evaluation import Comparison, compare_encoders
from fewbits.learners import ITQ, LSH

Progress = Callable[[int, int], None]

BACKBONE = "wordllama-256"
QUESTIONS = (
    "broken arm",
    "sugar in blood",
    "bitten by a shark",
    "fear of flying in airplanes",
    "quarterly earnings report of the bank",
)


@dataclass(frozen=True)
class Answer:
    """What the codes say about one question.

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


def load() -> datasets.Dataset:
    """Return the diagnoses."""
    return datasets.load_icd10()


def build(
    data: datasets.Dataset,
    features: NDArray[np.float32],
    *,
    n_bits: int = 256,
) -> Bundle:
    """Learn codes, store them with the texts, and calibrate the refusal."""
    learner = ITQ(n_bits=n_bits, random_state=0).fit(features)
    codes = learner.encode(features)
    radius = familiar_radius(codes, data.labels["category"])
    bundle = Bundle(
        learner.encoder_,
        backbone=BACKBONE,
        backbone_fingerprint=backbones.load(BACKBONE).fingerprint,
        info={"method": "itq", "data": data.name, "familiar_radius": radius},
    )
    columns = {
        "icd10": data.keys,
        "text": data.items,
        "chapter": data.labels["chapter"],
    }
    return bundle.with_codes(codes, columns=columns)


def compare(
    features: NDArray[np.float32],
    learnt: Encoder,
    *,
    progress: Progress | None = None,
) -> list[Comparison]:
    """Measure codes against the float vectors on diagnoses held out as queries."""
    rng = np.random.default_rng(0)
    order = rng.permutation(len(features))
    queries, database = features[order[:1000]], features[order[1000:]]
    n_features = features.shape[1]
    identity = LinearEncoder(np.eye(n_features), np.zeros(n_features))
    random = LSH(n_bits=learnt.n_bits, random_state=0).fit(database).encoder_
    return compare_encoders(
        {"sign bits": identity, "random (LSH)": random, "learnt (ITQ)": learnt},
        database,
        queries,
        progress=progress,
    )


def ask(bundle: Bundle, questions: Sequence[str], k: int = 10) -> list[Answer]:
    """Answer typed questions: nearest diagnoses, their chapter, or a refusal."""
    found = bundle.search(questions, k)
    items = bundle.collection
    texts, chapters = items.column("text"), items.column("chapter")
    votes = vote(found, chapters.astype(str))
    return [
        Answer(
            question,
            str(label) if distances[0] <= bundle.info["familiar_radius"] else None,
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
