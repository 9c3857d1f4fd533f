"""Selection of the items of a collection that may be found."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._allowed import as_allowed
from fewbits.bundle._parts import BundleParts
from fewbits.errors import ArgumentError


def selected(
    bundle: BundleParts, filter: Any, allowed: Any
) -> NDArray[np.bool_] | None:
    """Return a mask over the rows of a collection; None where all may be found.

    Parameters
    ----------
    bundle : BundleParts
    filter : str or pyarrow.compute.Expression or None
        A condition about the user's columns and the bits, see
        `fewbits.collection.filters.matching_rows`.
    allowed : array-like or None
        A boolean mask over the rows, or ids of items.

    Raises
    ------
    ArgumentError
        When a condition or an id is not known, or the mask has another length.
    """
    items = bundle.collection
    mask = None
    if filter is not None:
        name, n_bits = bundle.metadata.id_column, bundle.encoder.n_bits
        mask = items.conditions.mask(filter, name, n_bits)
    if allowed is not None:
        other = _allowed(items, allowed)
        mask = other if mask is None else mask & other
    return mask


def _allowed(items: Any, allowed: Any) -> NDArray[np.bool_]:
    if items.has_text_ids and _are_texts(allowed):
        chosen = allowed
    else:
        chosen = as_allowed(allowed, len(items), "ids")
        if chosen.dtype == np.bool_:
            return np.asarray(chosen)
    mask = np.zeros(len(items), np.bool_)
    mask[items.rows(chosen)] = True
    return mask


def _are_texts(allowed: Any) -> bool:
    if isinstance(allowed, str):
        raise ArgumentError(f"allowed must be a list of ids, got the text {allowed!r}")
    first = next(iter(allowed), None) if hasattr(allowed, "__iter__") else None
    return isinstance(first, str) or hasattr(first, "as_py")
