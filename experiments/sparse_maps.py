"""What sparse projections see of the features, and learn from fewer rows than all.

    python -m experiments.sparse_maps --data icd10
    FEWBITS_DATA=folder python -m experiments.sparse_maps --data caltech101-1280

Why do claims of the sparse-projections paper fail where they do? It reads its figure 4,
where 10 % of the weights rank better than all, as overfitting: if so, a dense map loses
more than a sparse one when both learn from fewer rows. Codes as long as the features
are learnt from some rows of the database, from a quarter of the number of features on,
and rank all of it as in `sparse_projections`. Short codes of few weights may see a part
of the features only: of some lengths, the share of the variance of the features that
have a weight in any bit is told.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import typer

from experiments._cells import Cell, Cells
from experiments._features import FeatureSet, load_features
from experiments._options import Data, Only, Seeds, one_line, wanted
from experiments._projections import METHODS, N_ITER, USUAL_ITER, named
from experiments._ranking import Fit, ranking_figures
from fewbits.encoders import Encoder

SPARSE = tuple(map(named, (0.01, 0.1)))
COMPARED = ("LSH", "ITQ", *SPARSE, named(1.0))
#: Rows to learn from, over the number of features, where codes are as long.
SHARES = (0.25, 1.0, 4.0)
#: Lengths of which all rows are learnt from.
LENGTHS = (64, 256)


def main(data: Data, seeds: Seeds = 3, only: Only = None) -> None:
    """Measure every cell that is not measured yet."""
    cells = Cells("sparse_maps")
    for name in data:
        for seed in range(seeds):
            with one_line():
                features = load_features(name, seed)
            for cell in lineup(name, features.database.shape, seed):
                if wanted(cell, only, None):
                    cells.measure(cell, partial(figures, features, **cell))


def lineup(name: str, shape: tuple[int, ...], seed: int) -> Iterator[Cell]:
    """Yield the cells of one seed."""
    n, d = shape
    fewer = [round(share * d) for share in SHARES if share * d < n]
    asked = [(d, rows, COMPARED) for rows in (*fewer, n)]
    asked += [(bits, n, SPARSE) for bits in LENGTHS if bits < d]
    for bits, rows, methods in asked:
        for method in methods:
            cell = {"data": name, "bits": bits, "rows": rows, "method": method}
            yield {**cell, "seed": seed}


def figures(
    features: FeatureSet, data: str, bits: int, rows: int, method: str, seed: int
) -> Cell:
    """Learn from some rows, the first of an order that `seed` draws, and rank all."""
    order = np.random.default_rng(seed).permutation(len(features.database))
    kept = np.sort(order[:rows])
    fit = Fit(
        METHODS[method](bits, seed, N_ITER.get(data, USUAL_ITER)),
        replace(features, database=features.database[kept]),
    )
    assert fit.encoder is not None
    found = ranking_figures(features, fit.encoder, seed) | fit.figures()
    return found | {"variance_seen": variance_seen(fit.encoder, features)}


def variance_seen(encoder: Encoder, features: FeatureSet) -> float:
    """Return the share of the variance of features that any bit looks at."""
    d = features.database.shape[1]
    nothing = encoder.project(np.zeros((1, d), np.float32))
    seen = (encoder.project(np.eye(d, dtype=np.float32)) != nothing).any(axis=1)
    variances = features.database.var(axis=0)
    return float(variances[seen].sum() / variances.sum())


if __name__ == "__main__":
    typer.run(main)
