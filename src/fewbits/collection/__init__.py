"""A collection: an encoder and the rows that it has encoded, searched and kept."""

from fewbits.collection._duplicates import DuplicateGroups, DuplicatePairs, Duplicates
from fewbits.collection._recall import RecallEstimate
from fewbits.collection._search import KINDS
from fewbits.collection._verification import Verification
from fewbits.collection.classes import Classification
from fewbits.collection.collection import Collection, fit
from fewbits.collection.hits import Hit, Hits

__all__ = [
    "KINDS",
    "Classification",
    "Collection",
    "DuplicateGroups",
    "DuplicatePairs",
    "Duplicates",
    "Hit",
    "Hits",
    "RecallEstimate",
    "Verification",
    "fit",
]
