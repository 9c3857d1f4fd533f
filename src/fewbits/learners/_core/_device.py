"""The device for heavy linear algebra of learners: NumPy or torch.

The algorithms are written once: with operators that arrays and tensors share, with
functions that NumPy and torch have under the same name (`namespace`), and with what
they call otherwise, which is here. Only what has a compiled kernel for arrays, or a
function of torch's own, stands twice. Everything else of a fit stays with NumPy.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.linalg import cho_factor, cho_solve, eigh

from fewbits._extras import missing_extra
from fewbits._runtime import changed, current_runtime
from fewbits._typing import FeatureArray
from fewbits.errors import OutOfMemoryError
from fewbits.learners._core._signs import signs

Matrix = Any  #: An array, or a tensor on a device.

#: Larger matrices than this take LAPACK's driver that needs no room beside them.
_ROOMY = 4096


class _NumPy:
    """Arrays as they are."""

    is_torch, name = False, "NumPy"

    def watched(self) -> AbstractContextManager[None]:
        return nullcontext()

    def put(self, x: NDArray[Any]) -> Matrix:
        return x

    def get(self, x: Matrix) -> NDArray[Any]:
        array: NDArray[Any] = x
        return array

    def zeros(self, shape: tuple[int, ...]) -> Matrix:
        """Return zeros in float64."""
        return np.zeros(shape)

    def signs(self, x: Matrix) -> Matrix:
        """Return -1 and 1, 1 for zeros."""
        return signs(x >= 0, x.dtype)

    def eigh(self, gram: Matrix) -> tuple[Matrix, Matrix]:
        """Return rising eigenvalues and their vectors; a large `gram` is lost."""
        if len(gram) <= _ROOMY:
            return np.linalg.eigh(gram)
        return eigh(gram.T, overwrite_a=True, check_finite=False, driver="evr")

    def solve(self, A: Matrix, B: Matrix) -> Matrix:
        """Return ``A^-1 B`` for a positive definite A, which is lost."""
        factor = cho_factor(A.T, lower=True, overwrite_a=True, check_finite=False)
        return cho_solve(factor, B, check_finite=False)


class _Torch:
    """Tensors on a device."""

    is_torch = True

    def __init__(self, name: str) -> None:
        from fewbits.learners._core._torch import device_named

        self.device = device_named(name)
        self.name = str(self.device)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Turn a lack of device memory into an error of one line."""
        from fewbits.learners._core._torch import lacks_memory

        try:
            yield
        except RuntimeError as error:
            if not lacks_memory(error):
                raise
            raise OutOfMemoryError(
                f"out of memory on {self.name}: learn there from fewer rows or "
                "features, or fewer bits, or learn without it"
            ) from error

    def put(self, x: NDArray[Any]) -> Matrix:
        import torch

        x = np.require(x, requirements=["C", "W"])
        if min(x.strides, default=0) < 0:  # NumPy minds none along a single entry
            x = x.copy()
        return torch.from_numpy(x).to(self.device)

    def get(self, x: Matrix) -> NDArray[Any]:
        array: NDArray[Any] = x.cpu().numpy()
        return array

    def zeros(self, shape: tuple[int, ...]) -> Matrix:
        import torch

        return torch.zeros(tuple(shape), dtype=torch.float64, device=self.device)

    def signs(self, x: Matrix) -> Matrix:
        from fewbits.learners._core._torch import signs

        return signs(x)

    def eigh(self, gram: Matrix) -> tuple[Matrix, Matrix]:
        import torch

        values, vectors = torch.linalg.eigh(gram)
        return values, vectors

    def solve(self, A: Matrix, B: Matrix) -> Matrix:
        import torch

        factor, failed_at = torch.linalg.cholesky_ex(A)
        if int(failed_at):
            raise np.linalg.LinAlgError("the matrix is not positive definite")
        return torch.cholesky_solve(B, factor)


Backend = _NumPy | _Torch


def namespace(x: Matrix) -> Any:
    """Return the module that has the functions of an array: NumPy, or torch."""
    if isinstance(x, np.ndarray):
        return np
    import torch

    return torch


_NUMPY = _NumPy()


def on_device(name: str) -> AbstractContextManager[None]:
    """Fit learners in the block with the heavy products done by torch on a device.

    These are the passes over the rows, principal axes, polar factors and the training
    of neighbour codes: nearly all work of `PCAH`, `ITQ`, `CCAITQ`, `SparseProjections`,
    `NeighbourCodes` and `FastNeighbourCodes`, and what others with ``uses_device``
    begin with. Results agree with those of NumPy within rounding. That may flip bits of
    scores near zero and change every later step: neighbour-preserving codes then differ
    as with another seed, and are as good. It is not a parameter of these learners. Deep
    learners also train there, unless their ``device`` says otherwise.

    The block also counts for clones that are made in it and fitted in another thread or
    process, as `GridSearchCV` does with ``n_jobs``. An unfitted learner that is pickled
    in it takes the device along, too; "auto" is looked up where it is fitted.

    Parameters
    ----------
    name : str
        "cuda" or another device of torch; "auto" takes a GPU if there is one, else
        NumPy; "cpu" is torch on the processor.

    Raises
    ------
    ArgumentError
        When there is no such device.
    MissingExtraError
        When a device is named and torch is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.learners import ITQ
    >>> X = np.random.default_rng(0).normal(size=(200, 16))
    >>> with on_device("auto"):
    ...     itq = ITQ(n_bits=8, random_state=0).fit(X)
    """
    _backend.cache_clear()  # what there is may have changed since
    _backend(name)
    return changed(device=name)


def current_backend() -> Backend:
    """Return the backend for linear algebra."""
    name = current_runtime().device
    return _NUMPY if name is None else _backend(name)


def device_around() -> str | None:
    """Return the device of torch that `on_device` names around here, if any."""
    place = current_backend()
    return str(place.device) if isinstance(place, _Torch) else None


def product(A: FeatureArray, B: FeatureArray) -> FeatureArray:
    """Return ``A @ B``."""
    place, dtype = current_backend(), np.result_type(A, B)
    return place.get(place.put(as_dtype(A, dtype)) @ place.put(as_dtype(B, dtype)))


def as_dtype(x: FeatureArray, dtype: DTypeLike) -> FeatureArray:
    """Return `x` itself, if it has this dtype, or a copy."""
    return x.astype(dtype, copy=False)


@cache
def _backend(name: str) -> Backend:
    if find_spec("torch") is None:
        if name == "auto":
            return _NUMPY
        raise missing_extra(f"device {name!r} needs torch", "deep")
    found = _Torch(name)
    return found if name != "auto" or found.device.type != "cpu" else _NUMPY
