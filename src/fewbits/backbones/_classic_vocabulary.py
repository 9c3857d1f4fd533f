"""Words for local descriptors: the centres of k-means clusters."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fewbits.backbones import _classic_sift, _classic_similarity
from fewbits.backbones._classic_local import Local
from fewbits.backbones._classic_pyramid import cell_histograms, pyramid

PREFIX = "classic-"
_SIDE = 4

#: (words, length of a descriptor) of each kind.
SHAPES = {
    "ssim": (300, _classic_similarity.LENGTH),
    "sift": (500, _classic_sift.LENGTH),
}
DESCRIBE: dict[str, Callable[[NDArray[np.uint8]], Local]] = {
    "ssim": _classic_similarity.self_similarity,
    "sift": _classic_sift.dense_sift,
}


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The words of each kind of local descriptor.

    Attributes
    ----------
    words : dict
        For each kind in `SHAPES`, an ndarray of that shape, dtype float32.
    """

    words: dict[str, NDArray[np.float32]]

    @cached_property
    def checksum(self) -> str:
        """SHA-256 of the words."""
        digest = hashlib.sha256()
        for kind in SHAPES:
            digest.update(self.words[kind].astype("<f4").tobytes())
        return digest.hexdigest()

    @property
    def id(self) -> str:
        return PREFIX + self.checksum[:8]

    def histograms(
        self, kind: str, grey: NDArray[np.uint8]
    ) -> list[NDArray[np.float64]]:
        """Return the levels 1, 4, 16 of how often each word occurs."""
        local, words = DESCRIBE[kind](grey), self.words[kind]
        found = nearest(local.vectors, words)
        return pyramid(
            cell_histograms(found, local.places, grey.shape, len(words), _SIDE)
        )


def nearest(
    vectors: NDArray[np.float32], words: NDArray[np.float32]
) -> NDArray[np.intp]:
    """Return the number of the word nearest to each vector; of equal ones the first."""
    halves = (words * words).sum(axis=1) / 2
    found: NDArray[np.intp] = (vectors @ words.T - halves).argmax(axis=1)
    return found
