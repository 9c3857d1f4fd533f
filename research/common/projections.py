"""Projections by the names of their cells, and at which lengths they are measured."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from fewbits.encoders import MLPEncoder
from fewbits.learners import (
    BRE,
    CBE,
    ITQ,
    LSH,
    PCAH,
    BilinearProjections,
    BlockITQ,
    FastNeighbourCodes,
    Hadamard,
    Learner,
    NeighbourCodes,
    SparseProjections,
    SpectralHashing,
)
from fewbits.learners._sparse_projections import sparse_matrices
from research.common.settings import configured

DENSITIES = (0.001, 0.01, 0.05, 0.1, 0.15, 0.3, 1.0)
#: The paper does 50 iterations; codes as long as large features get fewer.
USUAL_ITER = 50
N_ITER = {
    "caltech101-5120": 5,
    "caltech101-11520": 5,
    "caltech101+cifar10": 10,
}
#: On some sets, longer codes than this get fewer.
FEWER_ABOVE = {"caltech101-vlad": (512, 10)}
#: Lengths where not all are measured: the others are near them, or decide nothing.
LENGTHS = {
    "caltech101-5120": (64, 128, 256, 512, 1024, 2048, 5120, 10240),
    "caltech101-11520": (64, 256, 1024, 2048, 5760, 11520),
    "caltech101+cifar10": (256, 1280, 2560, 5120),
    "caltech101-gist": (256,),
    "caltech101-vlad": (512, 2048),
    "cifar10": (64, 128, 256, 512, 1280),
    "glove": (16, 25, 32, 50, 64, 100, 200),
    "digits": (16, 64),
}
ITERATIVE = tuple(f"SP 10%, iterative, {step}" for step in ("frobenius", "spectral"))
ITERATIVE_AT = (256, 512, 1280)
GROWING = "SP 10%, growing beta"
#: As many iterations as in the paper, where others have fewer.
LONGER = {
    base: f"{base}, {USUAL_ITER} iterations" for base in ("ITQ", "SP 5%", "SP 10%")
}
LONGER_AT: dict[str, dict[int, tuple[str, ...]]] = {
    "caltech101+cifar10": {
        **dict.fromkeys((256, 1280), tuple(LONGER)),
        2560: ("ITQ", "SP 10%"),
    },
    "caltech101-5120": {1024: tuple(LONGER)},
}
BLOCKS, BALANCED = "Blocks 10%", "Blocks 10%, balanced"
#: What is measured in few cells.
FEW_CELLS: dict[str, dict[str, tuple[int, ...]]] = {
    GROWING: {"icd10": (256, 512)},
    BALANCED: {"caltech101-gist": (256,)},
}
#: Other ways to learn maps that encode as others do.
OTHER_WAYS = (*ITERATIVE, GROWING, BALANCED, *LONGER.values())

#: Takes the number of bits, the seed and the number of iterations.
Make = Callable[[int, int, int], Learner]


def named(density: float) -> str:
    """Return ``SP 10%``."""
    return f"SP {100 * density:g}%"


def _plain(learner: Callable[..., Learner], **parameters: object) -> Make:
    """Return what makes a learner whose number of iterations is its own affair."""
    return lambda n_bits, seed, _: configured(
        learner, n_bits, random_state=seed, **parameters
    )


def _iterated(learner: Callable[..., Learner], **parameters: object) -> Make:
    return lambda n_bits, seed, n_iter: configured(
        learner, n_bits, random_state=seed, n_iter=n_iter, **parameters
    )


class GrowingBeta(SparseProjections):
    """The weight of the sparse map grows from .1 to 10, not 1 at all times."""

    def _run(self, states: Any, start: Any, X: Any, Y: Any = None) -> Any:
        def grown(state: Any) -> Iterator[Any]:
            for beta in np.geomspace(0.1, 10, self.n_iter):
                state, value = next(
                    sparse_matrices(*states.args[:3], float(beta), state)
                )
                yield state, value

        return super()._run(grown, start, X, Y)


_sparse = partial(_iterated, SparseProjections)
METHODS: dict[str, Make] = {
    "LSH": _plain(LSH),
    "PCAH": lambda n_bits, seed, _: PCAH(n_bits),
    "ITQ": _iterated(ITQ),
    BLOCKS: _iterated(BlockITQ),
    BALANCED: _iterated(BlockITQ, groups="balanced"),
    **{named(density): _sparse(density=density) for density in DENSITIES},
    **{
        name: _sparse(solver__kind="iterative", solver__step=name.rpartition(" ")[2])
        for name in ITERATIVE
    },
    GROWING: _iterated(GrowingBeta, density=0.1),
    LONGER["ITQ"]: _plain(ITQ, n_iter=USUAL_ITER),
    **{
        LONGER[named(density)]: _plain(
            SparseProjections, density=density, n_iter=USUAL_ITER
        )
        for density in (0.05, 0.1)
    },
    "CBE-rand": _plain(CBE, learn=False),
    "CBE-opt": _plain(CBE),
    "BP-rand": _plain(BilinearProjections, learn=False),
    "BP-opt": _plain(BilinearProjections),
    **{f"Hadamard {n}": _plain(Hadamard, n_rounds=n) for n in (1, 2, 3)},
    "SH": lambda n_bits, seed, _: SpectralHashing(n_bits),
    "BRE": _plain(BRE),
    "NeighbourCodes": _plain(NeighbourCodes),
    "FastNeighbourCodes": _plain(FastNeighbourCodes),
    "FastNeighbourCodes, 1 round": _plain(FastNeighbourCodes, n_rounds=1),
}


class HiddenLayer:
    """An encoder with a hidden layer of 512 and random weights, to be timed."""

    def __init__(self, n_bits: int) -> None:
        self.n_bits = n_bits

    def fit(self, X: Any) -> "HiddenLayer":
        """Draw the weights."""
        rng, sizes = np.random.default_rng(0), (X.shape[1], 512, self.n_bits)
        weights = [rng.normal(size=size) for size in pairwise(sizes)]
        biases = [np.zeros(size) for size in sizes[1:]]
        self.encoder_ = MLPEncoder(weights, biases, zero_bit=1)
        return self


#: Other forms of maps, and the lengths at which their encoders are timed.
FORMS: dict[str, Callable[[int], Any]] = {
    "NeighbourCodes, 10% of the weights": partial(
        SparseProjections, n_iter=1, random_state=0
    ),
    "NeighbourCodes, a hidden layer": HiddenLayer,
}
FORMS_AT = (64, 256)


def n_iter_of(data: str, n_bits: int) -> int:
    """Return how often what iterates does so, for codes of a set of features."""
    length, fewer = FEWER_ABOVE.get(data, (math.inf, 0))
    return fewer if n_bits > length else N_ITER.get(data, USUAL_ITER)


def lengths_of(data: str, n_features: int) -> tuple[int, ...]:
    """Return the lengths that are measured: usually powers of two, d, 2d and 4d."""
    powers = (2**i for i in range(6, 17) if 2**i < 2 * n_features)
    usual = sorted({*powers, n_features, 2 * n_features, 4 * n_features})
    return LENGTHS.get(data) or tuple(usual)


class TooLong(NamedTuple):
    """Methods that are left out beyond a length, on some sets or on all."""

    methods: tuple[str, ...]
    above: int = 0
    data: tuple[str, ...] = ()
    below: float = math.inf


_1280, _2X2, _3X3, _AMONG = (
    *("caltech101-1280", "caltech101-5120", "caltech101-11520"),
    "caltech101+cifar10",
)
_TRAINED = ("ITQ", *map(named, DENSITIES))
_FORMS = ("FastNeighbourCodes, 1 round",)
#: Each takes many minutes to an hour for a cell on a processor, but for PCAH, which has
#: no more axes than rows, and what few sets are enough to tell.
_OF_FIGURES = ("LSH", "ITQ", "SP 10%", "BP-opt", "CBE-opt")
_SHORTER = ("SP 1%", "SP 5%", "SP 15%")
LEFT_OUT = (
    TooLong(tuple({*METHODS} - {*_OF_FIGURES, BLOCKS}), 0, ("caltech101-gist",)),
    TooLong(tuple({*METHODS} - {*_OF_FIGURES, *_SHORTER}), 0, ("caltech101-vlad",)),
    TooLong(_SHORTER, 512, ("caltech101-vlad",)),
    TooLong(("BRE",), 512),
    TooLong(("PCAH",), 2048, (_3X3,)),
    TooLong(("NeighbourCodes",), 2048),
    TooLong(("NeighbourCodes",), 1024, (_3X3,)),
    TooLong(("NeighbourCodes",), 512, (_2X2,)),
    TooLong(("FastNeighbourCodes",), 2560, (_1280, _AMONG)),
    TooLong(("FastNeighbourCodes",), 1024, (_2X2,)),
    TooLong(("FastNeighbourCodes",), 2048, (_3X3,)),
    TooLong(_FORMS, 0, (_2X2, _3X3, _AMONG)),
    TooLong(_FORMS, 512, (_1280,)),
    TooLong((BLOCKS,), 0, (_2X2, _3X3, _AMONG)),
    TooLong(ITERATIVE, 0, (_3X3, _AMONG)),
    TooLong(("SP 0.1%", "SP 30%"), 2048, (_2X2,)),
    TooLong(tuple({*_TRAINED} - {"ITQ", "SP 10%"}), 2048, (_3X3,)),
    TooLong(("ITQ", "SP 10%"), 2048, (_3X3,), below=11520),
    TooLong(tuple({*_TRAINED} - {"ITQ", "SP 5%", "SP 10%"}), 0, (_AMONG,)),
)


def measured(data: str, method: str, n_bits: int, n_features: int) -> bool:
    """Return whether a method has codes of a length, and is measured there."""
    if method == "PCAH" and n_bits > n_features:
        return False
    if method in ITERATIVE and n_bits not in ITERATIVE_AT:
        return False
    if method in FEW_CELLS:
        return n_bits in FEW_CELLS[method].get(data, ())
    if method in LONGER.values():
        return method in map(LONGER.get, LONGER_AT.get(data, {}).get(n_bits, ()))
    return not any(
        method in rule.methods
        and rule.above < n_bits < rule.below
        and (not rule.data or data in rule.data)
        for rule in LEFT_OUT
    )
