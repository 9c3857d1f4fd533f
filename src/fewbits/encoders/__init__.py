"""Encoders: immutable maps from features to codes, without torch or scikit-learn."""

from fewbits._features import as_features, feature_blocks
from fewbits.encoders._additive import AdditiveEncoder
from fewbits.encoders._base import Encoder, NotFiniteError
from fewbits.encoders._eigenfunction import EigenfunctionEncoder
from fewbits.encoders._io import load
from fewbits.encoders._kernel_maps import (
    KERNELS,
    AnchorEncoder,
    KernelMap,
    KernelMapEncoder,
)
from fewbits.encoders._linear import BlockDiagonalEncoder, LinearEncoder, SparseEncoder
from fewbits.encoders._mlp import MLPEncoder
from fewbits.encoders._packed import PackedEncoder
from fewbits.encoders._structured import (
    BLOCK_WIDTHS,
    MAX_ROUNDS,
    BilinearEncoder,
    BlockHadamardEncoder,
    CirculantEncoder,
    HadamardEncoder,
    padded_size,
)

__all__ = [
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
    "load",
]
