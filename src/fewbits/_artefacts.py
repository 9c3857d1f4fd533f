"""Tensors in files that say what they are, with a checksum of what they hold."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.numpy import save

from fewbits.errors import ArtefactError, FewbitsError, NewerFormatError

Tensors = dict[str, NDArray[Any]]

_LENGTH = 8  # bytes before the header, which hold its length


def checksum(header: object, tensors: Mapping[str, NDArray[Any]]) -> str:
    """Return the SHA-256 of a header that JSON can hold, and of named tensors."""
    digest = hashlib.sha256(json.dumps(header).encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(json.dumps([name, tensor.dtype.str, tensor.shape]).encode())
        digest.update(np.ascontiguousarray(tensor).data)
    return digest.hexdigest()


def tensor_bytes(tensors: Tensors, metadata: Mapping[str, str]) -> bytes:
    """Return the content of a ``.safetensors`` file, always the same for the same.

    safetensors writes metadata in any order; here names are sorted. As there, spaces
    after the header bring the tensors to a multiple of 8 bytes.
    """
    content = save(tensors, dict(metadata))
    start = _LENGTH + int.from_bytes(content[:_LENGTH], "little")
    header = json.loads(content[_LENGTH:start])
    header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
    written = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    written += b" " * (-len(written) % 8)
    return len(written).to_bytes(_LENGTH, "little") + written + content[start:]


def read_tensors(
    path: str | Path, noun: str, expected: str
) -> tuple[dict[str, str], Tensors]:
    """Return the metadata and the tensors of a ``.safetensors`` file.

    `noun` says what it should hold, for errors, and `expected` its format. What is
    something else, or damaged, raises ArtefactError.
    """
    with open(path, "rb"):  # the errors of the system, rather than those of safetensors
        pass
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            if (name := metadata.get("format", "none")) != expected:
                kind, _, number = name.rpartition("-")
                expected_kind, _, newest = expected.rpartition("-")
                is_newer = kind == expected_kind and int(number) > int(newest)
                raise (NewerFormatError if is_newer else ArtefactError)(
                    f"{path} holds no {noun} that this version reads: its format is "
                    f"{name!r}, expected {expected!r}"
                )
            names = file.keys()
            return metadata, {name: file.get_tensor(name) for name in names}
    except FewbitsError:
        raise
    except Exception as error:  # whatever safetensors and NumPy make of broken headers
        raise ArtefactError(f"{path} holds no readable {noun}: {error}") from error
