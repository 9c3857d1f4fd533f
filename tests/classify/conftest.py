"""Codebooks with noisy items, and the plainest way to decode them."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import strategies as st

from fewbits.classify import Codebook
from fewbits.codes import pack, unpack

LENGTHS = [1, 3, 7, 8, 9, 12, 20, 63, 64, 65, 130]


@dataclass
class Case:
    """A codebook, and items whose scores are their class's bits with noise."""

    book: Codebook
    scores: np.ndarray
    rows: np.ndarray

    @property
    def codes(self):
        return pack(self.scores > 0)

    @property
    def differ(self):
        """Which bits of the items differ from which classes'."""
        bits = unpack(self.book.codes, self.book.n_bits)
        return bits != (self.scores > 0)[:, None]

    @property
    def distances(self):
        return self.differ.sum(axis=2)

    @property
    def costs(self):
        return (self.differ * np.abs(self.scores)[:, None]).sum(axis=2)


def make_case(
    n_classes, n_bits, n_items, seed, *, noise=1.0, largest=None, collide=True
):
    """Where few bits are ever set, classes collide; whole scores make costs tie."""
    rng = np.random.default_rng(seed)
    bits = rng.random((n_classes, n_bits)) < 0.5
    if collide:
        bits &= rng.random(n_bits) < rng.random()
    rows = rng.integers(0, n_classes, n_items)
    scores = 2.0 * bits[rows] - 1 + noise * rng.normal(size=(n_items, n_bits))
    if largest is not None:
        scores = np.rint(scores * largest)
    return Case(Codebook(pack(bits), n_bits), scores, rows)


def draw_case(data, max_bits=130):
    """Let hypothesis draw a small case."""
    return make_case(
        data.draw(st.integers(1, 60), "n_classes"),
        data.draw(st.sampled_from([n for n in LENGTHS if n <= max_bits]), "n_bits"),
        data.draw(st.integers(0, 20), "n_items"),
        data.draw(st.integers(0, 2**32 - 1), "seed"),
        largest=data.draw(st.sampled_from([1, 3, 1000]), "largest"),
    )


def nearest(values, radius=np.inf):
    """Return the least of each row, where it is first, and how often it is there."""
    least, first = values.min(axis=1), values.argmin(axis=1)
    ties = (values == least[:, None]).sum(axis=1)
    far = least > radius
    return np.where(far, -1, least), np.where(far, -1, first), np.where(far, 0, ties)


@pytest.fixture(scope="session")
def make():
    return make_case


@pytest.fixture(scope="session")
def drawn():
    return draw_case


@pytest.fixture(scope="session")
def nearest_of():
    return nearest


def same_key(words):
    """Return bits that flip no bit of a key: an XOR of words that is zero."""
    rows = {}  # by their highest bit: a word, and the bits it is the XOR of
    for bit, word in enumerate(words.tolist()):
        bits = 1 << bit
        while word and (known := rows.get(word.bit_length())):
            word, bits = word ^ known[0], bits ^ known[1]
        if not word:
            return np.array([bits >> i & 1 for i in range(len(words))], np.bool_)
        rows[word.bit_length()] = word, bits
    raise AssertionError


@pytest.fixture(scope="session")
def flips_of_no_key():
    return same_key
