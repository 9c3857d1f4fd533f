"""Kernel maps before an encoder; the checks of `test_common.py` apply as well."""

import hashlib

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.kernel_approximation import AdditiveChi2Sampler

from fewbits import _kernels
from fewbits.encoders import (
    KERNELS,
    AdditiveEncoder,
    EigenfunctionEncoder,
    KernelMap,
    KernelMapEncoder,
    LinearEncoder,
    SparseEncoder,
    load,
)
from fewbits.encoders import _elementary as elementary
from fewbits.errors import ArgumentError, ArtefactError, FeatureError

EXACT = {
    "intersection": np.minimum,
    "chi2": lambda a, b: 2 * a * b / (a + b),
    "js": lambda a, b: (a * np.log2((a + b) / a) + b * np.log2((a + b) / b)) / 2,
}
#: Float32 numbers of every exponent, denormal ones as well, and of many fractions.
ALL_SIZES = np.arange(0, 0x7F800000, 0xFACE1, np.uint32).view(np.float32)
_rng = np.random.default_rng(0)
X = _rng.dirichlet(np.full(20, 0.3), size=90).astype(np.float32)
WEIGHTS = _rng.normal(size=(60, 37))
INNER = [
    LinearEncoder(WEIGHTS, WEIGHTS[0] / 9, zero_bit=1),
    SparseEncoder.from_dense(WEIGHTS * (WEIGHTS > 1), WEIGHTS[0] / 9),
    EigenfunctionEncoder(
        WEIGHTS[:, :4], np.arange(37) % 4, 1 + np.arange(37), WEIGHTS[0]
    ),
]
kernels = pytest.mark.parametrize("kernel", KERNELS)


def make(kernel="intersection", order=1, gamma=1.0, interval=None, signed=False):
    return KernelMap(kernel, order, gamma, interval, signed)


def mean_error(kernel, order=1, interval=None):
    """Return the mean |error| / sqrt(ab) for features log-uniform in [0.001, 1]."""
    x = np.geomspace(1e-3, 1, 120, dtype=np.float32)[:, None]
    mapped = make(kernel, order, 1.0, interval)(x).astype(np.float64)
    a, b = x.astype(np.float64), x.T.astype(np.float64)
    return np.mean(np.abs(mapped @ mapped.T - EXACT[kernel](a, b)) / np.sqrt(a * b))


class TestElementaryFunctions:
    def test_logarithm(self):
        x = ALL_SIZES[1:].astype(np.float64)
        exact = np.array([float(mpmath.log(mpmath.mpf(v), 2)) for v in x])
        assert np.abs(elementary.log2(x) - exact).max() < 1e-13
        whole = np.arange(-1022, 1024)
        np.testing.assert_array_equal(elementary.log2(2.0**whole), whole)

    @pytest.mark.parametrize("exponent", [0.1, 0.25, 0.5, 0.9, 1.0])
    def test_power(self, exponent):
        x = ALL_SIZES.astype(np.float64)
        exact = np.array([float(mpmath.mpf(v) ** mpmath.mpf(exponent)) for v in x])
        np.testing.assert_allclose(elementary.power(x, exponent), exact, rtol=2e-13)

    def test_cosine_and_sine(self):
        w = np.concatenate([_rng.uniform(-200, 200, 3000), np.arange(-40, 41) / 4])
        found = elementary.cosine_and_sine(w.copy())
        for values, exact in zip(found, (mpmath.cospi, mpmath.sinpi), strict=True):
            expected = np.array([float(exact(mpmath.mpf(v))) for v in w])
            assert np.abs(values - expected).max() < 1e-13
            assert np.abs(values).max() <= 1 + 1e-13


