"""Rankings by codes against those by vectors and labels, and what encoders take."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from fewbits.encoders import Encoder
from fewbits.evaluation import (
    Relevance,
    exact_neighbours,
    mean_average_precision,
    neighbour_recall,
    neighbour_threshold,
    same_label,
    within_distance,
)
from fewbits.learners import Learner
from fewbits.learners._core._device import device_around
from fewbits.learners._core._iterative import SharedSteps
from research.common.features import FeatureSet
from research.core.record import Metrics

#: The ranks down to which the 10 nearest neighbours are looked for.
RANKS = (10, 100)


class Fit:
    """A learner that is fitted when its encoder is first asked for.

    Parameters
    ----------
    learner : Learner or None
        None stands for the features themselves.
    load : callable
        Returns the features, so that listing a grid loads none.
    steps : SharedSteps, optional
        Steps that this fit shares with others; the time they save counts as its own.
    """

    def __init__(
        self,
        learner: Learner | None,
        load: Callable[[], FeatureSet],
        steps: SharedSteps | None = None,
    ) -> None:
        self.learner, self.load, self.steps = learner, load, steps

    @cached_property
    def features(self) -> FeatureSet:
        """The rows to learn from, and the queries."""
        return self.load()

    @cached_property
    def encoder(self) -> Encoder | None:
        """The learned encoder, or None for float features."""
        features = self.features
        start, saved = time.perf_counter(), self._saved()
        if self.learner is not None:
            self.learner.fit(features.database)
        self.seconds = time.perf_counter() - start + self._saved() - saved
        return None if self.learner is None else self.learner.encoder_

    def _saved(self) -> float:
        return 0.0 if self.steps is None else self.steps.seconds_saved

    def metrics(self) -> Metrics:
        """Return what learning took and left."""
        seconds = round(self.seconds, 2)
        return {
            **(learnt_on(seconds) or {"fit_seconds": seconds}),
            "n_iter": int(getattr(self.learner, "n_iter_", 0)),
            "dead_bits": int(getattr(self.learner, "n_dead_bits_", 0)),
        }


def learnt_on(seconds: float) -> Metrics:
    """Return the name of the GPU around and the seconds there, or nothing."""
    place = device_around() or ""
    if not place.startswith("cuda"):
        return {}
    import torch

    return {"device_seconds": seconds, "device": torch.cuda.get_device_name(place)}


@dataclass(frozen=True)
class Truth:
    """Points to find: near ones, those of the same label, the 10 nearest neighbours."""

    near: Relevance
    alike: Relevance | None
    ten: NDArray[np.int64]


@lru_cache(maxsize=1)
def truth_of(features: FeatureSet, seed: int) -> Truth:
    """Return the right answers to every query."""
    threshold = neighbour_threshold(features.database, 50, random_state=seed)
    labels = features.query_labels, features.database_labels
    return Truth(
        within_distance(features.queries, features.database, threshold),
        same_label(*labels) if len(labels[0]) else None,
        exact_neighbours(features.queries, features.database, 10).ids,
    )


def ranking_metrics(features: FeatureSet, encoder: Encoder, seed: int) -> Metrics:
    """Rank the database for the queries by codes."""
    truth = truth_of(features, seed)
    asked, base = (encoder.encode(X) for X in (features.queries, features.database))
    near = mean_average_precision(asked, base, truth.near)
    found = {"ann_map": near.value, "skipped": near.n_skipped}
    if truth.alike is not None:
        found["label_map"] = mean_average_precision(asked, base, truth.alike).value
    for at in RANKS:
        found[f"recall{at}"] = neighbour_recall(asked, base, truth.ten, at).value
    return found


def float_metrics(features: FeatureSet, seed: int, *, centred: bool = False) -> Metrics:
    """Rank the database for the queries by Euclidean distance.

    Parameters
    ----------
    centred : bool, default=False
        By the angle between features less their mean, as signs of random projections
        do, the more of them there are.
    """
    alike = truth_of(features, seed).alike
    if alike is None:
        return {}
    sides, metric = (features.queries, features.database), "euclidean"
    if centred:
        mean = sides[1].mean(axis=0)
        sides, metric = (sides[0] - mean, sides[1] - mean), "cosine"
    found = mean_average_precision(*sides, alike, metric=metric)
    return {"label_map": found.value}


def encoder_metrics(encoder: Encoder) -> Metrics:
    """Return the bytes of an encoder; times to encode are a part of their own."""
    return {"encoder_bytes": sum(each.nbytes for each in encoder.tensors().values())}
