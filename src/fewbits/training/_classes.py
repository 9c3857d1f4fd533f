"""The codes of classes that a learner has made, and what its scores are worth."""

from dataclasses import replace
from typing import Any

import numpy as np

from fewbits.decoding import Calibration, Codebook, calibrate, hidden_class_rates
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
        What it was fitted to. The rows that it kept aside calibrate, and play foreign
        items; those with several labels cannot.
    """
    inner = learner.learner_ if isinstance(learner, KernelMapped) else learner
    make = getattr(inner, "codebook_of_classes", None)
    if make is None:
        return None, None
    book, rows = make(), inner.held_out_
    if not len(rows) or np.ndim(labels) != 1:
        return book, None
    aside, classes = features[rows], np.asarray(labels)[rows]
    calibration = calibrate(book, learner.encoder_.project(aside), classes)
    if len(book) > 1:
        codes, own = learner.encoder_.encode(aside), book.rows(classes)
        hidden = hidden_class_rates(book.codes, book.n_bits, codes, own)
        calibration = replace(calibration, hidden=hidden)
    return book, calibration
