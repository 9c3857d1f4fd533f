"""Learn compact binary codes from vectors, texts and images, and search them.

What most programs need is imported from here, ``from fewbits import ITQ, FlatIndex``;
the rest from its subpackage, ``from fewbits.learners import DBC``. Nothing is loaded
before it is asked for, so that using an encoder does not load the libraries that
trained it.
"""

from typing import TYPE_CHECKING

from fewbits._lazy import lazy_names
from fewbits._version import __version__

if TYPE_CHECKING:
    from fewbits.client import open
    from fewbits.codes import pack, unpack
    from fewbits.collection import Collection, Hits, fit
    from fewbits.evaluation import neighbour_recall
    from fewbits.index import FlatIndex
    from fewbits.learners import CCAITQ, ITQ, NeighbourCodes
    from fewbits.training import compare
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "CCAITQ": "fewbits.learners",
            "ITQ": "fewbits.learners",
            "Collection": "fewbits.collection",
            "Hits": "fewbits.collection",
            "FlatIndex": "fewbits.index",
            "NeighbourCodes": "fewbits.learners",
            "compare": "fewbits.training",
            "fit": "fewbits.collection",
            "open": "fewbits.client",
            "neighbour_recall": "fewbits.evaluation",
            "pack": "fewbits.codes",
            "unpack": "fewbits.codes",
        },
    )

__all__ = [
    "CCAITQ",
    "ITQ",
    "Collection",
    "FlatIndex",
    "Hits",
    "NeighbourCodes",
    "__version__",
    "compare",
    "fit",
    "neighbour_recall",
    "open",
    "pack",
    "unpack",
]
