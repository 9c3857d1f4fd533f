"""Methods that learn an encoder from data: scikit-learn estimators."""

from fewbits.learners._base import Learner
from fewbits.learners._bilinear import BilinearProjections
from fewbits.learners._bre import BRE
from fewbits.learners._cbe import CBE
from fewbits.learners._cca_itq import CCAITQ
from fewbits.learners._classemes import Classemes
from fewbits.learners._dbc import DBC
from fewbits.learners._device import on_device
from fewbits.learners._fast_neighbour_codes import FastNeighbourCodes
from fewbits.learners._hadamard import Hadamard
from fewbits.learners._iterative import interrupts_passed_on
from fewbits.learners._itq import ITQ
from fewbits.learners._kernel_map import HomogeneousKernelMap
from fewbits.learners._kernel_mapped import KernelMapped
from fewbits.learners._lsh import LSH
from fewbits.learners._neighbour_codes import NeighbourCodes
from fewbits.learners._pcah import PCAH
from fewbits.learners._picodes import PiCoDes
from fewbits.learners._picodes_relaxed import RelaxedPiCoDes
from fewbits.learners._progress import on_progress
from fewbits.learners._sparse_projections import SparseProjections
from fewbits.learners._spectral_hashing import SpectralHashing
from fewbits.learners._threshold import Thresholding

__all__ = [
    "BRE",
    "CBE",
    "CCAITQ",
    "DBC",
    "ITQ",
    "LSH",
    "PCAH",
    "BilinearProjections",
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
    "Thresholding",
    "interrupts_passed_on",
    "on_device",
    "on_progress",
]
