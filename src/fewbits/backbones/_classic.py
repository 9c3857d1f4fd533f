"""Image descriptors from before deep learning, concatenated."""

import hashlib
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from fewbits._images import PIXEL_RULE
from fewbits.backbones._base import Backbone, Progress
from fewbits.backbones._cache import cache_folder
from fewbits.backbones._classic_files import (
    keep_vocabulary,
    read_vocabulary,
    write_vocabulary,
)
from fewbits.backbones._classic_gist import N_FEATURES, colour_gist
from fewbits.backbones._classic_image import as_grey, as_image
from fewbits.backbones._classic_learn import learn_vocabulary
from fewbits.backbones._classic_phog import phog
from fewbits.backbones._classic_vocabulary import SHAPES, Vocabulary
from fewbits.backbones._opencv import for_each, opencv

_RULE = "GIST, PHOG, self-similarity and SIFT words, version 1"
_LENGTHS = {
    "gist": N_FEATURES,
    **{f"phog180-{cells}": 20 * cells for cells in (1, 4, 16, 64)},
    **{f"phog360-{cells}": 40 * cells for cells in (1, 4, 16, 64)},
    **{f"{k}-{c}": SHAPES[k][0] * c for k in SHAPES for c in (1, 4, 16)},
}
_ENDS = np.cumsum([0, *_LENGTHS.values()]).tolist()
_PARTS = dict(zip(_LENGTHS, (slice(*ends) for ends in pairwise(_ENDS)), strict=True))


@final
class ClassicDescriptors(Backbone):
    """Image to 22,860 floats: the low-level features of classemes and PiCoDes.

    Fifteen parts, each non-negative and of sum 1 (or zero where the image shows nothing
    of the kind): the colour GIST; histograms of the orientations of gradients (PHOG)
    over 180 and 360 degrees, in 1, 4, 16 and 64 cells; words of local self-similarity
    and of SIFT, in 1, 4 and 16 cells. The words are learnt from images, and are all
    that is learnt.

    Images are scaled to 256 pixels on the longer side. An image has the same features
    whatever else is extracted with it.

    Attributes
    ----------
    id : str
        ``classic-`` and the first 8 digits of the vocabulary's checksum:
        `fewbits.backbones.load` finds a learnt vocabulary by it.
    parts : mapping of str to slice
        The columns of each part, such as ``gist``, ``phog180-16`` and ``sift-4``.

    Raises
    ------
    MissingExtraError
        When the packages of the extra ``classic`` are not installed.

    References
    ----------
    Bergamo, Torresani and Fitzgibbon, "PiCoDes: learning a compact code for
    novel-category recognition", NeurIPS 2011.

    Examples
    --------
    >>> from fewbits.backbones import ClassicDescriptors
    >>> ClassicDescriptors.parts["gist"], ClassicDescriptors.parts["sift-16"]
    (slice(0, 960, None), slice(14860, 22860, None))
    """

    kind: ClassVar[str] = "images"
    parts: ClassVar[MappingProxyType[str, slice]] = MappingProxyType(_PARTS)

    def __init__(self, vocabulary: Vocabulary) -> None:
        opencv()
        self._vocabulary = vocabulary
        self.id = vocabulary.id
        self.n_features = _ENDS[-1]

    @classmethod
    def learn(
        cls,
        images: Sequence[Any],
        random_state: int | None = 0,
        progress: Progress | None = None,
    ) -> Self:
        """Return the backbone with words that are learnt from `images`.

        They are kept in the cache folder, where `fewbits.backbones.load` finds them:
        save what is worth keeping.

        Parameters
        ----------
        images : sequence
            Paths, PIL images or arrays; some hundreds.
        random_state : int or None, default=0
            Seeds the sample of descriptors and k-means.
        progress : callable, default=None
            Called with (images done, images in all).

        Raises
        ------
        ArgumentError
            When the images show too little.
        FeatureError
            When an image cannot be opened, naming it.
        OSError
            When the cache folder cannot be written to.
        """
        opencv()
        cache_folder().mkdir(parents=True, exist_ok=True)  # rather than fail at the end
        vocabulary = learn_vocabulary(images, random_state, progress)
        keep_vocabulary(vocabulary)
        return cls(vocabulary)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return the backbone with the words that `save` wrote to a file.

        Raises
        ------
        ArtefactError
            When the file holds something else, or is damaged.
        OSError
            When there is no such file, or it may not be read.
        """
        return cls(read_vocabulary(path))

    def save(self, path: str | Path) -> None:
        """Write the words to a ``.safetensors`` file, all of them or nothing."""
        write_vocabulary(self._vocabulary, path)

    @cached_property
    def fingerprint(self) -> str:
        return hashlib.sha256(
            f"{PIXEL_RULE}, {_RULE} {self._vocabulary.checksum}".encode()
        ).hexdigest()

    def extract(
        self, items: Sequence[Any], *, progress: Progress | None = None
    ) -> NDArray[np.float32]:
        features = np.empty((len(items), self.n_features), np.float32)
        for row, found in enumerate(for_each(self._one, items, progress)):
            features[row] = found
        return features

    def _one(self, item: Any) -> NDArray[np.float32]:
        rgb = as_image(item)
        grey = as_grey(rgb)
        parts = [colour_gist(rgb), *phog(grey)]
        for kind in SHAPES:
            parts += self._vocabulary.histograms(kind, grey)
        return np.concatenate(parts).astype(np.float32)
