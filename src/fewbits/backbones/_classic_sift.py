"""SIFT on a grid: orientations of gradients around every sixth pixel.

Lowe, "Distinctive image features from scale-invariant keypoints", IJCV 2004, at one
scale and without a search for keypoints or for their orientation.
"""

import numpy as np
from numpy.typing import NDArray

from fewbits.backbones._classic_local import Local, grid
from fewbits.backbones._opencv import opencv

_STEP = 6
_DIAMETER = 6.0  # of OpenCV's keypoints; their 4 x 4 cells have 9 pixels each side
LENGTH = 128


def dense_sift(grey: NDArray[np.uint8]) -> Local:
    """Return the descriptors of all regions that show anything."""
    cv2 = opencv()
    rows, columns = grid(grey.shape, _STEP)
    points = [
        cv2.KeyPoint(float(x), float(y), _DIAMETER, 0.0)
        for y, x in zip(rows, columns, strict=True)
    ]
    # More layers would only be blurred and thrown away.
    _, vectors = cv2.SIFT_create(nOctaveLayers=1).compute(grey, points)
    seen = vectors.any(axis=1)
    return Local(vectors[seen], (rows[seen], columns[seen]))
