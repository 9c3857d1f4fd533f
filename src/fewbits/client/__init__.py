"""A bundle that another process serves, with the verbs of a local one.

>>> import fewbits
>>> remote = fewbits.connect("http://localhost:8000")  # doctest: +SKIP
>>> remote.search(vectors, k=5)  # doctest: +SKIP
"""

from fewbits.client._remote import Remote, connect

__all__ = ["Remote", "connect"]
