"""Exported models give the codes and scores of their encoders, bit for bit."""

import sys
from itertools import pairwise

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx.reference import ReferenceEvaluator

import fewbits
from fewbits.encoders import (
    BlockDiagonalEncoder,
    EigenfunctionEncoder,
    LinearEncoder,
    MLPEncoder,
    SparseEncoder,
)
from fewbits.errors import ArgumentError, FeatureError, MissingExtraError
from fewbits.integrations.onnx import export_onnx
from fewbits.learners import CBE, BilinearProjections, FastNeighbourCodes, Hadamard

SPECIAL = np.array(
    [0.0, -0.0, 1.0, -1.0, 1e-45, -1e-45, 1.1754944e-38, 1e-30, 1e19, -1e38, 3.4e38],
    np.float32,
)
LARGEST = np.finfo(np.float32).max
LEVELS = onnxruntime.GraphOptimizationLevel
_rng = np.random.default_rng(0)


class Model:
    """An exported encoder in ONNX Runtime."""

    def __init__(self, encoder, folder, level=LEVELS.ORT_ENABLE_ALL, **options):
        export_onnx(encoder, folder / "encoder.onnx", **options)
        self.proto = onnx.load(folder / "encoder.onnx")
        chosen = onnxruntime.SessionOptions()
        chosen.graph_optimization_level = level
        chosen.intra_op_num_threads = 1
        chosen.log_severity_level = 4
        self.session = onnxruntime.InferenceSession(
            self.proto.SerializeToString(), chosen, providers=["CPUExecutionProvider"]
        )

    def __call__(self, X):
        return self.session.run(None, {"features": np.asarray(X, np.float32)})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("models")


def same(a, b):
    np.testing.assert_array_equal(a.view(np.uint8), b.view(np.uint8), strict=True)


def accepted(encoder, X):
    """Return the rows whose scores are finite: encoders refuse others."""

    def answers(row):
        try:
            return len(encoder.encode(row[None]))
        except FeatureError:
            return 0

    return X[[i for i, row in enumerate(X) if answers(row)]]


def check(encoder, X, folder, **options):
    """Compare the codes of a model for codes, and what one for scores gives."""
    X = accepted(encoder, np.asarray(X, np.float32))
    codes = encoder.encode(X)
    same(Model(encoder, folder, **options)(X)[0], codes)
    again, scores = Model(encoder, folder, scores=True, **options)(X)
    same(again, codes)
    if isinstance(encoder, SparseEncoder | BlockDiagonalEncoder):  # 0 may be -0
        np.testing.assert_array_equal(scores, encoder.project(X), strict=True)
    else:
        same(scores, encoder.project(X))


def floats(rng, shape, kind):
    if kind == "special":
        return rng.choice(SPECIAL, shape)
    values = rng.normal(size=shape)
    values = np.round(values) if kind == "integer" else values
    return values.astype(np.float32)


kinds = st.sampled_from(["normal", "integer", "special"])
seeds = st.integers(0, 2**32)


@st.composite
def affine_maps(draw):
    """Draw a map of ordinary floats, floats that cancel, and extreme ones."""
    rng = np.random.default_rng(draw(seeds))
    n, d, b = (
        draw(st.integers(0, 20)),
        draw(st.integers(1, 30)),
        draw(st.integers(1, 40)),
    )
    X, weights, bias = (
        floats(rng, shape, draw(kinds)) for shape in ((n, d), (d, b), (b,))
    )
    return X, weights, bias


@st.composite
def near_thresholds(draw):
    """Draw a map whose bit j has a score of about 0 in row j, often exactly 0."""
    rng = np.random.default_rng(draw(seeds))
    d, b = draw(st.integers(1, 60)), draw(st.integers(1, 20))
    X, weights = rng.normal(size=(b, d)), rng.normal(size=(d, b))
    scale = np.float32(10.0 ** draw(st.integers(-30, 15)))
    X, weights = X.astype(np.float32) * scale, weights.astype(np.float32)
    scores = LinearEncoder(weights, np.zeros(b)).project(X)
    return X, weights, -np.diag(scores)


