"""Recall of a bundle, estimated on a sample."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fewbits._repr import one_line
from fewbits.bundle import Bundle, RecallEstimate


@dataclass(frozen=True, eq=False)
class RecallRequest:
    """Ask which share of the true neighbours a search finds.

    Parameters
    ----------
    k : int, default=10
        Neighbours that are looked for.
    queries : array-like of shape (n, n_features), or sequence, default=None
        Held-out raw items; None draws items of the collection.
    vectors : array-like of shape (n_items, n_features), default=None
        Vectors of the items; None takes those that were kept.
    n_queries : int, default=None
        How many are drawn; None asks all of the queries, or 1,000 items.
    confidence : float, default=0.95
        Share of samples whose interval contains the recall over all queries.
    random_state : int, default=0
    """

    k: int = 10
    queries: Any = None
    vectors: Any = None
    n_queries: int | None = None
    confidence: float = 0.95
    random_state: int = 0


@dataclass(frozen=True)
class RecallResponse:
    """Recall of each way to search, with its confidence interval.

    Attributes
    ----------
    estimates : tuple of RecallEstimate
        See `fewbits.bundle.Bundle.estimate_recall`.
    held_out : bool
        Whether queries were given, and not drawn from the collection.
    """

    estimates: tuple[RecallEstimate, ...]
    held_out: bool

    def __repr__(self) -> str:
        return one_line(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "held_out": self.held_out,
            "estimates": [each.to_dict() for each in self.estimates],
        }


def recall(
    bundle: Bundle,
    request: RecallRequest,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> RecallResponse:
    """Estimate how many of the exact nearest neighbours searches of a bundle find.

    Parameters
    ----------
    bundle : Bundle
        With a collection.
    request : RecallRequest
    progress : callable, default=None
        Called with (items compared, items in all).

    Returns
    -------
    RecallResponse

    Raises
    ------
    ArgumentError, FeatureError
        As `fewbits.bundle.Bundle.estimate_recall`.
    """
    estimates = bundle.estimate_recall(
        request.k,
        queries=request.queries,
        vectors=request.vectors,
        n_queries=request.n_queries,
        confidence=request.confidence,
        random_state=request.random_state,
        progress=progress,
    )
    return RecallResponse(estimates, request.queries is not None)
