"""Warnings about labels and groups before learning, and about codes after it."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._labels import as_groups, as_label_rows
from fewbits._warnings import warn_user
from fewbits.analysis.bits import diagnose_codes
from fewbits.encoders import Encoder
from fewbits.errors import ArgumentError
from fewbits.inputs import Input
from fewbits.learners import AdditiveCodes, Learner

_CLASSES = "OUiub"  # dtype kinds of labels that can be counted
_SAMPLE = 10_000  # items whose codes are examined


def checked_labels(source: Input) -> Input:
    """Return items whose labels, if any, are classes or rows of 0 and 1.

    Raises
    ------
    ArgumentError
        As `fewbits._labels.as_label_rows`.
    """
    if source.labels is None:
        return source
    rows = as_label_rows(source.labels, f"labels of {source.source}", n=len(source))
    return replace(source, labels=rows)


def check_classes(source: Input) -> None:
    """Refuse labels that are not classes; warn of those that hardly are.

    Warns
    -----
    UserWarning
        When more than half of the classes have a single item.

    Raises
    ------
    ArgumentError
        When no two items are of the same class.
    """
    labels = np.asarray(source.labels)
    if labels.ndim != 1 or labels.dtype.kind not in _CLASSES:
        return
    sizes = np.unique(labels, return_counts=True)[1]
    n_classes = len(sizes)
    if n_classes == len(labels) > 1:
        raise ArgumentError(
            f"the labels of {source.source} are all different: classes are learnt from "
            "labels that several items have"
        )
    if np.sum(sizes == 1) > n_classes / 2:
        warn_user(
            f"{source.source} has {n_classes:,} classes for {len(labels):,} items: "
            "most classes have a single item to learn from"
        )


def check_labelled(source: Input, method: str) -> None:
    """Refuse items without labels, naming the method as it was given.

    Raises
    ------
    ArgumentError
    """
    if source.labels is None:
        raise ArgumentError(
            f"{method} learns from labels, and {source.source} comes without: "
            f"{source.labels_hint()}"
        )


def check_two_classes(source: Input, method: str) -> None:
    """Refuse a single class, naming the method as it was given.

    Raises
    ------
    ArgumentError
    """
    labels = np.asarray(source.labels)
    if labels.dtype.kind not in _CLASSES:
        return  # learners refuse these
    if labels.ndim == 1 and len(np.unique(labels)) == 1:
        raise ArgumentError(
            f"{method} needs at least 2 classes, and all labels of {source.source} are "
            "the same"
        )


def check_groups(groups: Any, n: int, deep: bool, labels: Any) -> None:
    """Refuse groups that are not one for each item, or where none reject.

    Raises
    ------
    ArgumentError
    """
    if groups is None:
        return
    if not deep or np.ndim(labels) != 1:
        raise ArgumentError(
            "groups are for rejection, which deep methods learn from items of one "
            "class each: leave the groups out"
        )
    as_groups(groups, n)


def warn_of_codes(
    encoder: Encoder,
    features: NDArray[Any],
    labels: Any,
    *,
    constant_bits: bool = True,
) -> None:
    """Warn of defects of the codes of a sample of the training items.

    Parameters
    ----------
    encoder : Encoder
    features : ndarray of shape (n, n_features)
    labels : array-like or None
        Labels that the codes were learnt from; None if the method uses none.
    constant_bits : bool, default=True
        Whether to warn of constant bits too; the learner may have done so.
    """
    rows = np.arange(len(features))
    if len(rows) > _SAMPLE:
        drawn = np.random.default_rng(0).choice(len(rows), _SAMPLE, replace=False)
        rows = np.sort(drawn)
    if labels is not None and encoder.n_bits > len(features):
        warn_user(
            f"{encoder.n_bits:,} bits are learnt from {len(features):,} items: most "
            "will repeat others"
        )
    codes = encoder.encode(features[rows])
    for sentence in diagnose_codes(
        codes, encoder.n_bits, _n_classes(labels), constant_bits=constant_bits
    ):
        warn_user(f"among the codes of training items, {sentence}")


def warn_of_bytes(source: Input) -> None:
    """Warn of vectors of bytes, which may be codes; those of .bvecs never are."""
    is_bytes = getattr(source.values, "dtype", None) == np.uint8
    if source.kind == "vectors" and is_bytes and not source.source.endswith(".bvecs"):
        warn_user(
            f"{source.source} holds uint8, which are learnt from as numbers from 0 to "
            "255; for codes packed into bytes the method is 'packed'"
        )


def warn_of_few_bits(learner: Learner) -> None:
    """Warn of additive codes of fewer bits than features."""
    fitted = getattr(learner, "learner_", learner)  # behind a kernel map
    if not isinstance(fitted, AdditiveCodes) or fitted.correction:
        return
    if fitted.n_bits < fitted.n_features_in_:
        warn_user(
            f"{fitted.n_bits:,} bits for {fitted.n_features_in_:,} features: additive "
            "codes are at their best with a bit per feature or more; another method "
            "may find more ('fewbits compare')"
        )


def _n_classes(labels: Any) -> int | None:
    if labels is None:
        return None
    several = getattr(labels, "ndim", 1) > 1
    return int(labels.shape[1]) if several else len(np.unique(labels))
