"""The interface of all data sets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewbits._repr import one_line


@dataclass(frozen=True)
class Dataset:
    """Items, their labels, and the standard splits.

    Attributes
    ----------
    name : str
    kind : {"texts", "images", "vectors"}
    items : sequence
        Texts, image references (see `ImageItem`), or a matrix of vectors.
    keys : sequence of str
        The name that the source gives each item.
    labels : mapping of str to ndarray of shape (n,)
        Classes of the items, from coarse to fine where there are several.
    splits : mapping of str to ndarray of int
        Rows of named parts, such as "train" and "test".
    source, licence : str
    """

    name: str
    kind: str
    items: Any
    keys: Sequence[str]
    labels: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    splits: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    source: str = ""
    licence: str = ""

    def __repr__(self) -> str:
        return one_line(self)

    def __len__(self) -> int:
        return len(self.items)
