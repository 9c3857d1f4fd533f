"""The device and the threads for heavy linear algebra of learners: NumPy or torch.

The algorithms are written once: with operators that arrays and tensors share, with
functions that NumPy and torch have under the same name (`namespace`), and with what
they call otherwise, which is here. Only what has a compiled kernel for arrays, or a
function of torch's own, stands twice. Everything else of a fit stays with NumPy.
"""

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from importlib.util import find_spec
from numbers import Integral
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, eigh
from threadpoolctl import ThreadpoolController

from fewbits._extras import missing_extra
from fewbits._runtime import changed, current_runtime, lowest
from fewbits._typing import FeatureArray
from fewbits.errors import ArgumentError, OutOfMemoryError

Matrix = Any  #: An array, or a tensor on a device.

#: Multiplications below which a product is done by one thread: a third of a
#: millisecond. Where other work has the cores, threads of one product wait for each
#: other for longer than that: codes of digits that keep neighbours took 29 s, now 10.
_WORTH_THREADS = 30_000_000
#: Larger matrices than this take LAPACK's driver that needs no room beside them.
_ROOMY = 4096


def signs(x: NDArray[Any]) -> NDArray[Any]:
    """Return -1 and 1, 1 for zeros."""
    # A tenth of the time of ``np.where``, which took half of a pass of `ITQ`.
    ones = (x >= 0).astype(x.dtype)
    ones *= 2
    ones -= 1
    return ones


class _NumPy:
    is_torch, name = False, "NumPy"

    def put(self, x: NDArray[Any]) -> Matrix:
        return x

    def get(self, x: Matrix) -> NDArray[Any]:
        array: NDArray[Any] = x
        return array

    signs = staticmethod(signs)

    def eigh(self, gram: Matrix) -> tuple[Matrix, Matrix]:
        """Return rising eigenvalues and their vectors; a large `gram` is lost."""
        if len(gram) <= _ROOMY:
            return np.linalg.eigh(gram)
        return eigh(gram.T, overwrite_a=True, check_finite=False, driver="evr")

    def solve(self, A: Matrix, B: Matrix) -> Matrix:
        factor = cho_factor(A.T, lower=True, overwrite_a=True, check_finite=False)
        return cho_solve(factor, B, check_finite=False)


#: What torch's allocators and libraries say when there is none left.
_NO_MEMORY = ("out of memory", "allocate memory", "not enough memory", "alloc_failed")


def lacks_memory(error: Exception) -> bool:
    """Return whether memory is the reason of an error that does not say so yet."""
    if isinstance(error, MemoryError):
        return not isinstance(error, OutOfMemoryError)
    return any(words in str(error).lower() for words in _NO_MEMORY)


def tensor_signs(scores: Matrix) -> Matrix:
    import torch

    return torch.where(scores >= 0, 1.0, -1.0).to(scores.dtype)


def device_named(name: str) -> Any:
    """Return the device of this name; "auto" is a GPU if there is one."""
    import torch

    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
        is_known = device.type in ("cpu", "cuda")
    except (RuntimeError, TypeError):
        is_known = False
    if not is_known:
        raise ArgumentError(f"no device {name!r}: 'auto', 'cpu' or 'cuda'")
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ArgumentError(f"device={name!r}, but torch finds no GPU here")
    return device


class _Torch:
    is_torch = True

    def __init__(self, name: str) -> None:
        self.device = device_named(name)
        self.name = str(self.device)

    def put(self, x: NDArray[Any]) -> Matrix:
        import torch

        x = np.require(x, requirements=["C", "W"])
        if min(x.strides, default=0) < 0:  # NumPy minds none along a single entry
            x = x.copy()
        return torch.from_numpy(x).to(self.device)

    def get(self, x: Matrix) -> NDArray[Any]:
        array: NDArray[Any] = x.cpu().numpy()
        return array

    signs = staticmethod(tensor_signs)

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

    These are nearly all work of `PCAH`, `ITQ`, `CCAITQ`, `SparseProjections`,
    `NeighbourCodes` and `FastNeighbourCodes`, and what others with ``uses_device``
    begin with. Results agree with those of NumPy within rounding; neighbour-preserving
    codes, of which that changes every later step, then differ as with another seed.
    Deep learners train there, too, unless their ``device`` says otherwise.

    The block also counts for clones that are made in it and fitted in another thread or
    process, as `GridSearchCV` does with ``n_jobs``; "auto" is looked up there.

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
    name = current_runtime().device
    return _NUMPY if name is None else _backend(name)


