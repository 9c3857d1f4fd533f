"""Classes to decode, with items of theirs, for the benchmark of decoders."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits import backbones, datasets
from fewbits.classify import Codebook
from fewbits.codes import pack
from fewbits.encoders import Encoder, LinearEncoder
from fewbits.learners import ITQ

N_FEATURES, N_BITS = 1280, 64
NOISE = 0.6  # of scores that are -1 or 1: 4.8 % of the signs are wrong


@dataclass(frozen=True, eq=False)
class Classes:
    """A codebook, vectors for a float classifier, and items of known classes."""

    name: str
    book: Codebook
    W: NDArray[np.float32]
    encoder: Encoder
    X: NDArray[np.float32]
    scores: NDArray[np.float32]
    wanted: NDArray[np.int64]


def random_classes(n_classes: int, n_items: int) -> Classes:
    """Return random codes and noisy scores; features only cost the time they take."""
    rng = np.random.default_rng(0)
    bits = rng.random((n_classes, N_BITS)) < 0.5
    book, wanted = Codebook(pack(bits), N_BITS), rng.integers(0, n_classes, n_items)
    noise = NOISE * rng.normal(size=(n_items, N_BITS))
    scores = (np.where(bits[wanted], 1.0, -1.0) + noise).astype(np.float32)
    X = rng.normal(size=(n_items, N_FEATURES)).astype(np.float32)
    W = rng.random((N_FEATURES, n_classes), np.float32)
    encoder = LinearEncoder(rng.normal(size=(N_FEATURES, N_BITS)), np.zeros(N_BITS))
    return Classes("random", book, W, encoder, X, scores, wanted)


def icd10_leaves(n_items: int) -> Classes:
    """Return every leaf of ICD-10-CM as a class.

    A class's vector is the embedding of its text, its code that vector's by ITQ. Items
    are texts of leaves without one of their words, drawn at random. Leaves whose texts
    say the same share a vector and a code: neither classifier can distinguish them.
    """
    rng, data = np.random.default_rng(0), datasets.load_icd10()
    backbone = backbones.load("wordllama-256")
    vectors = backbone.extract(data.items)
    learnt_from = rng.permutation(len(vectors))[:10_000]
    encoder = ITQ(N_BITS, random_state=0).fit(vectors[learnt_from]).encoder_
    wanted = rng.integers(0, len(vectors), n_items)
    X = backbone.extract([without_a_word(data.items[row], rng) for row in wanted])
    book = Codebook(encoder.encode(vectors), N_BITS)
    W = np.ascontiguousarray(vectors.T)
    return Classes("icd10", book, W, encoder, X, encoder.project(X), wanted)


def without_a_word(text: str, rng: Any) -> str:
    """Return a text less one of its words, unless it has only one."""
    words = text.split()
    if len(words) > 1:
        del words[rng.integers(len(words))]
    return " ".join(words)
