"""Reading encoders back."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from fewbits._artefacts import read_tensors
from fewbits.encoders._additive import AdditiveEncoder
from fewbits.encoders._base import Encoder, take_inner_tensors, word_of
from fewbits.encoders._eigenfunction import EigenfunctionEncoder
from fewbits.encoders._kernel_maps import AnchorEncoder, KernelMapEncoder
from fewbits.encoders._linear import BlockDiagonalEncoder, LinearEncoder, SparseEncoder
from fewbits.encoders._mlp import MLPEncoder
from fewbits.encoders._packed import PackedEncoder
from fewbits.encoders._structured import (
    BilinearEncoder,
    BlockHadamardEncoder,
    CirculantEncoder,
    HadamardEncoder,
)
from fewbits.errors import ArtefactError, FewbitsError


def _behind(outer: Any, kinds: dict[str, Any]) -> Any:
    """Return what rebuilds an encoder that has one of these kinds inside."""

    def rebuild(*, zero_bit: int, **tensors: Any) -> Encoder:
        inner = take_inner_tensors(tensors)
        make = kinds[word_of(tensors["inner"])]
        rebuilt: Encoder = outer.from_tensors(make(**inner, zero_bit=zero_bit), tensors)
        return rebuilt

    return rebuild


_PLAIN_KINDS: dict[str, Any] = {
    cls.kind: cls
    for cls in (
        BilinearEncoder,
        BlockDiagonalEncoder,
        BlockHadamardEncoder,
        CirculantEncoder,
        EigenfunctionEncoder,
        HadamardEncoder,
        LinearEncoder,
        SparseEncoder,
    )
} | {
    AdditiveEncoder.kind: AdditiveEncoder.from_tensors,
    MLPEncoder.kind: MLPEncoder.from_tensors,
    PackedEncoder.kind: PackedEncoder.from_tensors,
}
_INNER_KINDS = _PLAIN_KINDS | {AnchorEncoder.kind: _behind(AnchorEncoder, _PLAIN_KINDS)}
_KINDS = _INNER_KINDS | {KernelMapEncoder.kind: _behind(KernelMapEncoder, _INNER_KINDS)}
_FORMAT = "fewbits-encoder-1"


def load(path: str | Path) -> Encoder:
    """Read an encoder written by `Encoder.save` and check it against its fingerprint.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    Encoder
        Of the kind that was saved, with the same fingerprint.

    Raises
    ------
    ArtefactError
        When the file is not an encoder, is damaged, or was written by a newer version.
    OSError
        When there is no such file, or it may not be read.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     LinearEncoder([[1.0], [-1.0]], [0.0]).save(f"{folder}/encoder.safetensors")
    ...     load(f"{folder}/encoder.safetensors")
    LinearEncoder(2 -> 1 bits)
    """
    metadata, tensors = read_tensors(path, "encoder", _FORMAT)
    kind = metadata.get("kind")
    if kind not in _KINDS:
        raise ArtefactError(
            f"{path} holds an encoder of kind {kind!r}, this version knows "
            f"{sorted(_KINDS)}"
        )
    try:
        with np.errstate(all="ignore"):
            zero_bit = int(metadata["zero_bit"])
            encoder: Encoder = _KINDS[kind](**tensors, zero_bit=zero_bit)
            if "feature_names" in metadata:
                names = json.loads(metadata["feature_names"])
                encoder = encoder.with_feature_names(names)
    except (FewbitsError, ValueError, TypeError, LookupError, OverflowError) as error:
        raise ArtefactError(f"{path} is damaged: {error}") from error
    if encoder.fingerprint != metadata.get("fingerprint"):
        raise ArtefactError(f"{path} is damaged: its checksum does not match")
    return encoder
