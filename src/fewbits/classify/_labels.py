"""Choice of an item's labels, of which it may have several, by their codes."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._labels import as_label_rows
from fewbits._spans import spans
from fewbits.classify._class_sums import class_sums
from fewbits.classify._codebook import Codebook
from fewbits.classify._items import item_scores
from fewbits.classify.decoders._reliability import whole
from fewbits.errors import ArgumentError

FloatArray = NDArray[np.float64]

_ENTRIES = 1 << 22  # scores of labels at a time


def label_scores(codebook: Codebook, scores: ArrayLike) -> FloatArray:
    """Return how well the scores of each item fit the code of each label.

    It is the cosine between the scores and the code as -1 and 1. An item of several
    labels is trained towards the mean of their codes, to which all of them are near.

    Parameters
    ----------
    codebook : Codebook
        Of the labels.
    scores : array-like of shape (n, n_bits)
        ``encoder.project(X)``.

    Returns
    -------
    ndarray of shape (n, n_labels), dtype float64
        Between -1 and 1; 0 for scores that are all 0.

    Raises
    ------
    FeatureError
        When scores are not finite, or not one for each bit.

    Examples
    --------
    >>> from fewbits.codes import pack
    >>> book = Codebook(pack([[0, 0, 1, 1], [1, 1, 1, 1]]), 4, ["sea", "sky"])
    >>> label_scores(book, [[0.0, 0.0, 1.0, 1.0]]).round(3)
    array([[0.707, 0.707]])
    """
    # Whole numbers add up exactly in any order: no item's scores depend on others.
    numbers, _ = whole(item_scores(scores, codebook))
    lengths = np.linalg.norm(numbers, axis=1) * codebook.n_bits**0.5
    cosines = np.empty((len(numbers), len(codebook)))
    for items in spans(len(numbers), _ENTRIES // len(codebook)):
        some = numbers[items]
        products = 2 * class_sums(some, codebook.codes) - some.sum(axis=1)[:, None]
        cosines[items] = products / np.maximum(lengths[items], 1)[:, None]
    return cosines


def label_threshold(codebook: Codebook, scores: ArrayLike, labels: ArrayLike) -> float:
    """Return the least of `label_scores` with which an item has a label.

    It is one for all labels, and that of the largest F1 over all pairs of an item and a
    label.

    Parameters
    ----------
    codebook : Codebook
        Of the labels.
    scores : array-like of shape (n, n_bits)
        Of held-out items, ``encoder.project(X)``.
    labels : array-like of shape (n, n_labels)
        1 for each label that an item has, 0 for others.

    Returns
    -------
    float
        2, so that no item has a label, when none of these has one.

    Raises
    ------
    FeatureError
        As `label_scores`.
    ArgumentError
        When there is no item, or labels are not one of 0 and 1 for each item and label.

    Examples
    --------
    >>> from fewbits.codes import pack
    >>> book = Codebook(pack([[0, 0, 1, 1], [1, 1, 1, 1]]), 4, ["sea", "sky"])
    >>> both, sea = [0.0, 0.0, 1.0, 1.0], [-1.0, -1.0, 1.0, 1.0]
    >>> round(label_threshold(book, [both, sea], [[1, 1], [1, 0]]), 3)
    0.707
    """
    found, Y = label_scores(codebook, scores), as_label_rows(labels)
    if Y.ndim == 1 and found.shape[1] == 1:
        Y = Y[:, None]
    if Y.shape != found.shape or not Y.size or not np.isin(Y, (0, 1)).all():
        raise ArgumentError(
            f"labels must be 0 and 1 in shape {found.shape}, got shape {Y.shape}"
        )
    if not Y.any():
        return 2.0
    order = np.argsort(-found, axis=None, kind="stable")
    values, right = found.ravel()[order], np.cumsum(Y.ravel()[order])
    f1 = 2 * right / (np.arange(1, len(values) + 1) + right[-1])
    f1[:-1][values[:-1] == values[1:]] = 0  # equal scores are of one mind
    return float(values[f1.argmax()])
