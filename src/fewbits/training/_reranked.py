"""A bundle's own way to search, beside its codes alone."""

import time
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from fewbits._typing import FeatureArray, IdArray
from fewbits.bundle import Bundle
from fewbits.codes import Neighbours
from fewbits.decoding import vote
from fewbits.evaluation import Comparison, search_recall
from fewbits.index import Ranked


class Reranked(NamedTuple):
    """What re-ranking finds, and how it compares."""

    row: Comparison
    found: Ranked

    def vote_accuracy(self, labels: Any, truth: Any) -> float:
        """Return how often the classes of what was found vote for the right one."""
        neighbours = Neighbours(self.found.distances, self.found.ids)  # type: ignore[arg-type]
        return float(np.mean(vote(neighbours, labels).labels == truth))


def reranked(
    bundle: Bundle,
    queries: FeatureArray,
    database: FeatureArray,
    nearest: IdArray,
) -> Reranked | None:
    """Search as a bundle does that was tuned to re-rank, or that keeps vectors.

    Its shortlist is what is ranked again, by vectors of the precision in which it keeps
    them, or else by scores. As many are found as there are `nearest`, the rows of the
    right ones.
    """
    kept = None if bundle.items is None else bundle.items.vectors
    if bundle.shortlist is None and kept is None:
        return None
    of_features = replace(bundle, backbone=None, backbone_fingerprint=None)
    dtype = None if kept is None else kept.dtype.name
    built = of_features.with_items(database, keep_vectors=dtype)
    start = time.perf_counter()
    found = built.search_reranked(queries, nearest.shape[1])
    speed = len(queries) / (time.perf_counter() - start)
    recall = search_recall(found.ids, nearest).value
    size = _bytes_per_item(built)
    return Reranked(Comparison(_described(built), size, recall, None, speed), found)


def _described(bundle: Bundle) -> str:
    by = "scores" if bundle.collection.vectors is None else "vectors"
    again = "" if bundle.shortlist is None else f"{bundle.shortlist} "
    return f"{bundle.encoder.n_bits} bits, {again}re-ranked by {by}"


def _bytes_per_item(bundle: Bundle) -> int:
    codes, vectors = bundle.collection.codes, bundle.collection.vectors
    return codes[:1].nbytes + (0 if vectors is None else vectors[:1].nbytes)
