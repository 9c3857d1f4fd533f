"""Learning the words of local descriptors from images."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits.backbones._base import Progress
from fewbits.backbones._classic_image import as_grey, as_image
from fewbits.backbones._classic_vocabulary import DESCRIBE, SHAPES, Vocabulary
from fewbits.backbones._opencv import for_each
from fewbits.errors import ArgumentError

_SAMPLE = 60_000  # descriptors of each kind
_BATCH = 4096
_ROUNDS = 10


def learn_vocabulary(
    images: Sequence[Any], random_state: int | None, progress: Progress | None
) -> Vocabulary:
    """Return the centres of k-means on a sample of the images' descriptors."""
    if not len(images):
        raise ArgumentError("a vocabulary is learnt from images, and there are none")
    if random_state is not None and not 0 <= random_state < 2**32:
        raise ArgumentError(
            f"random_state must be 0 to 2**32 - 1 or None, got {random_state!r}"
        )
    rng = np.random.default_rng(random_state)
    most = max(_SAMPLE // len(images), 1)
    samples: dict[str, list[NDArray[np.float32]]] = {kind: [] for kind in SHAPES}
    for described in for_each(_described, images, progress):
        for kind, vectors in described.items():
            samples[kind].append(rng.permutation(vectors)[:most])
    found = {kind: np.concatenate(parts) for kind, parts in samples.items()}
    for kind, vectors in found.items():
        _check_enough(kind, len(vectors), len(images))
    return Vocabulary(
        {kind: _centres(kind, found[kind], random_state) for kind in SHAPES}
    )


def _described(item: Any) -> dict[str, NDArray[np.float32]]:
    grey = as_grey(as_image(item))
    return {kind: describe(grey).vectors for kind, describe in DESCRIBE.items()}


def _check_enough(kind: str, n_found: int, n_images: int) -> None:
    n_words = SHAPES[kind][0]
    if n_found < n_words:
        raise ArgumentError(
            f"{n_words} words of {kind} need as many descriptors, but the {n_images} "
            f"images gave {n_found}: take more images"
        )


def _centres(
    kind: str, vectors: NDArray[np.float32], random_state: int | None
) -> NDArray[np.float32]:
    from sklearn.cluster import MiniBatchKMeans

    # Without stopping early, the number of steps does not depend on rounding.
    means = MiniBatchKMeans(
        SHAPES[kind][0],
        batch_size=_BATCH,
        max_iter=_ROUNDS,
        max_no_improvement=None,
        init="random",  # a good start takes longer than the rest, and gains nothing
        n_init=1,
        random_state=random_state,
    )
    centres: NDArray[np.float32] = means.fit(vectors).cluster_centers_
    return centres.astype(np.float32, copy=False)
