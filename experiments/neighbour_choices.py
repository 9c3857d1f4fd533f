"""Settings and forms of codes that keep neighbours, chosen on rows nobody asks with.

    python -m experiments.neighbour_choices --data icd10
    python -m experiments.neighbour_choices --data caltech101-1280

Learners train on a part of the database without the queries of any seed that
`neighbour_codes` reports; what counts is the recall of rows that they keep aside.
One setting at a time is changed, then those that helped together. Fast projections have
other forms: Kronecker products, whole butterflies, blocks and diagonals in several
rounds, and a sparse map of randomly rotated features.
"""

import time
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any

import typer
from numpy.typing import NDArray

from experiments._cells import Cell, Cells
from experiments._features import load_features
from experiments._options import Bits, Data, Only, Seeds, one_line, wanted
from experiments._projections import SEEDS
from experiments._settings import configured
from experiments._trial_maps import Butterfly, Kronecker, TrialCodes
from fewbits.learners import (
    FastNeighbourCodes,
    Hadamard,
    Learner,
    NeighbourCodes,
    shared_steps,
)
from fewbits.learners._shared_steps import SharedSteps

VALIDATION, FIRST_SEED = 0.15, 1000
#: What settings differ from: the first defaults, not those that were chosen by this.
USUAL = {"learning_rate": 0.02, "perplexity": 20, "n_iter": 30}
#: Of planes, as it was then.
NOT_TIGHT = {"tightness": 0.0}
TOGETHER = "60 iterations, .04, 10"
CHOSEN = {"n_iter": 60, "learning_rate": 0.04, "perplexity": 10}
HIDDEN, SPARSE = "a hidden layer of 512", "10% of the weights"
BASE, FAST = "base", "fast, base"
SETTINGS: dict[str, dict[str, Any]] = {
    BASE: {},
    "learning rate .005": {"learning_rate": 0.005},
    "learning rate .01": {"learning_rate": 0.01},
    "learning rate .04": {"learning_rate": 0.04},
    "learning rate .08": {"learning_rate": 0.08},
    "perplexity 10": {"perplexity": 10},
    "perplexity 40": {"perplexity": 40},
    "100 neighbours": {"n_neighbours": 100},
    "60 iterations": {"n_iter": 60},
    "60 iterations, .04": {"n_iter": 60, "learning_rate": 0.04},
    TOGETHER: CHOSEN,
    "60 iterations, .08, 10": {"n_iter": 60, "learning_rate": 0.08, "perplexity": 10},
    "120 iterations, .08, 10": {"n_iter": 120, "learning_rate": 0.08, "perplexity": 10},
    "180 iterations, .04, 10": {**CHOSEN, "n_iter": 180},
    f"{TOGETHER}, tightness .02": {**CHOSEN, "tightness": 0.02},
    f"{TOGETHER}, tightness .1": {**CHOSEN, "tightness": 0.1},
    "180 iterations, .04, 10, tightness .02": {
        **CHOSEN,
        "n_iter": 180,
        "tightness": 0.02,
    },
    HIDDEN: {"n_hidden": 512},
    f"{HIDDEN}, {TOGETHER}": {"n_hidden": 512, **CHOSEN},
    SPARSE: {"density": 0.1},
    f"{SPARSE}, {TOGETHER}": {"density": 0.1, **CHOSEN},
}
FAST_SETTINGS: dict[str, dict[str, Any]] = {
    FAST: {},
    "fast, learning rate .01": {"learning_rate": 0.01},
    "fast, learning rate .04": {"learning_rate": 0.04},
    "fast, perplexity 10": {"perplexity": 10},
    "fast, 60 iterations": {"n_iter": 60},
    "fast, 60 iterations, 10": {"n_iter": 60, "perplexity": 10},
    "fast, 120 iterations, 10": {"n_iter": 120, "perplexity": 10},
    "fast, blocks, 1 round": {"n_rounds": 1},
    "fast, blocks, 3 rounds": {"n_rounds": 3},
    "fast, diagonals, 3 rounds": {"block_size": 1, "n_rounds": 3},
}
TRIALS = {"fast, Kronecker": Kronecker, "fast, butterfly": Butterfly}
ROTATED = "10% of the weights, after a random rotation"
LENGTHS = (64, 256)


def main(data: Data, seeds: Seeds = 2, bits: Bits = None, only: Only = None) -> None:
    """Measure every cell that is not measured yet."""
    cells = Cells("neighbour_choices")
    for name in data:
        with one_line():
            X = never_asked(name)
        with shared_steps() as steps:
            for seed in range(FIRST_SEED, FIRST_SEED + seeds):
                for n_bits in LENGTHS:
                    cell = {"data": name, "bits": n_bits, "seed": seed}
                    for method, learner in lineup(n_bits, seed):
                        full = {**cell, "method": method}
                        measure = partial(figures, learner, X, method, steps)
                        if wanted(full, only, bits):
                            cells.measure(full, measure)


@lru_cache(maxsize=1)
def never_asked(name: str) -> NDArray[Any]:
    """Return the rows of the first database that are queries of no seed."""
    found = load_features(name, 0).database
    asked = {
        row.tobytes()
        for seed in SEEDS
        for row in load_features(name, seed, unseen=True).queries
    }
    return found[[row.tobytes() not in asked for row in found]]


def lineup(n_bits: int, seed: int) -> Iterator[tuple[str, Learner]]:
    """Yield every method with its untrained learner."""
    shared: dict[str, Any] = {"validation": VALIDATION, "random_state": seed, **USUAL}
    for method, options in SETTINGS.items():
        settings = shared | NOT_TIGHT | options
        yield method, configured(NeighbourCodes, n_bits, **settings)
    yield ROTATED, configured(NeighbourCodes, n_bits, **shared, density=0.1)
    for method, options in FAST_SETTINGS.items():
        yield method, configured(FastNeighbourCodes, n_bits, **shared | options)
    for method, form in TRIALS.items():
        yield method, configured(TrialCodes, n_bits, form=form, **shared)


def figures(learner: Any, X: NDArray[Any], method: str, steps: SharedSteps) -> Cell:
    """Return the best recall of the rows kept aside, and that at the start."""
    if method == ROTATED:
        X = rotated(X, learner.random_state)
    start, saved = time.perf_counter(), steps.seconds_saved
    learner.fit(X)
    seconds = time.perf_counter() - start + steps.seconds_saved - saved
    return {
        "recall10": float(learner.recalls_.max()),
        "start": float(learner.recalls_[0]),
        "seconds": round(seconds, 2),
    }


def rotated(X: NDArray[Any], seed: int) -> NDArray[Any]:
    """Return scores of three random Hadamard rounds: as many as the padded width."""
    width = 1 << (X.shape[1] - 1).bit_length()
    rotation = Hadamard(width, n_rounds=3, random_state=seed).fit(X).encoder_
    scores: NDArray[Any] = rotation.project(X)
    return scores


if __name__ == "__main__":
    typer.run(main)
