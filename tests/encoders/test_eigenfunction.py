"""Waves along axes; the checks of `test_common.py` apply as well."""

import mpmath
import numpy as np
import pytest
import safetensors.numpy

from fewbits import _kernels
from fewbits.codes import pack, prefix
from fewbits.encoders import EigenfunctionEncoder
from fewbits.encoders._elementary import sine_of
from fewbits.errors import ArgumentError, FeatureError

N_BITS = 37
_rng = np.random.default_rng(0)
X = _rng.normal(size=(300, 20)).astype(np.float32)
WEIGHTS = _rng.normal(size=(20, 6)).astype(np.float32)
AXES = np.append(_rng.integers(6, size=N_BITS - 1), 5)
MODES = _rng.integers(1, 40, size=N_BITS)
BIAS = _rng.normal(size=N_BITS)


@pytest.fixture(params=[0, 1])
def encoder(request):
    return EigenfunctionEncoder(WEIGHTS, AXES, MODES, BIAS, zero_bit=request.param)


def wave():
    """One bit that is the sine of one feature."""
    return EigenfunctionEncoder([[1.0]], [0], [1], [0.0])


def near_zeros_of_the_sine():
    """Float32 numbers at, just above and just below whole numbers, and tiny ones."""
    whole = np.concatenate(
        [np.arange(-50, 51), 2.0 ** np.arange(6, 126), -(2.0 ** np.arange(6, 126) + 1)]
    ).astype(np.float32)
    tiny = np.float32(2.0) ** np.arange(-149, 0, dtype=np.float32)
    some = np.concatenate([whole, tiny, -tiny])
    up, down = (np.nextafter(some, np.float32(s * np.inf)) for s in (1, -1))
    return np.concatenate([some, up, down])[:, None]


def exact_sine(x):
    """Return sin(pi x) to 60 digits; mpmath reduces the argument exactly."""
    with mpmath.workdps(60):
        return mpmath.sinpi(mpmath.mpf(float(x)))


def test_scores_are_the_sine():
    rows = _rng.uniform(-300, 300, size=(3000, 1)).astype(np.float32)
    scores = wave().project(rows)[:, 0].astype(float)
    exact = [float(exact_sine(x)) for x in rows[:, 0]]
    np.testing.assert_allclose(scores, exact, rtol=1.5e-7)


def test_sign_is_exact():
    rows = near_zeros_of_the_sine()
    exact = [int(mpmath.sign(exact_sine(x))) for x in rows[:, 0]]
    np.testing.assert_array_equal(np.sign(wave().project(rows)[:, 0]), exact)
    np.testing.assert_array_equal(wave().encode(rows)[:, 0] >> 7, np.equal(exact, 1))


def test_sign_is_exact_for_every_mode():
    modes = np.array([1, 2, 3, 1000, 65_536])
    many = EigenfunctionEncoder([[1.0]], 0 * modes, modes, np.full(5, 0.5))
    rows = _rng.uniform(-1, 1, size=(500, 1)).astype(np.float32)
    rows[250:] = (np.arange(250)[:, None] + 0.5) / modes[
        _rng.integers(5, size=(250, 1))
    ]
    exact = [
        [int(mpmath.sign(exact_sine(float(x) * m + 0.5))) for m in modes]
        for x in rows[:, 0]
    ]
    np.testing.assert_array_equal(np.sign(many.project(rows)), exact)


def test_polynomial_is_accurate():
    w = np.linspace(-0.5, 0.5, 4001)
    exact = np.array([float(exact_sine(x)) for x in w])
    assert np.abs(sine_of(w) - exact).max() < 1e-12
    assert np.abs(sine_of(w)).max() <= 1 + 1e-9


def test_scores_are_odd_however_large_the_angles():
    wave = EigenfunctionEncoder([[1.0]], axes=[0], modes=[1], bias=[0.0])
    angles = _rng.normal(size=(5000, 1)) * 10.0 ** _rng.integers(-20, 20, (5000, 1))
    scores = wave.project(angles)
    assert np.abs(scores).max() <= 1
    np.testing.assert_array_equal(wave.project(-angles), -scores)


def test_scores_follow_the_formula(encoder):
    angles = MODES * (X.astype(float) @ WEIGHTS)[:, AXES] + BIAS
    np.testing.assert_allclose(encoder.project(X), np.sin(np.pi * angles), atol=2e-3)


def test_codes_are_packed_signs_of_scores(encoder):
    scores, codes = encoder.project(X), encoder.encode(X)
    assert (scores.dtype, codes.dtype) == (np.float32, np.uint8)
    bits = scores >= 0 if encoder.zero_bit else scores > 0
    np.testing.assert_array_equal(codes, pack(bits))


def test_zero_scores_take_the_zero_bit(encoder):
    tensors = {**encoder.tensors(), "bias": np.zeros(N_BITS)}
    still = EigenfunctionEncoder(**tensors, zero_bit=encoder.zero_bit)
    expected = pack(np.full((3, N_BITS), encoder.zero_bit))
    np.testing.assert_array_equal(still.encode(np.zeros((3, 20))), expected)


