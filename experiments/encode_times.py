"""How long each projection takes to encode a vector: all methods of a length in turn.

    python -m experiments.encode_times --data icd10
    FEWBITS_DATA=folder python -m experiments.encode_times --data caltech101-1280

An encoder's time depends on its shape and hardly on what it has learnt, so these learn
one step from some rows, and all can be timed beside each other. Measurements of ranking
are made one by one, over a time in which kernels change.
Processor time on one thread, the least of several turns: other work only adds to it. A
turn starts with a call that is not timed, so that the place in the order matters less.
"""

import time
import warnings
from functools import partial

import numpy as np
import typer

from benchmarks.encode import interleaved
from experiments._cells import Cell, Cells
from experiments._features import FeatureSet, load_features
from experiments._machine import machine
from experiments._options import Bits, Data, one_line
from experiments._projections import (
    METHODS,
    OTHER_WAYS,
    has_codes,
    lengths_of,
    measured,
)
from experiments._settings import configured
from experiments.neighbour_codes import FORMS, FORMS_AT, LENGTHS
from fewbits import _kernels
from fewbits.encoders import Encoder
from fewbits.learners import (
    LSH,
    Learner,
    NeighbourCodes,
    Thresholding,
    shared_steps,
)

SEED = 0
#: Rows to learn a step from, and rows of a batch.
N_LEARN, N_BATCH = 2000, 512
TURNS = {"batch_us": 5, "single_us": 20}
#: Calls of a single vector in a turn, which are too short for the clock.
CALLS = 20
best_of = partial(interleaved, pick=np.min, clock=time.process_time, warm=True)


def main(data: Data, bits: Bits = None) -> None:
    """Measure every length that lacks a method; of a length all methods anew."""
    for name in data:
        with one_line():
            features = load_features(name, SEED)
        width = features.database.shape[1]
        with shared_steps():
            for n_bits in sorted({*lengths_of(name, width), *LENGTHS}):
                if not bits or n_bits in bits:
                    measure(name, features, n_bits)


def measure(name: str, features: FeatureSet, n_bits: int) -> None:
    """Time all methods of a length, unless all of them are measured."""
    cells = Cells("encode_times")
    learners = methods_at(name, features.database.shape[1], n_bits)
    at: dict[str, Cell] = {
        method: {"data": name, "bits": n_bits, "method": method} for method in learners
    }
    if all(cells.get(cell) for cell in at.values()):
        return
    encoders = {method: encoder_of(each, features) for method, each in learners.items()}
    times = timed(encoders, features)
    for method, cell in at.items():
        cells.measure(cell, partial(times.__getitem__, method), again=True)


def methods_at(name: str, width: int, n_bits: int) -> dict[str, Learner]:
    """Return what is compared at a length; sparse steps make the same encoders."""
    found: dict[str, Learner] = {
        method: make(n_bits, SEED, 1)
        for method, make in METHODS.items()
        if method not in OTHER_WAYS
        and measured(name, method, n_bits)
        and has_codes(method, n_bits, width)
    }
    if "PCAH" in found:  # an encoder of that shape that needs fewer rows
        found["PCAH"] = LSH(n_bits, random_state=SEED)
    if n_bits == width:
        found["threshold"] = Thresholding()
    for method, options in FORMS.items() if n_bits in FORMS_AT else ():
        found[method] = configured(NeighbourCodes, n_bits, random_state=SEED, **options)
    return found


def encoder_of(learner: Learner, features: FeatureSet) -> Encoder:
    """Return an encoder of the right shape, after one step."""
    if "n_iter" in learner.get_params():
        learner.set_params(n_iter=1)
    rng = np.random.default_rng(SEED)
    rows = rng.permutation(len(features.database))[:N_LEARN]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of constant bits
        return learner.fit(features.database[rows]).encoder_


def timed(encoders: dict[str, Encoder], features: FeatureSet) -> dict[str, Cell]:
    """Return microseconds for a vector, in a batch and alone, of each encoder."""
    found: dict[str, Cell] = {name: dict(machine()) for name in encoders}
    sizes = {"batch_us": min(N_BATCH, len(features.queries)), "single_us": 1}
    _kernels.set_num_threads(1)
    try:
        for figure, n in sizes.items():
            X = np.ascontiguousarray(features.queries[:n])
            calls = {
                name: partial(encoder.encode, X) for name, encoder in encoders.items()
            }
            ms = best_of(calls, TURNS[figure], CALLS if n == 1 else 1)
            for name, value in ms.items():
                found[name][figure] = round(1e3 * value / n, 3)
    finally:
        _kernels.set_num_threads(None)
    return found


if __name__ == "__main__":
    typer.run(main)
