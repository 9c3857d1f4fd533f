"""Common defects of codes that were just learnt."""

import numpy as np

from fewbits._checks import generator
from fewbits._typing import CodeArray, IdArray
from fewbits.analysis._checks import check_codes, sampled_rows
from fewbits.analysis.bits._bit_report import code_groups
from fewbits.analysis.bits._correlation import correlate, estimate_effective_bits
from fewbits.analysis.bits._report import CodeUse
from fewbits.analysis.bits._warnings import alarms, can_judge
from fewbits.codes import unpack

_CORRELATED_FROM = 100_000  # codes, as in a report
_MANY_BITS = 2048


def diagnose_codes(
    codes: CodeArray,
    n_bits: int,
    n_classes: int | None = None,
    *,
    constant_bits: bool = True,
) -> tuple[str, ...]:
    """List the defects of codes that were just learnt.

    Parameters
    ----------
    codes : ndarray of shape (n, n_bytes), dtype uint8
        Of a sample of the items; fewer than 100 are not judged.
    n_bits : int
        Length of the codes.
    n_classes : int, default=None
        Of the labels that the codes were learnt from. Items of a class may then have
        the same code, and codes need only spread as classes do.
    constant_bits : bool, default=True
        Whether to report constant bits.

    Returns
    -------
    tuple of str
        A sentence about bits that never change; one about bits that spread less than a
        quarter as many independent ones would, and than five, or than half of those
        that number the classes; and one about items that share too few codes: less than
        a tenth of those there could be, or half as many as there are classes.

    Notes
    -----
    Metrics are those of `bit_report`, but the effective number of bits of codes of more
    than 2,048 bits is estimated from a seeded sample of 2,048 that vary: the exact
    number would take most of the time of learning long codes. It is not computed where
    there are no more than two codes for each bit that varies.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.repeat(np.array([[0b11000000], [0b10000000]], np.uint8), 60, axis=0)
    >>> diagnose_codes(codes, n_bits=2)
    ('bit 0 of 2 never changes',)
    """
    return alarms(
        _use(check_codes(codes, n_bits), n_bits), n_classes, constant_bits=constant_bits
    )


def _use(codes: CodeArray, n_bits: int) -> CodeUse:
    groups = code_groups(codes)
    rng = generator(0)
    chosen = codes[sampled_rows(len(codes), _CORRELATED_FROM, rng)]
    varying = _varying_bits(codes, n_bits)
    return CodeUse(
        n_codes=len(codes),
        n_bits=n_bits,
        constant_bits=np.setdiff1d(np.arange(n_bits), varying),
        effective_bits=_effective_bits(chosen, n_bits, varying, rng),
        n_correlated=len(chosen),
        n_distinct=len(groups),
        n_shared=int(groups[groups > 1].sum()),
        largest_group=int(groups.max()),
    )


def _varying_bits(codes: CodeArray, n_bits: int) -> IdArray:
    changed = np.bitwise_or.reduce(codes ^ codes[0], keepdims=True)
    return np.flatnonzero(unpack(changed, n_bits)[0])


def _effective_bits(
    codes: CodeArray, n_bits: int, varying: IdArray, rng: np.random.Generator
) -> float:
    """Return the effective number of bits; NaN where it would not be used."""
    if not can_judge(len(codes), len(varying)):
        return float("nan")
    if n_bits <= _MANY_BITS:
        return correlate(codes, n_bits).effective_bits
    # Of more codes than are chosen, some bits may vary elsewhere only.
    bits = _varying_bits(codes, n_bits)
    return estimate_effective_bits(codes, bits, _MANY_BITS, rng)
