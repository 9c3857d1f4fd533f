"""Bundles of given binary codes: codes in, neighbours out."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from fewbits.bundle import Bundle
from fewbits.encoders import PackedEncoder
from fewbits.errors import ArgumentError
from fewbits.inputs import Input
from fewbits.training._assemble import metadata_of
from fewbits.training._methods import PACKED


def of_packed(
    source: Input,
    n_bits: int | None,
    parameters: Mapping[str, Any],
    remember: Mapping[str, Any] | None = None,
) -> Bundle:
    """Return a bundle that takes packed codes of the same width.

    Raises
    ------
    ArgumentError
        When the items are not bytes, or have no room for `n_bits`, or there are
        parameters.
    CodeError
        When bits beyond `n_bits` are set.
    """
    if parameters:
        raise ArgumentError(f"{PACKED} has no parameter {next(iter(parameters))!r}")
    dtype = getattr(source.values, "dtype", None)
    if source.kind != "vectors" or dtype != np.uint8:
        hint = (
            "; of sentence-transformers take precision='ubinary'"
            if dtype == np.int8
            else ""
        )
        raise ArgumentError(
            f"packed codes are a matrix of uint8, as numpy.packbits makes; "
            f"{source.source} holds {dtype or source.kind}{hint}"
        )
    width = 8 * source.values.shape[1]
    wanted = width if n_bits is None else n_bits
    if not width - 8 < wanted <= width:
        raise ArgumentError(
            f"codes of {source.values.shape[1]} bytes have {width - 7} to {width} "
            f"bits, got {wanted}"
        )
    metadata = metadata_of({"method": PACKED, **(remember or {})})
    bundle = Bundle(PackedEncoder(wanted), metadata=metadata)
    bundle.features(source.values)  # refuses bits beyond the last
    return bundle
