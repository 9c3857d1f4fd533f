"""Made-up features for measurements of time."""

import numpy as np
from numpy.typing import NDArray


def clusters(
    items: int, features: int, classes: int, seed: int
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return noisy clusters, a class each, in directions of falling variance."""
    rng = np.random.default_rng(seed)
    scale = (1 + np.arange(features, dtype=np.float32)) ** -0.5
    centres = rng.standard_normal((classes, features), np.float32)
    y = np.arange(items) % classes
    noise = rng.standard_normal((items, features), np.float32)
    return (centres[y] + 1.5 * noise) * scale, y
