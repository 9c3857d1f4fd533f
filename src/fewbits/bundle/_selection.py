"""Selection of the items of a collection that may be found."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._allowed import as_allowed
from fewbits.bundle._parts import BundleParts
from fewbits.bundle._runs import Run
from fewbits.errors import ArgumentError
from fewbits.filters import matching_rows


def selected(
    bundle: BundleParts, filter: Any, allowed: Any
) -> NDArray[np.bool_] | None:
    """Return a mask over the rows of a collection; None where all may be found.

    Parameters
    ----------
    bundle : BundleParts
    filter : str or pyarrow.compute.Expression or None
        A condition about the user's columns and the bits, see
        `fewbits.filters.matching_rows`.
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
        masks = [_matching(run, filter, name, n_bits) for run in items.runs]
        mask = np.concatenate(masks)
    if allowed is not None:
        other = _allowed(items, allowed)
        mask = other if mask is None else mask & other
    return mask


def _matching(
    run: Run, filter: Any, name: str | None, n_bits: int
) -> NDArray[np.bool_]:
    """Return a mask over the rows of a run; nothing of it is copied."""
    table, live = _with_ids(run, name), run.part.live
    if live is None:
        return matching_rows(filter, table, run.codes, n_bits)
    try:
        found = matching_rows(filter, table, run.part.codes, n_bits)
    except ArgumentError:
        # That may be about a value of a deleted row.
        return matching_rows(filter, run.only(table), run.codes, n_bits)
    return np.asarray(found[live])


def _with_ids(run: Run, name: str | None) -> Any:
    """Return the user's columns, and the ids under the name that they had."""
    if name is None or name in run.table.column_names:
        return run.table
    return run.table.append_column(name, run.part.ids)


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