class TestMap:
    @kernels
    @pytest.mark.parametrize(("order", "gamma"), [(1, 1.0), (3, 0.6), (2, 2.0)])
    def test_follows_the_formula(self, kernel, order, gamma):
        L, x = 0.45, ALL_SIZES[1::7].astype(np.float64)
        kappa = {
            "intersection": lambda w: 2 / np.pi / (1 + 4 * w**2),
            "chi2": lambda w: 1 / np.cosh(np.pi * w),
            "js": lambda w: 2 / np.log(4) / np.cosh(np.pi * w) / (1 + 4 * w**2),
        }[kernel]
        values = [np.sqrt(kappa(0)) * np.ones_like(x)]
        for j in range(1, order + 1):
            for wave in (np.cos, np.sin):
                values.append(np.sqrt(2 * kappa(j * L)) * wave(j * L * np.log(x)))
        scale = np.sqrt(L * x**gamma)
        mapped = make(kernel, order, gamma, L)(ALL_SIZES[1::7][:, None])
        assert mapped.dtype == np.float32
        error = np.abs(mapped - np.stack(values, axis=1) * scale[:, None])
        assert (error <= 1e-7 * scale[:, None] + 1e-45).all()

    @pytest.mark.parametrize(
        ("arguments", "digest"),
        [
            (("intersection",), "b9b4dfcad348d058"),
            (("chi2", 3), "6d7691c26a7f9ad0"),
            (("js", 2, 0.7), "9f887c4a1ab84f42"),
        ],
    )
    def test_is_the_same_on_every_machine(self, arguments, digest):
        """Figures of one machine: another must reach them to the last bit."""
        mapped = make(*arguments)(ALL_SIZES[:2082].reshape(-1, 2)).astype("<f4")
        assert hashlib.sha256(mapped.tobytes()).hexdigest()[:16] == digest

    @kernels
    def test_dot_products_are_near_the_kernel(self, kernel):
        """The figures of order 1 are those of the interval .6, .5 and .4."""
        first, second = {
            "intersection": (0.086, 0.053),
            "chi2": (0.062, 0.022),
            "js": (0.045, 0.013),
        }[kernel]
        assert mean_error(kernel) == pytest.approx(first, abs=0.0015)
        assert mean_error(kernel, 2) == pytest.approx(second, abs=0.0015)
        errors = [mean_error(kernel, order) for order in range(1, 11)]
        assert (np.diff(errors) < 0).all()
        assert errors[-1] < errors[0] / 8

    @kernels
    @pytest.mark.parametrize("order", [1, 2, 5, 10])
    def test_default_interval_is_near_the_best(self, kernel, order):
        tried = [mean_error(kernel, order, L) for L in np.arange(0.1, 1, 0.02)]
        assert mean_error(kernel, order) <= 1.2 * min(tried)

    @pytest.mark.parametrize(("steps", "order", "L"), [(2, 1, 0.5), (3, 2, 0.4)])
    def test_equals_scikit_learn(self, steps, order, L):
        peer = AdditiveChi2Sampler(sample_steps=steps).fit_transform(X.astype(float))
        found = make("chi2", order, 1.0, L)(X)
        np.testing.assert_allclose(found, peer, rtol=0, atol=6e-8)
        assert make("chi2").interval == 0.5

    @kernels
    @given(
        st.floats(0, 2**60, width=32),
        st.integers(-20, 20),
        st.sampled_from([0.5, 1.0, 2.0]),
    )
    def test_is_homogeneous(self, kernel, x, exponent, gamma):
        both = np.array([[x, x * 2.0**exponent]], np.float32)
        f = make(kernel, 2, gamma)
        norms = np.square(f(both).reshape(5, 2), dtype=float).sum(axis=0)
        assert norms[1] == pytest.approx(norms[0] * 2.0 ** (gamma * exponent), rel=1e-6)

    def test_of_zero_is_zero(self):
        for gamma in (0.01, 1.0, 2.0):
            assert (make(gamma=gamma)(np.array([[0.0, -0.0]], np.float32)) == 0).all()

    @kernels
    def test_signed_is_odd_and_the_same_from_zero_on(self, kernel):
        plain, signed = make(kernel, 2, 0.8), make(kernel, 2, 0.8, signed=True)
        np.testing.assert_array_equal(signed(X), plain(X))
        np.testing.assert_array_equal(signed(-X), -plain(X))

    @pytest.mark.parametrize("value", [-0.5, -1e-45])
    def test_refuses_negative_features(self, value):
        bad = X.copy()
        bad[7, 3] = value
        with pytest.raises(FeatureError, match=r"Negative values .* in column 3$"):
            make()(bad)

    @pytest.mark.parametrize("shape", [(3000, 20), (3, 20_000)])
    def test_pieces_do_not_matter(self, shape):
        many = np.resize(X, shape)
        mapped = make("js", 2)(many).reshape(shape[0], 5, shape[1])
        expected = make("js", 2)(many.reshape(-1, 1)).reshape(*shape, 5)
        np.testing.assert_array_equal(mapped, expected.transpose(0, 2, 1))
        expected = make("js", 2)(X)
        strided = np.asfortranarray(np.repeat(X, 2, axis=0))[::2]
        np.testing.assert_array_equal(make("js", 2)(strided), expected)

    def test_of_nothing(self):
        assert make()(np.empty((0, 4), np.float32)).shape == (0, 12)
        assert make()(np.empty((4, 0), np.float32)).shape == (4, 0)


@pytest.fixture(params=INNER, ids=lambda inner: inner.kind)
def inner(request):
    return request.param


