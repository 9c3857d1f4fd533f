"""A user's own data -> items: vectors, texts or images, and what belongs to each."""

from fewbits.inputs._checks import check_several, check_texts
from fewbits.inputs._id_files import read_ids
from fewbits.inputs._input import Input
from fewbits.inputs._objects import as_items, as_texts
from fewbits.inputs._read import read
from fewbits.inputs._texts import Texts

__all__ = [
    "Input",
    "Texts",
    "as_items",
    "as_texts",
    "check_several",
    "check_texts",
    "read",
    "read_ids",
]
