"""Exhaustive search."""

import numpy as np
from numpy.typing import ArrayLike

from fewbits._typing import CodeArray, IdArray
from fewbits.codes import Neighbours, as_codes, hamming_topk


class FlatIndex:
    """Compare every query with every code. Exact; the yardstick for other indexes."""

    def __init__(self, codes: CodeArray, ids: ArrayLike | None = None) -> None:
        self.codes = as_codes(codes)
        self.ids: IdArray = np.arange(len(self.codes), dtype=np.int64)

    def __len__(self) -> int:
        return len(self.codes)

    def search(self, queries: CodeArray, k: int) -> Neighbours:
        return hamming_topk(queries, self.codes, k)
