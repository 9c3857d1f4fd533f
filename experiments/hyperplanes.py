"""How hyperplanes of projections lie, which tells why sparse ones rank as they do.

    python -m experiments.hyperplanes --data icd10 --data glove
    FEWBITS_DATA=folder python -m experiments.hyperplanes --data caltech101-1280

Of codes of about a quarter of a bit to four for each feature, as far as
`sparse_projections` learns them, which has their ANN mAP: how far the hyperplanes are
from a tight frame, that is, from orthogonal up to d bits; how far from the hyperplanes
the points lie; and how many independent bits would spread as much as those of the
items, 10,000 at most.
"""

from collections.abc import Iterable, Iterator
from functools import partial

import numpy as np
import typer
from numpy.typing import NDArray

from experiments._cells import Cell, Cells
from experiments._features import FeatureSet, load_features
from experiments._options import Bits, Data, Only, one_line, wanted
from experiments._projections import (
    METHODS,
    N_ITER,
    OTHERS_SEEDS,
    USUAL_ITER,
    lengths_of,
    measured,
    named,
)
from experiments._ranking import Fit
from fewbits.analysis import bit_report
from fewbits.encoders import Encoder
from fewbits.learners import shared_steps

COMPARED = (
    *("LSH", "Hadamard 3", "CBE-opt", "BP-opt", "ITQ"),
    *map(named, (0.01, 0.1, 1.0)),
)
SHARES = (0.25, 1, 2, 4)  #: Bits for each feature, about.
_SAMPLE = 10_000


def main(data: Data, bits: Bits = None, only: Only = None) -> None:
    """Measure every cell that is not measured yet."""
    cells = Cells("hyperplanes")
    for name in data:
        for seed in OTHERS_SEEDS:
            with one_line():
                features = load_features(name, seed)
            with shared_steps() as steps:
                for cell in lineup(name, features.database.shape[1], seed):
                    if wanted(cell, only, bits):
                        make = METHODS[cell["method"]]
                        n_iter = N_ITER.get(name, USUAL_ITER)
                        fit = Fit(make(cell["bits"], seed, n_iter), features, steps)
                        cells.measure(cell, partial(figures, fit))


def lineup(name: str, n_features: int, seed: int) -> Iterator[Cell]:
    """Yield the cells of one seed."""
    known = lengths_of(name, n_features)
    nearest = [nearest_to(share * n_features, known) for share in SHARES]
    for n_bits in dict.fromkeys(nearest):
        for method in COMPARED:
            if measured(name, method, n_bits):
                yield {"data": name, "bits": n_bits, "method": method, "seed": seed}


def nearest_to(wanted_bits: float, known: Iterable[int]) -> int:
    """Return the length of those that are measured that is nearest to another."""
    return min(known, key=lambda n_bits: abs(n_bits - wanted_bits))


def figures(fit: Fit) -> Cell:
    """Return how the hyperplanes and their bits lie to one another."""
    encoder, sample = fit.encoder, some_rows(fit.features)
    assert encoder is not None
    codes = encoder.encode(sample)
    return {
        "looseness": looseness(directions(encoder)),
        "margin": margin(encoder.project(sample)),
        "effective_bits": bit_report(codes, encoder.n_bits).effective_bits,
    }


def some_rows(features: FeatureSet) -> NDArray[np.float32]:
    """Return rows of the database, the same for all methods."""
    n = len(features.database)
    drawn = np.random.default_rng(0).permutation(n)[:_SAMPLE]
    return features.database[np.sort(drawn)]


def directions(encoder: Encoder) -> NDArray[np.float64]:
    """Return the unit normals of the hyperplanes, (n_bits, n_features)."""
    unit = np.eye(encoder.n_features, dtype=np.float32)
    nothing = encoder.project(np.zeros((1, encoder.n_features), np.float32))
    normals = (encoder.project(unit) - nothing).T.astype(np.float64)
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    return normals[lengths[:, 0] > 0] / lengths[lengths[:, 0] > 0]


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


if __name__ == "__main__":
    typer.run(main)
