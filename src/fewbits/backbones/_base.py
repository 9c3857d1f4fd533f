"""The interface of all backbones, features of items, and the cache on disk."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from platformdirs import user_cache_path

from fewbits._files import atomic_write

Progress = Callable[[int, int], None]


class Backbone(ABC):
    """Turn raw items into feature vectors.

    An item has the same features whatever else is extracted with it. Whatever decides
    them goes into the fingerprint, which travels with everything made from them.
    """

    id: str
    kind: ClassVar[str]
    n_features: int

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """SHA-256 of the weights and of every rule that decides the features."""

    @abstractmethod
    def extract(
        self, items: Sequence[Any], *, progress: Progress | None = None
    ) -> NDArray[np.float32]:
        """Return features of shape (n, n_features), dtype float32.

        Parameters
        ----------
        items : sequence
            Texts, or images: paths, PIL images or arrays.
        progress : callable, default=None
            Called with (items done, items in all).
        """


_PART = 1024


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
            facts = (str(Path(item).absolute()), status.st_size, status.st_mtime_ns)
            digest.update(f"{facts!r}\n".encode())
    except (OSError, ValueError):  # the backbone says which file is missing
        return None
    return digest.hexdigest()


def cached_features(
    backbone: Backbone,
    items: Sequence[Any],
    key: str,
    *,
    progress: Progress | None = None,
) -> NDArray[np.float32]:
    """Return the features of `items`, extracted once and then read from disk.

    Every 1,024 items are written as they are done, so an interrupted extraction goes on
    where it stopped. A damaged part is extracted again. Where nothing can be written,
    nothing is kept.

    Parameters
    ----------
    backbone : Backbone
    items : sequence
    key : str
        What identifies the items, such as a hash of their names. Other items under the
        same key would get the wrong features.
    progress : callable, default=None
        Called with (items done, items in all).

    Returns
    -------
    ndarray of shape (n, n_features), dtype float32
    """
    name = hashlib.sha256(f"{backbone.fingerprint} {key} {len(items)}".encode())
    folder = cache_folder() / f"{backbone.id}-{name.hexdigest()[:16]}"
    features = np.empty((len(items), backbone.n_features), np.float32)
    for start in range(0, len(items), _PART):
        stop = min(start + _PART, len(items))
        path = folder / f"{start:08d}.npy"
        part = _read(path, (stop - start, backbone.n_features))
        if part is None:
            batch = [items[row] for row in range(start, stop)]

            def report(done: int, _: int, start: int = start) -> None:
                assert progress is not None
                progress(start + done, len(items))

            part = backbone.extract(batch, progress=report if progress else None)
            buffer = io.BytesIO()
            np.save(buffer, part)
            with contextlib.suppress(OSError):  # it is a cache: time is lost, no answer
                write_checked(path, buffer.getvalue())
        elif progress is not None:
            progress(stop, len(items))
        features[start:stop] = part
    return features


def _read(path: Path, shape: tuple[int, int]) -> NDArray[np.float32] | None:
    """Return a part that is there and undamaged, else None."""
    data = read_checked(path)
    if data is None:
        return None
    try:
        part: NDArray[np.float32] = np.load(io.BytesIO(data), allow_pickle=False)
    except (ValueError, EOFError):
        return None
    return part if part.shape == shape and part.dtype == np.float32 else None


def write_checked(path: Path, data: bytes) -> None:
    """Write a file and, beside it, its checksum; make their folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as file:
        file.write(data)
    with atomic_write(path.with_suffix(".json")) as file:
        file.write(json.dumps({"sha256": hashlib.sha256(data).hexdigest()}).encode())


def read_checked(path: Path) -> bytes | None:
    """Return what `write_checked` wrote, None when it is missing or damaged."""
    try:
        stated = json.loads(path.with_suffix(".json").read_text("utf-8"))["sha256"]
        data = path.read_bytes()
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return data if hashlib.sha256(data).hexdigest() == stated else None


def cache_folder() -> Path:
    """Return the folder of caches: ``FEWBITS_CACHE``, or the user's cache folder."""
    folder = os.environ.get("FEWBITS_CACHE")
    return Path(folder) if folder else user_cache_path("fewbits")