def test_scores_and_codes_depend_on_the_row_alone(encoder):
    scores, codes = encoder.project(X), encoder.encode(X)
    many = np.resize(X, (10_000, 20))
    for isa in _kernels.isas():
        for threads in (1, 2):
            _kernels.force_isa(isa)
            _kernels.set_num_threads(threads)
            for i in range(0, len(X), 7):
                span = slice(i, i + 3)
                np.testing.assert_array_equal(
                    encoder.project(X[i : i + 1]), scores[[i]]
                )
                np.testing.assert_array_equal(encoder.project(X[span]), scores[span])
                np.testing.assert_array_equal(encoder.encode(X[i : i + 1]), codes[[i]])
            np.testing.assert_array_equal(
                encoder.encode(many), np.resize(codes, (10_000, 5))
            )
            np.testing.assert_array_equal(
                encoder.project(many), np.resize(scores, (10_000, N_BITS))
            )


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f4", "i1"])
def test_any_real_dtype_and_layout(encoder, dtype):
    rows = (X * 4).round().astype(dtype)
    expected = encoder.project(rows.astype(np.float32))
    np.testing.assert_array_equal(encoder.project(rows), expected)
    np.testing.assert_array_equal(encoder.project(np.asfortranarray(rows)), expected)


def test_no_rows(encoder):
    assert encoder.encode(np.empty((0, 20))).shape == (0, 5)
    assert encoder.project(np.empty((0, 20))).shape == (0, N_BITS)


def test_more_bits_than_a_block_holds():
    modes = np.arange(1, 65_537)
    long = EigenfunctionEncoder(WEIGHTS, 0 * modes, modes, np.zeros(65_536))
    short = long.prefix(8)
    np.testing.assert_array_equal(long.encode(X[:3])[:, :1], short.encode(X[:3]))


@pytest.mark.parametrize("n_bits", [1, 8, 9, N_BITS])
def test_prefix(encoder, n_bits):
    short = encoder.prefix(n_bits)
    assert (short.n_bits, short.n_features) == (n_bits, 20)
    assert (short.fingerprint == encoder.fingerprint) == (n_bits == N_BITS)
    np.testing.assert_array_equal(short.encode(X), prefix(encoder.encode(X), n_bits))


def test_prefix_leaves_out_axes_that_it_does_not_need():
    encoder = EigenfunctionEncoder(np.eye(3), [0, 1, 2], [1, 1, 1], [0, 0, 0])
    assert encoder.prefix(2).weights.shape == (3, 2)


def test_tensors_rebuild_the_encoder(encoder):
    tensors = safetensors.numpy.load(encoder.to_bytes())
    again = EigenfunctionEncoder(**tensors, zero_bit=encoder.zero_bit)
    assert again.fingerprint == encoder.fingerprint
    np.testing.assert_array_equal(again.project(X), encoder.project(X))


def test_is_immutable(encoder):
    for tensor in encoder.tensors().values():
        with pytest.raises(ValueError, match="read-only"):
            tensor[0] = 0


def test_everything_changes_the_fingerprint(encoder):
    for name, tensor in encoder.tensors().items():
        changed = tensor.copy()
        changed[0] = (changed[0] + 1) % 5 + (name == "modes")
        other = EigenfunctionEncoder(
            **{**encoder.tensors(), name: changed}, zero_bit=encoder.zero_bit
        )
        assert other.fingerprint != encoder.fingerprint


def test_shows_its_size(encoder):
    assert repr(encoder) == "EigenfunctionEncoder(20 -> 37 bits)"


def test_overflow_is_no_bit():
    encoder = EigenfunctionEncoder([[3e38], [3e38]], [0], [2], [0.5])
    for row in ([3e38, 0], [-3e38, 0], [3e38, -3e38]):
        for method in (encoder.project, encoder.encode):
            with pytest.raises(FeatureError, match="too large for float32"):
                method([row])


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e39])
def test_features_must_be_finite(encoder, value):
    rows = X.astype(float)
    rows[5, 3] = value
    with pytest.raises(FeatureError, match="in row 5, column 3"):
        encoder.encode(rows)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weights": np.zeros(3)}, "got weights \\(3,\\), axes"),
        ({"weights": np.zeros((0, 2))}, "at least one feature"),
        ({"weights": np.zeros((3, 0))}, "must be one of 0 columns"),
        ({"weights": [[np.nan, 0]]}, "finite"),
        ({"weights": [["a", "b"]]}, "need real numbers"),
        ({"axes": [0, 2]}, "must be one of 2 columns"),
        ({"axes": [-1, 0]}, "must be one of 2 columns"),
        ({"axes": [0]}, "one axis, mode and bias per bit"),
        ({"axes": [0.5, 1]}, "need whole numbers"),
        ({"axes": [2**40, 1]}, "too large for int32"),
        ({"modes": [1, 0]}, "modes must be 1 or more, got 0"),
        ({"modes": [[1, 1]]}, "one axis, mode and bias per bit"),
        ({"modes": [2**31, 1]}, "too large for int32"),
        ({"bias": [0.0, np.inf]}, "finite"),
        ({"bias": 0.0}, "one axis, mode and bias per bit"),
        ({"axes": [], "modes": [], "bias": []}, "between 1 and 65536"),
        ({"zero_bit": 2}, "zero_bit must be 0 or 1"),
    ],
)
def test_bad_arguments_are_refused(change, message):
    good = {"weights": np.ones((3, 2)), "axes": [0, 1], "modes": [1, 2], "bias": [0, 0]}
    with pytest.raises(ArgumentError, match=message) as caught:
        EigenfunctionEncoder(**{**good, **change})
    assert "\n" not in str(caught.value)
