"""The one bit that was flipped in a block, found from its CRC-32C.

Sums of blocks of one length differ by a number that their differing bits alone decide.
No two single bits of a block have the same number. Any other damage has that of some
bit by chance, with a probability of one in 8,000 for 64 KiB.
"""

from typing import Any

from fewbits.store._blocks import crc32c

_POLYNOMIAL = 0x82F63B78  # Castagnoli's, its bits in reverse order


def _shifted(byte: int) -> int:
    for _ in range(8):
        byte = byte >> 1 ^ (_POLYNOMIAL if byte & 1 else 0)
    return byte


_TABLE = [_shifted(byte) for byte in range(256)]
_BY_TOP = {entry >> 24: byte for byte, entry in enumerate(_TABLE)}
_BITS = {_TABLE[1 << place]: 1 << place for place in range(8)}


def flipped_bit(block: Any, expected: int) -> tuple[int, int] | None:
    """Return the byte and the mask of the bit whose flip gives the expected sum.

    Parameters
    ----------
    block : bytes-like
    expected : int
        CRC-32C of what was written.

    Returns
    -------
    (int, int) or None
        None where more than a bit differs, or nothing.
    """
    difference = crc32c(block) ^ expected
    for place in range(len(block) - 1, -1, -1):
        if difference in _BITS:
            return place, _BITS[difference]
        # What it would be without the last byte.
        byte = _BY_TOP[difference >> 24]
        difference = (difference ^ _TABLE[byte]) << 8 & 0xFFFFFFFF | byte
    return None
