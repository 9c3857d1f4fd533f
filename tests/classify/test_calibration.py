"""Calibration on held-out items."""

import numpy as np
import pytest

from fewbits.classify import (
    Calibration,
    Codebook,
    calibrate,
    calibration_bytes,
    load_calibration,
)
from fewbits.codes import pack
from fewbits.errors import ArgumentError, ArtefactError, FeatureError
from tests.classify._probabilities import class_probabilities


@pytest.fixture
def book():
    bits = np.random.default_rng(0).random((50, 12)) < 0.5
    return Codebook(pack(bits), 12, [f"class {i}" for i in range(50)])


def items(book, n, seed, *, gain=1.0):
    """Return scores that are log-odds but for a gain, and labels."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, len(book), n)
    signs = 2.0 * np.unpackbits(book.codes, axis=1)[:, : book.n_bits] - 1
    log_odds = 2 * (signs[rows] + rng.normal(size=(n, book.n_bits)))  # variance 1
    return log_odds * gain, book.names[rows]


@pytest.mark.parametrize("gain", [1e-6, 0.1, 1.0, 300.0])
def test_finds_the_scale(book, gain):
    found = calibrate(book, *items(book, 2000, 1, gain=gain))
    assert found.scale * gain == pytest.approx(1, rel=0.06)
    assert not found.shifts.any()


def calibration_error(confidences, right):
    """Return the expected calibration error, of 15 bins of equal width."""
    bins = np.ceil(confidences * 15)
    rows = [bins == number for number in np.unique(bins)]
    gaps = [abs(right[row].mean() - confidences[row].mean()) for row in rows]
    return np.average(gaps, weights=[row.sum() for row in rows])


def test_makes_confidence_equal_to_accuracy(book):
    found = calibrate(book, *items(book, 2000, 1, gain=4))
    scores, labels = items(book, 4000, 2, gain=4)
    errors = []
    for calibration in (None, found):
        p = class_probabilities(book, scores, calibration)
        right = p.argmax(axis=1) == book.rows(labels)
        errors.append(calibration_error(p.max(axis=1), right))
    assert errors[1] < 0.03 < 0.1 < errors[0]


def test_nothing_nearby_is_likelier(book):
    scores, labels = items(book, 500, 3, gain=2)

    def likelihood_of(scale):
        p = class_probabilities(book, scores, Calibration(scale, np.zeros(12)))
        return np.log(p[np.arange(len(labels)), book.rows(labels)]).sum()

    scale = calibrate(book, scores, labels).scale
    for factor in (0.99, 1.01):
        assert likelihood_of(scale * factor) < likelihood_of(scale)


def test_of_items_that_are_all_right_and_of_none_that_differ(book):
    bits = np.unpackbits(book.codes, axis=1)[:, :12]
    sure = calibrate(book, 2.0 * bits - 1, book.names)
    assert 10 < sure.scale <= 1e4
    nothing = calibrate(book, np.zeros((50, 12)), book.names)
    assert np.isfinite(nothing.scale)


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"labels": ["class 0"]}, ArgumentError, "100 rows of scores, but 1 labels"),
        ({"labels": ["cow"] * 100}, ArgumentError, "beyond the codebook"),
        ({"scores": np.full((100, 12), np.nan)}, FeatureError, "finite"),
        ({"scores": np.zeros((100, 11))}, FeatureError, "each of the 12 bits"),
        (
            {"scores": np.zeros((0, 12)), "labels": []},
            ArgumentError,
            "at least one hel",
        ),
    ],
)
def test_mistakes(book, change, kind, message):
    scores, labels = items(book, 100, 1)
    arguments = {"scores": scores, "labels": labels, **change}
    with pytest.raises(kind, match=message):
        calibrate(book, **arguments)


class TestFile:
    def test_round_trip(self, tmp_path):
        path = tmp_path / "c.safetensors"
        path.write_bytes(
            calibration_bytes(Calibration(0.3, np.array([0.1, -2]), none=0.2))
        )
        found = load_calibration(path)
        assert (found.scale, found.none) == (0.3, 0.2)
        np.testing.assert_array_equal(found.shifts, [0.1, -2])

    def test_every_flipped_bit_of_the_numbers_is_noticed(self, tmp_path):
        path = tmp_path / "c.safetensors"
        content = bytearray(calibration_bytes(Calibration(0.3, np.array([0.1, -2]))))
        for place in range(len(content) - 32, len(content)):
            content[place] ^= 1
            path.write_bytes(content)
            with pytest.raises(ArtefactError, match="damaged"):
                load_calibration(path)
            content[place] ^= 1

    def test_of_something_else(self, book, tmp_path):
        book.save(tmp_path / "c.safetensors")
        with pytest.raises(ArtefactError, match="holds no calibration"):
            load_calibration(tmp_path / "c.safetensors")
