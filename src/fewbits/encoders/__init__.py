"""Encoders: immutable maps from features to codes, without torch or scikit-learn."""

from fewbits._features import as_features as as_features
from fewbits._features import feature_blocks as feature_blocks
from fewbits.encoders._additive import AdditiveEncoder
from fewbits.encoders._base import (
    Encoder,
)
from fewbits.encoders._base import NotFiniteError as NotFiniteError
from fewbits.encoders._eigenfunction import EigenfunctionEncoder
from fewbits.encoders._io import load
from fewbits.encoders._kernel_maps import KERNELS as KERNELS
from fewbits.encoders._kernel_maps import (
    AnchorEncoder,
    KernelMap,
    KernelMapEncoder,
    kernel_map,
)
from fewbits.encoders._linear import BlockDiagonalEncoder, LinearEncoder, SparseEncoder
from fewbits.encoders._mlp import MLPEncoder
from fewbits.encoders._packed import PackedEncoder
from fewbits.encoders._structured import BLOCK_WIDTHS as BLOCK_WIDTHS
from fewbits.encoders._structured import MAX_ROUNDS as MAX_ROUNDS
from fewbits.encoders._structured import (
    BilinearEncoder,
    BlockHadamardEncoder,
    CirculantEncoder,
    HadamardEncoder,
)
from fewbits.encoders._structured import padded_size as padded_size

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
    "kernel_map",
    "load",
]
