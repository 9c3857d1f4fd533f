"""A report on the quality of the bits of a collection of codes."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fewbits._checks import check_count, generator
from fewbits._labels import as_label_rows
from fewbits._typing import CodeArray, IdArray
from fewbits.analysis._checks import check_codes, entropy, sampled_rows
from fewbits.analysis._members import Members, read_members
from fewbits.analysis.bits._columns import read_columns
from fewbits.analysis.bits._correlation import correlate
from fewbits.analysis.bits._distances import (
    DistanceHistogram,
    all_distances,
    class_distances,
    label_distances,
    separation,
)
from fewbits.analysis.bits._report import BitReport
from fewbits.analysis.bits._warnings import sentences


def bit_report(
    codes: CodeArray,
    n_bits: int,
    labels: ArrayLike | None = None,
    *,
    n_correlated: int = 100_000,
    n_pairs: int = 1_000_000,
    random_state: Any = 0,
) -> BitReport:
    """Measure how well the bits of codes are used, and list their defects.

    Parameters
    ----------
    codes : ndarray of shape (n, n_bytes), dtype uint8
        Packed codes, at least one.
    n_bits : int
        Length of the codes.
    labels : array-like of shape (n,) or (n, n_labels), default=None
        Classes of the items, all strings or all numbers; or, where an item may have
        several labels or none, 0 and 1 for each item and label. Two items are of one
        class then when they share a label.
    n_correlated : int, default=100_000
        Correlations are computed from so many codes, drawn without replacement, or from
        all if there are fewer. Everything else that is about bits or codes is exact.
    n_pairs : int, default=1_000_000
        Distances of each kind are counted for all pairs if there are no more than this,
        and otherwise for so many pairs drawn with replacement.
    random_state : int, Generator or None, default=0
        Seeds the draws.

    Returns
    -------
    BitReport

    Raises
    ------
    CodeError
        When the codes are not packed codes of `n_bits` bits.
    ArgumentError
        When there is no code, labels are not one per code, or a number is below 1.

    Notes
    -----
    With ``l`` the eigenvalues of the correlation matrix of the ``m`` bits that vary,
    `effective_bits` is ``(sum l)^2 / sum l^2``, which needs no eigenvalue: it is
    ``m^2`` over the sum of all squared correlations. It lies between 1 and ``m``, and
    cannot exceed the number of codes less one, so it is too low where codes are few.

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
    n_correlated = check_count(n_correlated, "n_correlated")
    n_pairs = check_count(n_pairs, "n_pairs")
    rng = generator(random_state)
    columns = read_columns(codes, n_bits)
    chosen = codes[sampled_rows(len(codes), n_correlated, rng)]
    correlation = correlate(chosen, n_bits)
    groups = code_groups(codes)
    distances = all_distances(codes, n_bits, n_pairs, rng)
    within = between = separated = None
    if members is not None:
        within, between = _by_class(codes, n_bits, labels, members, n_pairs, rng)
        separated = separation(within, between)
    balance = columns.ones / len(codes)
    report = BitReport(
        n_codes=len(codes),
        n_bits=n_bits,
        balance=balance,
        entropy=entropy(balance),
        equal_bits=columns.equal,
        opposite_bits=columns.opposite,
        largest_correlation=correlation.largest,
        most_correlated=correlation.pair,
        mean_correlation=correlation.mean,
        effective_bits=correlation.effective_bits,
        n_correlated=len(chosen),
        n_distinct=len(groups),
        n_shared=int(groups[groups > 1].sum()),
        largest_group=int(groups.max()),
        distances=distances,
        within=within,
        between=between,
        separation=separated,
    )
    sizes = None if members is None else np.bincount(members.numbers)
    return replace(report, warnings=sentences(report, sizes))


def _by_class(
    codes: CodeArray,
    n_bits: int,
    labels: Any,
    members: Members,
    n_pairs: int,
    rng: np.random.Generator,
) -> tuple[DistanceHistogram, DistanceHistogram]:
    if labels.ndim == 2:
        return label_distances(codes, n_bits, labels, n_pairs, rng)
    return class_distances(codes, n_bits, members, n_pairs, rng)


def code_groups(codes: CodeArray) -> IdArray:
    """Return the number of items with each distinct code."""
    rows = codes.view(f"V{codes.shape[1]}").ravel()
    counts: IdArray = np.unique(rows, return_counts=True)[1]
    return counts