def ties(seed):
    """Features x, weights w and biases b such that x w + b is almost a tie.

    A product that is all but half of the bias's last place is added to biases, odd
    and even; or products in the middle between two float32 numbers are disturbed by
    biases that float64 is too narrow for.
    """
    rng = np.random.default_rng(seed)
    bias = rng.choice([-1, 1], 40) * rng.uniform(1, 2, size=40).astype(np.float32)
    bias *= 2.0 ** rng.integers(-80, 127, size=40)
    bias = np.append(bias, [LARGEST, -LARGEST, LARGEST]).astype(np.float32)
    half = 2.0 ** (np.frexp(bias.astype(float))[1] - 25)
    weights = rng.choice([-1, 1], 43) * half * (1 + 2.0**-23)
    x = np.resize([1 - 2.0**-23, 1, -1, 1 + 2.0**-23], 43)
    scale = 2.0 ** rng.integers(-70, 60, size=20)
    odd = rng.integers(2048, 4096, size=(20, 2)) * 2 + 1
    few = odd[:, 0] / 2048, odd[:, 1] * scale
    tiny = rng.choice([-1, 1], 20) * scale * 2.0**-70
    columns = zip((x, weights, bias), (*few, tiny), strict=True)
    return [np.concatenate(pair).astype(np.float32) for pair in columns]


class TestExact:
    @given(problem=affine_maps(), zero_bit=st.integers(0, 1))
    def test_linear(self, problem, zero_bit, folder):
        X, weights, bias = problem
        check(LinearEncoder(weights, bias, zero_bit=zero_bit), X, folder)

    @given(problem=near_thresholds(), zero_bit=st.integers(0, 1))
    def test_near_the_threshold(self, problem, zero_bit, folder):
        X, weights, bias = problem
        check(LinearEncoder(weights, bias, zero_bit=zero_bit), X, folder)

    @given(seed=seeds)
    def test_ties(self, seed, folder):
        x, weights, bias = ties(seed)
        check(LinearEncoder(weights[None], bias), x[:, None], folder)

    def test_ties_need_care(self):
        """What these tests are for: rounding twice is wrong in many of the cases."""
        x, weights, bias = ties(0)
        encoder = LinearEncoder(weights[None], bias)
        x = accepted(encoder, np.asarray(x, np.float32)[:, None])[:, 0]
        scores = encoder.project(x[:, None])
        with np.errstate(over="ignore"):
            twice = np.outer(x.astype(float), weights) + bias
            assert (twice.astype(np.float32) != scores).sum() > 100

    @pytest.mark.parametrize(
        ("x", "w", "bias"),
        [
            (2.0**-75, 2.0**-75, 0.0),  # half the smallest number: a tie to zero
            (2.0**-75, 1.5 * 2.0**-75, 0.0),
            (2.0**-75, 2.0**-75, 2.0**-149),
            (2.0**-100, 2.0**-100, -(2.0**-149)),
            (2.0**-149, 2.0**-149, 2.0**-149),
            (2.0**127, 2.0, -(2.0**104)),  # just below the overflow
            (2.0**64, 2.0**64, -(2.0**103)),  # a tie at the overflow
            (2.0**64, 2.0**39, LARGEST),  # another
            (2.0**64 * (1 - 2.0**-23), 2.0**39 * (1 + 2.0**-23), LARGEST),  # below it
            (LARGEST, LARGEST, -LARGEST),
            (1 + 2.0**-23, -1 + 2.0**-24, 1.0),  # cancels to the last bits
        ],
    )
    @pytest.mark.parametrize("sign", [1, -1])
    def test_at_the_edges(self, x, w, bias, sign, folder):
        encoder = LinearEncoder([[sign * w, 0.0]], [sign * bias, 0.0])
        check(encoder, [[x], [-x], [0.0]], folder)

    @pytest.mark.parametrize("zero_bit", [0, 1])
    def test_terms_too_small_to_add(self, zero_bit, folder):
        """Each rounds to zero, but all of them together would not."""
        small = np.full((4, 2), 2.0**-75) * [1, -1]
        encoder = LinearEncoder(small, np.zeros(2), zero_bit=zero_bit)
        assert not encoder.project(small[:, :1].T).any()
        check(encoder, small.T, folder)

    @settings(max_examples=20)
    @given(problem=affine_maps(), density=st.sampled_from([0.0, 0.1, 0.6]), seed=seeds)
    def test_sparse(self, problem, density, seed, folder):
        X, weights, bias = problem
        kept = np.random.default_rng(seed).random(weights.shape) < density
        weights = np.where(kept, weights, 0)
        check(SparseEncoder.from_dense(weights, bias, zero_bit=seed % 2), X, folder)

    @settings(max_examples=20)
    @given(problem=affine_maps(), seed=seeds)
    def test_blocks(self, problem, seed, folder):
        X, weights, bias = problem
        n_blocks = min(3, *weights.shape)
        rows, columns = (np.array_split(np.arange(n), n_blocks) for n in weights.shape)
        encoder = BlockDiagonalEncoder.from_blocks(
            [(f, weights[np.ix_(f, b)]) for f, b in zip(rows, columns, strict=True)],
            bias,
            len(weights),
            zero_bit=seed % 2,
        )
        check(encoder, X, folder)

    @settings(max_examples=20)
    @given(
        widths=st.lists(st.integers(1, 20), min_size=2, max_size=4),
        kind=st.sampled_from(["normal", "integer"]),
        n=st.integers(0, 10),
        seed=seeds,
    )
    def test_mlp(self, widths, kind, n, seed, folder):
        rng = np.random.default_rng(seed)
        weights = [floats(rng, pair, kind) for pair in pairwise(widths)]
        biases = [floats(rng, width, kind) for width in widths[1:]]
        encoder = MLPEncoder(weights, biases, zero_bit=seed % 2)
        check(encoder, floats(rng, (n, widths[0]), kind), folder)

    @pytest.mark.parametrize("level", LEVELS.__members__.values())
    def test_is_not_optimised_away(self, level, folder):
        x, weights, bias = ties(1)
        check(LinearEncoder(weights[None], bias), x[:, None], folder, level=level)

    def test_in_another_runtime(self, folder):
        x, weights, bias = ties(2)
        encoder = LinearEncoder(weights[None], bias)
        x = accepted(encoder, np.asarray(x, np.float32)[:, None])[:, 0]
        model = Model(encoder, folder, scores=True)
        runtime = ReferenceEvaluator(model.proto)
        with np.errstate(all="ignore"):
            codes, scores = runtime.run(None, {"features": x[:, None]})
        same(codes, encoder.encode(x[:, None]))
        same(scores, encoder.project(x[:, None]))

    def test_a_row_does_not_depend_on_its_batch(self, folder):
        weights, bias = _rng.normal(size=(300, 40)), _rng.normal(size=40)
        X = _rng.normal(size=(100, 300)).astype(np.float32)
        X[50:] /= 1e6  # near the threshold of the small biases
        encoder = LinearEncoder(weights, bias / 1e4)
        model, expected = Model(encoder, folder), encoder.encode(X)
        same(model(X)[0], expected)
        same(np.concatenate([model(row[None])[0] for row in X]), expected)


