"""CRC-32C equals its definition, whatever computes it."""

import numpy as np
from hypothesis import given, note
from hypothesis import strategies as st


def defined(data):
    """Return the CRC-32C of bytes, one bit after another."""
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    return value ^ 0xFFFFFFFF


def sums(kernel, pieces):
    data = np.frombuffer(b"".join(pieces), np.uint8)
    offsets = np.cumsum([0, *map(len, pieces)], dtype=np.int64)
    found = np.empty(len(pieces), np.uint32)
    kernel.crc32c(data, offsets, found)
    return found.tolist()


def test_known_values(kernel):
    # The check value of the catalogue of CRCs, and those of RFC 3720.
    pieces = [b"123456789", bytes(32), b"\xff" * 32, bytes(range(32)), b""]
    known = [0xE3069283, 0x8A9136AA, 0x62A8AB43, 0x46DD794E, 0]
    assert sums(kernel, pieces) == known


@given(st.lists(st.binary(max_size=300), max_size=9), st.integers(0, 5))
def test_pieces(kernels, pieces, n_copies):
    pieces = [*pieces, *[piece[::-1] for piece in pieces[:1] * n_copies]]
    expected = [defined(piece) for piece in pieces]
    for name, kernel in kernels.items():
        note(name)
        assert sums(kernel, pieces) == expected


def test_long_pieces(compiled):
    from fewbits._kernels import _reference

    pieces = np.random.default_rng(0).integers(0, 256, (5, 65_537), np.uint8)
    pieces = [piece.tobytes() for piece in pieces]
    assert sums(compiled, pieces) == sums(_reference, pieces)
