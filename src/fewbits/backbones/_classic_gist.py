"""Colour GIST: how strong each scale and orientation is in each region.

Torralba and Oliva, "Modeling the shape of the scene", IJCV 2001: the image is filtered
by 20 filters (here log-Gabor), and the size of the responses is averaged over a grid of
4 x 4 regions, for red, green and blue.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from fewbits.backbones._classic_pyramid import share
from fewbits.backbones._opencv import opencv

_SIDE = 96
_BORDER = 16  # mirrored, since the Fourier transform joins opposite sides
_GRID = 4
_ORIENTATIONS = (8, 8, 4)  # of each scale, from fine to coarse
_FINEST = 0.3  # cycles per pixel
_RATIO = 1.85  # from scale to scale
_CONTRAST_SIGMA = 6.0  # pixels
_LEAST_CONTRAST = 0.2
N_FEATURES = 3 * sum(_ORIENTATIONS) * _GRID**2


def colour_gist(rgb: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Return the GIST of an image, channel after channel, of sum 1 (0 if blank)."""
    spectrum = fft.fft2(_even_contrast(rgb).transpose(2, 0, 1))
    responses = np.abs(fft.ifft2(spectrum[:, None] * _filters()))
    inside = responses[..., _BORDER:-_BORDER, _BORDER:-_BORDER]
    step = _SIDE // _GRID
    regions = inside.reshape(-1, _GRID, step, _GRID, step)
    return share(regions.mean(axis=(2, 4), dtype=np.float64).ravel())


def _even_contrast(rgb: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return the logarithm of the image, its local mean 0, its local contrast about 1.

    A channel of one value becomes exactly zero.
    """
    cv2 = opencv()
    small = cv2.resize(rgb, (_SIDE, _SIDE), interpolation=cv2.INTER_AREA)
    framed = cv2.copyMakeBorder(small, *(4 * [_BORDER]), cv2.BORDER_REFLECT)
    x = np.log1p(framed.astype(np.float32))
    x -= x.min(axis=(0, 1))
    x -= cv2.GaussianBlur(x, (0, 0), _CONTRAST_SIGMA)
    power = cv2.GaussianBlur(x * x, (0, 0), _CONTRAST_SIGMA)
    even: NDArray[np.float32] = x / (_LEAST_CONTRAST + np.sqrt(power))
    return even


@cache
def _filters() -> NDArray[np.float32]:
    """Return the filters in the frequency domain, (20, side, side)."""
    axis = fft.fftfreq(_SIDE + 2 * _BORDER)
    y, x = np.meshgrid(axis, axis, indexing="ij")
    with np.errstate(divide="ignore"):
        octaves = np.log(np.hypot(x, y))  # minus infinity for the mean, which is cut
    filters = []
    for scale, n_orientations in enumerate(_ORIENTATIONS):
        centre = np.log(_FINEST / _RATIO**scale)
        radial = np.exp(-0.5 * ((octaves - centre) / np.log(_RATIO)) ** 2)
        for angle in np.arange(n_orientations) * np.pi / n_orientations:
            away = np.angle(np.exp(1j * (np.arctan2(y, x) - angle)))
            width = 0.7 * np.pi / n_orientations
            filters.append(radial * np.exp(-0.5 * (away / width) ** 2))
    return np.array(filters, dtype=np.float32)