class TestFast:
    @pytest.mark.parametrize("zero_bit", [0, 1])
    def test_is_near(self, zero_bit, folder):
        widths = (50, 30, 21)
        weights = [_rng.normal(size=pair) for pair in pairwise(widths)]
        biases = [_rng.normal(size=width) for width in widths[1:]]
        X = _rng.normal(size=(200, 50)).astype(np.float32)
        for encoder in (
            LinearEncoder(weights[0], biases[0], zero_bit=zero_bit),
            SparseEncoder.from_dense(weights[0], biases[0], zero_bit=zero_bit),
            MLPEncoder(weights, biases, zero_bit=zero_bit),
        ):
            codes, scores = Model(encoder, folder, exact=False, scores=True)(X)
            expected = encoder.project(X)
            np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-4)
            other = np.unpackbits(
                codes ^ encoder.encode(X), axis=1, count=encoder.n_bits
            )
            assert np.abs(expected)[other == 1].max(initial=0) < 1e-4

    def test_zero_bit(self, folder):
        for zero_bit in (0, 1):
            encoder = LinearEncoder(np.zeros((2, 9)), np.zeros(9), zero_bit=zero_bit)
            (codes,) = Model(encoder, folder, exact=False)([[1.0, 2.0]])
            same(codes, encoder.encode([[1.0, 2.0]]))


