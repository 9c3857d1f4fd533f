"""Conditions on the items of a collection, as masks of those that meet them."""

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits.bundle._runs import Run
from fewbits.errors import ArgumentError

_KEPT = 4  # masks of a byte per item


class Conditions:
    """Masks of the items that meet a condition; those asked for last are kept.

    Parameters
    ----------
    runs : sequence of Run
        All items; they do not change.
    """

    def __init__(self, runs: Sequence[Run]) -> None:
        self._evaluated = partial(_evaluated, tuple(runs))
        self._of_text = lru_cache(_KEPT)(self._evaluated)

    def mask(self, filter: Any, name: str | None, n_bits: int) -> NDArray[np.bool_]:
        """Return a read-only mask of shape (n,).

        Parameters
        ----------
        filter : str or pyarrow.compute.Expression
            See `fewbits.collection.filters.matching_rows`.
        name : str or None
            Of the column that ids were read from.
        n_bits : int
        """
        made = self._of_text if isinstance(filter, str) else self._evaluated
        return made(filter, name, n_bits)


def _evaluated(
    runs: Sequence[Run], filter: Any, name: str | None, n_bits: int
) -> NDArray[np.bool_]:
    mask = np.concatenate([_matching(run, filter, name, n_bits) for run in runs])
    mask.flags.writeable = False
    return mask


def _matching(
    run: Run, filter: Any, name: str | None, n_bits: int
) -> NDArray[np.bool_]:
    """Return a mask over the rows of a run; nothing of it is copied."""
    from fewbits.collection.filters import matching_rows  # imports a tokenizer of SQL

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
