"""Arrow streams of requests: only such as take no more memory than they bring."""

import struct
from typing import Any

from fewbits.client.wire import read_stream
from fewbits.errors import ArgumentError, one_line

#: Of the tables Message and RecordBatch of Arrow's format, the places of fields.
_HEADER, _COMPRESSION = 2, 3


def request_stream(data: bytes) -> tuple[Any, bytes]:
    """Return what `read_stream` does, of a stream that is not larger than it seems.

    Compressed buffers are refused before they are unpacked. So are types whose values
    are stored once and stand in many rows, such as dictionaries and views.

    Raises
    ------
    ArgumentError
    """
    for message in _messages(data):
        _check(message)
    table, fields = read_stream(data)
    if table.num_rows > len(data):  # which some types need no bytes for
        raise ArgumentError(f"{table.num_rows:,} rows are more than were sent")
    return table, fields


def _messages(data: bytes) -> list[Any]:
    import pyarrow as pa

    try:
        return [*pa.ipc.MessageReader.open_stream(data)]
    except (pa.ArrowException, OSError, ValueError) as error:
        raise ArgumentError(f"not a stream of Arrow: {one_line(error)}") from None


def _check(message: Any) -> None:
    """Refuse a message that takes more memory than it brings."""
    import pyarrow as pa

    try:
        kinds = pa.ipc.read_schema(message) if message.type == "schema" else ()
        batch = message.type == "record batch"
        compressed = batch and _is_compressed(message.metadata.to_pybytes())
    except (pa.ArrowException, OSError, ValueError, struct.error) as error:
        raise ArgumentError(f"not a stream of Arrow: {one_line(error)}") from None
    if compressed:
        raise ArgumentError("send Arrow streams uncompressed")
    for column in kinds:
        if not (_is_plain(column.type) or _is_plain_list(column.type)):
            raise ArgumentError(
                f"column {column.name!r} is of type {column.type}: send numbers, "
                "texts, bytes, times, or lists of them"
            )


def _is_compressed(head: bytes) -> bool:
    """Look into the head of a record batch, which pyarrow has checked."""
    (root,) = struct.unpack_from("<I", head, 0)
    place = _field(head, root, _HEADER)
    if not place:
        return False
    (offset,) = struct.unpack_from("<I", head, place)
    return _field(head, place + offset, _COMPRESSION) != 0


def _field(head: bytes, table: int, number: int) -> int:
    """Return where a field of a table of FlatBuffers is, or 0 if it has none."""
    (back,) = struct.unpack_from("<i", head, table)
    names = table - back
    (size,) = struct.unpack_from("<H", head, names)
    slot = 4 + 2 * number
    if slot >= size:
        return 0
    (offset,) = struct.unpack_from("<H", head, names + slot)
    return table + int(offset) if offset else 0


def _is_plain(kind: Any) -> bool:
    import pyarrow.types as types

    others = types.is_null, types.is_decimal, types.is_fixed_size_binary
    return _is_value(kind) or any(each(kind) for each in others)


def _is_plain_list(kind: Any) -> bool:
    import pyarrow.types as types

    lists = types.is_list, types.is_large_list, types.is_fixed_size_list
    return any(each(kind) for each in lists) and _is_value(kind.value_type)


def _is_value(kind: Any) -> bool:
    """Return whether each value of a type takes memory of its own."""
    import pyarrow.types as types

    texts = types.is_string, types.is_large_string
    known = *texts, types.is_binary, types.is_large_binary, types.is_primitive
    return any(each(kind) for each in known)
