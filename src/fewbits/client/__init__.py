"""A bundle that another process serves, with the verbs of a local one.

>>> import fewbits
>>> remote = fewbits.connect("http://localhost:8000")  # doctest: +SKIP
>>> remote.search(vectors, k=5)  # doctest: +SKIP
"""

from typing import TYPE_CHECKING

from fewbits._lazy import lazy_names

if TYPE_CHECKING:
    from fewbits.client._remote import Remote, connect
else:  # which servers do without
    __getattr__, __dir__ = lazy_names(
        __name__,
        {"Remote": "fewbits.client._remote", "connect": "fewbits.client._remote"},
    )

__all__ = ["Remote", "connect"]
