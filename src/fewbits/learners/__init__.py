"""Methods that learn an encoder from data: scikit-learn estimators."""

from fewbits.learners._core._base import Learner
from fewbits.learners._kernel_map import HomogeneousKernelMap
from fewbits.learners._kernel_mapped import KernelMapped
from fewbits.learners.neighbours import FastNeighbourCodes, NeighbourCodes
from fewbits.learners.supervised._cca_itq import CCAITQ
from fewbits.learners.supervised._classemes import Classemes
from fewbits.learners.supervised._ecoc import ECOC
from fewbits.learners.supervised._supervised_itq import SupervisedITQ
from fewbits.learners.supervised.dbc import DBC
from fewbits.learners.supervised.picodes import PiCoDes, RelaxedPiCoDes
from fewbits.learners.unsupervised._additive import AdditiveCodes
from fewbits.learners.unsupervised._block_itq import BlockITQ
from fewbits.learners.unsupervised._bre import BRE
from fewbits.learners.unsupervised._itq import ITQ
from fewbits.learners.unsupervised._lsh import LSH
from fewbits.learners.unsupervised._pcah import PCAH
from fewbits.learners.unsupervised._spectral_hashing import SpectralHashing
from fewbits.learners.unsupervised._threshold import Thresholding
from fewbits.learners.unsupervised.sparse_projections import SparseProjections
from fewbits.learners.unsupervised.structured import CBE, BilinearProjections, Hadamard

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
    "FastNeighbourCodes",
    "Hadamard",
    "HomogeneousKernelMap",
    "KernelMapped",
    "Learner",
    "NeighbourCodes",
    "PiCoDes",
    "RelaxedPiCoDes",
    "SparseProjections",
    "SpectralHashing",
    "SupervisedITQ",
    "Thresholding",
]
