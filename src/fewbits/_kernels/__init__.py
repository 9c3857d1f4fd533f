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
    from fewbits._kernels import _native
    from fewbits._kernels._native import *  # noqa: F403

    _ISA = os.environ.get("FEWBITS_ISA")
    if _ISA and not _native.force_isa(_ISA):
        raise FewbitsError(
            f"FEWBITS_ISA={_ISA} is not one of those that run here: "
            f"{', '.join(_native.isas())}"
        )
else:
    from fewbits._kernels._reference import *  # noqa: F403
