"""PHOG: pyramids of histograms of the orientations of gradients.

Bosch, Zisserman and Munoz, "Representing shape with a spatial pyramid kernel", CIVR
2007. All gradients vote, by their length; that edges alone vote changes little.
"""

import numpy as np
from numpy.typing import NDArray

from fewbits.backbones._classic_pyramid import cell_histograms, pyramid
from fewbits.backbones._opencv import opencv

_SIDE = 8
_BINS = 40  # of the full circle


def phog(grey: NDArray[np.uint8]) -> list[NDArray[np.float64]]:
    """Return the levels 1, 4, 16, 64 over 180 degrees, then those over 360.

    A direction and its opposite are one bin of 180 degrees: there are 20.
    """
    cv2 = opencv()
    x, y = (
        cv2.Sobel(grey, cv2.CV_32F, *order, borderType=cv2.BORDER_REPLICATE)
        for order in ((1, 0), (0, 1))
    )
    lengths, angles = cv2.cartToPolar(x, y)
    bins = (angles * (_BINS / (2 * np.pi))).astype(np.intp) % _BINS
    rows, columns = (place.ravel() for place in np.indices(grey.shape))
    cells = cell_histograms(
        bins.ravel(), (rows, columns), grey.shape, _BINS, _SIDE, lengths.ravel()
    )
    half = _BINS // 2
    return pyramid(cells[..., :half] + cells[..., half:]) + pyramid(cells)
