"""Scores of what looks known, and measures of a decision rule: all high for known."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._unit_rows import unit_rows
from fewbits.codes import hamming_topk
from fewbits.evaluation import exact_neighbours

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Detection:
    """A decision rule on a mixture of known and unknown items.

    Attributes
    ----------
    known_accepted, unknown_accepted : float
        Share of the known and of the unknown items that the rule accepts.
    unknown_share : float
        Share of the unknown items among all, between 0 and 1.
    """

    known_accepted: float
    unknown_accepted: float
    unknown_share: float

    @property
    def balanced_accuracy(self) -> float:
        """Mean of the shares of both sides that are right; whatever the mixture."""
        return (self.known_accepted + 1 - self.unknown_accepted) / 2

    @property
    def accuracy(self) -> float:
        """Share of all items that are right."""
        known = (1 - self.unknown_share) * self.known_accepted
        return known + self.unknown_share * (1 - self.unknown_accepted)

    @property
    def f1_known(self) -> float:
        """F1 with known items as what is to be found."""
        return _f1(self.known_accepted, self.unknown_accepted, 1 - self.unknown_share)

    @property
    def f1_unknown(self) -> float:
        """F1 with unknown items as what is to be found."""
        rejected, wrongly = 1 - self.unknown_accepted, 1 - self.known_accepted
        return _f1(rejected, wrongly, self.unknown_share)


def detection(
    known_accepted: NDArray[np.bool_],
    unknown_accepted: NDArray[np.bool_],
    *,
    unknown_share: float | None = None,
) -> Detection:
    """Measure a decision rule by whether it accepts each item of either side.

    `unknown_share` is that of where the rule is used; None takes that of the arrays.
    """
    if unknown_share is None:
        n_unknown = len(unknown_accepted)
        unknown_share = n_unknown / (len(known_accepted) + n_unknown)
    shares = float(known_accepted.mean()), float(unknown_accepted.mean())
    return Detection(*shares, float(unknown_share))


def _f1(hit_rate: float, false_rate: float, share: float) -> float:
    """Return F1 of what is a `share` of all, by the rates that are taken for it."""
    hits = share * hit_rate
    return 2 * hits / (hits + (1 - share) * false_rate + share)


def max_softmax(logits: ArrayLike, *, temperature: float = 1.0) -> FloatArray:
    """Return the probability of the most probable class.

    Hendrycks and Gimpel, "A Baseline for Detecting Misclassified and
    Out-of-Distribution Examples in Neural Networks", ICLR 2017.
    """
    scaled = np.array(logits, np.float64) / temperature
    scaled -= scaled.max(axis=1, keepdims=True)
    shares: FloatArray = 1 / np.exp(scaled).sum(axis=1)
    return shares


def max_logit(logits: ArrayLike) -> FloatArray:
    """Return the largest logit.

    Hendrycks et al., "Scaling Out-of-Distribution Detection for Real-World Settings",
    ICML 2022.
    """
    return np.asarray(np.asarray(logits, np.float64).max(axis=1))


def energy(logits: ArrayLike, *, temperature: float = 1.0) -> FloatArray:
    """Return the negative free energy, ``T log sum exp(logits / T)``.

    Liu, Wang, Owens and Li, "Energy-based Out-of-distribution Detection", NeurIPS 2020.
    """
    values = np.asarray(logits, np.float64)
    largest = values.max(axis=1, keepdims=True)
    sums = np.exp((values - largest) / temperature).sum(axis=1)
    return np.asarray(largest[:, 0] + temperature * np.log(sums))


def neighbour_score(features: ArrayLike, known: ArrayLike, k: int = 50) -> FloatArray:
    """Return minus the distance to the k-th nearest known item, rows of unit length.

    Sun, Ming, Zhu and Li, "Out-of-Distribution Detection with Deep Nearest Neighbors",
    ICML 2022.
    """
    units = [unit_rows(np.asarray(rows, np.float64)) for rows in (features, known)]
    return -exact_neighbours(*units, k).distances[:, -1]


def code_neighbour_score(
    codes: NDArray[np.uint8], known: NDArray[np.uint8], k: int = 1
) -> FloatArray:
    """Return minus the Hamming distance to the k-th nearest known code.

    With class codes and ``k=1`` this is what `fewbits.ood.acceptance_region` thresholds
    at its radius; with codes of items it is their nearest-neighbour score.
    """
    return -hamming_topk(codes, known, k).distances[:, -1].astype(np.float64)


def told_apart(known: FloatArray, unknown: FloatArray) -> dict[str, float]:
    """Return ``auroc`` and ``fpr95`` of scores that are high for known items.

    The share of the pairs that are in the right order, ties counting half; and of the
    unknown items, that which the largest threshold accepts that 95 % of the known reach
    (Liang, Li and Srikant, "Enhancing the Reliability of Out-of-distribution Image
    Detection in Neural Networks", ICLR 2018).
    """
    ordered, others = np.sort(known), np.sort(unknown)
    below, not_above = (
        np.searchsorted(others, known, side).sum() for side in ("left", "right")
    )
    # The share may be a decimal fraction that binary numbers only come close to.
    threshold = ordered[len(known) - int(np.ceil(0.95 * len(known) * (1 - 1e-12)))]
    return {
        "auroc": float((below + not_above) / (2 * len(known) * len(unknown))),
        "fpr95": float((unknown >= threshold).mean()),
    }
