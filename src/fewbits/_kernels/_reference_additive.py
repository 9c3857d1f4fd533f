"""Additive codes in NumPy."""

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import CodeArray, IdArray, ScoreArray

Float32Array = NDArray[np.float32]

_MOST_CHANGES = 4  # of each bit, in a round of coordinate descent


def additive_scores(
    scores: ScoreArray,
    sums: ScoreArray,
    gram: Float32Array,
    n_rounds: int,
    tolerance: float,
    n_threads: int,
) -> None:
    """Choose bits by coordinate descent; leave the score of each given the others.

    See additive.hpp. `scores` and `sums` are overwritten.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for each, beside in zip(scores, sums, strict=True):
            _descend(each, beside, gram, n_rounds, np.float32(tolerance))


def _descend(
    scores: Float32Array,
    sums: Float32Array,
    gram: Float32Array,
    n_rounds: int,
    tolerance: np.float32,
) -> None:
    bits = np.where(scores > 0, np.float32(1), np.float32(-1))
    diagonal, scale = np.diagonal(gram), np.float32(1)
    for turn in range(n_rounds):
        if turn:
            along, squared = (
                np.cumsum(each * bits, dtype=np.float64)[-1] for each in (scores, sums)
            )
            found = np.float32(squared / along)
            if not (along > 0 and 0 < found <= np.finfo(np.float32).max):
                break
            scale = found
        for _ in range(_MOST_CHANGES * len(bits)):
            gains = bits * (scale * scores - sums) + diagonal
            best = np.fmin.reduce(gains)
            if not best < -tolerance:
                break
            at = int(np.argmax(gains == best))
            bits[at] = -bits[at]
            sums += 2 * bits[at] * gram[at]
    scores[:] = (scale * scores - sums) + bits * diagonal


def pair_sums(
    products: NDArray[np.int8], codes: CodeArray, sums: IdArray, n_threads: int
) -> None:
    """Write for each code the sum of products of pairs of bits, as -1 and 1.

    See additive.hpp. Numbers of this size have no rounding in float64.
    """
    n = len(products)
    signs = 2.0 * np.unpackbits(codes, axis=1, count=n) - 1
    sums[:] = np.einsum("ij,ij->i", signs @ products[:, :n].astype(float), signs)
