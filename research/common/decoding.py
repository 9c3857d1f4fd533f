"""Error rates of decoders, by the definitions in use."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_choice
from fewbits._typing import CodeArray, IdArray
from fewbits.classify import Codebook, Decoded
from fewbits.codes import as_codes, unpack
from fewbits.errors import ArgumentError

CREDITS = ("strict", "expected", "paper")


def decoding_credits(
    codebook: Codebook,
    decoded: Decoded,
    labels: ArrayLike,
    *,
    codes: CodeArray | None = None,
    credit: str = "strict",
) -> NDArray[np.float64]:
    """Return the credit of each answer of a decoder; their mean is its accuracy.

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
    >>> for credit in CREDITS:
    ...     found = decoding_credits(
    ...         book, decoded, book.names, codes=codes, credit=credit
    ...     )
    ...     print(found.mean().round(3))
    0.333
    0.667
    1.0
    """
    check_choice(credit, "credit", CREDITS)
    rows = codebook.rows(labels)
    _check_lengths(decoded.rows, rows)
    if credit == "strict":
        return (decoded.rows == rows).astype(np.float64)
    if codes is None:
        raise ArgumentError(f"credit {credit!r} needs the codes that were decoded")
    among = _own_distances(codebook, codes, rows) == decoded.distances
    share = 1 / np.maximum(decoded.ties, 1) if credit == "expected" else 1.0
    credits: NDArray[np.float64] = among * share
    return credits


def matching_bits(codebook: Codebook, codes: CodeArray, labels: ArrayLike) -> float:
    """Return the mean number of bits that items share with their own class's code.

    LLC's section 4.4 has 19.2 of 20 bits, and 28.5 of 30.

    Examples
    --------
    >>> book = Codebook(np.array([[0], [240]], np.uint8), 4, ["cat", "dog"])
    >>> matching_bits(book, np.array([[16], [240]], np.uint8), ["cat", "dog"])
    3.5
    """
    rows = codebook.rows(labels)
    distances = _own_distances(codebook, codes, rows)
    return float(np.mean(codebook.n_bits - distances))


def _own_distances(
    codebook: Codebook, codes: CodeArray, rows: IdArray
) -> NDArray[np.int32]:
    """Return the distance of each item to the code of its class."""
    codes = as_codes(codes, n_bits=codebook.n_bits)
    _check_lengths(codes, rows)
    bits = unpack(codes ^ codebook.codes[rows], codebook.n_bits)
    distances: NDArray[np.int32] = bits.sum(axis=1, dtype=np.int32)
    return distances


def _check_lengths(items: NDArray[np.generic], labels: IdArray) -> None:
    if len(items) != len(labels) or not len(labels):
        raise ArgumentError(f"need a label an item, got {len(labels)} of {len(items)}")
