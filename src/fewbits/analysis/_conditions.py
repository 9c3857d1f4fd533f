"""Search by attribute: which codes have given bits on or off."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import CodeArray
from fewbits.analysis._checks import check_bit
from fewbits.codes import as_codes
from fewbits.errors import ArgumentError


def matching(
    codes: CodeArray, n_bits: int, conditions: Mapping[int, int]
) -> NDArray[np.bool_]:
    """Return which codes meet all conditions.

    The answer is what the searches of an index take as `allowed`: "bit 12 on, bit 40
    off, near this". Only the bytes that hold a condition are read, packed as they are.

    Parameters
    ----------
    codes : ndarray of shape (n, n_bytes), dtype uint8
    n_bits : int
        Length of the codes.
    conditions : mapping of int to {0, 1}
        The value that a bit must have, such as ``{12: 1, 40: 0}``. All codes meet no
        condition.

    Returns
    -------
    ndarray of shape (n,), dtype bool

    Raises
    ------
    ArgumentError
        When there is no such bit, or a value is neither 0 nor 1.

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.codes import pack
    >>> from fewbits.index import FlatIndex
    >>> codes = pack([[1, 0, 1], [1, 1, 1], [0, 0, 1]])
    >>> allowed = matching(codes, 3, {0: 1, 1: 0})
    >>> allowed
    array([ True, False, False])
    >>> FlatIndex(codes).search(codes[1:2], k=1, allowed=allowed).ids
    array([[0]])
    """
    codes = as_codes(codes, n_bits=n_bits)
    matches = np.ones(len(codes), np.bool_)
    for byte, (mask, wanted) in _by_byte(conditions, n_bits).items():
        matches &= (codes[:, byte] & np.uint8(mask)) == wanted
    return matches


def _by_byte(conditions: Mapping[int, int], n_bits: int) -> dict[int, tuple[int, int]]:
    """Return, for each byte with a condition, a mask of its bits and their values."""
    wanted: dict[int, tuple[int, int]] = {}
    for bit, value in conditions.items():
        byte, place = divmod(check_bit(bit, n_bits), 8)
        if value not in (0, 1):
            raise ArgumentError(f"bit {bit} can be 0 or 1, not {value!r}")
        mask, values = wanted.get(byte, (0, 0))
        flag = 0x80 >> place
        wanted[byte] = mask | flag, values | (flag if value else 0)
    return wanted
