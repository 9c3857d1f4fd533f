"""The codes of classes that a learner has made, and what its scores are worth."""

from typing import Any

import numpy as np

from fewbits.decoding import Calibration, Codebook, calibrate
from fewbits.learners import KernelMapped


def classes_of(
    learner: Any, features: Any, labels: Any
) -> tuple[Codebook | None, Calibration | None]:
    """Return both, or None for what the learner has not made.

    Parameters
    ----------
    learner : Learner
        After `fit`.
    features, labels
        What it was fitted to. The rows that it kept aside calibrate; items with several
        labels cannot.
    """
    inner = learner.learner_ if isinstance(learner, KernelMapped) else learner
    make = getattr(inner, "codebook_of_classes", None)
    if make is None:
        return None, None
    book, rows = make(), inner.held_out_
    if not len(rows) or np.ndim(labels) != 1:
        return book, None
    scores = learner.encoder_.project(features[rows])
    return book, calibrate(book, scores, np.asarray(labels)[rows])
