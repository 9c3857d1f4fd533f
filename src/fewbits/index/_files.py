"""An index in one ``.safetensors`` file, with a checksum of all it holds."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from fewbits._artefacts import checksum, read_tensors
from fewbits._files import atomic_write
from fewbits._typing import CodeArray, IdArray
from fewbits.errors import ArtefactError

_FORMAT = "fewbits-index-1"


def write_index(
    path: str | Path,
    kind: str,
    settings: dict[str, Any],
    codes: CodeArray,
    ids: IdArray,
) -> None:
    """Write an index to a file, which replaces what was there as a whole."""
    about = {
        "format": _FORMAT,
        "kind": kind,
        "settings": json.dumps(settings, sort_keys=True),
    }
    about["sha256"] = checksum(about, {"codes": codes, "ids": ids})
    # Written here, since safetensors would make a copy of all codes.
    (n, width), end = codes.shape, codes.size + 8 * len(ids)
    header = {
        "__metadata__": about,
        "codes": {"dtype": "U8", "shape": [n, width], "data_offsets": [0, codes.size]},
        "ids": {"dtype": "I64", "shape": [n], "data_offsets": [codes.size, end]},
    }
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with atomic_write(path) as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.write(np.ascontiguousarray(codes).data)
        file.write(np.ascontiguousarray(ids, "<i8").data)


def read_index(path: str | Path) -> tuple[str, dict[str, Any], CodeArray, IdArray]:
    """Return kind, settings, codes and ids that a file holds, whole and unchanged."""
    metadata, tensors = read_tensors(path, "index", _FORMAT)
    try:
        about = {name: metadata[name] for name in ("format", "kind", "settings")}
        if checksum(about, tensors) != metadata["sha256"]:
            raise ValueError("it is damaged: its checksum does not match")
        settings = json.loads(about["settings"])
        return about["kind"], settings, tensors["codes"], tensors["ids"]
    except (ValueError, LookupError, RecursionError) as error:
        raise ArtefactError(f"{path} holds no readable index: {error}") from error
