"""Classic descriptors of images, concatenated, and the words they are counted by."""

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from fewbits._artefacts import read_tensors, tensor_bytes
from fewbits._files import atomic_write
from fewbits._images import PIXEL_RULE
from fewbits.backbones import Backbone
from fewbits.errors import ArgumentError, ArtefactError
from research.common.descriptors import (
    GIST_LENGTH,
    SIFT_LENGTH,
    SSIM_LENGTH,
    Progress,
    as_grey,
    as_image,
    cell_histograms,
    colour_gist,
    dense_sift,
    for_each,
    phog,
    pyramid,
    self_similarity,
)

_RULE = "GIST, PHOG, self-similarity and SIFT words, version 1"
#: (words, length of a descriptor) of each kind.
_SHAPES = {"ssim": (300, SSIM_LENGTH), "sift": (500, SIFT_LENGTH)}
_DESCRIBE = {"ssim": self_similarity, "sift": dense_sift}
_LENGTHS = {
    "gist": GIST_LENGTH,
    **{f"phog180-{cells}": 20 * cells for cells in (1, 4, 16, 64)},
    **{f"phog360-{cells}": 40 * cells for cells in (1, 4, 16, 64)},
    **{f"{k}-{c}": _SHAPES[k][0] * c for k in _SHAPES for c in (1, 4, 16)},
}
_ENDS = np.cumsum([0, *_LENGTHS.values()]).tolist()
_PARTS = dict(zip(_LENGTHS, (slice(*ends) for ends in pairwise(_ENDS)), strict=True))
_SIDE = 4  # cells
_SAMPLE = 60_000  # descriptors of each kind
_BATCH = 4096
_ROUNDS = 10
_FORMAT = "fewbits-classic-vocabulary-1"


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

    Parameters
    ----------
    words : mapping of str to ndarray, dtype float32
        Those of ``ssim``, (300, 30), and of ``sift``, (500, 128).

    Attributes
    ----------
    id : str
        ``classic-`` and the first 8 digits of the words' checksum.
    words : dict of str to ndarray
    parts : mapping of str to slice
        The columns of each part, such as ``gist``, ``phog180-16`` and ``sift-4``.

    Raises
    ------
    ArgumentError
        When `words` have other shapes or dtypes.

    References
    ----------
    Bergamo, Torresani and Fitzgibbon, "PiCoDes: learning a compact code for
    novel-category recognition", NeurIPS 2011.

    Examples
    --------
    >>> ClassicDescriptors.parts["gist"], ClassicDescriptors.parts["sift-16"]
    (slice(0, 960, None), slice(14860, 22860, None))
    """

    kind: ClassVar[str] = "images"
    parts: ClassVar[MappingProxyType[str, slice]] = MappingProxyType(_PARTS)

    def __init__(self, words: Mapping[str, NDArray[np.float32]]) -> None:
        digest = hashlib.sha256()
        for kind, shape in _SHAPES.items():
            if words[kind].shape != shape or words[kind].dtype != np.float32:
                raise ArgumentError(
                    f"words of {kind} must be float32 {shape}, got "
                    f"{words[kind].dtype} {words[kind].shape}"
                )
            digest.update(words[kind].astype("<f4").tobytes())
        self.words = {kind: words[kind] for kind in _SHAPES}
        self._checksum = digest.hexdigest()
        self.id = "classic-" + self._checksum[:8]
        self.n_features = _ENDS[-1]

    @classmethod
    def learn(
        cls,
        images: Sequence[Any],
        random_state: int | None = 0,
        progress: Progress | None = None,
    ) -> Self:
        """Return the backbone with words that are learnt from `images`.

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
        """
        if not len(images):
            raise ArgumentError("a vocabulary is learnt from images; there are none")
        from sklearn.cluster import MiniBatchKMeans

        def describe(item: Any) -> dict[str, NDArray[np.float32]]:
            grey = as_grey(as_image(item))
            return {kind: local(grey).vectors for kind, local in _DESCRIBE.items()}

        # The centres of k-means on a sample of the images' descriptors.
        rng = np.random.default_rng(random_state)
        most = max(_SAMPLE // len(images), 1)
        samples: dict[str, list[NDArray[np.float32]]] = {kind: [] for kind in _SHAPES}
        for described in for_each(describe, images, progress):
            for kind, vectors in described.items():
                samples[kind].append(rng.permutation(vectors)[:most])
        words = {kind: np.concatenate(parts) for kind, parts in samples.items()}
        for kind, (n_words, _) in _SHAPES.items():
            if len(words[kind]) < n_words:
                raise ArgumentError(
                    f"{n_words} words of {kind} need as many descriptors, but the "
                    f"{len(images)} images gave {len(words[kind])}: take more images"
                )
        for kind, (n_words, _) in _SHAPES.items():
            # Without stopping early, the number of steps does not depend on rounding.
            means = MiniBatchKMeans(
                n_words,
                batch_size=_BATCH,
                max_iter=_ROUNDS,
                max_no_improvement=None,
                init="random",  # a good start takes longer, and gains nothing
                n_init=1,
                random_state=random_state,
            )
            centres = means.fit(words[kind]).cluster_centers_
            words[kind] = centres.astype(np.float32, copy=False)
        return cls(words)

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
        metadata, words = read_tensors(path, "vocabulary", _FORMAT)
        try:
            loaded = cls(words)
        except (ArgumentError, KeyError) as error:
            raise ArtefactError(f"{path} is damaged: {error}") from error
        if loaded._checksum != metadata.get("sha256"):
            raise ArtefactError(f"{path} is damaged: its checksum does not match")
        return loaded

    def save(self, path: str | Path) -> None:
        """Write the words to a ``.safetensors`` file, all of them or nothing."""
        metadata = {"format": _FORMAT, "sha256": self._checksum}
        with atomic_write(path) as file:
            file.write(tensor_bytes(self.words, metadata))

    @cached_property
    def fingerprint(self) -> str:
        rules = f"{PIXEL_RULE}, {_RULE} {self._checksum}"
        return hashlib.sha256(rules.encode()).hexdigest()

    def extract(
        self, items: Sequence[Any], *, progress: Progress | None = None
    ) -> NDArray[np.float32]:
        features = np.empty((len(items), self.n_features), np.float32)

        def describe(item: Any) -> NDArray[np.float32]:
            rgb = as_image(item)
            grey = as_grey(rgb)
            parts = [colour_gist(rgb), *phog(grey)]
            for kind, words in self.words.items():
                # The levels 1, 4, 16 of how often each word occurs.
                local = _DESCRIBE[kind](grey)
                numbers = nearest(local.vectors, words)
                parts += pyramid(
                    cell_histograms(
                        numbers, local.places, grey.shape, len(words), _SIDE
                    )
                )
            return np.concatenate(parts).astype(np.float32)

        for row, values in enumerate(for_each(describe, items, progress)):
            features[row] = values
        return features


def nearest(
    vectors: NDArray[np.float32], words: NDArray[np.float32]
) -> NDArray[np.intp]:
    """Return the number of the word nearest to each vector; of equal ones the first."""
    halves = (words * words).sum(axis=1) / 2
    numbers: NDArray[np.intp] = (vectors @ words.T - halves).argmax(axis=1)
    return numbers
