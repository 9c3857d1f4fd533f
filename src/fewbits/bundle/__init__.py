"""A working system on disk: one folder <-> one object."""

from typing import TYPE_CHECKING

from fewbits._lazy import lazy_names
from fewbits.bundle._bundle import Bundle
from fewbits.bundle._classes import class_answers, label_answers
from fewbits.bundle._duplicates import MAX_PAIRS, Duplicates
from fewbits.bundle._examples import N_RANDOM, ClassMembers, ClassRows
from fewbits.bundle._hits import FoundRows, hits_of
from fewbits.bundle._items import Items
from fewbits.bundle._metadata import Metadata
from fewbits.bundle._recall import RecallEstimate
from fewbits.bundle._votes import (
    bound_of,
    linear_answers,
    vote_answers,
    vote_neighbours,
)

if TYPE_CHECKING:
    from fewbits.bundle._attributes import read_names, report_of, write_attributes
    from fewbits.bundle._taxonomy import check_taxonomy, read_tree, write_taxonomy
else:  # what pages and reports need, no search does
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "check_taxonomy": "fewbits.bundle._taxonomy",
            "read_names": "fewbits.bundle._attributes",
            "read_tree": "fewbits.bundle._taxonomy",
            "report_of": "fewbits.bundle._attributes",
            "write_attributes": "fewbits.bundle._attributes",
            "write_taxonomy": "fewbits.bundle._taxonomy",
        },
    )

__all__ = [
    "MAX_PAIRS",
    "N_RANDOM",
    "Bundle",
    "ClassMembers",
    "ClassRows",
    "Duplicates",
    "FoundRows",
    "Items",
    "Metadata",
    "RecallEstimate",
    "bound_of",
    "check_taxonomy",
    "class_answers",
    "hits_of",
    "label_answers",
    "linear_answers",
    "read_names",
    "read_tree",
    "report_of",
    "vote_answers",
    "vote_neighbours",
    "write_attributes",
    "write_taxonomy",
]
