"""The accuracies of decoders: strict, expected, and as the paper counts."""

import numpy as np
import pytest

from fewbits.classify import Codebook
from fewbits.classify.decoders import Exact, Nearest, Orbgrand
from fewbits.codes import pack
from fewbits.errors import ArgumentError, CodeError
from fewbits.evaluation.classification import decoding_accuracy, matching_bits

BITS = [[0, 0, 0, 0], [1, 1, 1, 1], [0, 0, 0, 0], [1, 1, 0, 0]]
NAMES = ["cat", "dog", "lynx", "fox"]
ITEMS = pack([[0, 0, 0, 0], [0, 0, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1], [0, 0, 0, 1]])
LABELS = ["cat", "lynx", "fox", "dog", "cat"]


@pytest.fixture
def book():
    return Codebook(pack(BITS), 4, NAMES)


def per_item(book, decoder, credit):
    decoded = decoder.decode(book, ITEMS)
    score = decoding_accuracy(book, decoded, LABELS, codes=ITEMS, credit=credit)
    assert score.value == pytest.approx(score.per_query.mean())
    return score.per_query.tolist()


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
        values.append(decoding_accuracy(other, decoded, LABELS).value)
    decoded = Nearest().decode(book, ITEMS)
    expected = decoding_accuracy(book, decoded, LABELS, codes=ITEMS, credit="expected")
    assert np.mean(values) == pytest.approx(expected.value)


def test_strict_needs_no_codes(book):
    decoded = Orbgrand(1).decode(book, np.zeros((1, 4)))
    assert decoding_accuracy(book, decoded, ["cat"]).value == 1


def test_matching_bits(book):
    assert matching_bits(book, ITEMS, LABELS).per_query.tolist() == [4, 4, 3, 4, 3]


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"labels": [*LABELS[:4], "cow"]}, ArgumentError, "beyond the codebook"),
        ({"labels": LABELS[:3]}, ArgumentError, "5 decoded, 3 labels"),
        ({"codes": None}, ArgumentError, "credit 'paper' needs the codes"),
        ({"codes": ITEMS[:2]}, ArgumentError, "2 codes, 5 labels"),
        ({"codes": np.zeros((5, 2), np.uint8)}, CodeError, "4 bits need 1 bytes"),
        ({"credit": "generous"}, ArgumentError, "credit must be one of strict"),
    ],
)
def test_mistakes(book, change, kind, message):
    arguments = {"labels": LABELS, "codes": ITEMS, "credit": "paper", **change}
    with pytest.raises(kind, match=message):
        decoding_accuracy(book, Exact().decode(book, ITEMS), **arguments)


def test_no_items(book):
    with pytest.raises(ArgumentError, match="labels must not be empty"):
        decoding_accuracy(book, Exact().decode(book, ITEMS[:0]), [])
