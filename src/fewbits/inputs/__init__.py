"""A user's own data -> items: vectors, texts or images, and what belongs to each."""

from fewbits.inputs._folders import unreadable_named
from fewbits.inputs._input import Input, Texts, check_several, check_texts
from fewbits.inputs._objects import (
    are_bytes,
    are_texts,
    as_items,
    as_texts,
    taking,
    warn_of_index,
)
from fewbits.inputs._read import (
    read,
    read_columns,
    read_ids,
    split_types,
    with_beside,
)
from fewbits.inputs._text_files import strict_json
from fewbits.inputs._text_kinds import hex_codes, packed_codes

__all__ = [
    "Input",
    "Texts",
    "are_bytes",
    "are_texts",
    "as_items",
    "as_texts",
    "check_several",
    "check_texts",
    "hex_codes",
    "packed_codes",
    "read",
    "read_columns",
    "read_ids",
    "split_types",
    "strict_json",
    "taking",
    "unreadable_named",
    "warn_of_index",
    "with_beside",
]
