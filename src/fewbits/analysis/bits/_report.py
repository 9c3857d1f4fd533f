"""Report on the bits of codes, and the defects of codes that were just learnt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_count, generator
from fewbits._labels import as_label_rows
from fewbits._repr import short_repr
from fewbits._spans import spans
from fewbits._typing import Array, CodeArray, IdArray
from fewbits.analysis._codes import (
    Members,
    check_codes,
    entropy,
    read_members,
    sampled_rows,
)
from fewbits.analysis.bits._alike import (
    Correlation,
    Groups,
    correlate,
    estimate_effective_bits,
    read_columns,
)
from fewbits.codes import unpack

_LISTED = 8  # bits in a sentence, and sentences of a kind
_RARE = 0.05
_CORRELATED = 0.9
_SHARED = 0.1
_SEPARATED = 0.6
_JUDGED = 100  # codes, below which chance looks alarming
_FEW_BITS = 5  # long codes of few features are good codes, and spread a little more
_COLLAPSED, _LOST_CLASSES = 0.1, 0.5  # different codes per one that there could be
_CORRELATED_FROM = 100_000  # codes
_MANY_BITS = 2048
_PAIRS = 1 << 14  # compared at once


@dataclass(frozen=True, eq=False, slots=True)
class DistanceHistogram:
    """Counts of pairs of items at the Hamming distances 0, 1, ..., n_bits."""

    counts: IdArray = field(repr=False)

    __repr__ = short_repr

    @property
    def shares(self) -> NDArray[np.float64]:
        """Share of the pairs at each distance; NaN when there is no pair."""
        total = self.counts.sum()
        return self.counts / total if total else np.full(len(self.counts), np.nan)

    @property
    def mean(self) -> float:
        """Mean distance; NaN when there is no pair."""
        return float(self.shares @ np.arange(len(self.counts)))


@dataclass(frozen=True, eq=False, slots=True)
class BitReport:
    """Statistics of codes, bit by bit and pair by pair; see `bit_report`.

    Attributes
    ----------
    n_codes, n_bits : int
    balance : ndarray of shape (n_bits,), dtype float64
        Share of the codes in which the bit is 1.
    entropy : ndarray of shape (n_bits,), dtype float64
        ``-p log2 p - (1 - p) log2 (1 - p)`` of that share, in bits.
    largest_correlation, mean_correlation : float
        Of the absolute values of Pearson's correlation over all pairs of bits that
        vary; NaN with fewer than two.
    effective_bits : float
        How many independent, equally important bits would spread as much: the
        participation ratio of the correlation matrix.
    n_distinct, n_shared, largest_group : int
        Different codes, items whose code another item has too, and how many items have
        the most frequent code.
    distances : DistanceHistogram
        Of all pairs of items.
    within, between : DistanceHistogram or None
        Of the pairs of one class and of different ones, or of items that share a label
        and of others; None without labels.
    separation : float or None
        How often a pair of one class is nearer than a pair of different classes, ties
        counting half: .5 is chance, 1 is perfect.
    warnings : tuple of str
        What deserves attention, in plain sentences; empty when nothing does.
    """

    n_codes: int
    n_bits: int
    balance: NDArray[np.float64] = field(repr=False)
    entropy: NDArray[np.float64] = field(repr=False)
    largest_correlation: float
    mean_correlation: float
    effective_bits: float
    n_distinct: int
    n_shared: int
    largest_group: int
    distances: DistanceHistogram = field(repr=False)
    within: DistanceHistogram | None = field(repr=False)
    between: DistanceHistogram | None = field(repr=False)
    separation: float | None
    warnings: tuple[str, ...]

    __repr__ = short_repr

    def summary(self) -> dict[str, Any]:
        """Return the metrics and the warnings as plain values, None for NaN."""
        metrics: dict[str, Any] = {
            "n_codes": self.n_codes,
            "n_bits": self.n_bits,
            "constant_bits": int(np.count_nonzero(self.entropy == 0)),
            "mean_entropy": float(self.entropy.mean()),
            "effective_bits": self.effective_bits,
            "largest_correlation": _number(self.largest_correlation),
            "mean_correlation": _number(self.mean_correlation),
            "distinct_codes": self.n_distinct,
            "items_sharing_a_code": self.n_shared,
            "largest_group": self.largest_group,
            "mean_distance": _number(self.distances.mean),
        }
        if self.within is not None and self.between is not None:
            metrics["mean_distance_within"] = _number(self.within.mean)
            metrics["mean_distance_between"] = _number(self.between.mean)
            metrics["separation"] = _number(self.separation)
        return {**metrics, "warnings": list(self.warnings)}


def _number(value: float | None) -> float | None:
    return None if value is None or np.isnan(value) else float(value)


def bit_report(
    codes: CodeArray,
    n_bits: int,
    labels: ArrayLike | None = None,
    *,
    n_pairs: int = 1_000_000,
) -> BitReport:
    """Measure how well the bits of codes are used, and list their defects.

    Parameters
    ----------
    codes : ndarray of shape (n, n_bytes), dtype uint8
        Packed codes, at least one.
    n_bits : int
        Length of the codes.
    labels : array-like of shape (n,) or (n, n_labels), default=None
        Classes of the items; or, where an item may have several labels or none, 0 and 1
        for each item and label. Two items are of one class then when they share one.
    n_pairs : int, default=1_000_000
        Distances of each kind are counted for all pairs if there are no more than this,
        and otherwise for so many pairs drawn with replacement, always the same.

    Raises
    ------
    CodeError
        When the codes are not packed codes of `n_bits` bits.
    ArgumentError
        When there is no code, labels are not one per code, or a number is below 1.

    Notes
    -----
    Correlations are computed from 100,000 codes, drawn without replacement, or from all
    if there are fewer. With ``l`` the eigenvalues of the correlation matrix of the bits
    that vary, `effective_bits` is ``(sum l)^2 / sum l^2``. It cannot exceed the number
    of codes less one, so it is too low where codes are few.

    References
    ----------
    Bretherton, Widmann, Dymnikov, Wallace and Bladé, "The Effective Number of Spatial
    Degrees of Freedom of a Time-Varying Field", Journal of Climate 12, 1999 (the
    eigenvalue formula).

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.codes import pack
    >>> bits = np.array([[1, 0, 1, 0], [1, 1, 0, 1], [1, 0, 1, 1], [1, 1, 0, 0]])
    >>> report = bit_report(pack(bits), n_bits=4)
    >>> report.balance
    array([1. , 0.5, 0.5, 0.5])
    >>> report.effective_bits
    1.8
    >>> for warning in report.warnings:
    ...     print(warning)
    bit 0 of 4 never changes
    bits 1 and 2 are always opposite
    4 codes are too few to judge the correlations of 3 bits
    """
    codes = check_codes(codes, n_bits)
    labels = None if labels is None else as_label_rows(labels, n=len(codes))
    members = None if labels is None else read_members(labels, len(codes))
    n_pairs = check_count(n_pairs, "n_pairs")
    rng = generator(0)
    ones, equal, opposite = read_columns(codes, n_bits)
    sample = codes[sampled_rows(len(codes), _CORRELATED_FROM, rng)]
    correlation = correlate(sample, n_bits)
    groups = _code_groups(codes)
    distances = _all_distances(codes, n_bits, n_pairs, rng)
    within = between = separated = None
    if labels is not None and members is not None:
        if labels.ndim == 2:
            pair = _label_distances(codes, n_bits, labels, n_pairs, rng)
        else:
            pair = _class_distances(codes, n_bits, members, n_pairs, rng)
        within, between = pair
        # The area under the ROC curve; NaN where a kind is empty.
        farther = 1 - np.cumsum(between.shares)
        separated = float(within.shares @ (farther + between.shares / 2))
    balance, n_shared = ones / len(codes), int(groups[groups > 1].sum())
    warnings = ["a single code says nothing about its bits"]
    if len(codes) > 1:
        warnings = [
            *_on_bits(balance, equal, opposite),
            *_on_correlation(correlation, balance, len(sample)),
        ]
        if n_shared > _SHARED * len(codes):
            warnings.append(_sharing(groups))
        if members is not None and separated is not None:
            warnings += _on_classes(np.bincount(members.numbers), separated)
    return BitReport(
        n_codes=len(codes),
        n_bits=n_bits,
        balance=balance,
        entropy=entropy(balance),
        largest_correlation=correlation.largest,
        mean_correlation=correlation.mean,
        effective_bits=correlation.effective_bits,
        n_distinct=len(groups),
        n_shared=n_shared,
        largest_group=int(groups.max()),
        distances=distances,
        within=within,
        between=between,
        separation=separated,
        warnings=tuple(warnings),
    )


def _all_distances(
    codes: CodeArray, n_bits: int, limit: int, rng: np.random.Generator
) -> DistanceHistogram:
    """Histogram of the distances of every item to every other."""
    rows = np.arange(len(codes), dtype=np.int64)
    return _histogram(
        codes, n_bits, _pairs(rows + 1, len(codes) - rows - 1, limit, rng)
    )


def _class_distances(
    codes: CodeArray,
    n_bits: int,
    members: Members,
    limit: int,
    rng: np.random.Generator,
) -> tuple[DistanceHistogram, DistanceHistogram]:
    """Histograms of the distances within classes and between them; one class each."""
    codes, numbers = codes[members.rows], members.numbers
    ends = np.cumsum(np.bincount(numbers))[numbers]
    rows = np.arange(len(codes), dtype=np.int64)
    within = _pairs(rows + 1, ends - rows - 1, limit, rng)
    between = _pairs(ends, len(codes) - ends, limit, rng)
    return _histogram(codes, n_bits, within), _histogram(codes, n_bits, between)


def _label_distances(
    codes: CodeArray,
    n_bits: int,
    labels: Array,
    limit: int,
    rng: np.random.Generator,
) -> tuple[DistanceHistogram, DistanceHistogram]:
    """Histograms of the distances of items that share a label, and of all others."""
    packed = np.packbits(np.asarray(labels) > 0, axis=1)
    rows = np.arange(len(codes), dtype=np.int64)
    within, between = np.zeros((2, n_bits + 1), np.int64)
    for row, partner in _pairs(rows + 1, len(codes) - rows - 1, limit, rng):
        distances = _distances(codes, row, partner)
        shared = (packed[row] & packed[partner]).any(axis=1)
        within += np.bincount(distances[shared], minlength=n_bits + 1)
        between += np.bincount(distances[~shared], minlength=n_bits + 1)
    return DistanceHistogram(within), DistanceHistogram(between)


def _pairs(
    first: IdArray, n_partners: IdArray, limit: int, rng: np.random.Generator
) -> Iterator[tuple[IdArray, IdArray]]:
    """Yield pairs of each row with `n_partners` rows from row `first` on, in blocks.

    Where there are more than `limit`, so many are drawn with replacement.
    """
    ends = np.cumsum(n_partners)
    total = int(ends[-1])
    is_whole = total <= limit
    drawn = np.arange(total) if is_whole else rng.integers(total, size=limit)
    numbers = np.sort(drawn)
    for span in spans(len(numbers), _PAIRS):
        row = np.searchsorted(ends, numbers[span], side="right")
        yield row, first[row] + numbers[span] - (ends[row] - n_partners[row])


def _histogram(
    codes: CodeArray, n_bits: int, pairs: Iterator[tuple[IdArray, IdArray]]
) -> DistanceHistogram:
    counts = np.zeros(n_bits + 1, np.int64)
    for row, partner in pairs:
        counts += np.bincount(_distances(codes, row, partner), minlength=n_bits + 1)
    return DistanceHistogram(counts)


def _distances(codes: CodeArray, rows: IdArray, partners: IdArray) -> IdArray:
    differing = np.bitwise_count(codes[rows] ^ codes[partners])
    distances: IdArray = differing.sum(axis=1, dtype=np.int64)
    return distances


def _code_groups(codes: CodeArray) -> IdArray:
    """Return the number of items with each distinct code."""
    rows = codes.view(f"V{codes.shape[1]}").ravel()
    counts: IdArray = np.unique(rows, return_counts=True)[1]
    return counts


def _on_bits(
    balance: NDArray[np.float64], equal: Groups, opposite: Groups
) -> Iterator[str]:
    n_bits = len(balance)
    yield from _constant(np.flatnonzero((balance == 0) | (balance == 1)), n_bits)
    for kind, groups in (("equal", equal), ("opposite", opposite)):
        for group in groups[:_LISTED]:
            yield f"bits {_listed(group)} are always {kind}"
        if more := len(groups[_LISTED:]):
            what = "group of bits is" if more == 1 else "groups of bits are"
            yield f"{more} more {what} always {kind}"
    rarer = np.minimum(balance, 1 - balance)
    if rare := np.flatnonzero((rarer > 0) & (rarer < _RARE)).tolist():
        verb = "has" if len(rare) == 1 else "have"
        yield (
            f"{len(rare)} of {n_bits} bits {verb} the same value in over "
            f"{1 - _RARE:.0%} of the codes: {_listed(rare)}"
        )


def _on_correlation(
    correlation: Correlation, balance: NDArray[np.float64], n: int
) -> Iterator[str]:
    n_varying = int(np.count_nonzero((balance > 0) & (balance < 1)))
    if n_varying < 2:
        return
    if n <= 2 * n_varying:
        yield f"{n} codes are too few to judge the correlations of {n_varying} bits"
        return
    if correlation.pair and _CORRELATED < correlation.largest < 1:
        yield (
            f"bits {_listed(correlation.pair)} are nearly the same: "
            f"|r| = {correlation.largest:.2f}"
        )
    if _relative_spread(correlation.effective_bits, n_varying, n) < 1 / 2:
        yield _spread(correlation.effective_bits, n_varying)


def _on_classes(sizes: IdArray, separated: float) -> Iterator[str]:
    if len(sizes) == 1 and np.isnan(separated):
        yield "all items are of one class, so there is no distance between classes"
    elif sizes.max() == 1:
        yield "every class has one item, so there is no distance within classes"
    elif alone := int((sizes == 1).sum()):
        verb = "has" if alone == 1 else "have"
        yield f"{alone} of {len(sizes)} classes {verb} one item and no distance within"
    if separated < _SEPARATED:
        yield (
            "items of a class are hardly nearer to each other than to others: "
            f"in {separated:.0%} of comparisons, where chance gives 50%"
        )


def _constant(bits: IdArray, n_bits: int) -> Iterator[str]:
    if len(bits) == 1:
        yield f"bit {bits[0]} of {n_bits} never changes"
    elif len(bits):
        yield f"{len(bits)} of {n_bits} bits never change: {_listed(bits.tolist())}"


def _relative_spread(effective_bits: float, n_varying: int, n_codes: int) -> float:
    """Return effective bits relative to what independent bits have by chance."""
    # Their squared correlations are 1 / (n - 1).
    return effective_bits / (n_varying / (1 + (n_varying - 1) / (n_codes - 1)))


def _spread(effective_bits: float, n_varying: int) -> str:
    return (
        f"the {n_varying} bits that vary are correlated: together they are worth only "
        f"{effective_bits:.1f} independent bits"
    )


def _sharing(groups: IdArray) -> str:
    share = groups[groups > 1].sum() / groups.sum()
    return (
        f"{share:.0%} of the items share their code with another; "
        f"the most frequent code has {groups.max():,} items"
    )


def _listed(bits: Sequence[int]) -> str:
    """Write "3", "3 and 9", "3, 9 and 12", or "3, ..., 40 and 7 more"."""
    shown = [str(bit) for bit in bits[:_LISTED]]
    if more := len(bits) - len(shown):
        shown.append(f"{more} more")
    if len(shown) == 1:
        return shown[0]
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def diagnose_codes(
    codes: CodeArray,
    n_bits: int,
    n_classes: int | None = None,
    *,
    constant_bits: bool = True,
) -> tuple[str, ...]:
    """List the defects of codes that were just learnt, as a tuple of sentences.

    About bits that never change, unless `constant_bits` is False; about bits that
    spread less than a quarter as many independent ones would, and than five, or than
    half of those that number the classes; and about items that share too few codes:
    less than a tenth of those there could be, or half as many as there are classes.
    Fewer than 100 codes are not judged. The effective number of bits of codes of more
    than 2,048 bits is estimated from 2,048 that vary.
    """
    codes = check_codes(codes, n_bits)
    if len(codes) < _JUDGED:
        return ()
    varying = _varying_bits(codes, n_bits)
    sentences: list[str] = []
    if constant_bits:
        sentences += _constant(np.setdiff1d(np.arange(n_bits), varying), n_bits)
    possible, least = min(len(codes), 2**n_bits), _COLLAPSED
    needed = float(_FEW_BITS)
    if n_classes is not None:
        possible, least = min(possible, n_classes), _LOST_CLASSES
        needed = min(needed, np.log2(n_classes) / 2)
    rng = generator(0)
    sample = codes[sampled_rows(len(codes), _CORRELATED_FROM, rng)]
    if len(varying) >= 2 and len(sample) > 2 * len(varying):
        if n_bits <= _MANY_BITS:
            effective = correlate(sample, n_bits).effective_bits
        else:
            bits = _varying_bits(sample, n_bits)  # some may vary elsewhere only
            effective = estimate_effective_bits(sample, bits, _MANY_BITS, rng)
        spread = _relative_spread(effective, len(varying), len(sample))
        if spread < 1 / 4 and effective < needed:
            sentences.append(_spread(effective, len(varying)))
    groups = _code_groups(codes)
    if len(groups) < least * possible:
        sentences.append(_sharing(groups))
    return tuple(sentences)


def _varying_bits(codes: CodeArray, n_bits: int) -> IdArray:
    changed = np.bitwise_or.reduce(codes ^ codes[0], keepdims=True)
    return np.flatnonzero(unpack(changed, n_bits)[0])
