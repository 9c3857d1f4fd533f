"""Classic descriptors of images: GIST, PHOG, SIFT and local self-similarity."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import Any, TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray

from fewbits._images import open_rgb
from fewbits._kernels import num_threads
from fewbits._spans import spans

Progress = Callable[[int, int], None]
_LONGEST = 256
_SHORTEST = 32
_GIST_SIDE = 96
_BORDER = 16  # mirrored, since the Fourier transform joins opposite sides
_GRID = 4
_ORIENTATIONS = (8, 8, 4)  # of each scale, from fine to coarse
_FINEST = 0.3  # cycles per pixel
_RATIO = 1.85  # from scale to scale
_CONTRAST_SIGMA = 6.0  # pixels
_LEAST_CONTRAST = 0.2
GIST_LENGTH = 3 * sum(_ORIENTATIONS) * _GRID**2
_PHOG_SIDE = 8
_BINS = 40  # of the full circle
_SIFT_STEP = 6
_DIAMETER = 6.0  # of OpenCV's keypoints; their 4 x 4 cells have 9 pixels each side
SIFT_LENGTH = 128
_SHRINK = 2
_SSIM_STEP = 3
_PATCH = 5
_RADIUS = 10
_RINGS = (0.0, 2.5, 5.5, _RADIUS)  # pixels
_SECTORS = 10
_NOISE = 50.0 * _PATCH**2  # squared differences that mean nothing
_LEAST_SPREAD = 0.05
SSIM_LENGTH = (len(_RINGS) - 1) * _SECTORS
_Places = tuple[NDArray[np.intp], NDArray[np.intp]]
Item = TypeVar("Item")
Result = TypeVar("Result")
_BATCH = 64
_lock = Lock()
_users = 0
_threads_outside = 1


@dataclass(frozen=True, eq=False, slots=True)
class Local:
    """Descriptors of an image, and the pixels in the middle of their regions."""

    vectors: NDArray[np.float32]
    places: _Places


def as_image(item: Any) -> NDArray[np.uint8]:
    """Return an image of any kind as uint8, its longer side 256, no side below 32."""
    image = open_rgb(item)
    from PIL.Image import Resampling

    scale = _LONGEST / max(image.size)
    across, down = (max(_SHORTEST, round(side * scale)) for side in image.size)
    return np.asarray(image.resize((across, down), Resampling.BILINEAR), np.uint8)


def as_grey(rgb: NDArray[np.uint8]) -> NDArray[np.uint8]:
    grey: NDArray[np.uint8] = cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY)
    return grey


def colour_gist(rgb: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Return the GIST of an image, channel after channel, of sum 1 (0 if blank).

    Torralba and Oliva, "Modeling the shape of the scene", IJCV 2001: the image is
    filtered by 20 filters (here log-Gabor), and the size of the responses is averaged
    over a grid of 4 x 4 regions, for red, green and blue.
    """
    from scipy import fft

    spectrum = fft.fft2(_even_contrast(rgb).transpose(2, 0, 1))
    responses = np.abs(fft.ifft2(spectrum[:, None] * _filters()))
    inside = responses[..., _BORDER:-_BORDER, _BORDER:-_BORDER]
    step = _GIST_SIDE // _GRID
    regions = inside.reshape(-1, _GRID, step, _GRID, step)
    return _share(regions.mean(axis=(2, 4), dtype=np.float64).ravel())