class TestEncoder:
    def test_maps_first(self, inner):
        encoder = KernelMapEncoder(inner, "chi2", gamma=0.8)
        mapped = make("chi2", gamma=0.8)(X)
        np.testing.assert_array_equal(encoder.project(X), inner.project(mapped))
        np.testing.assert_array_equal(encoder.encode(X), inner.encode(mapped))
        assert (encoder.n_features, encoder.n_bits) == (20, 37)
        assert encoder.zero_bit == inner.zero_bit

    def test_scores_depend_on_the_row_alone(self, inner):
        encoder = KernelMapEncoder(inner, "js")
        expected = encoder.project(X), encoder.encode(X)
        for isa in _kernels.isas():
            _kernels.force_isa(isa)
            for threads, rows in ((1, 1), (2, 40)):
                _kernels.set_num_threads(threads)
                for i in range(0, len(X), rows):
                    span = slice(i, i + rows)
                    found = encoder.project(X[span]), encoder.encode(X[span])
                    np.testing.assert_array_equal(found[0], expected[0][span])
                    np.testing.assert_array_equal(found[1], expected[1][span])

    def test_comes_back_from_a_file(self, inner, tmp_path):
        encoder = KernelMapEncoder(inner, "js", order=1, gamma=0.7, signed=True)
        encoder.save(tmp_path / "file")
        again = load(tmp_path / "file")
        assert type(again.inner) is type(inner)
        assert (again.map, again.fingerprint) == (encoder.map, encoder.fingerprint)
        np.testing.assert_array_equal(again.project(-X), encoder.project(-X))

    def test_fingerprint_names_the_map(self):
        changes = [
            {},
            {"kernel": "chi2"},
            {"gamma": 0.9},
            {"interval": 0.61},
            {"signed": True},
        ]
        prints = {KernelMapEncoder(INNER[0], **c).fingerprint for c in changes}
        prints |= {KernelMapEncoder(i).fingerprint for i in INNER}
        assert len(prints) == len(changes) + len(INNER) - 1
        default = KernelMapEncoder(INNER[0], interval=make().interval)
        assert default.fingerprint in prints

    def test_refuses_negative_features(self):
        encoder = KernelMapEncoder(INNER[0])
        for method in (encoder.encode, encoder.project):
            with pytest.raises(FeatureError, match=r"at least 0, got -\d.* in column"):
                method(-X)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"kernel": "rbf"}, "one of 'intersection', 'chi2', 'js', got 'rbf'"),
            ({"kernel": ["chi2"]}, "kernel must be one of"),
            ({"order": 0}, "order must be 1 to 100, got 0"),
            ({"order": 101}, "order must be 1 to 100, got 101"),
            ({"order": 1.5}, "order must be a whole number, got 1.5"),
            ({"gamma": 0}, "gamma must be a number above 0 and at most 2, got 0"),
            ({"gamma": np.nan}, "gamma must be a number"),
            ({"gamma": "1"}, "gamma must be a number"),
            ({"gamma": True}, "gamma must be a number"),
            ({"interval": -1}, "interval must be a number above 0 and at most 10"),
            ({"interval": np.inf}, "interval must be a number"),
            ({"signed": 1}, "signed must be True or False, got 1"),
            ({"order": 3}, "order 3 gives 7 values .* but the inner encoder takes 60"),
            ({"inner": None}, "need an encoder behind the map, got None"),
            ({"inner": KernelMapEncoder(INNER[0])}, "need an encoder behind the map"),
        ],
    )
    def test_bad_arguments(self, change, message):
        with pytest.raises(ArgumentError, match=message) as caught:
            KernelMapEncoder(**{"inner": INNER[0], **change})
        assert "\n" not in str(caught.value)

    @pytest.mark.parametrize("kind", [b"kernel-map", b"odd", b"\xff", b""])
    def test_file_with_another_kind_inside(self, kind, tmp_path, monkeypatch):
        encoder = KernelMapEncoder(INNER[0])
        tensors = {**encoder.tensors(), "inner": np.frombuffer(kind, np.uint8)}
        monkeypatch.setattr(KernelMapEncoder, "tensors", lambda self: tensors)
        encoder.save(tmp_path / "file")
        with pytest.raises(ArtefactError, match="file is damaged"):
            load(tmp_path / "file")

    @pytest.mark.parametrize("name", ["inner", "kernel", "order", "inner.weights"])
    def test_file_with_gaps(self, name, tmp_path, monkeypatch):
        encoder = KernelMapEncoder(INNER[0])
        tensors = encoder.tensors()
        del tensors[name]
        monkeypatch.setattr(KernelMapEncoder, "tensors", lambda self: tensors)
        encoder.save(tmp_path / "file")
        with pytest.raises(ArtefactError, match="file is damaged"):
            load(tmp_path / "file")


def test_a_map_that_would_overflow_is_refused():
    with pytest.raises(ArgumentError, match="overflows float32"):
        KernelMapEncoder(
            LinearEncoder(np.ones((3, 1)), [0.0]), gamma=2.0, interval=10.0
        )


def test_what_ranks_additive_codes_is_passed_on():
    rng = np.random.default_rng(1)
    mapped = make()(X).astype(np.float32)
    table = np.stack([np.linspace(0.5, 2, 256), np.linspace(0, 9, 256)], axis=1)
    inner = AdditiveEncoder(
        rng.normal(size=(mapped.shape[1], 24)),
        np.zeros(24),
        mean=mapped.mean(axis=0),
        table=table,
    )
    outer = KernelMapEncoder(inner, "intersection")
    codes = outer.encode(X)
    np.testing.assert_array_equal(codes, inner.encode(mapped))
    np.testing.assert_array_equal(outer.query_scores(X), inner.query_scores(mapped))
    np.testing.assert_array_equal(outer.offsets(codes), inner.offsets(codes))
    found, expected = (
        each.corrections(Z, codes).values for each, Z in ((outer, X), (inner, mapped))
    )
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(outer.correction_table, inner.correction_table)
