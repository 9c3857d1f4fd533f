"""Features of items of any kind; those of image files are extracted once."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits.backbones._base import Backbone, Progress
from fewbits.backbones._cache import cached_features


def features(
    backbone: Backbone, items: Sequence[Any], *, progress: Progress | None = None
) -> NDArray[np.float32]:
    """Return the features of `items`, from the disk where these are known files.

    The features of two or more image files are kept in the folder that the environment
    variable ``FEWBITS_CACHE`` names, by default the user's cache folder. It may be
    deleted at any time: what is missing there is extracted again. So is what belongs to
    other paths, to files of another size or time of change, or to another version of
    the backbone. Nothing is kept of texts, nor of images that are not files.

    Parameters
    ----------
    backbone : Backbone
    items : sequence
        Texts, or images: paths, PIL images or arrays.
    progress : callable, default=None
        Called with (items done, items in all).

    Returns
    -------
    ndarray of shape (n, n_features), dtype float32
    """
    key = _files_key(items) if backbone.kind == "images" else None
    if key is None:
        return backbone.extract(items, progress=progress)
    return cached_features(backbone, items, key, progress=progress)


def _files_key(items: Sequence[Any]) -> str | None:
    """Return the identity of these files, None when they are not files."""
    if len(items) < 2 or not all(isinstance(item, str | Path) for item in items):
        return None
    digest = hashlib.sha256()
    try:
        for item in items:
            status = Path(item).stat()
            known = (str(Path(item).absolute()), status.st_size, status.st_mtime_ns)
            digest.update(f"{known!r}\n".encode())
    except (OSError, ValueError):  # the backbone says which file is missing
        return None
    return digest.hexdigest()
