"""Classic descriptors of images, concatenated, and the words they are counted by."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open

from fewbits._artefacts import tensor_bytes
from fewbits._files import atomic_write
from fewbits._images import PIXEL_RULE
from fewbits.backbones._base import Backbone, Progress
from fewbits.backbones._descriptors import (
    GIST_LENGTH,
    SIFT_LENGTH,
    SSIM_LENGTH,
    as_grey,
    as_image,
    cell_histograms,
    colour_gist,
    dense_sift,
    for_each,
    opencv,
    phog,
    pyramid,
    self_similarity,
)
from fewbits.backbones._features import HOW_TO_LEARN, cache_folder, kept_path
from fewbits.errors import ArgumentError, ArtefactError, FewbitsError, MissingDataError

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
        for kind in _SHAPES:
            digest.update(self.words[kind].astype("<f4").tobytes())
        return digest.hexdigest()

    def write(self, path: str | Path) -> None:
        """Write the words, all of them or nothing."""
        metadata = {"format": _FORMAT, "sha256": self.checksum}
        with atomic_write(path) as file:
            file.write(tensor_bytes(self.words, metadata))

    @property
    def id(self) -> str:
        return "classic-" + self.checksum[:8]

    def histograms(
        self, kind: str, grey: NDArray[np.uint8]
    ) -> list[NDArray[np.float64]]:
        """Return the levels 1, 4, 16 of how often each word occurs."""
        local, words = _DESCRIBE[kind](grey), self.words[kind]
        numbers = nearest(local.vectors, words)
        return pyramid(
            cell_histograms(numbers, local.places, grey.shape, len(words), _SIDE)
        )


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
        if not len(images):
            raise ArgumentError("a vocabulary is learnt from images; there are none")
        if random_state is not None and not 0 <= random_state < 2**32:
            raise ArgumentError(
                f"random_state must be 0 to 2**32 - 1 or None, got {random_state!r}"
            )
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
        vocabulary = Vocabulary(words)
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
        return cls(_read_vocabulary(path))

    def save(self, path: str | Path) -> None:
        """Write the words to a ``.safetensors`` file, all of them or nothing."""
        self._vocabulary.write(path)

    @cached_property
    def fingerprint(self) -> str:
        return hashlib.sha256(
            f"{PIXEL_RULE}, {_RULE} {self._vocabulary.checksum}".encode()
        ).hexdigest()

    def extract(
        self, items: Sequence[Any], *, progress: Progress | None = None
    ) -> NDArray[np.float32]:
        features = np.empty((len(items), self.n_features), np.float32)

        def describe(item: Any) -> NDArray[np.float32]:
            rgb = as_image(item)
            grey = as_grey(rgb)
            parts = [colour_gist(rgb), *phog(grey)]
            for kind in _SHAPES:
                parts += self._vocabulary.histograms(kind, grey)
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


def _read_vocabulary(path: str | Path) -> Vocabulary:
    """Return what `Vocabulary.write` wrote."""
    with open(path, "rb"):  # the errors of the system, rather than those of safetensors
        pass
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            if (stated := metadata.get("format", "none")) != _FORMAT:
                raise ArtefactError(
                    f"{path} holds no vocabulary that this version reads: its format "
                    f"is {stated!r}, expected {_FORMAT!r}"
                )
            words = {kind: file.get_tensor(kind) for kind in _SHAPES}
    except FewbitsError:
        raise
    except Exception as error:  # whatever safetensors and NumPy make of broken headers
        raise ArtefactError(f"{path} is not a vocabulary: {error}") from error
    for kind, shape in _SHAPES.items():
        if words[kind].shape != shape or words[kind].dtype != np.float32:
            raise ArtefactError(
                f"{path} is damaged: words of {kind} must be float32 {shape}, got "
                f"{words[kind].dtype} {words[kind].shape}"
            )
    vocabulary = Vocabulary(words)
    if vocabulary.checksum != metadata.get("sha256"):
        raise ArtefactError(f"{path} is damaged: its checksum does not match")
    return vocabulary


def keep_vocabulary(vocabulary: Vocabulary) -> None:
    """Write the words where `fewbits.backbones.load` finds them."""
    path = kept_path(vocabulary.id)
    path.parent.mkdir(parents=True, exist_ok=True)
    vocabulary.write(path)


def kept_vocabulary(name: str) -> Vocabulary:
    """Return the vocabulary of that id."""
    path = kept_path(name)
    if not path.is_file():
        raise MissingDataError(f"there is no vocabulary {path}: {HOW_TO_LEARN}")
    vocabulary = _read_vocabulary(path)
    if vocabulary.id != name:
        raise ArtefactError(f"{path} holds another vocabulary, {vocabulary.id}")
    return vocabulary
