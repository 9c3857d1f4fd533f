"""Networks in the cache folder, each under the beginning of its checksum."""

import hashlib
import re
from pathlib import Path

from fewbits._files import atomic_write
from fewbits.backbones._cache import cache_folder
from fewbits.errors import ArtefactError, MissingDataError

_PREFIX = "onnx-"
_SUFFIX = ".onnx"
_ID = re.compile(f"{_PREFIX}[0-9a-f]{{8}}")
_HOW = (
    "write it with fewbits.learners.deep.export_backbone, or put a copy of that file "
    "there"
)


def id_of(network: bytes) -> str:
    """Return the name of a network: no other has it."""
    return _PREFIX + hashlib.sha256(network).hexdigest()[:8]


def keep_network(network: bytes) -> None:
    """Write a network into the cache folder, where `load` finds it by its id.

    Parameters
    ----------
    network : bytes
        The content of an ONNX file that `OnnxImages` takes.

    Raises
    ------
    OSError
        When the cache folder cannot be written to.
    """
    path = _path(id_of(network))
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as file:
        file.write(network)


def kept_network(name: str) -> bytes:
    """Return the network of that id."""
    path = _path(name)
    if not path.is_file():
        raise MissingDataError(f"there is no network {path}: {_HOW}")
    network = path.read_bytes()
    if id_of(network) != name:
        raise ArtefactError(f"{path} is damaged: its checksum is not that of its name")
    return network


def kept_ids() -> list[str]:
    """Return the ids of the networks in the cache folder."""
    names = (path.stem for path in cache_folder().glob(f"{_PREFIX}*{_SUFFIX}"))
    return sorted(name for name in names if is_id(name))


def is_id(name: str) -> bool:
    """Return whether `name` can be the name of a network."""
    return _ID.fullmatch(name) is not None


def _path(name: str) -> Path:
    return cache_folder() / f"{name}{_SUFFIX}"
