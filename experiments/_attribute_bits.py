"""How well bits are used, whether they are found again, and how their codes lie."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments._cells import Cell
from fewbits.analysis.bits import bit_report, rank_bits
from fewbits.codes import hamming_distances, unpack

Codes = NDArray[np.uint8]


def bit_figures(
    scores: NDArray[np.float32], codes: Codes, classes: NDArray[Any], n_known: int
) -> Cell:
    """Return means over the bits; the items of known classes come first."""
    report = bit_report(codes, scores.shape[1])
    ranking = rank_bits(scores, classes)
    return {
        "rarer": float(np.minimum(report.balance, 1 - report.balance).mean()),
        "entropy": float(report.entropy.mean()),
        "effective": report.effective_bits,
        "stability": float(ranking.stability.mean()),
        "least_stability": float(ranking.stability.min()),
        "novel_stability": float(rank_bits(scores[n_known:]).stability.mean()),
        "information": float(ranking.reliable_information.mean()),
    }


def found_again(one: Codes, other: Codes, n_bits: int) -> float:
    """Return the mean correlation of a bit with the most like bit of other codes.

    Of absolute values: which side is called 1 does not matter.
    """
    found = correlations(unpack(one, n_bits), unpack(other, n_bits))
    return float(found.max(axis=1).mean())


def correlations(
    one: NDArray[np.uint8], other: NDArray[np.uint8]
) -> NDArray[np.float64]:
    """Return absolute correlations between the columns, 0 for constant ones."""
    return np.abs(_standardized(one).T @ _standardized(other)) / len(one)


def _standardized(bits: NDArray[Any]) -> NDArray[np.float64]:
    """Return columns of mean 0 and variance 1; constant ones become 0."""
    spread = bits.std(axis=0)
    return np.asarray((bits - bits.mean(axis=0)) / np.where(spread > 0, spread, 1))


def distance_figures(
    codes: Codes, n_bits: int, classes: NDArray[Any], kinds: NDArray[Any]
) -> Cell:
    """Return mean distances, as shares of the bits, by what two items have in common.

    They are of one class, of different classes of one kind, or of neither.
    """
    distances = hamming_distances(codes, codes) / n_bits
    same = classes[:, None] == classes
    akin = (kinds[:, None] == kinds) & (kinds != "") & ~same
    itself = np.eye(len(codes), dtype=bool)
    parts = {"class": same & ~itself, "kind": akin, "other": ~same & ~akin}
    return {name: float(distances[pairs].mean()) for name, pairs in parts.items()}
