"""Checks that every encoder must pass. A new encoder adds one line to ENCODERS."""

import copy
import errno
import json
import os
import pickle
from dataclasses import asdict

import numpy as np
import pytest
from safetensors.numpy import save_file
from scipy.sparse import csr_array, csr_matrix
from sklearn.datasets import load_digits

from fewbits import _kernels
from fewbits.codes import n_bytes, pack, prefix
from fewbits.encoders import (
    AdditiveEncoder,
    AnchorEncoder,
    BilinearEncoder,
    BlockDiagonalEncoder,
    BlockHadamardEncoder,
    CirculantEncoder,
    EigenfunctionEncoder,
    HadamardEncoder,
    KernelMapEncoder,
    LinearEncoder,
    MLPEncoder,
    SparseEncoder,
    load,
)
from fewbits.errors import ArgumentError, ArtefactError, FeatureError, NewerFormatError

N_FEATURES = 64  # of the digits
_rng = np.random.default_rng(0)
_WEIGHTS = _rng.normal(size=(N_FEATURES, 37)).astype(np.float32)
_BIAS = _rng.normal(size=37).astype(np.float32) * 20
_FEW = np.where(_rng.random(_WEIGHTS.shape) < 0.15, _WEIGHTS, 0)
_MAPPED = _rng.normal(size=(3 * N_FEATURES, 37))
_ANCHORS = np.random.default_rng(2).normal(size=(20, N_FEATURES)) * 6
_MEAN = np.full(N_FEATURES, 5.0)
_ROUNDS = np.random.default_rng(1).normal(size=(1, 2, 64, 16)) / 30
_SMALL = [_rng.normal(size=shape) / 30 for shape in ((N_FEATURES, 3), (3, 37))]

