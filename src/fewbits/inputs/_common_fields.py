"""Columns that the files of one table have in common."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fewbits._arrow import is_integer, is_list
from fewbits.errors import ArgumentError


def common_fields(schemas: Sequence[Sequence[Any]], paths: Sequence[Path]) -> list[Any]:
    """Return fields that hold the columns of all shards, in the order of the first.

    Columns are matched by name; numbers become the wider type, and columns without a
    value what they are elsewhere. Anything else is refused: values would be lost.
    """
    first = list(schemas[0])
    for schema, path in zip(schemas[1:], paths[1:], strict=True):
        names = [field.name for field in schema]
        if names != [field.name for field in first]:
            schema = _reordered(schema, first, path, paths[0])
        for i, (own, field) in enumerate(zip(schema, first, strict=True)):
            kind = _wider(field.type, own.type)
            if kind is None:
                raise ArgumentError(
                    f"{path} has another column {own.name!r} than {paths[0]}: it holds "
                    f"{own.type}, not {field.type}; shards of a collection need the "
                    "same columns"
                )
            first[i] = field.with_type(kind)
    return first


def _reordered(
    schema: Sequence[Any], first: Sequence[Any], path: Path, other: Path
) -> list[Any]:
    """Return the fields of a shard in the order of the first one's."""
    own = {field.name: field for field in schema}
    names = [field.name for field in first]
    if len(own) < len(schema) or sorted(own) != sorted(names):
        odd = sorted({*own} ^ {*names}) or sorted(own)
        raise ArgumentError(
            f"{path} has other columns than {other}: {odd[0]!r} is in only one of "
            "them, or several times; shards of a collection need the same columns"
        )
    return [own[name] for name in names]


def _wider(one: Any, two: Any) -> Any:
    """Return the type that holds the values of both exactly, None if there is none."""
    import pyarrow as pa
    import pyarrow.types as types

    if one == two or types.is_null(two):
        return one
    if types.is_null(one):
        return two
    if is_list(one) and is_list(two):
        value = _wider(one.value_type, two.value_type)
        if value is None:
            return None
        sizes = {getattr(each, "list_size", None) for each in (one, two)}
        size = sizes.pop()
        same = not sizes and size is not None
        return pa.list_(value, size) if same else pa.large_list(value)
    for is_kind in (is_integer, types.is_floating):
        if is_kind(one) and is_kind(two):
            found = pa.from_numpy_dtype(
                np.result_type(one.to_pandas_dtype(), two.to_pandas_dtype())
            )
            return found if is_kind(found) else None
    return None