def _even_contrast(rgb: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return the logarithm of the image, of local mean 0 and local contrast about 1."""
    small = cv2.resize(rgb, (_GIST_SIDE, _GIST_SIDE), interpolation=cv2.INTER_AREA)
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
    axis = np.fft.fftfreq(_GIST_SIDE + 2 * _BORDER)
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


def phog(grey: NDArray[np.uint8]) -> list[NDArray[np.float64]]:
    """Return the levels 1, 4, 16, 64 over 180 degrees, then those over 360.

    Pyramids of histograms of the orientations of gradients: Bosch, Zisserman and Munoz,
    "Representing shape with a spatial pyramid kernel", CIVR 2007. All gradients vote,
    by their length; that edges alone vote changes little. A direction and its opposite
    are one bin of 180 degrees: there are 20.
    """
    x, y = (
        cv2.Sobel(grey, cv2.CV_32F, *order, borderType=cv2.BORDER_REPLICATE)
        for order in ((1, 0), (0, 1))
    )
    lengths, angles = cv2.cartToPolar(x, y)
    bins = (angles * (_BINS / (2 * np.pi))).astype(np.intp) % _BINS
    rows, columns = (place.ravel() for place in np.indices(grey.shape))
    cells = cell_histograms(
        bins.ravel(), (rows, columns), grey.shape, _BINS, _PHOG_SIDE, lengths.ravel()
    )
    half = _BINS // 2
    return pyramid(cells[..., :half] + cells[..., half:]) + pyramid(cells)


def dense_sift(grey: NDArray[np.uint8]) -> Local:
    """Return the descriptors of all regions that show anything.

    Lowe, "Distinctive image features from scale-invariant keypoints", IJCV 2004, at one
    scale and without a search for keypoints or for their orientation.
    """
    rows, columns = _grid(grey.shape, _SIFT_STEP)
    points = [
        cv2.KeyPoint(float(x), float(y), _DIAMETER, 0.0)
        for y, x in zip(rows, columns, strict=True)
    ]
    # More layers would only be blurred and thrown away.
    _, vectors = cv2.SIFT_create(nOctaveLayers=1).compute(grey, points)
    visible = vectors.any(axis=1)
    return Local(vectors[visible], (rows[visible], columns[visible]))


def self_similarity(grey: NDArray[np.uint8]) -> Local:
    """Return the descriptors, between 0 and 1, where not all around looks alike.

    Shechtman and Irani, "Matching local self-similarities across images and videos",
    CVPR 2007: a small patch is compared with the patches around it, and the best match
    in each of 3 rings x 10 sectors is the descriptor. At half size, which loses nothing
    here.
    """
    height, width = (side // _SHRINK for side in grey.shape)
    small = cv2.resize(grey, (width, height), interpolation=cv2.INTER_AREA)
    differences, nearby = _best_matches(small)
    likeness = np.exp(-differences / np.maximum(nearby, _NOISE))
    likeness = likeness.reshape(SSIM_LENGTH, -1).T
    low = likeness.min(axis=1, keepdims=True)
    spread = likeness.max(axis=1, keepdims=True) - low
    visible = spread[:, 0] > _LEAST_SPREAD
    rows, columns = (
        _SHRINK * place[visible] for place in _grid(small.shape, _SSIM_STEP)
    )
    return Local((likeness[visible] - low[visible]) / spread[visible], (rows, columns))


def _best_matches(
    small: NDArray[np.uint8],
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the least squared difference in each bin, and the largest next door."""
    height, width = small.shape
    wide = cv2.copyMakeBorder(small, *(4 * [_RADIUS]), cv2.BORDER_REFLECT)
    shape = [len(range(_SSIM_STEP // 2, side, _SSIM_STEP)) for side in small.shape]
    best = np.full((SSIM_LENGTH, *shape), np.inf, dtype=np.float32)
    nearby = np.zeros(shape, dtype=np.float32)
    for y, x, number in _surroundings():
        moved = wide[_RADIUS + y :, _RADIUS + x :][:height, :width]
        sums = cv2.sqrBoxFilter(
            cv2.absdiff(small, moved), cv2.CV_32F, (_PATCH, _PATCH), normalize=False
        )[_SSIM_STEP // 2 :: _SSIM_STEP, _SSIM_STEP // 2 :: _SSIM_STEP]
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


def _grid(shape: tuple[int, int], step: int) -> _Places:
    """Return rows and columns of every `step`-th pixel, row by row."""
    places = np.indices(shape)[:, step // 2 :: step, step // 2 :: step]
    rows, columns = places.reshape(2, -1)
    return rows, columns


def cell_histograms(
    words: NDArray[np.intp],
    places: tuple[NDArray[np.intp], NDArray[np.intp]],
    shape: tuple[int, int],
    n_words: int,
    side: int,
    weights: NDArray[np.float32] | None = None,
) -> NDArray[np.float64]:
    """Return how often each word occurs in each cell (side, side, n_words)."""
    (rows, columns), (height, width) = places, shape
    cells = rows * side // height * side + columns * side // width
    counts = np.bincount(cells * n_words + words, weights, side * side * n_words)
    return counts.astype(np.float64).reshape(side, side, n_words)


def pyramid(cells: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Return the histograms of the whole, of its quarters, and so on to the cells."""
    levels = [cells]
    while (side := len(levels[0]) // 2) > 0:
        levels.insert(0, levels[0].reshape(side, 2, side, 2, -1).sum(axis=(1, 3)))
    return [_share(level.ravel()) for level in levels]


def _share(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return non-negative values divided by their sum; nothing stays nothing."""
    return values / (values.sum() or 1.0)


def for_each(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    progress: Progress | None = None,
) -> Iterator[Result]:
    """Yield what `function` makes of each item, in order, several at a time."""
    with _one_thread(), ThreadPoolExecutor(num_threads()) as pool:
        for span in spans(len(items), _BATCH):
            rows = range(span.start, span.stop)
            yield from pool.map(function, [items[row] for row in rows])
            if progress is not None:
                progress(span.stop, len(items))


@contextmanager
def _one_thread() -> Iterator[None]:
    """Keep OpenCV to one thread; the last to leave restores what the first found."""
    global _users, _threads_outside
    with _lock:
        if _users == 0:
            _threads_outside = cv2.getNumThreads()
            cv2.setNumThreads(1)
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                cv2.setNumThreads(_threads_outside)
