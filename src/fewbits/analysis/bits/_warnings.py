"""Plain sentences about what deserves attention in a collection of codes."""

from collections.abc import Iterator, Sequence

import numpy as np

from fewbits._typing import IdArray
from fewbits.analysis.bits._report import BitReport, CodeUse

_LISTED = 8  # bits in a sentence, and sentences of a kind
_RARE = 0.05
_CORRELATED = 0.9
_SHARED = 0.1
_SEPARATED = 0.6
_JUDGED = 100  # codes, below which chance looks alarming
_FEW_BITS = 5  # long codes of few features are good codes, and spread a little more
_COLLAPSED, _LOST_CLASSES = 0.1, 0.5  # different codes per one that there could be


def sentences(report: BitReport, class_sizes: IdArray | None) -> tuple[str, ...]:
    """Return the sentences that apply, those about bits first."""
    if report.n_codes == 1:
        return ("a single code says nothing about its bits",)
    return (
        *_constant(report),
        *_alike("equal", report.equal_bits),
        *_alike("opposite", report.opposite_bits),
        *_unbalanced(report),
        *_correlated(report),
        *_shared(report),
        *_classes(report, class_sizes),
    )


def alarms(
    report: CodeUse, n_classes: int | None, *, constant_bits: bool = True
) -> tuple[str, ...]:
    """Return only the defects of fresh codes; see `diagnose_codes`."""
    if report.n_codes < _JUDGED:
        return ()
    found = list(_constant(report)) if constant_bits else []
    possible, least = min(report.n_codes, 2**report.n_bits), _COLLAPSED
    needed = float(_FEW_BITS)
    if n_classes is not None:
        possible, least = min(possible, n_classes), _LOST_CLASSES
        needed = min(needed, np.log2(n_classes) / 2)
    if _spread_over(report) < 1 / 4 and report.effective_bits < needed:
        found.append(_spread(report))
    if report.n_distinct < least * possible:
        found.append(_sharing(report))
    return tuple(found)


def _constant(report: BitReport | CodeUse) -> Iterator[str]:
    bits = report.constant_bits.tolist()
    if len(bits) == 1:
        yield f"bit {bits[0]} of {report.n_bits} never changes"
    elif bits:
        yield f"{len(bits)} of {report.n_bits} bits never change: {_listed(bits)}"


def _alike(kind: str, groups: Sequence[Sequence[int]]) -> Iterator[str]:
    for group in groups[:_LISTED]:
        yield f"bits {_listed(group)} are always {kind}"
    if more := len(groups[_LISTED:]):
        what = "group of bits is" if more == 1 else "groups of bits are"
        yield f"{more} more {what} always {kind}"


def _unbalanced(report: BitReport) -> Iterator[str]:
    rarer = np.minimum(report.balance, 1 - report.balance)
    bits = np.flatnonzero((rarer > 0) & (rarer < _RARE)).tolist()
    if bits:
        verb = "has" if len(bits) == 1 else "have"
        yield (
            f"{len(bits)} of {report.n_bits} bits {verb} the same value in over "
            f"{1 - _RARE:.0%} of the codes: {_listed(bits)}"
        )


def _correlated(report: BitReport) -> Iterator[str]:
    n, m = report.n_correlated, report.n_bits - len(report.constant_bits)
    if m < 2:
        return
    if n <= 2 * m:
        yield f"{n} codes are too few to judge the correlations of {m} bits"
        return
    if report.most_correlated and _CORRELATED < report.largest_correlation < 1:
        yield (
            f"bits {_listed(report.most_correlated)} are nearly the same: "
            f"|r| = {report.largest_correlation:.2f}"
        )
    if _spread_over(report) < 1 / 2:
        yield _spread(report)


def can_judge(n_codes: int, n_varying: int) -> bool:
    """Return whether there are enough codes to test correlations of bits."""
    return n_varying >= 2 and n_codes > 2 * n_varying


def _spread_over(report: BitReport | CodeUse) -> float:
    """Return effective bits relative to independent bits; 1 if unknown."""
    n, m = report.n_correlated, report.n_bits - len(report.constant_bits)
    if not can_judge(n, m):
        return 1.0
    # Independent bits have squared correlations of 1 / (n - 1) by chance.
    independent = m / (1 + (m - 1) / (n - 1))
    return report.effective_bits / independent


def _spread(report: BitReport | CodeUse) -> str:
    m = report.n_bits - len(report.constant_bits)
    return (
        f"the {m} bits that vary are correlated: together they are worth only "
        f"{report.effective_bits:.1f} independent bits"
    )


def _shared(report: BitReport) -> Iterator[str]:
    if report.n_shared > _SHARED * report.n_codes:
        yield _sharing(report)


def _sharing(report: BitReport | CodeUse) -> str:
    return (
        f"{report.n_shared / report.n_codes:.0%} of the items share their code "
        f"with another; the most frequent code has {report.largest_group:,} items"
    )


def _classes(report: BitReport, sizes: IdArray | None) -> Iterator[str]:
    if sizes is None or report.separation is None:
        return
    if len(sizes) == 1 and np.isnan(report.separation):
        yield "all items are of one class, so there is no distance between classes"
    elif sizes.max() == 1:
        yield "every class has one item, so there is no distance within classes"
    elif alone := int((sizes == 1).sum()):
        verb = "has" if alone == 1 else "have"
        yield f"{alone} of {len(sizes)} classes {verb} one item and no distance within"
    if report.separation < _SEPARATED:
        yield (
            "items of a class are hardly nearer to each other than to others: "
            f"in {report.separation:.0%} of comparisons, where chance gives 50%"
        )


def _listed(bits: Sequence[int]) -> str:
    """Write "3", "3 and 9", "3, 9 and 12", or "3, ..., 40 and 7 more"."""
    shown = [str(bit) for bit in bits[:_LISTED]]
    if more := len(bits) - len(shown):
        shown.append(f"{more} more")
    if len(shown) == 1:
        return shown[0]
    return f"{', '.join(shown[:-1])} and {shown[-1]}"
