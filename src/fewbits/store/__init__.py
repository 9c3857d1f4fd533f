"""Rows on disk that grow: segments of Arrow, manifests, and what keeps them whole.

Knows nothing of encoders but a fingerprint, and nothing of search. It trusts what
comes: `fewbits.collection`, whose rows these are, has checked ids, codes and columns.
"""

from fewbits.store._lock import one_at_a_time
from fewbits.store._repair import RepairReport
from fewbits.store._schema import (
    BLOCKS,
    CODE,
    CORRECTION,
    ID,
    RESERVED,
    ROW,
    VECTOR,
)
from fewbits.store._snapshot import Int8Parts, Segment, Snapshot
from fewbits.store._store import Store, remove_store
from fewbits.store._verify import Damage, Findings, Report
from fewbits.store._writer import Writer

__all__ = [
    "BLOCKS",
    "CODE",
    "CORRECTION",
    "ID",
    "RESERVED",
    "ROW",
    "VECTOR",
    "Damage",
    "Findings",
    "Int8Parts",
    "RepairReport",
    "Report",
    "Segment",
    "Snapshot",
    "Store",
    "Writer",
    "one_at_a_time",
    "remove_store",
]
