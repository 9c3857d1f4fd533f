"""Signs as learners have them: never 0."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray


def signs(positive: NDArray[np.bool_], dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """Return 1 where it is true, else -1.

    A tenth of the time of ``np.where``, which took half of a pass of `ITQ`. It takes
    what ``x >= 0`` gives, so that an x that nobody else needs is gone by then.
    """
    found = positive.astype(dtype)
    found *= 2
    found -= 1
    return found
