"""Search of a collection by examples of a class."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fewbits.bundle._collection import CollectionMixin
from fewbits.bundle._examples import (
    COST,
    N_RANDOM,
    ClassMembers,
    ClassRows,
    Examples,
    check_apart,
    rank_by_class,
)
from fewbits.bundle._same import same_rows
from fewbits.bundle._selection import selected
from fewbits.codes import n_bytes


class ExampleMixin(CollectionMixin):
    """Finds the items of a collection that are like given ones."""

    def search_by_example(
        self,
        examples: ArrayLike | Sequence[Any] = (),
        counterexamples: ArrayLike | Sequence[Any] = (),
        *,
        ids: Any = (),
        not_ids: Any = (),
        k: int = 10,
        filter: Any = None,
        allowed: Any = None,
        n_random: int = N_RANDOM,
        C: float = COST,
        random_state: int = 0,
    ) -> ClassMembers:
        """Rank the collection by how well it fits a class that examples define.

        The class need not be one that the encoder was trained on: a linear SVM on bits
        is learnt on the spot.

        Parameters
        ----------
        examples, counterexamples : array-like of shape (n, n_features), or sequence
            Raw items that belong to the class, and that do not.
        ids, not_ids : array-like of int or str
            Items of the collection that belong to the class, and that do not. They are
            left out of the answer, since their class is known. So are examples that
            are items of the collection; vectors are recognised where vectors are kept.
        k : int, default=10
        filter, allowed : default=None
            Rank only these items, see `search`.
        n_random : int, default=1000
            Random items of the collection that stand for everything else.
        C : float, default=100
            Weight of the errors of the SVM for one example, see
            `fewbits.classify.learn_class`; it grows with the square root of their
            number.
        random_state : int, default=0
            Seeds the choice of random items and the solver.

        Returns
        -------
        ClassMembers
            ``scores`` (k,), highest first and positive where the model sees a member,
            and ``ids`` (k,); fewer when the collection has fewer.

        Raises
        ------
        ArgumentError
            When there is no example, an id is unknown, or an item is given on both
            sides.

        Examples
        --------
        >>> import numpy as np
        >>> from fewbits.bundle import Bundle
        >>> from fewbits.learners import LSH
        >>> X = np.repeat(np.eye(4), 25, axis=0)  # 4 classes of 25 items
        >>> bundle = Bundle(LSH(n_bits=64, random_state=0).fit(X).encoder_)
        >>> bundle.with_items(X).search_by_example(ids=[50, 51], k=3).ids
        array([52, 53, 54])
        """
        found = self.rank_rows_by_example(
            examples,
            counterexamples,
            ids=ids,
            not_ids=not_ids,
            k=k,
            filter=filter,
            allowed=allowed,
            n_random=n_random,
            C=C,
            random_state=random_state,
        )
        return ClassMembers(found.scores, self.collection.ids_at(found.rows))

    def rank_rows_by_example(
        self,
        examples: ArrayLike | Sequence[Any] = (),
        counterexamples: ArrayLike | Sequence[Any] = (),
        *,
        ids: Any = (),
        not_ids: Any = (),
        k: int = 10,
        filter: Any = None,
        allowed: Any = None,
        n_random: int = N_RANDOM,
        C: float = COST,
        random_state: int = 0,
    ) -> ClassRows:
        """Return what `search_by_example` does, with rows of the collection for ids.

        Parameters
        ----------
        examples, counterexamples, ids, not_ids, k, filter, allowed
            As in `search_by_example`, and so are `n_random`, `C` and `random_state`.

        Returns
        -------
        ClassRows
            ``scores`` (k,), highest first, and ``rows`` (k,).
        """
        members, others = self._given(examples), self._given(counterexamples)
        check_apart(members, others)
        return rank_by_class(
            self.collection,
            self.encoder.n_bits,
            self._examples(members, ids),
            self._examples(others, not_ids),
            k,
            n_random=n_random,
            C=C,
            random_state=random_state,
            allowed=selected(self, filter, allowed),
        )

    def _given(self, items: Any) -> Any:
        """Return examples as `features` takes them; an empty list is of any kind."""
        if isinstance(items, list | tuple) and not items:
            return []
        return self._as_items(items)

    def _examples(self, items: Any, ids: Any) -> Examples:
        rows = self.collection.rows(ids)
        if not len(items):
            codes = np.empty((0, n_bytes(self.encoder.n_bits)), np.uint8)
            return Examples(codes, rows)
        codes = self.encode(items)
        same = same_rows(self, items, codes)
        return Examples(codes, np.concatenate([rows, same]))
