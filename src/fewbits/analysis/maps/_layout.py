"""A map of any number of codes, laid out by some of them."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._frozen import Immutable, frozen_array
from fewbits._typing import CodeArray
from fewbits.analysis.maps._landmarks import landmark_rows
from fewbits.analysis.maps._placing import Placer
from fewbits.analysis.maps._tsne import tsne
from fewbits.codes import as_codes
from fewbits.errors import ArgumentError

FloatArray = NDArray[np.float64]
Progress = Callable[[int, int], None]
#: The points of the landmarks keep so far from the border, for what lies beyond them.
_BORDER, _SIDE = 0.02, 65_535
_BATCH = 32_768  # codes between two calls of `progress`
#: Landmarks of a map; twice as many take about twice the time.
N_LANDMARKS = 20_000


class MapLayout(Immutable):
    """Landmarks on a plane, and by them places for any code.

    Parameters
    ----------
    codes : ndarray of shape (m, n_bytes), dtype uint8
        Codes of the landmarks, all different.
    points : ndarray of shape (2, m), dtype float64
        Their places; the unit is the distance at which the kernel of t-SNE falls to
        half.
    """

    def __init__(self, codes: CodeArray, points: FloatArray) -> None:
        self._codes = frozen_array(as_codes(codes))
        self._points = frozen_array(np.asarray(points, np.float64))
        if self._points.shape != (2, len(self._codes)) or not len(self._codes):
            raise ArgumentError(
                f"{len(self._codes)} landmarks need points of shape "
                f"(2, {len(self._codes)}), got {self._points.shape}"
            )
        # Derived, but no array: it is made again from the two.
        self._placer = Placer(self._codes, self._points)
        low, high = self._points.min(axis=1), self._points.max(axis=1)
        # The same scale on both axes, the middle in the middle.
        self._scale = _SIDE * (1 - 2 * _BORDER) / (float((high - low).max()) or 1.0)
        self._middle = (low + high) / 2

    def __repr__(self) -> str:
        return f"MapLayout({len(self._codes):,} landmarks)"

    def __len__(self) -> int:
        return len(self._codes)

    @property
    def codes(self) -> CodeArray:
        """Codes of the landmarks."""
        return self._codes

    @property
    def points(self) -> FloatArray:
        """Places of the landmarks, in the unit of t-SNE."""
        return self._points

    def place(
        self, codes: CodeArray, progress: Progress | None = None
    ) -> NDArray[np.uint16]:
        """Return places for codes on a grid of 65,536 x 65,536.

        A code lands in the same place alone, in any batch, and on any number of
        threads; a landmark lands on itself. A million takes about a minute.

        Parameters
        ----------
        codes : ndarray of shape (n, n_bytes), dtype uint8
        progress : callable, default=None
            Called with (codes done, codes in all).

        Returns
        -------
        ndarray of shape (n, 2), dtype uint16

        Raises
        ------
        CodeError
            When the codes have another width.
        """
        codes = as_codes(codes)
        places = np.empty((len(codes), 2), np.uint16)
        for start in range(0, len(codes), _BATCH):
            batch = slice(start, min(start + _BATCH, len(codes)))
            points = self._placer.place(codes[batch])
            off = (points - self._middle[:, None]) * self._scale
            places[batch] = np.clip(np.rint(off + _SIDE / 2), 0, _SIDE).T
            if progress is not None:
                progress(batch.stop, len(codes))
        return places


def fit_layout(
    codes: CodeArray,
    *,
    classes: ArrayLike | None = None,
    n_landmarks: int = N_LANDMARKS,
    random_state: int | None = 0,
    progress: Progress | None = None,
) -> MapLayout:
    """Lay out a map: t-SNE of a sample of the codes, by which all others are placed.

    Parameters
    ----------
    codes : ndarray of shape (n, n_bytes), dtype uint8
        Any number; the time depends on that of the landmarks.
    classes : array-like of shape (n,), default=None
        Classes that the sample is to hold, see `landmark_rows`.
    n_landmarks : int, default=20_000
        Of so many different codes, or of all where there are fewer. 20,000 take some
        ten seconds on one core.
    random_state : int or None, default=0
        Seeds the sample. Nothing else is left to chance, and the number of threads
        makes no difference.
    progress : callable, default=None
        Called with (iterations done, iterations in all).

    Returns
    -------
    MapLayout

    Raises
    ------
    ArgumentError
        When there is no code, or there are more or fewer classes than codes.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.random.default_rng(0).integers(0, 256, (50, 4), np.uint8)
    >>> layout = fit_layout(codes, n_landmarks=30)
    >>> layout
    MapLayout(30 landmarks)
    >>> bool((layout.place(codes)[7:8] == layout.place(codes[7:8])).all())
    True
    """
    codes = as_codes(codes)
    rows = landmark_rows(codes, n_landmarks, classes=classes, random_state=random_state)
    chosen: Any = np.ascontiguousarray(codes[rows])
    return MapLayout(chosen, tsne(chosen, progress))
