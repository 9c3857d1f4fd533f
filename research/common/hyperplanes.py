"""How the hyperplanes of an encoder lie to one another and to the points."""

import numpy as np
from numpy.typing import NDArray

from fewbits.analysis.bits import bit_report
from fewbits.encoders import Encoder
from research.common.features import FeatureSet
from research.core.record import Metrics

_SAMPLE = 10_000


def hyperplane_metrics(encoder: Encoder, features: FeatureSet) -> Metrics:
    """Return how far from a tight frame, from the points, and how independent."""
    n = len(features.database)
    drawn = np.random.default_rng(0).permutation(n)[:_SAMPLE]
    sample = features.database[np.sort(drawn)]
    report = bit_report(encoder.encode(sample), encoder.n_bits)
    return {
        "looseness": looseness(directions(encoder)),
        "margin": margin(encoder.project(sample)),
        "effective_bits": report.effective_bits,
    }


def directions(encoder: Encoder) -> NDArray[np.float64]:
    """Return the unit normals of the hyperplanes, (n_bits, n_features)."""
    unit = np.eye(encoder.n_features, dtype=np.float32)
    nothing = encoder.project(np.zeros((1, encoder.n_features), np.float32))
    normals = (encoder.project(unit) - nothing).T.astype(np.float64)
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    unit_normals: NDArray[np.float64] = normals / np.where(lengths > 0, lengths, 1)
    live: NDArray[np.float64] = unit_normals[lengths[:, 0] > 0]
    return live


def looseness(normals: NDArray[np.float64]) -> float:
    """Return how far the frame potential exceeds its least, as a share of that.

    It is ``sum_ij (w_i'w_j)^2``, at least b, or b^2 / d where that is more: 0 for
    orthogonal normals and for tight frames (Benedetto and Fickus, 2003).
    """
    n_bits, d = normals.shape
    products = normals.T @ normals if d < n_bits else normals @ normals.T
    return float(np.sum(products**2) / max(n_bits, n_bits**2 / d) - 1)


def margin(scores: NDArray[np.float32]) -> float:
    """Return the mean over bits of ``(E|s|)^2 / E s^2``, from 0 to 1.

    The larger, the farther from the hyperplanes points lie; 2 / pi for a Gaussian.
    Constant scores, of bits without a weight, are left out.
    """
    live = scores[:, np.ptp(scores, axis=0) > 0].astype(np.float64)
    shares = np.mean(np.abs(live), axis=0) ** 2 / np.mean(live**2, axis=0)
    return float(np.mean(shares))


def variance_seen(encoder: Encoder, features: FeatureSet) -> float:
    """Return the share of the variance of features that any bit looks at."""
    d = features.database.shape[1]
    nothing = encoder.project(np.zeros((1, d), np.float32))
    seen = (encoder.project(np.eye(d, dtype=np.float32)) != nothing).any(axis=1)
    variances = features.database.var(axis=0)
    return float(variances[seen].sum() / variances.sum())
