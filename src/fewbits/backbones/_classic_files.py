"""Vocabularies in files, and those in the cache folder by name."""

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open

from fewbits._artefacts import tensor_bytes
from fewbits._files import atomic_write
from fewbits.backbones._cache import cache_folder
from fewbits.backbones._classic_vocabulary import PREFIX, SHAPES, Vocabulary
from fewbits.errors import ArgumentError, ArtefactError, FewbitsError, MissingDataError

_FORMAT = "fewbits-classic-vocabulary-1"
_SUFFIX = ".safetensors"
_ID = re.compile(f"{PREFIX}[0-9a-f]{{8}}")
_HOW = (
    "learn one with fewbits.backbones.ClassicDescriptors.learn(images), or put the "
    "file of one there"
)


def write_vocabulary(vocabulary: Vocabulary, path: str | Path) -> None:
    """Write the words, all of them or nothing."""
    metadata = {"format": _FORMAT, "sha256": vocabulary.checksum}
    with atomic_write(path) as file:
        file.write(tensor_bytes(vocabulary.words, metadata))


def read_vocabulary(path: str | Path) -> Vocabulary:
    """Return what `write_vocabulary` wrote."""
    with open(path, "rb"):  # the errors of the system, rather than those of safetensors
        pass
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            _check_format(path, metadata.get("format", "none"))
            words = {kind: file.get_tensor(kind) for kind in SHAPES}
    except FewbitsError:
        raise
    except Exception as error:  # whatever safetensors and NumPy make of broken headers
        raise ArtefactError(f"{path} is not a vocabulary: {error}") from error
    _check_words(path, words)
    vocabulary = Vocabulary(words)
    if vocabulary.checksum != metadata.get("sha256"):
        raise ArtefactError(f"{path} is damaged: its checksum does not match")
    return vocabulary


def _check_words(path: str | Path, words: dict[str, NDArray[np.float32]]) -> None:
    for kind, shape in SHAPES.items():
        found = words[kind]
        if found.shape != shape or found.dtype != np.float32:
            raise ArtefactError(
                f"{path} is damaged: words of {kind} must be float32 {shape}, got "
                f"{found.dtype} {found.shape}"
            )


def _check_format(path: str | Path, found: str) -> None:
    if found != _FORMAT:
        raise ArtefactError(
            f"{path} holds no vocabulary that this version reads: its format is "
            f"{found!r}, expected {_FORMAT!r}"
        )


def keep_vocabulary(vocabulary: Vocabulary) -> None:
    """Write the words where `kept_vocabulary` finds them."""
    path = _path(vocabulary.id)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_vocabulary(vocabulary, path)


def kept_vocabulary(name: str) -> Vocabulary:
    """Return the vocabulary of that id."""
    path = _path(name)
    if not path.is_file():
        raise MissingDataError(f"there is no vocabulary {path}: {_HOW}")
    vocabulary = read_vocabulary(path)
    if vocabulary.id != name:
        raise ArtefactError(f"{path} holds another vocabulary, {vocabulary.id}")
    return vocabulary


def kept_ids() -> list[str]:
    """Return the ids of the vocabularies in the cache folder."""
    names = (path.stem for path in cache_folder().glob(f"{PREFIX}*{_SUFFIX}"))
    return sorted(name for name in names if _ID.fullmatch(name))


def only_id() -> str:
    """Return the id of the vocabulary in the cache folder when there is one."""
    found = kept_ids()
    if not found:
        raise MissingDataError(
            f"there is no vocabulary of classic descriptors in {cache_folder()}: {_HOW}"
        )
    if len(found) > 1:
        raise ArgumentError(
            f"there are several vocabularies: take {' or '.join(found)}"
        )
    return found[0]


def is_id(name: str) -> bool:
    """Return whether `name` can be the name of a vocabulary."""
    return _ID.fullmatch(name) is not None


def _path(name: str) -> Path:
    return cache_folder() / f"{name}{_SUFFIX}"
