"""Reading encoders back."""

import json
from pathlib import Path

import numpy as np

from fewbits._artefacts import read_tensors
from fewbits.encoders._additive import AdditiveEncoder
from fewbits.encoders._base import PREFIX, Encoder, OuterEncoder, Tensors, word_of
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

_KINDS: dict[str, type[Encoder]] = {
    cls.kind: cls
    for cls in (
        AdditiveEncoder,
        AnchorEncoder,
        BilinearEncoder,
        BlockDiagonalEncoder,
        BlockHadamardEncoder,
        CirculantEncoder,
        EigenfunctionEncoder,
        HadamardEncoder,
        KernelMapEncoder,
        LinearEncoder,
        MLPEncoder,
        PackedEncoder,
        SparseEncoder,
    )
}
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
            encoder = _rebuilt(kind, tensors, zero_bit)
            if "feature_names" in metadata:
                names = json.loads(metadata["feature_names"])
                encoder = encoder.with_feature_names(names)
    except (FewbitsError, ValueError, TypeError, LookupError, OverflowError) as error:
        raise ArtefactError(f"{path} is damaged: {error}") from error
    if encoder.fingerprint != metadata.get("fingerprint"):
        raise ArtefactError(f"{path} is damaged: its checksum does not match")
    return encoder


def _rebuilt(kind: str, tensors: Tensors, zero_bit: int) -> Encoder:
    cls = _KINDS[kind]
    if not issubclass(cls, OuterEncoder):
        return cls.from_tensors(tensors, zero_bit)
    inner = {
        name.removeprefix(PREFIX): tensors.pop(name)
        for name in list(tensors)
        if name.startswith(PREFIX)
    }
    inner_kind = word_of(tensors.pop("inner"))
    return cls.around(_rebuilt(inner_kind, inner, zero_bit), tensors)
