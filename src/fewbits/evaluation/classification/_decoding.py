"""Error rates of decoders, by the definitions in use."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_choice
from fewbits._typing import CodeArray, DistanceArray, IdArray
from fewbits.classify import Codebook, Decoded
from fewbits.codes import as_codes, unpack
from fewbits.errors import ArgumentError
from fewbits.evaluation._checks import check_lengths, check_not_empty
from fewbits.evaluation._score import Score, mean_score

_CREDITS = {
    "strict": "share of items given the right class",
    "expected": "expected share of items given the right class, ties at random",
    "paper": "share of items whose own class is as near as the nearest",
}


def decoding_accuracy(
    codebook: Codebook,
    decoded: Decoded,
    labels: ArrayLike,
    *,
    codes: CodeArray | None = None,
    credit: str = "strict",
) -> Score:
    """Accuracy of the answers of a decoder.

    Parameters
    ----------
    codebook : Codebook
    decoded : Decoded
    labels : array-like of shape (n,)
        The true classes, by name.
    codes : ndarray of shape (n, n_bytes), dtype uint8, default=None
        Those that were decoded; needed for the credits other than "strict".
    credit : {"strict", "expected", "paper"}, default="strict"
        "strict": the answer is the class, so no class is wrong, and of classes that
        share a code one at most is right. "expected": 1 / ties where the class is among
        those as near as the nearest that was found, as if one of them were drawn.
        "paper": 1 there. After `Exact` the last is ED as the repository of LLC
        counts it: an item is right if its code is that of its own class, so that
        classes which share a code are all right. After `Nearest` "expected" is
        MHD without luck. The two go by Hamming distance; soft decoders tie otherwise.

    Returns
    -------
    Score

    Raises
    ------
    ArgumentError
        When a label is beyond the codebook, lengths differ, or codes are missing.

    References
    ----------
    Kusupati et al., "LLC: Accurate, Multi-purpose Learnt Low-dimensional Binary Codes",
    NeurIPS 2021, and RAIVNLab/LLC, utils/eval_utils.py.

    Examples
    --------
    >>> from fewbits.classify.decoders import Exact
    >>> codes = np.array([[0], [0], [255]], np.uint8)
    >>> book = Codebook(codes, n_bits=8, names=["cat", "lynx", "dog"])
    >>> decoded = Exact().decode(book, codes)
    >>> for credit in ("strict", "expected", "paper"):
    ...     score = decoding_accuracy(
    ...         book, decoded, book.names, codes=codes, credit=credit
    ...     )
    ...     print(round(score.value, 3))
    0.333
    0.667
    1.0
    """
    check_choice(credit, "credit", _CREDITS)
    rows = codebook.rows(labels)
    check_lengths(decoded=decoded.rows, labels=rows)
    check_not_empty(rows, "labels")
    if credit == "strict":
        return mean_score((decoded.rows == rows).astype(float), _CREDITS[credit])
    if codes is None:
        raise ArgumentError(f"credit {credit!r} needs the codes that were decoded")
    among = _own_distances(codebook, codes, rows) == decoded.distances
    value = 1 / np.maximum(decoded.ties, 1) if credit == "expected" else 1.0
    return mean_score(among * value, _CREDITS[credit])


def matching_bits(codebook: Codebook, codes: CodeArray, labels: ArrayLike) -> Score:
    """Mean number of bits that items share with their own class's code.

    Parameters
    ----------
    codebook : Codebook
    codes : ndarray of shape (n, n_bytes), dtype uint8
    labels : array-like of shape (n,)
        The true classes, by name.

    Returns
    -------
    Score

    References
    ----------
    LLC, section 4.4: 19.2 of 20 bits, 28.5 of 30.

    Examples
    --------
    >>> book = Codebook(np.array([[0], [240]], np.uint8), 4, ["cat", "dog"])
    >>> matching_bits(book, np.array([[16], [240]], np.uint8), ["cat", "dog"]).value
    3.5
    """
    rows = codebook.rows(labels)
    check_not_empty(rows, "labels")
    right = codebook.n_bits - _own_distances(codebook, codes, rows)
    return mean_score(right.astype(float), f"matching bits of {codebook.n_bits}")


def _own_distances(
    codebook: Codebook, codes: CodeArray, rows: IdArray
) -> DistanceArray:
    """Return the distance of each item to the code of its class."""
    codes = as_codes(codes, n_bits=codebook.n_bits)
    check_lengths(codes=codes, labels=rows)
    differing: NDArray[np.int32] = unpack(
        codes ^ codebook.codes[rows], codebook.n_bits
    ).sum(axis=1, dtype=np.int32)
    return differing
