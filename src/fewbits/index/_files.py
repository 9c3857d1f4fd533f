"""An index in one file: a ``.safetensors`` file with a checksum of all it holds.

Such a file is the length of a header (8 bytes, little-endian), the header (JSON), and
the arrays. Here the header is always written in one way, so that reading compares it
with what would be written, and takes nothing else.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from fewbits._artefacts import checksum
from fewbits._files import atomic_write
from fewbits._typing import CodeArray, IdArray
from fewbits.errors import ArtefactError

_FORMAT = "fewbits-index-1"
_LENGTH = 8  # bytes before the header, which hold its length
_LONGEST = 1 << 16  # bytes of a header


def write_index(
    path: str | Path,
    kind: str,
    settings: dict[str, Any],
    codes: CodeArray,
    ids: IdArray,
) -> None:
    """Write an index to a file, which replaces what was there as a whole."""
    described = _described(kind, json.dumps(settings, sort_keys=True))
    described["sha256"] = checksum(described, {"codes": codes, "ids": ids})
    with atomic_write(path) as file:
        file.write(_header(described, *codes.shape))
        file.write(np.ascontiguousarray(codes).data)
        file.write(np.ascontiguousarray(ids, "<i8").data)


def read_index(path: str | Path) -> tuple[str, dict[str, Any], CodeArray, IdArray]:
    """Return kind, settings, codes and ids that a file holds, whole and unchanged."""
    content = Path(path).read_bytes()
    try:
        length = int.from_bytes(content[:_LENGTH], "little")
        if not length <= min(_LONGEST, len(content) - _LENGTH):
            raise ValueError("its header is cut off")
        header = json.loads(content[_LENGTH : _LENGTH + length])
        about, (n, width) = header["__metadata__"], header["codes"]["shape"]
        if about["format"] != _FORMAT:
            raise ValueError(f"its format is {about['format']!r}, expected {_FORMAT!r}")
        described = _described(about["kind"], about["settings"])
        expected = _header({**described, "sha256": about["sha256"]}, n, width)
        start, end = _LENGTH + length, _LENGTH + length + n * width
        if content[:start] != expected or len(content) != end + 8 * n:
            raise ValueError("its header is not that of an index, or it is cut off")
        codes = np.frombuffer(content, np.uint8, n * width, start).reshape(n, width)
        ids = np.frombuffer(content, "<i8", n, end)
        if checksum(described, {"codes": codes, "ids": ids}) != about["sha256"]:
            raise ValueError("it is damaged: its checksum does not match")
        return about["kind"], json.loads(about["settings"]), codes, ids
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ArtefactError(f"{path} holds no readable index: {error}") from error


def _described(kind: str, settings: str) -> dict[str, str]:
    return {"format": _FORMAT, "kind": kind, "settings": settings}


def _header(described: dict[str, str], n: int, width: int) -> bytes:
    codes = {"dtype": "U8", "shape": [n, width], "data_offsets": [0, n * width]}
    ends = [n * width, n * width + 8 * n]
    ids = {"dtype": "I64", "shape": [n], "data_offsets": ends}
    header = {"__metadata__": described, "codes": codes, "ids": ids}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(_LENGTH, "little") + text
