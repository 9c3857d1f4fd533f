"""Layers equal their definition, overflow is an error, bad layers are refused."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewbits import _kernels
from fewbits._kernels import _reference
from fewbits.codes import pack, prefix
from fewbits.encoders import (
    KernelMapEncoder,
    LinearEncoder,
    MLPEncoder,
    _mlp,
    load,
)
from fewbits.errors import ArgumentError, ArtefactError, FeatureError

_rng = np.random.default_rng(0)


def layers(*widths, seed=0):
    rng = np.random.default_rng(seed)
    pairs = list(pairwise(widths))
    weights = [rng.normal(size=pair).astype(np.float32) for pair in pairs]
    return weights, [rng.normal(size=n).astype(np.float32) for n in widths[1:]]


def defined_scores(encoder, X):
    """Score with the NumPy kernels, row by row."""
    values = np.asarray(X, np.float32)
    for number, (weights, bias) in enumerate(
        zip(encoder.weights, encoder.biases, strict=True), 1
    ):
        scores = np.empty((len(values), len(bias)), np.float32)
        for row, score in zip(values, scores, strict=True):
            _reference.linear_scores(row[None], weights, bias, score[None], 1)
        last = number == len(encoder.weights)
        values = scores if last else np.where(scores > 0, scores, np.float32(0))
    return values


def same(a, b):
    np.testing.assert_array_equal(a.view(np.uint8), b.view(np.uint8), strict=True)


class TestScores:
    @given(
        widths=st.lists(st.integers(1, 40), min_size=2, max_size=5),
        n=st.integers(0, 30),
        step=st.integers(1, 200),
        whole=st.booleans(),
        seed=st.integers(0, 2**32),
    )
    def test_equal_the_definition(self, widths, n, step, whole, seed):
        weights, biases = layers(*widths, seed=seed)
        X = np.random.default_rng(seed).normal(size=(n, widths[0])).astype(np.float32)
        if whole:  # scores of exactly 0, and -0 after a layer
            X, weights = np.round(X), [np.round(matrix) for matrix in weights]
            biases = [np.full_like(bias, -0.0) for bias in biases]
        encoder = MLPEncoder(weights, biases, zero_bit=seed % 2)
        expected = defined_scores(encoder, X)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_mlp, "_BLOCK_ENTRIES", step)
            same(encoder.project(X), expected)
            bits = expected >= 0 if encoder.zero_bit else expected > 0
            same(encoder.encode(X), pack(bits))

    def test_without_hidden_layers_are_those_of_a_linear_encoder(self):
        weights, biases = layers(20, 37)
        X = _rng.normal(size=(50, 20))
        encoder, linear = MLPEncoder(weights, biases), LinearEncoder(*weights, *biases)
        same(encoder.project(X), linear.project(X))
        same(encoder.encode(X), linear.encode(X))

    @pytest.mark.parametrize("isa", _kernels.isas())
    def test_are_those_of_every_instruction_set(self, isa):
        encoder = MLPEncoder(*layers(300, 500, 70, 100))
        X = _rng.normal(size=(70, 300)).astype(np.float32)
        expected = defined_scores(encoder, X[:5])
        _kernels.force_isa(isa)
        for threads in (1, 2):
            _kernels.set_num_threads(threads)
            same(encoder.project(X)[:5], expected)
            same(encoder.encode(X[:1]), pack(expected[:1] > 0))

    def test_know_exclusive_or(self):
        first = [[1.0, 1.0], [1.0, 1.0]]
        encoder = MLPEncoder([first, [[1.0], [-2.0]]], [[0.0, -1.0], [0.0]])
        codes = encoder.encode([[0, 0], [0, 1], [1, 0], [1, 1]])
        assert (codes[:, 0] >> 7).tolist() == [0, 1, 1, 0]

    def test_of_a_prefix_keep_the_hidden_layers(self):
        encoder, X = MLPEncoder(*layers(20, 30, 37)), _rng.normal(size=(50, 20))
        short = encoder.prefix(9)
        same(short.weights[0], encoder.weights[0])
        same(short.project(X), np.ascontiguousarray(encoder.project(X)[:, :9]))
        same(short.encode(X), prefix(encoder.encode(X), 9))

    def test_behind_a_kernel_map(self, tmp_path):
        encoder = KernelMapEncoder(MLPEncoder(*layers(30, 20, 37)), "chi2", signed=True)
        encoder.save(tmp_path / "file")
        X = _rng.normal(size=(50, 10))
        again = load(tmp_path / "file")
        assert again.fingerprint == encoder.fingerprint
        same(again.encode(X), pack(encoder.project(X) > 0))


class TestOverflow:
    """Infinity in a hidden layer would be NaN behind a weight of zero."""

    def encoder(self, sign):
        """Square of 1e30 features overflow in the second layer, of `sign`."""
        weights = [[[1.0, 1.0]], [[sign * 1e30, 0.0], [0.0, 1.0]], [[0.0], [1.0]]]
        return MLPEncoder(weights, [[0, 0], [0, 0], [-0.5]])

    @pytest.mark.parametrize("sign", [1, -1])
    def test_of_a_hidden_layer_is_an_error(self, sign):
        encoder = self.encoder(sign)
        assert encoder.encode([[1.0]]).tolist() == [[128]]
        for method in (encoder.project, encoder.encode):
            with pytest.raises(FeatureError, match="hidden layer 2 overflows float32"):
                method([[1.0], [1e30]])

    def test_of_the_last_layer_is_an_error(self):
        encoder = MLPEncoder([[[1.0]], [[1e30, -1e30]]], [[0.0], [0.0, 0.0]])
        for method in (encoder.project, encoder.encode):
            with pytest.raises(FeatureError, match="too large for float32"):
                method([[1e30]])


class TestLayers:
    def test_are_copied(self):
        weights, biases = layers(3, 4, 5)
        encoder = MLPEncoder(weights, biases)
        scores = encoder.project(np.ones((1, 3)))
        for array in (*weights, *biases):
            array[:] = 0
        same(encoder.project(np.ones((1, 3))), scores)
        with pytest.raises(ValueError, match="read-only"):
            encoder.weights[0][:] = 0

    @pytest.mark.parametrize(
        ("weights", "biases", "message"),
        [
            ([], [], "need 1 to 64 layers, .* got 0 matrices and 0 biases"),
            ([np.ones((2, 2))] * 65, [np.ones(2)] * 65, "got 65 matrices and 65"),
            ([np.ones((2, 2))] * 2, [np.ones(2)], "got 2 matrices and 1 biases"),
            ([np.ones((2, 3)), np.ones((2, 3))], [np.ones(3)] * 2, "1 gives 3 values"),
            ([np.ones((2, 3))], [np.ones(2)], "layer 1: .* one bias per bit"),
            (np.ones((2, 3)), np.ones(2), "layer 1: .* one bias per bit"),
            ([np.ones((2, 0)), np.ones((0, 3))], [[], np.ones(3)], "layer 1: n_bits"),
            ([np.ones((0, 3))], [np.ones(3)], "layer 1: .* at least one feature"),
            ([np.ones((1, 65_537))], [np.ones(65_537)], "layer 1: n_bits must lie"),
            ([[[1.0]], [[np.nan]]], [[0.0], [0.0]], "layer 2: .* finite in float32"),
            ([[[1.0]], [[1.0]]], [[np.inf], [0.0]], "layer 1: .* finite in float32"),
            ([[[1.0], [1.0, 2.0]]], [[0.0]], "rows of different lengths"),
            ([[["a"]]], [[0.0]], "real numbers"),
        ],
    )
    def test_that_make_no_network_are_refused(self, weights, biases, message):
        with pytest.raises(ArgumentError, match=message) as caught:
            MLPEncoder(weights, biases)
        assert "\n" not in str(caught.value)

    @pytest.mark.parametrize("zero_bit", [2, -1, None])
    def test_need_a_zero_bit(self, zero_bit):
        with pytest.raises(ArgumentError, match="zero_bit must be 0 or 1"):
            MLPEncoder([[[1.0]]], [[0.0]], zero_bit=zero_bit)


class TestFile:
    def test_names_the_layers(self):
        encoder = MLPEncoder(*layers(3, 4, 5))
        shapes = {name: tensor.shape for name, tensor in encoder.tensors().items()}
        assert shapes == {
            "weights.0": (3, 4),
            "biases.0": (4,),
            "weights.1": (4, 5),
            "biases.1": (5,),
        }

    @pytest.mark.parametrize(
        "change",
        [
            {"weights.1": np.ones((3, 5), np.float32)},
            {"weights.1": np.full((4, 5), np.nan, np.float32)},
            {"biases.1": None},
            {"weights.0": None, "biases.0": None},
            {"weights.2": np.ones((5, 1), np.float32)},
            {"zero_bit": np.ones(1, np.float32)},
            {"cls": np.ones(1, np.float32)},
            dict.fromkeys(["weights.0", "biases.0", "weights.1", "biases.1"]),
            {
                f"{name}.{i}": np.ones(shape, np.float32)
                for i in range(65)
                for name, shape in (("weights", (3, 3)), ("biases", 3))
            },
        ],
    )
    def test_with_other_layers_is_refused(self, change, tmp_path, monkeypatch):
        encoder = MLPEncoder(*layers(3, 4, 5))
        changed = {**encoder.tensors(), **change}
        tensors = {name: x for name, x in changed.items() if x is not None}
        monkeypatch.setattr(MLPEncoder, "tensors", lambda self: tensors)
        encoder.save(tmp_path / "file")
        with pytest.raises(ArtefactError, match="file is damaged"):
            load(tmp_path / "file")
