"""The class codes of a learner, and their calibration."""

from typing import Any, NamedTuple

import numpy as np

from fewbits._warnings import warn_user
from fewbits.analysis.bounds import Members, majority_codes
from fewbits.classify import Calibration, Codebook, calibrate, label_threshold
from fewbits.learners import KernelMapped
from fewbits.learners.fitting import indicator
from fewbits.ood import Rejection, learn_rejection


class Classes(NamedTuple):
    """The classes of a bundle.

    Attributes
    ----------
    codebook : Codebook or None
    calibration : Calibration or None
    rejection : Rejection or None
    facts : dict
        Further fields of `fewbits.bundle.Metadata`.
    """

    codebook: Codebook | None
    calibration: Calibration | None
    rejection: Rejection | None
    facts: dict[str, Any]


def classes_of(learner: Any, features: Any, labels: Any, groups: Any = None) -> Classes:
    """Return the class codes and calibration of a deep learner, if it is one.

    The codes are those learnt for the classes, or the centres that the loss pulls
    their items to, or else the bitwise majority of the codes of the items that it was
    trained on.

    Parameters
    ----------
    learner : Learner
        After `fit`.
    features, labels
        Training data of the learner. The rows that it held out calibrate
        probabilities; with several labels an item they set the score thresholds. All
        rows teach rejection, unless their features were trained on the classes.
    groups : array-like of shape (n,), default=None
        Of rows that are copies of each other, for rejection.

    Warns
    -----
    UserWarning
        When classes share a code of majorities.
    """
    inner = learner.learner_ if isinstance(learner, KernelMapped) else learner
    if not hasattr(inner, "held_out_"):
        return Classes(None, None, None, {})
    rows, make = inner.held_out_, getattr(inner, "codebook_of_classes", None)
    book = None if make is None else make()
    if book is None:
        book = _majorities(learner, features, labels, rows)
    facts: dict[str, Any] = {}
    if hasattr(inner, "n_repaired_"):
        facts["repaired_classes"] = int(inner.n_repaired_)
    if np.ndim(labels) > 1:
        facts |= _of_several(book, learner, features, labels, rows)
        return Classes(book, None, None, facts)
    rejection = _rejection(inner, features, labels, groups)
    if not len(rows):
        return Classes(book, None, rejection, facts)
    held_out, classes = features[rows], np.asarray(labels)[rows]
    calibration = calibrate(book, learner.encoder_.project(held_out), classes)
    return Classes(book, calibration, rejection, facts)


def _majorities(learner: Any, features: Any, labels: Any, held_out: Any) -> Codebook:
    """Return the majority of each class among the items that were not held out.

    All items of a class that has none but these.
    """
    encoder = learner.encoder_
    classes, Y = indicator(labels, features, type(learner).__name__)
    pairs = Y.tocsc()
    numbers = np.repeat(np.arange(len(classes)), np.diff(pairs.indptr))
    trained = ~np.isin(pairs.indices, held_out)
    sizes = np.bincount(numbers[trained], minlength=len(classes))
    counted = trained | (sizes[numbers] == 0)
    members = Members(classes, numbers[counted], pairs.indices[counted])
    codes = majority_codes(encoder.encode(features), encoder.n_bits, members)
    book = Codebook(codes, encoder.n_bits, classes)
    if book.n_unique < len(book):
        warn_user(
            f"{len(book)} classes have {book.n_unique} different codes: no decoder can "
            "tell those apart that share one; longer codes or more training may"
        )
    return book


def _of_several(
    book: Codebook, learner: Any, features: Any, labels: Any, rows: Any
) -> dict[str, Any]:
    """Return the metadata of a bundle for multi-label items."""
    facts: dict[str, Any] = {"several_labels": True}
    if len(rows):
        Y = indicator(labels, features, type(learner).__name__)[1][rows].toarray()
        scores = learner.encoder_.project(features[rows])
        facts["label_threshold"] = label_threshold(book, scores, Y)
    return facts


def _rejection(
    learner: Any, features: Any, labels: Any, groups: Any
) -> Rejection | None:
    """Learn to reject, where that can be calibrated.

    A backbone that was trained on the classes would make new ones look too far.
    """
    network = learner.network
    trained = network is not None and network.backbone is not None
    if trained and network.trainable != 0:
        return None
    if len(np.unique(labels)) < 2:
        return None
    return learn_rejection(features, labels, groups=groups)
