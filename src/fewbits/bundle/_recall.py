"""Recall of the searches of a bundle, estimated on a sample."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_count, check_k, check_rate
from fewbits._repr import one_line
from fewbits._typing import IdArray
from fewbits.bundle._encoding import Progress
from fewbits.bundle._search import SearchMixin


@dataclass(frozen=True, repr=False)
class RecallEstimate:
    """Recall of one way to search, and the confidence interval of the estimate.

    Attributes
    ----------
    search : {"hamming", "asymmetric", "euclidean"}
        What orders the answers: the codes alone; or, of a shortlist, the scores of the
        query; or its distances to the kept vectors.
    k : int
        Neighbours that are looked for.
    recall : float
        Share of the `k` nearest vectors among the first `k` answers, the mean over the
        queries of the sample.
    low, high : float
        Bounds of the confidence interval of the mean over all queries of this kind.
    n_queries : int
        Queries of the sample.
    confidence : float
        Share of samples whose interval contains that mean.
    shortlist : int or None
        Codes that are ranked again; None where none are.
    """

    search: str
    k: int
    recall: float
    low: float
    high: float
    n_queries: int
    confidence: float
    shortlist: int | None = None

    def __repr__(self) -> str:
        return one_line(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


class RecallMixin(SearchMixin):
    """Measures search against the exact nearest neighbours of vectors."""

    def estimate_recall(
        self,
        k: int = 10,
        *,
        queries: Any = None,
        vectors: ArrayLike | None = None,
        n_queries: int | None = None,
        shortlist: int | None = None,
        confidence: float = 0.95,
        random_state: Any = 0,
        progress: Progress | None = None,
    ) -> tuple[RecallEstimate, ...]:
        """Estimate the recall of each way to search this bundle, with an interval.

        The truth is the `k` nearest vectors by Euclidean distance, found exactly. The
        best queries to ask are held-out ones, that the encoder was not fitted to:
        without any, rows of the collection are drawn at random, and each is left out
        of its own answers. Where the encoder was fitted to these rows, their recall
        is higher than that of new queries.

        Parameters
        ----------
        k : int, default=10
            Fewer than there are items.
        queries : array-like of shape (n, n_features), or sequence, default=None
            Held-out raw items; None draws rows of the collection.
        vectors : array-like of shape (n_items, n_features), default=None
            Vector of each item, in the order of the rows, such as a memory map; None
            takes the vectors that were kept, in the precision in which they were.
        n_queries : int, default=None
            How many queries or rows are drawn, all where there are no more; None asks
            all of the `queries`, or 1,000 rows.
        shortlist : int, default=None
            Number of codes to re-rank. None takes the tuned number, else the larger of
            100 and 10 `k`, as `search_reranked` does.
        confidence : float, default=0.95
            Share of samples whose interval contains the recall over all queries.
        random_state : int or Generator, default=0
            Draws the queries.
        progress : callable, default=None
            Called with (items compared, items in all).

        Returns
        -------
        tuple of RecallEstimate
            One for the codes alone ("hamming"), for a shortlist ranked again by scores
            ("asymmetric") and, where vectors are kept, by these ("euclidean").

        Raises
        ------
        ArgumentError
            When the collection keeps no vectors and none are given, they are not those
            of its items, or a number is out of range.
        FeatureError
            When queries or vectors are not what the bundle takes.

        Notes
        -----
        Items at the same distance count in the order of their rows, in the truth as
        in the answers. `fewbits.evaluation.statistics.mean_interval` makes the
        interval. It holds for queries like those of the sample, also where all rows
        were queries.

        Examples
        --------
        >>> import numpy as np
        >>> from fewbits.bundle import Bundle
        >>> from fewbits.learners import ITQ
        >>> X = np.random.default_rng(0).normal(size=(1000, 8))
        >>> bundle = Bundle(ITQ(n_bits=8, random_state=0).fit(X[:500]).encoder_)
        >>> bundle = bundle.with_items(X[500:], keep_vectors="float32")
        >>> for found in bundle.estimate_recall(k=5, queries=X[:100]):
        ...     print(found.search, 0 < found.low < found.recall <= found.high <= 1)
        hamming True
        asymmetric True
        euclidean True
        """
        # Imported here: they take a while, and no search needs them.
        from fewbits.bundle._recall_sample import Sample
        from fewbits.evaluation.statistics import mean_interval

        k = check_k(k)
        check_rate(confidence, "confidence")
        if n_queries is not None:
            check_count(n_queries, "n_queries", 2)
        size = self._size_of_shortlist(k, shortlist)
        sample = Sample.draw(self, k, queries, vectors, n_queries, random_state)
        recalls: dict[str, list[NDArray[np.float64]]] = {}
        for block, truth in sample.blocks(k, progress):
            for search, found in self._answers(block, k, size):
                recalls.setdefault(search, []).append(block.recalls(found, truth))
        return tuple(
            RecallEstimate(
                search,
                k,
                *mean_interval(np.concatenate(each), confidence),
                float(confidence),
                None if search == "hamming" else size,
            )
            for search, each in recalls.items()
        )

    def _size_of_shortlist(self, k: int, shortlist: int | None) -> int:
        """Return the number of codes that `search_reranked` ranks again."""
        if shortlist is not None:
            return max(k, check_k(shortlist, "shortlist"))
        return max(k, self.shortlist or max(100, 10 * k))

    def _answers(
        self, asked: Any, k: int, shortlist: int
    ) -> Iterator[tuple[str, IdArray]]:
        """Yield the rows that each way to search finds."""
        # A row is among the answers to itself, and takes the place of another.
        more = 0 if asked.rows is None else 1
        rows_of = self.collection.rows_of
        yield "hamming", rows_of(self.index.search(asked.codes, k + more).ids)
        if self.item_kind == "codes":
            return  # which have no scores beside their bits
        again = partial(
            self.index.search_reranked,
            asked.codes,
            k + more,
            shortlist=shortlist + more,
        )
        scores = self.encoder.query_scores(asked.vectors)
        found = again(scores=scores, offsets=self._offsets)
        yield "asymmetric", rows_of(found.ids)
        kept = self.collection.vectors
        if kept is not None:
            found = again(vectors=kept, query_vectors=asked.vectors)
            yield "euclidean", rows_of(found.ids)
