"""``V' sign(V R)``, the pass over the rows that each iteration makes."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fewbits._typing import FeatureArray
from fewbits.learners._core._checkpoint import Arrays
from fewbits.learners._core._device import as_dtype, current_backend
from fewbits.learners._core._rows import Rows, parts
from fewbits.learners._core._threads import threads_for

Float64Array = NDArray[np.float64]

#: Takes the rows, R and what it returned before; returns the products, and what it
#: wants to be given next time.
Products = Callable[[Rows, FeatureArray, Arrays], tuple[Float64Array, Arrays]]


def of_all_rows(
    V: Rows, R: FeatureArray, before: Arrays
) -> tuple[Float64Array, Arrays]:
    """Return the products of all rows."""
    return sign_products(V, R), ()


@dataclass(frozen=True)
class OfBatches:
    """The products of some rows each time, averaged over about a pass over all.

    Rows are shuffled anew for every pass. A batch counts as much as the share of the
    rows that it is, in the first pass as much as each one before.

    Parameters
    ----------
    batch_size : int
        Rows each time, about, but no fewer than twice the columns of `V`: the products
        of fewer rows, or of rows whose signs repeat, have no full rank, and leave a
        rotation undetermined.
    seed : int
    """

    batch_size: int
    seed: int

    def __call__(
        self, V: Rows, R: FeatureArray, before: Arrays
    ) -> tuple[Float64Array, Arrays]:
        n, n_batches = V.shape[0], self._n_batches(*V.shape)
        t = int(before[1]) if before else 0
        turn, number = divmod(t, n_batches)
        order = np.random.RandomState([self.seed, turn]).permutation(n)
        rows = np.sort(np.array_split(order, n_batches)[number])
        weight = max(1 / (t + 1), 1 / n_batches)
        C = sign_products(V, R, V.some(rows))
        C *= weight * n / len(rows)
        for part in parts(*C.shape) if before else ():
            C[part] += (1 - weight) * before[0][part]
        return C, (as_dtype(C, V.dtype), np.array(t + 1))

    def _n_batches(self, n: int, width: int) -> int:
        if self.batch_size >= 2 * width:
            return -(-n // self.batch_size)
        return max(1, n // (2 * width))


def products_of(batch_size: int | None, rng: np.random.RandomState) -> Products:
    """Return what passes over all rows, or over batches of this size."""
    if batch_size is None:
        return of_all_rows
    return OfBatches(batch_size, int(rng.randint(2**31 - 1)))


def sign_products(
    V: Rows, R: FeatureArray, blocks: Iterable[FeatureArray] | None = None
) -> Float64Array:
    """Return ``V' sign(V R)`` with sign(0) = 1, summed over blocks in float64."""
    place = current_backend()
    C, R = place.zeros(R.shape), place.put(as_dtype(R, V.dtype))
    for block in V if blocks is None else blocks:
        rows = place.put(block)
        with threads_for(len(rows), *R.shape):
            C += rows.T @ place.signs(rows @ R)
    found: Float64Array = place.get(C)
    return found
