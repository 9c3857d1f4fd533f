"""Inner loops, compiled (`_native`) or in NumPy (`_reference`).

Both modules hold the same functions with the same arguments; what the compiled ones
call `rows` are positions, where codes stand in an array. They check nothing and
allocate nothing that they return: their callers do, once. Two environment variables
help to find out which side a bug is on: ``FEWBITS_KERNELS=reference`` runs without the
compiled module, ``FEWBITS_ISA=portable`` (or ``avx2``, ``avx512``, ``neon``) runs it
with another instruction set.
"""

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING

from fewbits._kernels._threads import num_threads, set_num_threads
from fewbits.errors import FewbitsError

_CHOICE = os.environ.get("FEWBITS_KERNELS", "auto")
COMPILED = _CHOICE != "reference" and find_spec("fewbits._kernels._native") is not None

if _CHOICE not in {"auto", "native", "reference"}:
    raise FewbitsError(
        f"FEWBITS_KERNELS must be 'auto', 'native' or 'reference', got {_CHOICE!r}"
    )
if _CHOICE == "native" and not COMPILED:
    raise FewbitsError("FEWBITS_KERNELS=native, but the compiled kernels are missing")

if COMPILED or TYPE_CHECKING:
    from fewbits._kernels import _native as _module

    _ISA = os.environ.get("FEWBITS_ISA")
    if _ISA and not _module.force_isa(_ISA):
        raise FewbitsError(
            f"FEWBITS_ISA={_ISA} is not one of those that run here: "
            f"{', '.join(_module.isas())}"
        )
else:
    from fewbits._kernels import _reference as _module

Budget = _module.Budget
HammingHits = _module.HammingHits
MultiIndexTables = _module.MultiIndexTables
PairJoin = _module.PairJoin
RangeHits = _module.RangeHits
SparseMap = _module.SparseMap
active_isa = _module.active_isa
additive_scores = _module.additive_scores
asymmetric_distances = _module.asymmetric_distances
bilinear_encode = _module.bilinear_encode
bilinear_scores = _module.bilinear_scores
bit_sums = _module.bit_sums
block_encode = _module.block_encode
block_scores = _module.block_scores
circulant_encode = _module.circulant_encode
circulant_scores = _module.circulant_scores
crc32c = _module.crc32c
first_pairs = _module.first_pairs
force_isa = _module.force_isa
hadamard_encode = _module.hadamard_encode
hadamard_scores = _module.hadamard_scores
hamming_distances = _module.hamming_distances
hamming_topk = _module.hamming_topk
hamming_within_count = _module.hamming_within_count
int8_distances = _module.int8_distances
isas = _module.isas
linear_encode = _module.linear_encode
linear_scores = _module.linear_scores
multi_index_build = _module.multi_index_build
multi_index_nearest = _module.multi_index_nearest
multi_index_topk = _module.multi_index_topk
pair_sums = _module.pair_sums
sparse_encode = _module.sparse_encode
sparse_scores = _module.sparse_scores
vector_distances = _module.vector_distances
