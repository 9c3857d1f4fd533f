"""One of each learner, quick to fit. A new learner adds one line."""

import pytest

from fewbits.learners import (
    BRE,
    CBE,
    CCAITQ,
    DBC,
    ECOC,
    ITQ,
    LSH,
    PCAH,
    AdditiveCodes,
    BilinearProjections,
    BlockITQ,
    Classemes,
    FastNeighbourCodes,
    Hadamard,
    KernelMapped,
    NeighbourCodes,
    PiCoDes,
    RelaxedPiCoDes,
    SparseProjections,
    SpectralHashing,
    SupervisedITQ,
    Thresholding,
)

LEARNERS = [
    LSH(n_bits=12, random_state=0),
    Hadamard(n_bits=12, random_state=0),
    CBE(n_bits=12, n_iter=3, random_state=0),
    BilinearProjections(n_bits=12, n_iter=3, random_state=0),
    PCAH(),
    Thresholding("median"),
    ITQ(n_bits=12, n_iter=3, random_state=0),
    BlockITQ(n_bits=12, n_blocks=3, n_iter=3, random_state=0),
    CCAITQ(n_bits=12, n_iter=3, random_state=0),
    SupervisedITQ(n_bits=12, n_iter=3, random_state=0),
    SparseProjections(n_bits=12, density=0.9, n_iter=3, random_state=0),
    SpectralHashing(n_bits=12),
    BRE(n_bits=12, n_iter=3, random_state=0),
    AdditiveCodes(n_bits=12, random_state=0),
    NeighbourCodes(n_bits=12, n_iter=1, random_state=0),
    FastNeighbourCodes(n_bits=12, n_iter=1, random_state=0),
    PiCoDes(n_bits=12, n_iter=1, random_state=0),
    RelaxedPiCoDes(n_bits=12, n_iter=1, random_state=0),
    Classemes(random_state=0),
    DBC(n_bits=12, n_iter=2, random_state=0),
    ECOC(n_bits=12, random_state=0),
    KernelMapped(ITQ(n_bits=12, n_iter=3, random_state=0), signed=True),
]
every_learner = pytest.mark.parametrize(
    "learner", LEARNERS, ids=lambda learner: type(learner).__name__
)
