"""Near duplicates in the collection of a server."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits.bundle import MAX_PAIRS, Duplicates
from fewbits.client._base import RemoteBase, chosen
from fewbits.client._tables import ids_array
from fewbits.index import Groups


@dataclass(frozen=True, eq=False, repr=False)
class RemoteGroups(Groups):
    """Groups whose members have their ids beside their rows.

    Attributes
    ----------
    ids : ndarray of shape (n_items,)
        Of the members: ``ids[offsets[:-1]]`` are those of the first items of groups.
    """

    ids: NDArray[Any]


class Duplicating(RemoteBase):
    """Finds near duplicates."""

    def duplicates(
        self,
        radius: int,
        *,
        max_vector_distance: float | None = None,
        filter: Any = None,
        allowed: Any = None,
        max_pairs: int = MAX_PAIRS,
    ) -> Duplicates:
        """Return pairs of items whose codes are near, see `Bundle.duplicates`.

        Returns
        -------
        Duplicates
        """
        table, _ = self._connection.table(
            "/v1/duplicates",
            radius=radius,
            max_vector_distance=max_vector_distance,
            max_pairs=max_pairs,
            **chosen(filter, allowed),
        )
        sides, names = ("first", "second"), table.column_names
        rows = [table[f"{side}_row"].to_numpy() for side in sides]
        ids = [ids_array(table[f"{side}_id"]) for side in sides]
        return Duplicates(
            table["distance"].to_numpy(),
            np.stack(rows, axis=1),
            np.stack(ids, axis=1),
            table["vector_distance"].to_numpy() if "vector_distance" in names else None,
        )

    def duplicate_groups(
        self,
        radius: int,
        *,
        max_vector_distance: float | None = None,
        filter: Any = None,
        allowed: Any = None,
        max_pairs: int | None = None,
    ) -> RemoteGroups:
        """Return groups of near duplicates, see `Bundle.duplicate_groups`.

        Returns
        -------
        RemoteGroups

        Raises
        ------
        ArgumentError
            When there are more pairs, or items in groups, than the server answers.
        """
        table, told = self._connection.table(
            "/v1/duplicate-groups",
            radius=radius,
            max_vector_distance=max_vector_distance,
            max_pairs=max_pairs,
            **chosen(filter, allowed),
        )
        sizes = np.bincount(table["_group"].to_numpy(), minlength=told["n_groups"])
        return RemoteGroups(
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            table["_row"].to_numpy(),
            told["n_pairs"],
            ids_array(table["_id"]),
        )