@pytest.mark.parametrize("exact", [True, False])
class TestModel:
    @pytest.mark.parametrize("n_bits", [1, 7, 8, 9, 64])
    def test_is_valid(self, exact, n_bits, folder):
        encoder = MLPEncoder(
            [np.ones((3, 2)), np.ones((2, n_bits))], [np.ones(2), np.ones(n_bits)]
        )
        for scores in (True, False):
            model = Model(encoder, folder, exact=exact, scores=scores)
            onnx.checker.check_model(model.proto, full_check=True)
            ends = [*model.session.get_inputs(), *model.session.get_outputs()]
            assert [(end.name, end.type, end.shape) for end in ends] == [
                ("features", "tensor(float)", ["n", 3]),
                ("codes", "tensor(uint8)", ["n", -(-n_bits // 8)]),
                ("scores", "tensor(float)", ["n", n_bits]),
            ][: 2 + scores]

    def test_names_the_encoder(self, exact, folder):
        encoder = LinearEncoder(np.ones((3, 5)), np.ones(5), zero_bit=1)
        facts = Model(encoder, folder, exact=exact).session.get_modelmeta()
        assert facts.producer_name == "fewbits"
        assert facts.custom_metadata_map == {
            "fewbits.version": fewbits.__version__,
            "fewbits.encoder": "linear",
            "fewbits.fingerprint": encoder.fingerprint,
            "fewbits.n_features": "3",
            "fewbits.n_bits": "5",
            "fewbits.zero_bit": "1",
            "fewbits.exact": str(int(exact)),
        }

    def test_is_the_same_each_time(self, exact, folder):
        encoder = LinearEncoder(np.ones((3, 5)), np.ones(5))
        found = []
        for name in ("a.onnx", "b.onnx"):
            export_onnx(encoder, folder / name, exact=exact)
            found.append((folder / name).read_bytes())
        assert found[0] == found[1]

    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    def test_refuses_what_is_not_finite(self, exact, value, folder):
        model = Model(LinearEncoder(np.ones((3, 5)), np.ones(5)), folder, exact=exact)
        X = np.ones((4, 3))
        X[2, 1] = value
        with pytest.raises(Exception, match="features_must_be_finite"):
            model(X)

    @pytest.mark.parametrize("sign", [1, -1])
    def test_refuses_overflow_of_hidden_layers(self, exact, sign, folder):
        encoder = MLPEncoder([[[1.0]], [[sign * 1e30]], [[1.0]]], [[0], [0], [-0.5]])
        model = Model(encoder, folder, exact=exact)
        same(model([[1.0]])[0], encoder.encode([[1.0]]))
        with pytest.raises(Exception, match="hidden_layer_2_overflows"):
            model([[1.0], [1e30]])


class TestMistakes:
    @pytest.mark.parametrize(
        "encoder", [EigenfunctionEncoder([[1.0]], [0], [1], [0.0]), "linear", None]
    )
    def test_other_encoders(self, encoder, tmp_path):
        with pytest.raises(ArgumentError, match="made of LinearEncoder, SparseEncoder"):
            export_onnx(encoder, tmp_path / "file")
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize(
        "learner",
        [
            Hadamard(4),
            CBE(4, n_iter=1),
            BilinearProjections(4, n_iter=1),
            FastNeighbourCodes(4, n_iter=1),
        ],
        ids=lambda learner: type(learner).__name__,
    )
    def test_fast_transforms(self, learner, tmp_path):
        encoder = learner.fit(np.random.default_rng(0).normal(size=(60, 6))).encoder_
        with pytest.raises(ArgumentError, match=rf"got {type(encoder).__name__}\(6"):
            export_onnx(encoder, tmp_path / "file")
        assert not list(tmp_path.iterdir())

    def test_too_large(self, tmp_path):
        encoder = SparseEncoder([0] * 1001, [], np.empty(0), np.zeros(1000), 10**6)
        with pytest.raises(ArgumentError, match=r"at most 2 GB, .* take 4\.0 GB"):
            export_onnx(encoder, tmp_path / "file")

    def test_without_onnx(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "onnx", None)
        with pytest.raises(MissingExtraError, match=r"pip install 'fewbits\[onnx\]'"):
            export_onnx(LinearEncoder([[1.0]], [0.0]), tmp_path / "file")

    def test_nowhere(self, tmp_path):
        with pytest.raises(FileNotFoundError, match="No such file"):
            export_onnx(LinearEncoder([[1.0]], [0.0]), tmp_path / "nowhere" / "file")
