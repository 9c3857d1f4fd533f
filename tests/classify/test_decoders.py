"""Checks that every decoder must pass. A new decoder adds a line to DECODERS."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits import _kernels
from fewbits.classify import Codebook
from fewbits.classify.decoders import Bounded, Exact, Nearest, Orbgrand, Soft
from fewbits.codes import pack
from fewbits.errors import ArgumentError, CodeError, FeatureError

ON_CODES = {"exact": Exact, "bounded": partial(Bounded, 2), "nearest": Nearest}
ON_SCORES = {
    "soft": Soft,
    "ranks": partial(Orbgrand, 50),
    "costs": partial(Orbgrand, 50, order="costs"),
}
DECODERS = ON_CODES | ON_SCORES
FIELDS = ("distances", "rows", "ties", "lookups", "comparisons")


@pytest.fixture(params=DECODERS)
def name(request):
    return request.param


def decode(name, case, items=slice(None), **kwargs):
    given = case.codes if name in ON_CODES else case.scores
    return DECODERS[name](**kwargs).decode(case.book, given[items])


def refuses(kind, message, call, *args, **kwargs):
    with pytest.raises(kind, match=message) as error:
        call(*args, **kwargs)
    assert "\n" not in str(error.value)


def test_answers_are_arrays_of_one_kind(name, make):
    found = decode(name, make(30, 20, 17, 0))
    assert [getattr(found, field).dtype for field in FIELDS] == ["i4"] + 4 * ["i8"]
    assert {getattr(found, field).shape for field in FIELDS} == {(17,)}
    assert len(found) == 17


def test_of_no_items(name, make):
    assert len(decode(name, make(30, 20, 0, 0))) == 0


@pytest.mark.parametrize("n_bits", [9, 64, 65, 200])
def test_an_item_is_decoded_alone_as_in_a_batch(name, make, n_bits):
    case = make(6000 if n_bits < 100 else 50, n_bits, 40, 1)
    together = decode(name, case)
    for item in range(40):
        alone = decode(name, case, slice(item, item + 1))
        for field in FIELDS[:3]:
            assert getattr(alone, field)[0] == getattr(together, field)[item]


def test_instruction_sets_and_threads_do_not_matter(name, make):
    case, before = make(5000, 40, 300, 2), _kernels.active_isa()
    expected = decode(name, case).rows
    try:
        for isa in _kernels.isas():
            _kernels.force_isa(isa)
            for threads in (1, 2):
                _kernels.set_num_threads(threads)
                np.testing.assert_array_equal(decode(name, case).rows, expected)
    finally:
        _kernels.force_isa(before)
        _kernels.set_num_threads(None)


@given(data=st.data())
def test_ties_none_leaves_out_what_is_tied(drawn, data):
    case = drawn(data)
    for name in DECODERS:
        first, none = (decode(name, case, ties=ties) for ties in ("first", "none"))
        assert (first.rows[first.ties > 0] >= 0).all()
        clear = first.ties == 1
        np.testing.assert_array_equal(none.rows, np.where(clear, first.rows, -1))
        np.testing.assert_array_equal(none.ties, first.ties)
        np.testing.assert_array_equal(none.distances, first.distances)


@given(data=st.data())
def test_distances_are_those_of_the_rows(drawn, data):
    case = drawn(data)
    for name in DECODERS:
        found = decode(name, case, ties="first")
        answered = np.flatnonzero(found.rows >= 0)
        expected = case.distances[answered, found.rows[answered]]
        np.testing.assert_array_equal(found.distances[answered], expected)
        assert (found.distances[found.rows < 0] == -1).all()
        assert (found.ties[found.rows < 0] == 0).all()


def test_class_codes_are_decoded_to_their_classes(name, make):
    case = make(40, 64, 0, 3)
    bits = np.unpackbits(case.book.codes, axis=1)
    case.scores = 2.0 * bits - 1
    found = decode(name, case, ties="first")
    firsts = [
        np.flatnonzero((case.book.codes == code).all(axis=1))[0]
        for code in case.book.codes[:40]
    ]
    np.testing.assert_array_equal(found.rows, firsts)
    assert (found.distances == 0).all()


def test_a_hundred_thousand_classes(name):
    rng = np.random.default_rng(4)
    bits = rng.random((100_000, 64)) < 0.5
    book = Codebook(pack(bits), 64)
    rows = rng.integers(0, len(book), 300)
    scores = np.where(bits[rows], 1.0, -1.0) + 0.3 * rng.normal(size=(300, 64))
    items = pack(scores > 0) if name in ON_CODES else scores
    found = DECODERS[name]().decode(book, items)
    answered = found.rows >= 0
    np.testing.assert_array_equal(found.rows[answered], rows[answered])
    assert answered.mean() > 0.95


@pytest.mark.parametrize("word", ["last", "", None, 3])
def test_unknown_ties(name, make, word):
    message = "ties must be one of first, none, got"
    refuses(ArgumentError, message, decode, name, make(3, 8, 2, 0), ties=word)


@pytest.mark.parametrize("decoder", ON_CODES.values(), ids=ON_CODES)
@pytest.mark.parametrize(
    ("codes", "message"),
    [
        (np.zeros((2, 1), np.uint8), "codes of items have 1 bytes, those of the cla"),
        (np.zeros((2, 2)), "packed into uint8"),
        (
            Codebook(np.zeros((1, 2), np.uint8), 12),
            "got dtype object; give the codes of the Codebook",
        ),
        (np.zeros(2, np.uint8), "2 dimensions"),
        (np.full((2, 2), 255, np.uint8), "zero beyond their 12 bits, row 0 is not"),
    ],
)
def test_codes_that_do_not_fit(decoder, make, codes, message):
    refuses(CodeError, message, decoder().decode, make(3, 12, 0, 0).book, codes)


@pytest.mark.parametrize("decoder", ON_SCORES.values(), ids=ON_SCORES)
@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([[0.0, np.nan, 0.0]], "finite, got NaN or infinity in row 0"),
        ([[0.0, 0.0, 0.0], [0.0, 1e200, 0.0]], "finite, .* row 1"),
        (np.zeros((2, 4)), "a column for each of the 3 bits of the codebook, got 4"),
        (np.zeros(3), r"matrix of real numbers .* shape \(3,\)"),
        (np.zeros((2, 3), complex), "real numbers .* complex128"),
        ([[0.0], [0.0, 1.0]], "not a matrix"),
        ([["a", "b", "c"]], "real numbers"),
    ],
)
def test_scores_that_do_not_fit(decoder, make, scores, message):
    refuses(FeatureError, message, decoder().decode, make(3, 3, 0, 0).book, scores)


@pytest.mark.parametrize("decoder", ON_SCORES.values(), ids=ON_SCORES)
def test_zero_bit(decoder, make):
    case = make(3, 3, 0, 0)
    for zero_bit in (0, 1):
        found = decoder().decode(case.book, np.zeros((1, 3)), zero_bit=zero_bit)
        says = np.full(3, zero_bit)
        expected = (np.unpackbits(case.book.codes[found.rows[0]])[:3] != says).sum()
        assert found.distances[0] == expected
    refuses(
        ArgumentError,
        "zero_bit must be 0 or 1, got 2",
        decoder().decode,
        case.book,
        np.zeros((1, 3)),
        zero_bit=2,
    )
