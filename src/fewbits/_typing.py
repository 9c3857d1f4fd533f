"""Names for the arrays that pass between subpackages."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
FeatureArray: TypeAlias = NDArray[np.floating]  # (n, n_features)
ScoreArray: TypeAlias = NDArray[np.float32]  # (n, n_bits), before thresholding
BitArray: TypeAlias = NDArray[np.uint8]  # (n, n_bits), values 0 and 1
CodeArray: TypeAlias = NDArray[np.uint8]  # (n, ceil(n_bits / 8)), packed, MSB first
IdArray: TypeAlias = NDArray[np.int64]
DistanceArray: TypeAlias = NDArray[np.int32]
