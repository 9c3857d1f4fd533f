"""Signs as learners have them: never 0."""

from typing import Any

from numpy.typing import NDArray


def signs(x: NDArray[Any]) -> NDArray[Any]:
    """Return -1 and 1 in the dtype of `x`, 1 for zeros.

    A tenth of the time of ``np.where``, which took half of a pass of `ITQ`.
    """
    found = (x >= 0).astype(x.dtype)
    found *= 2
    found -= 1
    return found
