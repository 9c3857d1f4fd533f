"""Reading encoders back."""

from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from fewbits.encoders._base import Encoder
from fewbits.encoders._linear import LinearEncoder
from fewbits.encoders._sparse import SparseEncoder
from fewbits.errors import ArtefactError, FewbitsError

_KINDS: dict[str, Any] = {cls.kind: cls for cls in (LinearEncoder, SparseEncoder)}
_FORMAT = "fewbits-encoder-1"


def load(path: str | Path) -> Encoder:
    """Read an encoder written by `Encoder.save` and check it against its fingerprint.

    Raises
    ------
    ArtefactError
        When the file is no encoder, is damaged, or was written by a newer version.
    FileNotFoundError
        When there is no such file.
    """
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            _check_format(path, metadata)
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise
    except (SafetensorError, OSError) as error:
        raise ArtefactError(f"{path} is no encoder file: {error}") from error
    try:
        zero_bit = int(metadata["zero_bit"])
        encoder: Encoder = _KINDS[metadata["kind"]](**tensors, zero_bit=zero_bit)
    except (FewbitsError, ValueError, TypeError, KeyError, IndexError) as error:
        raise ArtefactError(f"{path} is damaged: {error}") from error
    if encoder.fingerprint != metadata.get("fingerprint"):
        raise ArtefactError(f"{path} is damaged: its checksum does not match")
    return encoder


def _check_format(path: str | Path, metadata: dict[str, str]) -> None:
    found = metadata.get("format", "none")
    if found != _FORMAT:
        raise ArtefactError(
            f"{path} holds no encoder that this version reads: its format is "
            f"{found!r}, expected {_FORMAT!r}"
        )
    if metadata.get("kind") not in _KINDS:
        raise ArtefactError(
            f"{path} holds an encoder of kind {metadata.get('kind')!r}, this version "
            f"knows {sorted(_KINDS)}"
        )
