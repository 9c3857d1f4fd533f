"""Rows on disk that grow: segments of Arrow, manifests, and what keeps them whole.

Knows nothing of encoders but a fingerprint, and nothing of search.
"""

from fewbits.store._snapshot import Int8Parts, Part, Snapshot
from fewbits.store._store import Store
from fewbits.store._writer import Writer

__all__ = ["Int8Parts", "Part", "Snapshot", "Store", "Writer"]
