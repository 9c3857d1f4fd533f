"""Local self-similarity: similarity of the surroundings of a pixel to its centre.

Shechtman and Irani, "Matching local self-similarities across images and videos", CVPR
2007: a small patch is compared with the patches around it, and the best match in each
of 3 rings x 10 sectors is the descriptor. At half size, which loses nothing here.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from fewbits.backbones._classic_local import Local, grid
from fewbits.backbones._opencv import opencv

_SHRINK = 2
_STEP = 3
_PATCH = 5
_RADIUS = 10
_RINGS = (0.0, 2.5, 5.5, _RADIUS)  # pixels
_SECTORS = 10
_NOISE = 50.0 * _PATCH**2  # squared differences that mean nothing
_LEAST_SPREAD = 0.05
LENGTH = (len(_RINGS) - 1) * _SECTORS


def self_similarity(grey: NDArray[np.uint8]) -> Local:
    """Return the descriptors, between 0 and 1, where not all around looks alike."""
    cv2 = opencv()
    height, width = (side // _SHRINK for side in grey.shape)
    small = cv2.resize(grey, (width, height), interpolation=cv2.INTER_AREA)
    differences, nearby = _best_matches(small)
    likeness = np.exp(-differences / np.maximum(nearby, _NOISE)).reshape(LENGTH, -1).T
    low = likeness.min(axis=1, keepdims=True)
    spread = likeness.max(axis=1, keepdims=True) - low
    seen = spread[:, 0] > _LEAST_SPREAD
    rows, columns = (_SHRINK * place[seen] for place in grid(small.shape, _STEP))
    return Local((likeness[seen] - low[seen]) / spread[seen], (rows, columns))


def _best_matches(
    small: NDArray[np.uint8],
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the least squared difference in each bin, and the largest next door.

    Of shapes (30, rows of the grid, columns of the grid) and (rows, columns).
    """
    cv2 = opencv()
    height, width = small.shape
    wide = cv2.copyMakeBorder(small, *(4 * [_RADIUS]), cv2.BORDER_REFLECT)
    shape = [len(range(_STEP // 2, side, _STEP)) for side in small.shape]
    best = np.full((LENGTH, *shape), np.inf, dtype=np.float32)
    nearby = np.zeros(shape, dtype=np.float32)
    for y, x, number in _surroundings():
        there = wide[_RADIUS + y :, _RADIUS + x :][:height, :width]
        sums = cv2.sqrBoxFilter(
            cv2.absdiff(small, there), cv2.CV_32F, (_PATCH, _PATCH), normalize=False
        )[_STEP // 2 :: _STEP, _STEP // 2 :: _STEP]
        np.minimum(best[number], sums, out=best[number])
        if max(abs(y), abs(x)) == 1:
            np.maximum(nearby, sums, out=nearby)
    return best, nearby


@cache
def _surroundings() -> list[tuple[int, int, int]]:
    """Return (rows down, columns right, bin) of each pixel within the radius."""
    y, x = np.indices(2 * (2 * _RADIUS + 1,)).reshape(2, -1) - _RADIUS
    rings = np.searchsorted(_RINGS, np.hypot(y, x)) - 1
    sectors = np.floor(np.arctan2(y, x) / (2 * np.pi) * _SECTORS) % _SECTORS
    bins = rings * _SECTORS + sectors.astype(np.intp)
    inside = (rings >= 0) & (rings < len(_RINGS) - 1)
    places = np.column_stack([y, x, bins])[inside]
    return [(int(down), int(right), int(number)) for down, right, number in places]
