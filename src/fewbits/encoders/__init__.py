"""Encoders: immutable maps from features to codes, without torch or scikit-learn."""

from fewbits._features import as_features, feature_blocks
from fewbits.encoders._additive import AdditiveEncoder
from fewbits.encoders._anchor import AnchorEncoder
from fewbits.encoders._base import Encoder
from fewbits.encoders._bilinear import BilinearEncoder
from fewbits.encoders._block_diagonal import BlockDiagonalEncoder
from fewbits.encoders._block_hadamard import BLOCK_WIDTHS, BlockHadamardEncoder
from fewbits.encoders._circulant import CirculantEncoder
from fewbits.encoders._eigenfunction import EigenfunctionEncoder
from fewbits.encoders._hadamard import HadamardEncoder
from fewbits.encoders._homogeneous import KERNELS, KernelMap, kernel_map
from fewbits.encoders._io import load
from fewbits.encoders._kernel_map import KernelMapEncoder
from fewbits.encoders._linear import LinearEncoder
from fewbits.encoders._mlp import MLPEncoder
from fewbits.encoders._packed import PackedEncoder
from fewbits.encoders._rounds import MAX_ROUNDS, padded_size
from fewbits.encoders._sparse import SparseEncoder

__all__ = [
    "BLOCK_WIDTHS",
    "KERNELS",
    "MAX_ROUNDS",
    "AdditiveEncoder",
    "AnchorEncoder",
    "BilinearEncoder",
    "BlockDiagonalEncoder",
    "BlockHadamardEncoder",
    "CirculantEncoder",
    "EigenfunctionEncoder",
    "Encoder",
    "HadamardEncoder",
    "KernelMap",
    "KernelMapEncoder",
    "LinearEncoder",
    "MLPEncoder",
    "PackedEncoder",
    "SparseEncoder",
    "as_features",
    "feature_blocks",
    "kernel_map",
    "load",
    "padded_size",
]
