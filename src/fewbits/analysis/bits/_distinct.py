"""Selection of bits that do not correlate with better ones."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._checks import check_bits, check_count, generator
from fewbits._typing import CodeArray, IdArray
from fewbits.analysis._checks import check_codes, sampled_rows
from fewbits.analysis.bits._columns import count_ones

_ALIKE = 0.5  # absolute correlation above which bits count as alike
_CERTAIN = 4.0  # standard errors above 0 that it must also be


def distinct_bits(
    codes: CodeArray,
    n_bits: int,
    order: Sequence[int] | IdArray | None = None,
    *,
    first: Iterable[int] = (),
    n_shown: int = 32,
    n_codes: int = 10_000,
    random_state: Any = 0,
) -> dict[int, list[int]]:
    """Choose bits that do not correlate with a better one.

    Parameters
    ----------
    codes : ndarray of shape (n, n_bytes), dtype uint8
    n_bits : int
        Length of the codes.
    order : sequence of int, default=None
        Bits, best first, such as the order of `rank_bits`; all by number for None.
    first : iterable of int, default=()
        Bits that are chosen first in any case.
    n_shown : int, default=32
        Bits to choose in all, unless `first` are more.
    n_codes : int, default=10_000
        Codes drawn to correlate bits; all if there are fewer.
    random_state : int, Generator or None, default=0
        Seeds the draw.

    Returns
    -------
    dict of int to list of int
        The chosen bits in their order, each with the bits of `order` that were left out
        because they are like it, or its opposite: those with an absolute correlation
        above .5, and above what chance gives where codes are few. A bit that is like
        several of the chosen is listed with the one it is most like.

    Raises
    ------
    ArgumentError
        When there is no code or no such bit, or a number is below 1.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.array([[0b11000000], [0b00100000]] * 50 + [[0b11100000], [0]] * 50)
    >>> distinct_bits(codes.astype(np.uint8), n_bits=3)
    {0: [1], 2: []}
    """
    codes = check_codes(codes, n_bits)
    n_shown = check_count(n_shown, "n_shown")
    n_codes = check_count(n_codes, "n_codes")
    candidates = check_bits(order, n_bits)
    chosen = list(dict.fromkeys(check_bits(first, n_bits)))
    sample = codes[sampled_rows(len(codes), n_codes, generator(random_state))]
    ones = count_ones(sample, n_bits)
    likeness = {bit: _likeness(sample, ones, bit) for bit in chosen}
    limit = max(_ALIKE, _CERTAIN / np.sqrt(len(sample)))
    nearest = np.max([np.zeros(n_bits), *likeness.values()], axis=0)
    for bit in candidates:
        if len(likeness) >= n_shown:
            break
        if bit not in likeness and nearest[bit] <= limit:
            likeness[bit] = _likeness(sample, ones, bit)
            nearest = np.maximum(nearest, likeness[bit])
    return _listed(likeness, candidates, limit)


def _likeness(codes: CodeArray, ones: IdArray, bit: int) -> NDArray[np.float64]:
    """Return |r| of a bit with every other; 0 for constant ones."""
    n, n_bits = len(codes), len(ones)
    carriers = codes[(codes[:, bit // 8] >> (7 - bit % 8) & 1).astype(np.bool_)]
    covariance = n * count_ones(carriers, n_bits) - ones[bit] * ones
    spread = ones * (n - ones).astype(np.float64)
    scale = np.sqrt(spread * spread[bit])
    values = np.zeros(n_bits)
    np.divide(np.abs(covariance), scale, out=values, where=scale > 0)
    return values


def _listed(
    likeness: dict[int, NDArray[np.float64]], candidates: Sequence[int], limit: float
) -> dict[int, list[int]]:
    """Return with each chosen bit those that were left out because of it."""
    found: dict[int, list[int]] = {bit: [] for bit in likeness}
    if not found:
        return found
    chosen, values = list(likeness), np.array(list(likeness.values()))
    for bit in candidates:
        most = int(values[:, bit].argmax())
        if bit not in likeness and values[most, bit] > limit:
            found[chosen[most]].append(bit)
    return found
