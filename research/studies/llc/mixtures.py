"""A threshold tuned on one mixture of known and unknown items, used on another."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_choice, check_count, generator
from fewbits.errors import ArgumentError
from research.common.ood import Detection
from research.core.summary import Summary, summarize

FloatArray = NDArray[np.float64]

_SIDES = ("unknown", "known")
_MEASURES: dict[str, Callable[[Detection], float]] = {
    "balanced accuracy": lambda rule: rule.balanced_accuracy,
    "accuracy": lambda rule: rule.accuracy,
    "F1 (unknown)": lambda rule: rule.f1_unknown,
    "F1 (known)": lambda rule: rule.f1_known,
}


def tune_threshold(
    known: ArrayLike, unknown: ArrayLike, *, positive: str = "unknown"
) -> float:
    """Return the threshold of the highest F1: items at or above it are accepted.

    Parameters
    ----------
    known, unknown : array-like of shape (n,)
        Scores of validation items, high for what looks known; finite.
    positive : {"unknown", "known"}, default="unknown"
        Positives of F1; the other side are the negatives.

    Returns
    -------
    float
        The smallest of several equally good. It is a score of one of the items, or
        just above the highest where everything is best rejected.

    Examples
    --------
    >>> tune_threshold(known=[3, 4, 5], unknown=[1, 2, 4])
    3.0
    """
    inside, outside = (np.asarray(side, np.float64) for side in (known, unknown))
    check_choice(positive, "positive", _SIDES)
    levels = np.unique(np.concatenate([inside, outside]))
    levels = np.append(levels, np.nextafter(levels[-1], np.inf))
    share = len(outside) / (len(inside) + len(outside))
    known_accepted, unknown_accepted = (
        1 - np.searchsorted(np.sort(scores), levels, side="left") / len(scores)
        for scores in (inside, outside)
    )
    if positive == "unknown":
        hit, wrong = 1 - unknown_accepted, 1 - known_accepted
    else:
        hit, wrong, share = known_accepted, unknown_accepted, 1 - share
    f1 = 2 * share * hit / (share * hit + (1 - share) * wrong + share)
    return float(levels[np.argmax(f1)])


class PriorShiftResult(NamedTuple):
    """A tuned threshold and an untuned rule on one mixture.

    See `threshold_under_prior_shift`.

    Attributes
    ----------
    validation_share, deployment_share : float
        Share of unknown items where the threshold was tuned, and where it is used.
    tuned, untuned : dict of str to Summary
        "balanced accuracy", "accuracy", "F1 (unknown)" and "F1 (known)" over the draws.
    """

    validation_share: float
    deployment_share: float
    tuned: dict[str, Summary]
    untuned: dict[str, Summary]


def threshold_under_prior_shift(
    known: ArrayLike,
    unknown: ArrayLike,
    known_accepted: ArrayLike,
    unknown_accepted: ArrayLike,
    *,
    validation_shares: Sequence[float] = (0.1, 0.5, 0.9),
    deployment_shares: Sequence[float] = (0.1, 0.5, 0.9),
    n_validation: int = 3000,
    n_draws: int = 20,
    positive: str = "unknown",
    random_state: Any = 0,
) -> list[PriorShiftResult]:
    """Compare a threshold tuned on one mixture with an untuned rule on another.

    Items of both sides are split in halves at random. From the first, `n_validation`
    items are drawn with the share of unknown items in validation, and the
    threshold of best F1 is chosen. Both rules are then measured on the second halves,
    with the share of unknown items in deployment.

    Parameters
    ----------
    known, unknown : array-like of shape (n,)
        Scores of known and of unknown items, high for what looks known; finite, at
        least two of each.
    known_accepted, unknown_accepted : array-like of bool of shape (n,)
        What the untuned rule accepts of the same items.
    validation_shares, deployment_shares : sequence of float
        Shares of unknown items, between 0 and 1; all pairs of them are compared.
    n_validation : int, default=3000
        As in the paper. Drawn with replacement from a side that has fewer items.
    n_draws : int, default=20
        Number of repetitions. The standard errors are over draws of the same
        items, so they do not cover what other items would change.
    positive : {"unknown", "known"}, default="unknown"
        Positives of the F1 by which the threshold is tuned.
    random_state : int, Generator or None, default=0

    Returns
    -------
    list of PriorShiftResult

    References
    ----------
    Kusupati et al., "LLC: Accurate, Multi-purpose Learnt Low-dimensional Binary Codes",
    NeurIPS 2021, section 4.3; the shares are not stated there.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> known, unknown = rng.normal(2, 1, 500), rng.normal(0, 1, 500)
    >>> found = threshold_under_prior_shift(
    ...     known, unknown, known > 1, unknown > 1,
    ...     validation_shares=[0.02], deployment_shares=[0.5],
    ... )
    >>> found[0].tuned["F1 (unknown)"].mean < found[0].untuned["F1 (unknown)"].mean
    True
    """
    sides = (
        _side(known, known_accepted, "known"),
        _side(unknown, unknown_accepted, "unknown"),
    )
    shares, used = list(validation_shares), list(deployment_shares)
    for share in (*shares, *used):
        if not 0 < share < 1:
            raise ArgumentError(f"a share must lie between 0 and 1, got {share}")
    n_validation = check_count(n_validation, "n_validation", 2)
    check_choice(positive, "positive", _SIDES)
    rng = generator(random_state)
    tuned: dict[float, list[Rates]] = {share: [] for share in shares}
    untuned: list[Rates] = []
    for _ in range(check_count(n_draws, "n_draws")):
        halves = [side.halves(rng) for side in sides]
        untuned.append(_rates(half.accepted for _, half in halves))
        for share, rates in tuned.items():
            sample = _sample(halves, n_validation, share, rng)
            threshold = tune_threshold(*sample, positive=positive)
            rates.append(_rates(half.scores >= threshold for _, half in halves))
    return [
        PriorShiftResult(a, b, _summaries(tuned[a], b), _summaries(untuned, b))
        for a in shares
        for b in used
    ]


class _Side(NamedTuple):
    """Scores of known or of unknown items, and what an untuned rule accepts."""

    scores: FloatArray
    accepted: NDArray[np.bool_]

    def halves(self, rng: np.random.Generator) -> "tuple[_Side, _Side]":
        rows = rng.permutation(len(self.scores))
        first, second = np.array_split(rows, 2)
        return (
            _Side(self.scores[first], self.accepted[first]),
            _Side(self.scores[second], self.accepted[second]),
        )


Halves = list[tuple[_Side, _Side]]
Rates = tuple[float, float]


def _side(scores: ArrayLike, accepted: ArrayLike, name: str) -> _Side:
    side = _Side(np.asarray(scores, np.float64), np.asarray(accepted, np.bool_))
    if len(side.scores) < 2 or len(side.scores) != len(side.accepted):
        raise ArgumentError(
            f"need a score and a decision of 2 {name} items at least, got "
            f"{len(side.scores)} and {len(side.accepted)}"
        )
    return side


def _rates(accepted: Iterable[NDArray[np.bool_]]) -> Rates:
    known, unknown = (float(decisions.mean()) for decisions in accepted)
    return known, unknown


def _sample(
    halves: Halves, n: int, unknown_share: float, rng: np.random.Generator
) -> list[FloatArray]:
    """Draw scores of known and of unknown items, at least one of each."""
    n_unknown = min(max(round(n * unknown_share), 1), n - 1)
    return [
        rng.choice(half.scores, size, replace=size > len(half.scores))
        for (half, _), size in zip(halves, (n - n_unknown, n_unknown), strict=True)
    ]


def _summaries(rates: list[Rates], unknown_share: float) -> dict[str, Summary]:
    rules = [Detection(known, unknown, unknown_share) for known, unknown in rates]
    return {
        name: summarize(measure(rule) for rule in rules)
        for name, measure in _MEASURES.items()
    }
