"""Methods that learn an encoder from data: scikit-learn estimators."""

from fewbits.learners._base import Learner
from fewbits.learners._bre import BRE
from fewbits.learners._cca_itq import CCAITQ
from fewbits.learners._checkpoint import checkpoints_kept
from fewbits.learners._classemes import Classemes
from fewbits.learners._device import on_device
from fewbits.learners._iterative import interrupts_passed_on
from fewbits.learners._itq import ITQ
from fewbits.learners._kernel_map import HomogeneousKernelMap
from fewbits.learners._kernel_mapped import KernelMapped
from fewbits.learners._lsh import LSH
from fewbits.learners._pcah import PCAH
from fewbits.learners._progress import on_progress
from fewbits.learners._shared_steps import shared_steps
from fewbits.learners._spectral_hashing import SpectralHashing
from fewbits.learners._threshold import Thresholding
from fewbits.learners.dbc import DBC
from fewbits.learners.neighbours import FastNeighbourCodes, NeighbourCodes
from fewbits.learners.picodes import PiCoDes, RelaxedPiCoDes
from fewbits.learners.sparse_projections import SparseProjections
from fewbits.learners.structured import CBE, BilinearProjections, Hadamard

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
    "checkpoints_kept",
    "interrupts_passed_on",
    "on_device",
    "on_progress",
    "shared_steps",
]
