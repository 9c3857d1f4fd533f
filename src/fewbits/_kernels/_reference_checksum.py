"""CRC-32C in NumPy: slow, and the same as the compiled one."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import IdArray

Sums = NDArray[np.uint32]

_POLYNOMIAL = 0x82F63B78  # reflected
_LANE = 256  # bytes that are summed one by one, in all lanes at once


def crc32c(data: NDArray[np.uint8], offsets: IdArray, sums: Sums) -> None:
    """Write the CRC-32C of each piece of `data`, [offsets[i], offsets[i + 1])."""
    for i in range(len(sums)):
        sums[i] = _sum(data[offsets[i] : offsets[i + 1]])


def _sum(piece: NDArray[np.uint8]) -> int:
    """Return the sum of one piece, which is linear over GF(2) but for its start.

    Zeros in front change nothing as long as the register is zero, so a piece is filled
    up to whole lanes, which are summed side by side and then put together in pairs. The
    register starts with ones: they are what ``_pushed(ones, len(piece))`` is left of.
    """
    n_lanes = 1 << max(0, (-(-len(piece) // _LANE) - 1).bit_length())
    filled = np.zeros(n_lanes * _LANE, np.uint8)
    filled[len(filled) - len(piece) :] = piece
    lanes = np.zeros(n_lanes, np.uint32)
    for column in filled.reshape(n_lanes, _LANE).T:
        lanes = _table()[(lanes ^ column) & 255] ^ lanes >> np.uint32(8)
    width = _LANE
    while len(lanes) > 1:
        lanes = _pushed(lanes[::2], width) ^ lanes[1::2]
        width *= 2
    start = _pushed(np.array([0xFFFFFFFF], np.uint32), len(piece))
    return int(lanes[0] ^ start[0]) ^ 0xFFFFFFFF


def _pushed(sums: Sums, n: int) -> Sums:
    """Return the sums after `n` more bytes of zero."""
    for power in range(n.bit_length()):
        if n >> power & 1:
            bits = (sums[:, None] >> np.arange(32, dtype=np.uint32)) & 1
            terms = np.where(bits == 1, _zeros(power), np.uint32(0))
            sums = np.bitwise_xor.reduce(terms, axis=1)
    return sums


@cache
def _table() -> Sums:
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        last = np.where(table & 1 == 1, np.uint32(_POLYNOMIAL), np.uint32(0))
        table = table >> np.uint32(1) ^ last
    return table


@cache
def _zeros(power: int) -> Sums:
    """Return what becomes of each bit of a sum after ``2**power`` bytes of zero."""
    if power:
        return _pushed(_zeros(power - 1), 1 << (power - 1))
    bits = np.uint32(1) << np.arange(32, dtype=np.uint32)
    pushed: Sums = _table()[bits & 255] ^ bits >> np.uint32(8)
    return pushed
