"""The accuracies of decoders: strict, expected, and as the paper counts."""

import numpy as np
import pytest

from fewbits.classify import Codebook
from fewbits.classify.decoders import Exact, Nearest, Orbgrand
from fewbits.codes import pack
from fewbits.errors import ArgumentError
from research.common.decoding import decoding_credits, matching_bits

BITS = [[0, 0, 0, 0], [1, 1, 1, 1], [0, 0, 0, 0], [1, 1, 0, 0]]
NAMES = ["cat", "dog", "lynx", "fox"]
ITEMS = pack([[0, 0, 0, 0], [0, 0, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1], [0, 0, 0, 1]])
LABELS = ["cat", "lynx", "fox", "dog", "cat"]


@pytest.fixture
def book():
    return Codebook(pack(BITS), 4, NAMES)


def per_item(book, decoder, credit):
    decoded = decoder.decode(book, ITEMS)
    found = decoding_credits(book, decoded, LABELS, codes=ITEMS, credit=credit)
    return found.tolist()


def test_exact(book):
    assert per_item(book, Exact(), "strict") == [0, 0, 0, 1, 0]
    assert per_item(book, Exact(), "expected") == [0.5, 0.5, 0, 1, 0]
    assert per_item(book, Exact(), "paper") == [1, 1, 0, 1, 0]


def test_nearest(book):
    """The third item is as near to dog as to fox, the last to cat as to lynx."""
    assert per_item(book, Nearest(), "strict") == [1, 0, 0, 1, 1]
    assert per_item(book, Nearest(), "expected") == [0.5, 0.5, 0.5, 1, 0.5]
    assert per_item(book, Nearest(), "paper") == [1, 1, 1, 1, 1]


def test_expected_is_the_mean_of_random_choices(book):
    """Over all orders of the classes, of which the first of the tied is taken."""
    from itertools import permutations

    values = []
    for order in permutations(range(4)):
        other = Codebook(book.codes[list(order)], 4, book.names[list(order)])
        decoded = Nearest().decode(other, ITEMS)
        values.append(decoding_credits(other, decoded, LABELS).mean())
    decoded = Nearest().decode(book, ITEMS)
    expected = decoding_credits(book, decoded, LABELS, codes=ITEMS, credit="expected")
    assert np.mean(values) == pytest.approx(expected.mean())


def test_strict_needs_no_codes(book):
    decoded = Orbgrand(1).decode(book, np.zeros((1, 4)))
    assert decoding_credits(book, decoded, ["cat"]).mean() == 1


def test_matching_bits(book):
    assert matching_bits(book, ITEMS, LABELS) == np.mean([4, 4, 3, 4, 3])


def test_mistakes(book):
    decoded = Exact().decode(book, ITEMS)
    with pytest.raises(ArgumentError, match="beyond the codebook"):
        decoding_credits(book, decoded, [*LABELS[:4], "cow"])
    with pytest.raises(ArgumentError, match="got 3 of 5"):
        decoding_credits(book, decoded, LABELS[:3])
    with pytest.raises(ArgumentError, match="needs the codes"):
        decoding_credits(book, decoded, LABELS, credit="paper")
