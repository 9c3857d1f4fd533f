"""Re-ranked search of a bundle, for comparison with its codes alone."""

import time
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from fewbits._typing import FeatureArray, IdArray
from fewbits.bundle import Bundle, vote_neighbours
from fewbits.classify import vote
from fewbits.evaluation import Comparison, search_recall


class Reranked(NamedTuple):
    """Comparison of re-ranking, and the bundle of the items it was tried with."""

    row: Comparison
    bundle: Bundle

    def vote_accuracy(
        self, queries: FeatureArray, truth: Any, labels: Any, k: int
    ) -> float:
        """Return the accuracy of a vote of `k` items with these labels."""
        found = vote_neighbours(self.bundle, queries, k)
        return float(np.mean(vote(found, labels, k).labels == truth))


def reranked(
    bundle: Bundle,
    queries: FeatureArray,
    database: FeatureArray,
    nearest: IdArray,
) -> Reranked | None:
    """Search as a bundle that was tuned for re-ranking, or that stores vectors.

    Its shortlist is re-ranked by vectors of the precision in which it stores
    them, or else by scores. `nearest` holds the ground truth; as many items are
    found.
    """
    kept = None if bundle.items is None else bundle.items.vector_form
    if bundle.shortlist is None and kept is None:
        return None
    of_features = replace(bundle, backbone=None, backbone_fingerprint=None)
    built = of_features.with_items(database, keep_vectors=kept)
    start = time.perf_counter()
    found = built.search_reranked(queries, nearest.shape[1])
    speed = len(queries) / (time.perf_counter() - start)
    recall = search_recall(found.ids, nearest).value
    size = built.collection.bytes_per_item
    return Reranked(Comparison(_described(built), size, recall, None, speed), built)


def _described(bundle: Bundle) -> str:
    by = "scores" if bundle.collection.vectors is None else "vectors"
    again = "" if bundle.shortlist is None else f"{bundle.shortlist} "
    return f"{bundle.encoder.n_bits} bits, {again}re-ranked by {by}"
