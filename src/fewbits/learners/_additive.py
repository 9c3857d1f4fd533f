"""Codes that stand for sums of vectors, one vector a bit."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from fewbits._typing import Array
from fewbits.codes import unpack
from fewbits.encoders import AdditiveEncoder
from fewbits.errors import FeatureError
from fewbits.evaluation import exact_neighbours, search_recall
from fewbits.index import FlatIndex
from fewbits.learners._core._base import Learner
from fewbits.learners._core._device import product
from fewbits.learners._core._parameters import USUAL
from fewbits.learners._core._rows import ChosenRows, Readable, Rows
from fewbits.learners._linalg._orthogonal import (
    PrincipalAxes,
    principal_axes,
    random_rotation,
)
from fewbits.learners._linalg._query_weights import (
    Added,
    QueryWeights,
    trained_query_weights,
)

Float64Array = NDArray[np.float64]

_MOST_ROWS = 40_000
#: Of the mean squared entry of the Gram matrix of bits, which is 1.
_RIDGE = 1e-3
_WHITENINGS = 0.25, 0.75
#: Rows that choose between them, of which some are queries.
_FEWEST_TO_CHOOSE, _MOST_TO_CHOOSE, _QUERIES, _K = 1000, 10_000, 500, 10

#: With the mean squared error of the rows.
Fitted = tuple[AdditiveEncoder, float]


@dataclass(eq=False, repr=False)
class AdditiveCodes(Learner):
    """Approximate each row by a sum of learnt vectors, with a bit for each sign.

    The bits of a row are chosen together (see `AdditiveEncoder`), so that the code as a
    whole preserves more of the row than signs of projections do. That pays where a
    shortlist is re-ranked by scores; by Hamming distance alone, ITQ finds as much.

    Parameters
    ----------
    n_bits : int, default=64
        Length of the code, from 1 to 65,536; it may exceed the number of features.
    correction : bool, default=False
        Whether codes come with two bytes for each row that make the distances of
        re-ranking more exact: with as many bits as features, or where the lengths of
        rows differ. A collection stores and takes them by itself.
    random_state : int, RandomState instance or None, default=None
        Seeds the rotation, and the rows that take part where there are over 40,000.

    Attributes
    ----------
    encoder_ : AdditiveEncoder
    objective_ : ndarray of shape (1,)
        Mean squared error of reconstructing the rows that took part, each scaled to
        the length of its sum.

    Notes
    -----
    A method of fewbits: additive quantization with codebooks of two opposite vectors,
    from a random rotation of the principal components on, each divided by its standard
    deviation to the power of 0.25. With corrections, more bits than components and at
    least 1,000 rows, 0.75 is tried, too, and the one with the better recall on up to
    10,000 of the rows is kept. One step of coordinate descent over the bits, one of
    least squares over the vectors: further ones lowered the error, and recall too, on
    ICD-10. From 1,000 rows on, vectors for ranking are trained on shortlists of them
    and taken by `query_scores` and `offsets` of the encoder, where that finds more
    neighbours of held-out rows.

    References
    ----------
    Babenko and Lempitsky, "Additive Quantization for Extreme Vector Compression", CVPR
    2014.

    Gao and Long, "RaBitQ: Quantizing High-Dimensional Vectors with a Theoretical Error
    Bound for Approximate Nearest Neighbor Search", SIGMOD 2024.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 16))
    >>> AdditiveCodes(n_bits=24, random_state=0).fit(X).encoder_
    AdditiveEncoder(16 -> 24 bits)
    """

    n_bits: int = 64
    _: KW_ONLY
    correction: bool = False
    random_state: Any = None

    constraints: ClassVar = USUAL | {
        "correction": ["boolean"],
    }
    uses_device = True

    def _learn(self, X: Array, y: Any) -> AdditiveEncoder:
        rng = check_random_state(self.random_state)
        axes = principal_axes(X)
        taking_part: Readable = X
        if len(X) > _MOST_ROWS:
            drawn = np.sort(rng.choice(len(X), _MOST_ROWS, replace=False))
            taking_part = ChosenRows(X, drawn)
        rows = Rows(taking_part, axes.mean, None, np.float64, keep=False)
        V = np.concatenate([np.asarray(block) for block in rows])
        # In float32 bits are chosen.
        longest, single = float(np.einsum("ij,ij->i", V, V).max()), np.finfo(np.float32)
        if not float(single.tiny) <= longest <= float(single.max):
            what = "large" if longest > 1 else "small"
            raise FeatureError(
                f"the features of X are too {what}: their squares leave float32; scale "
                "them"
            )
        encoder, error = self._fitted(V, axes, rng)
        self.objective_ = np.array([error])
        # Vectors for ranking, trained from those that bits are chosen by.
        none = np.zeros_like(encoder.bias)
        queries = trained_query_weights(
            V,
            AdditiveEncoder(encoder.weights, none, zero_bit=encoder.zero_bit).encode,
            QueryWeights(encoder.weights, none),
            Added.OF_ROWS if self.correction else Added.OF_CODES,
            rng,
        )
        if queries is not None:
            encoder = AdditiveEncoder(
                encoder.weights,
                encoder.bias,
                query_weights=queries.weights,
                query_bias=queries.bias - axes.mean @ queries.weights,
                zero_bit=encoder.zero_bit,
            )
        if self.correction:
            encoder = _with_corrections(encoder, V + axes.mean, axes.mean)
        return encoder

    def _fitted(
        self, V: Float64Array, axes: PrincipalAxes, rng: np.random.RandomState
    ) -> Fitted:
        k = min(self.n_bits, axes.rank)
        rotation = random_rotation(k, self.n_bits, rng)

        def of(whitening: float) -> Fitted:
            spread = (axes.scatter[:k] / axes.scatter[0]) ** (-whitening / 2)
            return _least_squares(V, (axes.directions[:, :k] * spread) @ rotation, axes)

        chooses = self.correction and self.n_bits > k and len(V) >= _FEWEST_TO_CHOOSE
        if not chooses:
            return of(_WHITENINGS[0])
        # By the share of the nearest rows that some rows find, with corrections.
        rows = V[rng.permutation(len(V))[:_MOST_TO_CHOOSE]] + axes.mean
        queries, base = np.split(rows.astype(np.float32), [_QUERIES])
        fits, recalls = {power: of(power) for power in _WHITENINGS}, {}
        for whitening, (fitted, _) in fits.items():
            encoder = _with_corrections(fitted, rows, axes.mean)
            codes = encoder.encode(base)
            hits = FlatIndex(codes).search_reranked(
                encoder.encode(queries),
                _K,
                scores=encoder.query_scores(queries),
                offsets=encoder.corrections(base, codes),
            )
            nearest = exact_neighbours(queries, base, _K).ids
            recalls[whitening] = search_recall(hits.ids, nearest).value
        return fits[max(recalls, key=lambda power: recalls[power])]


def _least_squares(V: Float64Array, start: Float64Array, axes: PrincipalAxes) -> Fitted:
    """Return the vectors whose sums by the bits of `start` are nearest to rows."""
    # So long that their sums by the signs of scores are as long as rows.
    sums: Array = np.where(V @ start > 0, 1.0, -1.0) @ start.T
    vectors: Array = start * (np.vdot(sums, V) / np.vdot(sums, sums))
    scaled: Array
    n_bits = vectors.shape[1]
    encoder = AdditiveEncoder(vectors, np.zeros(n_bits), zero_bit=1)
    signs = unpack(encoder.encode(V.astype(np.float32)), n_bits) * 2.0 - 1.0
    signs = signs.astype(np.float64, copy=False)
    # Rows as long as the sums that stand for them.
    sums = signs @ vectors.T
    along = np.einsum("ij,ij->i", sums, V)
    scale = np.einsum("ij,ij->i", sums, sums) / np.where(along > 0, along, np.inf)
    scaled = V * np.where(scale > 0, scale, 1.0)[:, None]
    gram = signs.T @ signs + _RIDGE * len(V) * np.eye(n_bits)
    vectors = np.linalg.solve(gram, product(signs.T, scaled)).T
    encoder = AdditiveEncoder(vectors, -axes.mean @ vectors, zero_bit=1)
    return encoder, float(np.square(scaled - signs @ vectors.T).mean())


def _with_corrections(
    encoder: AdditiveEncoder, X: Float64Array, mean: Float64Array
) -> AdditiveEncoder:
    """Let two bytes stand for the factors and offsets that rows need."""
    rows, columns = X.astype(np.float32), []
    for values in encoder.correction_terms(rows, mean, encoder.encode(rows)):
        # 256 numbers in equal ratios, a tenth beyond those that were seen.
        most = float(values.max())
        least = max(float(values.min()), 1e-4 * most)
        columns.append(np.geomspace(least / 1.1, most * 1.1, 256))
    tensors = encoder.tensors() | {"mean": mean, "table": np.stack(columns, axis=1)}
    return AdditiveEncoder.from_tensors(tensors, encoder.zero_bit)
