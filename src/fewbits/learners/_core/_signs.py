"""Signs as learners have them: never 0."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray


def signs(positive: NDArray[np.bool_], dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """Return 1 where it is true, else -1.

    A tenth of the time of ``np.where``, which took half of a pass of `ITQ`. It takes
    the result of ``x >= 0``, so that an x without other references is freed by then.
    """
    found = positive.astype(dtype)
    found *= 2
    found -= 1
    return found
