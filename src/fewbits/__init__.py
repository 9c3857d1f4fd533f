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
    from fewbits.bundle import Bundle
    from fewbits.client import connect
    from fewbits.collection import Collection, Hits, fit
    from fewbits.codes import pack, unpack
    from fewbits.evaluation import neighbour_recall
    from fewbits.index import FlatIndex
    from fewbits.inputs import read
    from fewbits.learners import CCAITQ, ITQ, NeighbourCodes
    from fewbits.training import compare, fit_bundle
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "CCAITQ": "fewbits.learners",
            "ITQ": "fewbits.learners",
            "Bundle": "fewbits.bundle",
            "Collection": "fewbits.collection",
            "Hits": "fewbits.collection",
            "FlatIndex": "fewbits.index",
            "NeighbourCodes": "fewbits.learners",
            "compare": "fewbits.training",
            "fit": "fewbits.collection",
            "connect": "fewbits.client",
            "fit_bundle": "fewbits.training",
            "neighbour_recall": "fewbits.evaluation",
            "pack": "fewbits.codes",
            "read": "fewbits.inputs",
            "unpack": "fewbits.codes",
        },
    )

__all__ = [
    "CCAITQ",
    "ITQ",
    "Bundle",
    "Collection",
    "FlatIndex",
    "Hits",
    "NeighbourCodes",
    "__version__",
    "compare",
    "connect",
    "fit",
    "fit_bundle",
    "neighbour_recall",
    "pack",
    "read",
    "unpack",
]