_BLOCKS = [
    (np.arange(first, N_FEATURES, 3), _WEIGHTS[first::3, : 12 + first // 2])
    for first in range(3)
]

ENCODERS = [
    BlockDiagonalEncoder.from_blocks(_BLOCKS, _BIAS, N_FEATURES),
    BlockDiagonalEncoder.from_blocks(_BLOCKS, _BIAS, N_FEATURES, zero_bit=1),
    LinearEncoder(_WEIGHTS, _BIAS),
    LinearEncoder(_WEIGHTS, _BIAS, zero_bit=1),
    LinearEncoder(_WEIGHTS, _BIAS, query_weights=2 * _WEIGHTS, query_bias=-_BIAS),
    SparseEncoder.from_dense(_FEW, _BIAS),
    SparseEncoder.from_dense(_FEW, _BIAS, zero_bit=1),
    EigenfunctionEncoder(
        _WEIGHTS[:, :5] / 1000,
        axes=np.append(np.arange(36) % 5, 4),
        modes=1 + np.arange(37) // 12,
        bias=_BIAS / 1000,
    ),
    KernelMapEncoder(
        SparseEncoder.from_dense(
            np.where(_rng.random(_MAPPED.shape) < 0.05, _MAPPED, 0),
            _BIAS / 10,
            zero_bit=1,
        ),
        "chi2",
        signed=True,
    ),
    AnchorEncoder(
        LinearEncoder(_WEIGHTS[:20], _BIAS / 100), _ANCHORS, _MEAN, gamma=1e-4
    ),
    AnchorEncoder(
        SparseEncoder.from_dense(_FEW[:20], _BIAS / 100, zero_bit=1),
        _ANCHORS,
        _MEAN,
        gamma=3e-4,
    ),
    AdditiveEncoder(_WEIGHTS, _BIAS),
    AdditiveEncoder(_WEIGHTS, _BIAS, zero_bit=1),
    AdditiveEncoder(_WEIGHTS, _BIAS, query_weights=2 * _WEIGHTS, query_bias=-_BIAS),
    MLPEncoder(_SMALL, [np.ones(3), _BIAS / 1000]),
    MLPEncoder(_SMALL, [np.ones(3), _BIAS / 1000], zero_bit=1),
    HadamardEncoder(_rng.integers(0, 256, (1, 3, 8)), _BIAS, N_FEATURES),
    BilinearEncoder(_WEIGHTS[:8, :5], _WEIGHTS[8:16, :8], _BIAS, N_FEATURES),
    BilinearEncoder(
        _WEIGHTS[:8, :5], _WEIGHTS[8:16, :8], _BIAS, N_FEATURES, zero_bit=1
    ),
    CirculantEncoder(_WEIGHTS.T[:1] / 30, _rng.integers(0, 256, 8), _BIAS / 30),
    CirculantEncoder(
        _WEIGHTS.T[:1] / 30, np.zeros(8, np.uint8), _BIAS / 30, zero_bit=1
    ),
    HadamardEncoder(_rng.integers(0, 256, (1, 2, 8)), _BIAS, N_FEATURES, zero_bit=1),
    BlockHadamardEncoder(_ROUNDS, _BIAS, N_FEATURES),
    BlockHadamardEncoder(_ROUNDS[..., :1], _BIAS, N_FEATURES, zero_bit=1),
]


def _name(encoder):
    return f"{encoder.kind}-{encoder.zero_bit}"


#: The last one: what is in a file, and how it is read, is the same for all of a kind.
ONE_OF_EACH_KIND = list({each.kind: each for each in ENCODERS}.values())


#: The bits of the other kind depend on each other: their scores jump.
bit_by_bit = pytest.mark.parametrize(
    "encoder", [each for each in ENCODERS if each.kind != "additive"], ids=_name
)


@pytest.fixture(params=ENCODERS, ids=_name)
def encoder(request):
    return request.param


@pytest.fixture(scope="module")
def digits():
    return load_digits().data[:400].astype(np.float32)


def at_the_threshold(encoder, rows):
    """Move one feature of each row to where a score changes its sign, by bisection.

    Returns the rows, and the rows one unit in the last place to either side.
    """
    units = np.eye(N_FEATURES, dtype=np.float32)
    effects = encoder.project(units) - encoder.project(0 * units[:1])
    here = np.arange(len(rows))
    bits = here % encoder.n_bits
    features = np.abs(effects[:, bits]).argmax(axis=0)
    low, hard = rows.copy(), rows.copy()
    low[here, features], hard[here, features] = -1000, 1000
    for _ in range(50):
        middle = (low + hard) / 2
        signs = [np.sign(encoder.project(X)[here, bits]) for X in (middle, hard)]
        same = signs[0] == signs[1]
        hard[same], low[~same] = middle[same], middle[~same]
    up, down = np.nextafter(hard, np.float32(np.inf)), np.nextafter(hard, -np.inf)
    return np.concatenate([hard, up, down.astype(np.float32), 0 * hard])


def without_bias(encoder):
    if isinstance(encoder, KernelMapEncoder):
        return KernelMapEncoder(without_bias(encoder.inner), **asdict(encoder.map))
    if isinstance(encoder, AnchorEncoder):
        shape = encoder.inner.n_features, encoder.n_bits
        inner = LinearEncoder(
            np.zeros(shape), np.zeros(shape[1]), zero_bit=encoder.zero_bit
        )
        return AnchorEncoder(inner, encoder.anchors, encoder.mean, encoder.gamma)
    if isinstance(encoder, MLPEncoder):
        biases = map(np.zeros_like, encoder.biases)
        return MLPEncoder(encoder.weights, list(biases), zero_bit=encoder.zero_bit)
    tensors = {**encoder.tensors(), "bias": np.zeros(encoder.n_bits)}
    return type(encoder)(**tensors, zero_bit=encoder.zero_bit)


def check_damaged(path, original):
    """Check that loading says so, or that the damage changes nothing."""
    try:
        assert load(path).fingerprint == original.fingerprint
    except (ArtefactError, NewerFormatError) as error:
        assert str(path) in str(error)  # noqa: PT017


class TestCodes:
    def test_are_packed_signs_of_scores(self, encoder, digits):
        scores, codes = encoder.project(digits), encoder.encode(digits)
        assert (scores.dtype, codes.dtype) == (np.float32, np.uint8)
        assert scores.shape == (len(digits), encoder.n_bits)
        bits = scores >= 0 if encoder.zero_bit else scores > 0
        np.testing.assert_array_equal(codes, pack(bits))

    @bit_by_bit
    def test_zero_scores_take_the_zero_bit(self, encoder):
        codes = without_bias(encoder).encode(np.zeros((3, N_FEATURES)))
        expected = pack(np.full((3, encoder.n_bits), encoder.zero_bit))
        np.testing.assert_array_equal(codes, expected)

    def test_depend_on_the_row_alone(self, encoder, digits):
        rows = np.concatenate([digits[:24], at_the_threshold(encoder, digits[:24])])
        expected = encoder.encode(rows)
        ways = [(isa, threads) for isa in _kernels.isas() for threads in (1, 2)]
        for isa, threads in ways:
            # Enough for each block of rows to end, once: it knows no instruction set.
            n = 100_000 if (isa, threads) == ways[-1] else 3000
            _kernels.force_isa(isa)
            _kernels.set_num_threads(threads)
            alone = np.concatenate([encoder.encode(row[None]) for row in rows])
            np.testing.assert_array_equal(alone, expected)
            triples = [encoder.encode(rows[i : i + 3]) for i in range(len(rows) - 2)]
            np.testing.assert_array_equal(
                np.array(triples)[:, 1], expected[1:-1], strict=True
            )
            np.testing.assert_array_equal(
                encoder.encode(np.resize(rows, (n, N_FEATURES))),
                np.resize(expected, (n, expected.shape[1])),
            )

    @bit_by_bit
    def test_some_scores_lie_at_the_threshold(self, encoder, digits):
        scores = encoder.project(at_the_threshold(encoder, digits[:60]))
        assert (np.abs(scores).min(axis=1) < 1e-5).sum() > 60

    def test_of_no_rows(self, encoder):
        assert encoder.encode(np.empty((0, N_FEATURES))).shape == (0, 5)
        assert encoder.project(np.empty((0, N_FEATURES))).shape == (0, 37)

    def test_of_a_prefix_are_prefixes(self, encoder, digits):
        codes = encoder.encode(digits)
        for n_bits in (1, 7, 8, 9, 37):
            short = encoder.prefix(n_bits)
            assert type(short) is type(encoder)
            assert (short.n_bits, short.n_features) == (n_bits, N_FEATURES)
            np.testing.assert_array_equal(short.encode(digits), prefix(codes, n_bits))

    def test_have_no_prefix_of_another_length(self, encoder):
        for n_bits in (0, 38, -1):
            with pytest.raises(ArgumentError, match="between 1 and 37 bits"):
                encoder.prefix(n_bits)
        for n_bits in ("a", 2.5, None):
            with pytest.raises(ArgumentError, match="n_bits must be a whole number"):
                encoder.prefix(n_bits)


class TestFeatures:
    def test_of_any_real_dtype(self, encoder, digits):
        expected = encoder.encode(digits[:20])
        for dtype in ("f2", "f4", "f8", ">f4", "i1", "u2", "i8"):
            X = digits[:20].astype(dtype)
            np.testing.assert_array_equal(encoder.encode(X), expected, dtype)

    def test_of_booleans_and_lists(self, encoder, digits):
        X = digits[:20] > 7
        expected = encoder.encode(X.astype(np.float32))
        np.testing.assert_array_equal(encoder.encode(X), expected)
        np.testing.assert_array_equal(encoder.encode(X.tolist()), expected)

    def test_in_any_layout(self, encoder, digits):
        expected = encoder.encode(digits)
        np.testing.assert_array_equal(
            encoder.encode(np.asfortranarray(digits)), expected
        )
        wide = np.repeat(digits, 2, axis=1)
        np.testing.assert_array_equal(encoder.encode(wide[::-1, ::2]), expected[::-1])

    def test_in_a_sparse_matrix(self, encoder, digits):
        expected = encoder.encode(digits)
        for sparse in (csr_array(digits), csr_matrix(digits).tocsc()):
            np.testing.assert_array_equal(encoder.encode(sparse), expected)

    def test_must_be_finite(self, encoder, digits):
        bad, told = digits.astype(np.float64), r"finite in float32, got .* in row 321, "
        for value in (np.nan, np.inf, -np.inf, 1e39):
            bad[321, 5] = value
            with pytest.raises(FeatureError, match=f"{told}col"):
                encoder.encode(bad)

    def test_of_another_kind_are_refused(self, encoder):
        for X, message in (
            (np.zeros((2, 63)), "expected 64 features, got 63"),
            (np.zeros(64), r"2 dimensions .*give \[x\]"),
            (np.zeros((1, 2, 64)), "2 dimensions"),
            (np.zeros((2, 64), complex), "real numbers, got dtype complex128"),
            ([["a"] * 64], "real numbers"),
            ([[None] * 64], "real numbers"),
            ([[1.0], [1.0, 2.0]], "not a matrix"),
            (np.ma.masked_equal(np.zeros((2, 64)), 0), "masked"),
            (csr_array(np.zeros((2, 63))), "expected 64 features, got 63"),
            (csr_array(np.zeros((2, 64), complex)), "real numbers"),
        ):
            for method in (encoder.encode, encoder.project):
                with pytest.raises(FeatureError, match=message):
                    method(X)


class TestBlocks:
    """Of rows of so many features that a few of them fill a block."""

    X = np.zeros((300, 1 << 16), np.uint8)
    X[:, ::5000] = np.random.default_rng(0).integers(0, 9, (300, 14))
    encoder = LinearEncoder(
        np.random.default_rng(1).normal(size=(1 << 16, 9)), -_BIAS[:9]
    )

    def test_are_reported(self):
        seen = []
        codes = self.encoder.encode(self.X, progress=lambda *done: seen.append(done))
        assert 1 < len(seen) < 9
        assert seen == sorted(seen)
        assert seen[-1] == (300, 300)
        parts = [self.encoder.encode(part) for part in np.split(self.X, 3)]
        np.testing.assert_array_equal(codes, np.concatenate(parts))

    def test_of_memory_maps_and_of_sparse_matrices(self, tmp_path):
        codes = self.encoder.encode(self.X)
        np.save(tmp_path / "x.npy", self.X)
        for rows in (np.load(tmp_path / "x.npy", mmap_mode="r"), csr_array(self.X)):
            np.testing.assert_array_equal(self.encoder.encode(rows), codes)

    def test_must_be_finite(self):
        bad = self.X.astype(np.float16)
        bad[290, 70] = np.nan
        with pytest.raises(FeatureError, match="got nan in row 290, column 70"):
            self.encoder.encode(bad)


class TestFile:
    def test_holds_the_whole_encoder(self, encoder, digits, tmp_path):
        encoder.save(tmp_path / "encoder.safetensors")
        loaded = load(tmp_path / "encoder.safetensors")
        assert loaded.fingerprint == encoder.fingerprint
        assert (type(loaded), loaded.zero_bit) == (type(encoder), encoder.zero_bit)
        np.testing.assert_array_equal(loaded.encode(digits), encoder.encode(digits))

    @pytest.mark.parametrize("encoder", ONE_OF_EACH_KIND, ids=_name)
    def test_is_never_silently_different(self, encoder, tmp_path):
        """Flip bits of each byte of the header and of some behind it; cut the file."""
        small, path = encoder.prefix(2), tmp_path / "encoder.safetensors"
        small.save(path)
        content = path.read_bytes()
        header = 8 + int.from_bytes(content[:8], "little")
        with open(path, "r+b", buffering=0) as file:
            for i, byte in enumerate(content):
                if i % (3 if i < header else 5) and encoder.kind != "linear":
                    continue
                every = range(8) if encoder.kind == "linear" else (i % 8, (i + 3) % 8)
                for bit in every if i < header else [i % 8]:
                    os.pwrite(file.fileno(), bytes([byte ^ (1 << bit)]), i)
                    check_damaged(path, small)
                os.pwrite(file.fileno(), bytes([byte]), i)
            assert load(path).fingerprint == small.fingerprint
            for length in reversed(range(len(content))):
                if length < header or length % 7 == 0:
                    os.ftruncate(file.fileno(), length)
                    check_damaged(path, small)

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"\xff" * 8,
            b"\x00" * 64,
            (2**40).to_bytes(8, "little") + b"{}",
            b"PK\3\4" * 9,
        ],
    )
    def test_of_something_else_is_refused(self, tmp_path, content):
        (tmp_path / "other").write_bytes(content)
        with pytest.raises(ArtefactError, match="other holds no readable encoder"):
            load(tmp_path / "other")

    def test_with_a_hostile_header_is_refused(self, encoder, tmp_path):
        encoder.save(tmp_path / "file")
        content = (tmp_path / "file").read_bytes()
        length = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + length])
        for name in set(header) - {"__metadata__"}:
            for shape in ([2**62], [2**31, 2**31], [0], [-1], "many", None):
                hostile = json.dumps({**header, name: {**header[name], "shape": shape}})
                size = len(hostile).to_bytes(8, "little")
                (tmp_path / "file").write_bytes(
                    size + hostile.encode() + content[8 + length :]
                )
                with pytest.raises(ArtefactError):
                    load(tmp_path / "file")

    def test_of_another_format_or_kind_is_refused(self, encoder, tmp_path):
        for metadata, message in [
            ({}, "its format is 'none'"),
            ({"format": "fewbits-encoder-9"}, "its format is 'fewbits-encoder-9'"),
            (
                {"format": "fewbits-encoder-1", "kind": "odd"},
                "kind 'odd', this version",
            ),
            ({"format": "fewbits-encoder-1", "kind": encoder.kind}, "damaged"),
        ]:
            save_file(encoder.tensors(), tmp_path / "file", metadata)
            with pytest.raises((ArtefactError, NewerFormatError), match=message):
                load(tmp_path / "file")

    def test_that_is_missing(self, tmp_path):
        with pytest.raises(FileNotFoundError, match="nothing"):
            load(tmp_path / "nothing")
        with pytest.raises(IsADirectoryError):
            load(tmp_path)

    def test_in_a_missing_folder(self, encoder, tmp_path):
        with pytest.raises(FileNotFoundError, match=r"No such file.*nowhere.file"):
            encoder.save(tmp_path / "nowhere" / "file")

    def test_in_a_folder_without_rights(self, encoder, tmp_path, no_new_files):
        with pytest.raises(PermissionError) as caught:
            encoder.save(tmp_path / "file")
        assert caught.value.filename == str(tmp_path / "file")

    @pytest.mark.parametrize("encoder", ONE_OF_EACH_KIND, ids=_name)
    @pytest.mark.parametrize("call", ["fsync", "replace", "chmod"])
    def test_stays_as_it_was_when_the_disk_is_full(
        self, encoder, tmp_path, monkeypatch, call
    ):
        path = tmp_path / "file"
        path.write_bytes(b"before")

        def fail(*_, **__):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(os, call, fail)
        with pytest.raises(OSError, match=r"No space left on device: .*file") as caught:
            encoder.save(path)
        assert caught.value.errno == errno.ENOSPC
        assert path.read_bytes() == b"before"
        assert os.listdir(tmp_path) == ["file"]


