"""The wire format: media types and Arrow streams.

Bulk goes as an Arrow stream: one table, and the other fields of the request or
answer as JSON in the metadata of its schema.
"""

from typing import Any

from fewbits.errors import ArgumentError, one_line

JSON = "application/json"
ARROW = "application/vnd.apache.arrow.stream"
BYTES = "application/octet-stream"
#: Images stay where they lie, for the explorer to read.
NO_IMAGES = (
    "a service takes no new images: run 'fewbits add COLLECTION FOLDER' where it runs, "
    "and it has them at once"
)
_FIELDS = b"fewbits"

__all__ = ["ARROW", "BYTES", "JSON", "NO_IMAGES", "read_stream", "write_stream"]


def write_stream(table: Any, fields: str) -> bytes:
    """Return an Arrow table and other fields, a JSON object, as an Arrow stream."""
    import pyarrow as pa

    table = table.replace_schema_metadata({_FIELDS: fields.encode()})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def read_stream(data: bytes) -> tuple[Any, bytes]:
    """Return the table and the JSON of other fields that `write_stream` was given.

    Of data that another machine sent, which are not trusted: refused is what is no such
    stream, or more than one, is damaged, or is compressed.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table, fields = read_stream(write_stream(pa.table({"a": [1]}), '{"k": 3}'))
    >>> table.num_rows, fields
    (1, b'{"k": 3}')
    """
    import pyarrow as pa

    try:
        source = pa.BufferReader(data)
        with pa.ipc.open_stream(source) as reader:
            table = pa.Table.from_batches(reader, reader.schema)
        if source.tell() < len(data):
            raise ValueError("more follows behind its end; send one stream")
        # What is read is not checked by itself, and offsets may point anywhere.
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise ArgumentError(f"not a stream of Arrow: {one_line(error)}") from None
    if table.get_total_buffer_size() > 2 * len(data) + 4096:
        raise ArgumentError("send Arrow streams uncompressed")
    metadata = table.schema.metadata or {}
    return table.replace_schema_metadata(None), metadata.get(_FIELDS, b"{}")
