"""Search by example."""

from dataclasses import dataclass
from typing import Any

from fewbits._repr import one_line
from fewbits.bundle import N_RANDOM, Bundle, hits_of


@dataclass(frozen=True, eq=False)
class LikeRequest:
    """Ask which items are like some others.

    Parameters
    ----------
    examples, counterexamples : array-like of shape (n, n_features), or sequence
        Raw items that belong to the class, and that do not.
    ids, not_ids : array-like of int or str
        Items of the collection that belong to the class, and that do not.
    k : int, default=10
    filter, allowed : default=None
        Which items may be found, see `SearchRequest`.
    n_random : int, default=1000
        Random items of the collection that stand for everything else.
    C : float, default=100
        Weight of the errors of the linear SVM.
    random_state : int, default=0
        Seeds the choice of random items and the solver.
    """

    examples: Any = ()
    counterexamples: Any = ()
    ids: Any = ()
    not_ids: Any = ()
    k: int = 10
    filter: Any = None
    allowed: Any = None
    n_random: int = N_RANDOM
    C: float = 100.0
    random_state: int = 0


@dataclass(frozen=True)
class LikeResponse:
    """The items that fit best.

    Attributes
    ----------
    hits : list of dict
        Best first: ``id``, ``score``, positive where the model sees a member, and
        ``columns``, a dict of the user's columns.
    none_fits : bool
        Whether nothing in a large collection looks like a member. False for a small
        one, whose members serve as negatives, too, so that scores below 0 say little.
    """

    hits: list[dict[str, Any]]
    none_fits: bool = False

    def __repr__(self) -> str:
        return one_line(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {"hits": self.hits}


def like(bundle: Bundle, request: LikeRequest) -> LikeResponse:
    """Rank the collection by how well it fits a class that examples define.

    Parameters
    ----------
    bundle : Bundle
        With a collection.
    request : LikeRequest

    Returns
    -------
    LikeResponse

    Raises
    ------
    ArgumentError
        When there is no example, an id is not known, or an item is given on both sides.
    """
    found = bundle.rank_rows_by_example(
        request.examples,
        request.counterexamples,
        ids=request.ids,
        not_ids=request.not_ids,
        k=request.k,
        filter=request.filter,
        allowed=request.allowed,
        n_random=request.n_random,
        C=request.C,
        random_state=request.random_state,
    )
    items = bundle.collection
    (hits,) = hits_of(items, found.rows[None], score=found.scores[None])
    large = len(items) > request.n_random
    return LikeResponse(hits, large and bool(hits) and hits[0]["score"] < 0)