def device_around() -> str | None:
    """Return the device of torch that `on_device` names around here, if any."""
    backend = current_backend()
    return str(backend.device) if isinstance(backend, _Torch) else None


def product(A: FeatureArray, B: FeatureArray) -> FeatureArray:
    backend, dtype = current_backend(), np.result_type(A, B)
    left, right = (backend.put(x.astype(dtype, copy=False)) for x in (A, B))
    return backend.get(left @ right)


@cache
def _backend(name: str) -> Backend:
    if find_spec("torch") is None:
        if name == "auto":
            return _NUMPY
        raise missing_extra(f"device {name!r} needs torch", "deep")
    backend = _Torch(name)
    return backend if name != "auto" or backend.device.type != "cpu" else _NUMPY


@contextmanager
def thread_limit(n: int) -> Iterator[None]:
    """Use no more than `n` threads in the block.

    These are the threads of the kernels, and while a learner learns or encodes those of
    BLAS and OpenMP, on which torch runs. Those of BLAS belong to the whole process: of
    fits in several threads at once, the first decides. Of nested limits the lowest
    counts. Like that of `on_device`, the block also counts for clones. Rounding depends
    on the number of threads, so learnt bits may differ.

    Parameters
    ----------
    n : int
        At least 1.

    Raises
    ------
    ArgumentError
        When `n` is not an integer, or less than 1.

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.learners import ITQ
    >>> X = np.random.default_rng(0).normal(size=(200, 16))
    >>> with thread_limit(1):
    ...     itq = ITQ(n_bits=8, random_state=0).fit(X)
    """
    if not isinstance(n, Integral) or isinstance(n, bool) or n < 1:
        raise ArgumentError(
            f"the limit of threads must be an integer, 1 or more, got {n!r}"
        )
    with changed(threads=lowest(int(n), current_runtime().threads)):
        yield


def threads_for(n: int, k: int, m: int) -> AbstractContextManager[None]:
    """Leave products of (n, k) and (k, m) matrices to one thread, if they are small."""
    return threads_limited(1 if n * k * m < _WORTH_THREADS else None, "blas")


@contextmanager
def threads_limited(n: int | None, *apis: str) -> Iterator[None]:
    """Let libraries use `n` threads at most in the block; None changes nothing."""
    # Those of BLAS are limited in the whole process, unless another thread does so
    # already. That one restores the earlier number; other threads go on with its limit.
    # If each restored what it came upon, the last to leave would leave a limit for
    # good.
    if n is None:
        yield
        return
    if not apis and (torch := sys.modules.get("torch")):
        torch.get_num_threads()  # the first call in a thread sets them
    global _libraries
    imported = len(sys.modules), next(reversed(sys.modules))
    if _libraries is None or _libraries[0] != imported:
        _libraries = imported, ThreadpoolController()
    apis = apis or ("blas", "openmp")  # the latter are of this thread alone
    holds = _held.acquire(blocking=False)
    try:
        many = [
            library.filepath
            for library in _libraries[1].lib_controllers
            if library.user_api in apis
            and (holds or library.user_api != "blas")
            and (library.num_threads or 1) > n
        ]
        with _libraries[1].select(filepath=many).limit(limits=n):
            yield
    finally:
        if holds:
            _held.release()


_held = RLock()
#: Those that have threads, looked for again after imports: that takes milliseconds.
_libraries: tuple[Any, ThreadpoolController] | None = None
