"""Methods that learn an encoder from data: scikit-learn estimators."""

from fewbits.learners._additive import AdditiveCodes
from fewbits.learners._bre import BRE
from fewbits.learners._classemes import Classemes
from fewbits.learners._core._base import Learner
from fewbits.learners._dbc import DBC, DBCWeights
from fewbits.learners._fast_neighbour_codes import (
    FastNeighbourCodes,
    FastNeighbourTraining,
)
from fewbits.learners._itq import ITQ, BlockITQ
from fewbits.learners._kernel_map import KernelMapped
from fewbits.learners._neighbour_codes import NeighbourCodes, NeighbourTraining
from fewbits.learners._picodes import PiCoDes, RelaxedPiCoDes, RelaxedTraining
from fewbits.learners._simple import LSH, PCAH, SpectralHashing, Thresholding
from fewbits.learners._sparse_projections import SparseProjections, SparseSolver
from fewbits.learners._structured import CBE, BilinearProjections, Hadamard
from fewbits.learners._supervised_itq import CCAITQ, ECOC, SupervisedITQ

__all__ = [
    "BRE",
    "CBE",
    "CCAITQ",
    "DBC",
    "ECOC",
    "ITQ",
    "LSH",
    "PCAH",
    "AdditiveCodes",
    "BilinearProjections",
    "BlockITQ",
    "Classemes",
    "DBCWeights",
    "FastNeighbourCodes",
    "FastNeighbourTraining",
    "Hadamard",
    "KernelMapped",
    "Learner",
    "NeighbourCodes",
    "NeighbourTraining",
    "PiCoDes",
    "RelaxedPiCoDes",
    "RelaxedTraining",
    "SparseProjections",
    "SparseSolver",
    "SpectralHashing",
    "SupervisedITQ",
    "Thresholding",
]
