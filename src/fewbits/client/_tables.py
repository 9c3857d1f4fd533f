"""Tables of hits as the arrays that a local bundle returns."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._arrow import python_values
from fewbits._typing import CodeArray

_OWN = 3  # columns of a hit before the user's: query, id, distance
_NONE = np.int32(-1)
Answers = Iterable[tuple[Any, dict[str, Any]]]


def codes_of(column: Any) -> CodeArray:
    """Return a column of fixed-size binaries as a matrix."""
    data = b"".join(column.to_pylist())
    size = column.type.byte_width
    return np.frombuffer(data, np.uint8).reshape(-1, size)


def ids_array(column: Any) -> NDArray[Any]:
    """Return ids as a local bundle does: whole numbers, or objects that are texts."""
    values = column.to_pylist()
    if column.type == "int64":
        return np.array(values, np.int64)
    return np.fromiter(values, object, len(values))


def matrices(
    answers: Answers, k: int, *, text_ids: bool, none: Any = _NONE
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return distances and ids, each (n, k), padded by `none` and -1, or None for text.

    Distances have the type of `none`.
    """
    distances, ids = [np.empty((0, k), none.dtype)], [_padding(0, k, text_ids)]
    for table, told in answers:
        query = table["_query"].to_numpy()
        place = np.arange(len(query)) - np.searchsorted(query, query)
        apart = np.full((told["n_queries"], k), none, none.dtype)
        apart[query, place] = table["_distance"].to_numpy()
        known = _padding(told["n_queries"], k, text_ids)
        known[query, place] = ids_array(table["_id"])
        distances.append(apart)
        ids.append(known)
    return np.concatenate(distances), np.concatenate(ids)


def records(answers: Answers) -> list[list[dict[str, Any]]]:
    """Return the hits of each query with everything that was kept about them."""
    found: list[list[dict[str, Any]]] = []
    for table, told in answers:
        metric, start = told["metric"], len(found)
        found += [[] for _ in range(told["n_queries"])]
        extra = {} if metric == "hamming" else {"metric": metric}
        names = table.column_names[_OWN:]
        # Distances stay as they are computed.
        columns = [column.to_pylist() for column in table.columns[:_OWN]]
        columns += [python_values(column) for column in table.columns[_OWN:]]
        for query, id, distance, *kept in zip(*columns, strict=True):
            hit = {"id": id, "distance": distance, **extra}
            hit["columns"] = dict(zip(names, kept, strict=True))
            found[start + query].append(hit)
    return found


def _padding(n: int, k: int, text_ids: bool) -> NDArray[Any]:
    return np.full((n, k), None, object) if text_ids else np.full((n, k), -1, np.int64)
