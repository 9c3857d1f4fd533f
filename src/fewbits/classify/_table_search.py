"""The nearest class code by multi-index hashing, with a count of the work."""

from typing import final

import numpy as np

from fewbits import _kernels
from fewbits._frozen import Immutable, frozen_array
from fewbits._typing import CodeArray
from fewbits.classify._decoded import Answers
from fewbits.index.table_files import build_tables


@final
class TableSearch(Immutable):
    """The nearest code and its ties, with a count of the work.

    The substrings of a query are looked up, then all values with one bit flipped, and
    so on, until what was found is no farther than whatever could have been missed.
    """

    def __init__(self, codes: CodeArray, n_bits: int) -> None:
        self._tables = build_tables(frozen_array(codes), n_bits=n_bits)

    def nearest(self, codes: CodeArray, work: int) -> Answers:
        """Find the nearest row of each code, the lowest if tied.

        Parameters
        ----------
        codes : ndarray of shape (n, n_bytes), dtype uint8
        work : int
            Look-ups and comparisons after which a code is given up: the same ones on
            every machine.

        Returns
        -------
        Answers
            Rows of -1 for the codes that were given up.
        """
        answers = Answers.none(len(codes))
        counts = np.empty((len(codes), 2), np.int64)
        _kernels.multi_index_nearest(
            np.ascontiguousarray(codes),
            self._tables.native,
            _kernels.Budget(1, 1, work),
            answers.distances,
            answers.rows,
            answers.ties,
            counts,
            np.empty(len(codes), np.uint8),
            _kernels.num_threads(),
        )
        answers.lookups, answers.comparisons = counts.T
        return answers