class TestEncoder:
    def test_is_immutable(self, encoder):
        fingerprint = encoder.fingerprint
        for tensor in encoder.tensors().values():
            try:
                tensor.flags.writeable = True
                tensor[...] = 0
            except ValueError:
                continue
        again = pickle.loads(pickle.dumps(encoder))
        assert again.fingerprint == fingerprint

    def test_stays_as_a_file_of_its_weights_changes(self, tmp_path):
        weights = np.random.default_rng(0).normal(size=(9, 8)).astype(np.float32)
        np.save(tmp_path / "w.npy", weights)
        mapped = np.load(tmp_path / "w.npy", mmap_mode="r")
        encoder = LinearEncoder(mapped, np.zeros(8))
        codes = encoder.encode(weights.T)
        np.load(tmp_path / "w.npy", mmap_mode="r+")[:] = 0
        np.testing.assert_array_equal(encoder.encode(weights.T), codes)

    def test_keeps_its_attributes(self, encoder):
        fingerprint = encoder.fingerprint
        for name in vars(encoder):
            with pytest.raises(AttributeError, match=f"immutable: '{name}' is set"):
                setattr(encoder, name, 0)
            with pytest.raises(AttributeError, match="cannot be deleted"):
                delattr(encoder, name)
        assert encoder.fingerprint == fingerprint

    def test_can_be_copied(self, encoder, digits):
        codes = encoder.encode(digits[:9])
        for again in (pickle.loads(pickle.dumps(encoder)), copy.deepcopy(encoder)):
            np.testing.assert_array_equal(again.encode(digits[:9]), codes)
            with pytest.raises(AttributeError, match="immutable"):
                again.zero_bit = 1

    def test_fingerprint_names_what_decides_the_codes(self, encoder):
        prints = {other.fingerprint for other in ENCODERS}
        assert len(prints) == len(ENCODERS)
        assert encoder.prefix(37).fingerprint == encoder.fingerprint
        assert encoder.prefix(36).fingerprint != encoder.fingerprint

    def test_shows_its_size(self, encoder):
        assert repr(encoder) == f"{type(encoder).__name__}(64 -> 37 bits)"
        assert n_bytes(encoder.n_bits) == 5
