"""Digits: 1,797 handwritten digits of 8 x 8 pixels, for quick experiments."""

import numpy as np

from fewbits.datasets._base import Dataset


def load_digits() -> Dataset:
    """Return scikit-learn's digits as vectors of 64 pixels between 0 and 16.

    The set has no customary split, so it gets none.

    Returns
    -------
    Dataset
        Items are a float32 matrix; the label ``class`` is the digit.
    """
    from sklearn.datasets import load_digits as load

    pixels, digits = load(return_X_y=True)
    return Dataset(
        name="digits",
        kind="vectors",
        items=np.asarray(pixels, dtype=np.float32),
        keys=[f"{row:04d}" for row in range(len(pixels))],
        labels={"class": np.asarray(digits, dtype=np.int64)},
        source="scikit-learn, from the UCI repository's optical digits",
        licence="CC BY 4.0",
    )
