"""The size and the shades of grey that all descriptors start from."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits.backbones._images import as_rgb_within
from fewbits.backbones._opencv import opencv

_LONGEST = 256
_SHORTEST = 32


def as_image(item: Any) -> NDArray[np.uint8]:
    """Return an image of any kind as uint8 (height, width, 3)."""
    return as_rgb_within(item, _LONGEST, _SHORTEST)


def as_grey(rgb: NDArray[np.uint8]) -> NDArray[np.uint8]:
    cv2 = opencv()
    grey: NDArray[np.uint8] = cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY)
    return grey
