"""Codebooks: what they hold, tell and refuse."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits.classify import Codebook, load_codebook
from fewbits.codes import pack, prefix
from fewbits.errors import ArgumentError, ArtefactError, CodeError, NewerFormatError

CODES = pack([[0, 0, 0, 0], [1, 1, 1, 0], [0, 0, 0, 0], [1, 1, 1, 1], [1, 1, 1, 0]])
NAMES = ["lynx", "dog", "cat", "wolf", "fox"]

NAMES_OF_EACH_KIND = [
    NAMES,
    [5, -3, 2**62, 0, 1],
    [5.0, -1.0, 2.0, 2.0**53, 0.0],
    np.array([3, 1, 2, 9, 0], np.uint8),
    np.array(NAMES, object),
    ["ä", "c d", "b\n", "\U0001f600", "'"],
]


@pytest.fixture
def book():
    return Codebook(CODES, 4, NAMES)


class TestCodebook:
    def test_holds_codes_and_names(self, book):
        np.testing.assert_array_equal(book.codes, CODES)
        assert book.names.tolist() == NAMES
        assert (len(book), book.n_bits) == (5, 4)
        assert repr(book) == "Codebook(5 classes, 4 bits)"
        assert repr(Codebook(CODES[:1], 1)) == "Codebook(1 class, 1 bit)"

    def test_numbers_classes_without_names(self):
        assert Codebook(CODES, 4).names.tolist() == [0, 1, 2, 3, 4]

    def test_is_immutable(self, book):
        for array in (book.codes, book.names):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = array[1]
        with pytest.raises(AttributeError, match="immutable"):
            book.n_bits = 3
        with pytest.raises(AttributeError, match="immutable"):
            del book.codes

    def test_keeps_its_own_copies(self):
        codes, names = CODES.copy(), np.array(NAMES)
        book = Codebook(codes, 4, names)
        codes[0], names[0] = 255, "changed"
        assert book.codes[0] == 0
        assert book.names[0] == "lynx"

    @given(data=st.data())
    def test_counts_different_codes(self, drawn, data):
        book = drawn(data).book
        assert book.n_unique == len({code.tobytes() for code in book.codes})

    def test_finds_rows_by_names(self, book):
        assert book.rows(["cat", "lynx", "cat"]).tolist() == [2, 0, 2]
        assert book.rows([]).tolist() == []
        assert Codebook(CODES, 4, [9, 7, 5, 3, 1]).rows([3, 9]).tolist() == [3, 0]

    def test_names_rows(self, book):
        assert book.labels([1, 0]).tolist() == ["dog", "lynx"]
        assert book.labels([1, -1]).tolist() == ["dog", None]
        assert book.labels([]).tolist() == []

    def test_prefixes_are_codebooks(self, book):
        short = book.prefix(3)
        np.testing.assert_array_equal(short.codes, prefix(CODES, 3))
        assert short.names.tolist() == NAMES
        assert short.n_unique == 2
        assert book.prefix(4).fingerprint == book.fingerprint

    def test_fingerprint_is_that_of_codes_and_names(self, book):
        others = [
            Codebook(CODES[::-1], 4, NAMES),
            Codebook(CODES, 5, NAMES),
            Codebook(CODES, 4, NAMES[::-1]),
            Codebook(CODES, 4),
            Codebook(CODES, 4, ["lynxdog", "d", "cat", "wolf", "fox"]),
        ]
        prints = {book.fingerprint, *(other.fingerprint for other in others)}
        assert len(prints) == 6
        assert Codebook(CODES, 4, NAMES).fingerprint == book.fingerprint


class TestMistakes:
    @pytest.mark.parametrize(
        ("codes", "n_bits", "kind", "message"),
        [
            (np.empty((0, 1), np.uint8), 4, ArgumentError, "at least one class, got n"),
            (CODES, 9, CodeError, "9 bits need 2 bytes"),
            (
                CODES,
                3,
                CodeError,
                "class codes must be zero beyond their 3 bits, row 3",
            ),
            (CODES.astype(int), 4, CodeError, "packed into uint8"),
            (CODES[0], 4, CodeError, "2 dimensions"),
            (CODES, 0, ArgumentError, "between 1 and 65536"),
            (CODES, 4.0, ArgumentError, "whole number"),
        ],
    )
    def test_codes(self, codes, n_bits, kind, message):
        with pytest.raises(kind, match=message):
            Codebook(codes, n_bits)

    @pytest.mark.parametrize(
        ("names", "message"),
        [
            (["a", "b"], "5 class codes, but 2 names"),
            ([], "5 class codes, but 0 names"),
            (["a", "b", "c", "d", "a"], "must be unique, got a twice"),
            ([1, 2, 3, 4, 1], "must be unique, got 1 twice"),
            (["a", "b", "c", "d", 1], "of one kind, got strings and numbers"),
            ([1.0, 2.0, 3.0, 4.0, np.nan], "missing in 1 of 5 rows"),
            ([None, 1, 2, 3, 4], "missing in 1 of 5 rows: got None in row 0"),
            ([None] * 5, "missing in 5 of 5 rows"),
            ([["a", "b"]] * 5, r"1 dimension, got shape \(5, 2\)"),
            ([["a"], ["b", "c"], [], [], []], "some rows have several labels"),
            (
                [b"a", b"b", b"c", b"d", b"e"],
                "strings, whole numbers or booleans, got bytes; decode them",
            ),
            ([0, 1, 2, 3, 2**63], r"below 2\*\*63, got 9223372036854775808"),
            (np.array([0, 1, 2, 3, 2**63], np.uint64), r"below 2\*\*63"),
            ([0, 1, 2, 3, 2**70], r"below 2\*\*63"),
            (["a", "b", "c", "d", "\ud800"], "Unicode"),
        ],
    )
    def test_names(self, names, message):
        with pytest.raises(ArgumentError, match=message) as error:
            Codebook(CODES, 4, names)
        assert "\n" not in str(error.value)

    @pytest.mark.parametrize(
        ("labels", "message"),
        [
            (
                ["cat", "cow"],
                "1 of 2 labels are beyond the codebook of 5 .*: cow is the",
            ),
            (["zebra"], "beyond the codebook"),
            ([0], "labels are numbers, the names of classes strings"),
            ("cat", "labels must be a list, got one string"),
        ],
    )
    def test_labels_beyond_the_codebook(self, book, labels, message):
        with pytest.raises(ArgumentError, match=message):
            book.rows(labels)

    @pytest.mark.parametrize(
        ("rows", "message"),
        [
            ([5], "between -1 and 4, got 5 to 5"),
            ([-2], "between -1 and 4, got -2"),
            ([0.5], "list of integers, got float64"),
            ([[0]], "list of integers"),
        ],
    )
    def test_rows_beyond_the_codebook(self, book, rows, message):
        with pytest.raises(ArgumentError, match=message):
            book.labels(rows)

    @pytest.mark.parametrize("n_bits", [0, 5])
    def test_prefixes_of_another_length(self, book, n_bits):
        with pytest.raises(ArgumentError, match="between 1 and 4 bits"):
            book.prefix(n_bits)


class TestFile:
    @pytest.mark.parametrize("names", NAMES_OF_EACH_KIND, ids=lambda n: str(n[1]))
    def test_holds_the_whole_codebook(self, names, tmp_path):
        book = Codebook(CODES, 4, names)
        book.save(tmp_path / "classes.safetensors")
        loaded = load_codebook(tmp_path / "classes.safetensors")
        assert loaded.fingerprint == book.fingerprint
        np.testing.assert_array_equal(loaded.codes, book.codes, strict=True)
        np.testing.assert_array_equal(loaded.names, book.names, strict=True)
        assert loaded.n_bits == 4

    def test_of_one_class_without_a_name(self, tmp_path):
        Codebook(CODES[:1], 4).save(tmp_path / "one.safetensors")
        assert load_codebook(tmp_path / "one.safetensors").names.tolist() == [0]

    @pytest.mark.parametrize("names", [NAMES, None])
    def test_is_never_silently_different(self, names, tmp_path):
        """Flip every bit of a small file, and cut it at every place."""
        book, path = Codebook(CODES, 4, names), tmp_path / "classes.safetensors"
        book.save(path)
        content = path.read_bytes()
        with open(path, "r+b", buffering=0) as file:
            for i, byte in enumerate(content):
                for bit in range(8):
                    os.pwrite(file.fileno(), bytes([byte ^ (1 << bit)]), i)
                    check_damaged(path, book)
                os.pwrite(file.fileno(), bytes([byte]), i)
            assert load_codebook(path).fingerprint == book.fingerprint
            for length in reversed(range(len(content))):
                os.ftruncate(file.fileno(), length)
                check_damaged(path, book)

    def test_of_something_else(self, tmp_path):
        from fewbits.encoders import LinearEncoder

        path = tmp_path / "encoder.safetensors"
        LinearEncoder([[1.0]], [0.0]).save(path)
        with pytest.raises(
            ArtefactError, match=r"holds no codebook .*fewbits-encoder-1"
        ):
            load_codebook(path)
        path.write_bytes(b"nothing")
        with pytest.raises(ArtefactError, match="holds no readable codebook"):
            load_codebook(path)
        with pytest.raises(FileNotFoundError):
            load_codebook(tmp_path / "nowhere")

    def test_is_left_alone_when_it_cannot_be_written(
        self, book, tmp_path, no_new_files
    ):
        with pytest.raises(PermissionError, match=r"classes\.safetensors"):
            book.save(tmp_path / "classes.safetensors")
        assert list(tmp_path.iterdir()) == []


def check_damaged(path, original):
    """Check that loading says so, or that the damage changes nothing."""
    try:
        assert load_codebook(path).fingerprint == original.fingerprint
    except (ArtefactError, NewerFormatError) as error:
        assert str(path) in str(error)  # noqa: PT017
