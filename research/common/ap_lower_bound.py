"""The lower bound of average precision that class distances give."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_choice
from fewbits._labels import as_label_rows, check_same_kind
from fewbits.analysis._codes import check_codes, read_members
from fewbits.analysis.bounds import centre_distances, majority_codes
from fewbits.codes import hamming_distances
from fewbits.errors import ArgumentError

Array = NDArray
CodeArray = NDArray[np.uint8]
DistanceArray = NDArray[np.int32]
IdArray = NDArray[np.int64]


def ap_lower_bound(
    queries: CodeArray,
    query_labels: ArrayLike,
    codes: CodeArray,
    labels: ArrayLike,
    n_bits: int,
    *,
    knowing: str = "classes",
) -> NDArray[np.float64]:
    """Return a lower bound of the average precision of each query.

    Items are known by their distance to the centre of their class only, so each lies
    somewhere between ``|D - r|`` and ``D + r`` from a query, ``D`` its distance to the
    centre and ``r`` that of the item. The bound takes every false positive as near and
    every true one as far as that allows.

    Parameters
    ----------
    queries, codes : ndarray of shape (n, n_bytes), dtype uint8
        Packed codes; `codes` are searched.
    query_labels, labels : array-like of shape (n,) or (n, n_labels)
        As in `fewbits.analysis.bounds.code_bound`, the same kind on both sides. Items
        that share a label with a query are the true positives.
    n_bits : int
        Length of the codes.
    knowing : {"query", "classes", "extremes"}, default="classes"
        ``query``: the distance of the query to every centre. ``classes``: its distance
        to the centres of its own classes only, and D_inter. ``extremes``: the same,
        but of D_inter only the smallest, and of D_intra only the largest distance, as
        in the paper's proposition; it is 1, or all that the numbers of true and false
        positives say. Each is no larger than the one before.

    Returns
    -------
    ndarray of shape (n_queries,), dtype float64
        Of the average precision over the whole ranking, whatever the order of items at
        equal distance; NaN for queries without a true positive.

    Raises
    ------
    CodeError
        When codes are not packed codes of `n_bits` bits.
    ArgumentError
        When labels do not fit, or `knowing` is none of the three.

    Notes
    -----
    The k-th nearest true positive is no farther than the k-th smallest of their upper
    bounds ``u``, and false positives with a lower bound above ``u`` are behind it. With
    ``m`` the number of the others, AP is at least the mean of ``k / (k + m_k)``.

    The paper's proposition reads ``AP >= const min D_inter / max D_intra``. With ``r``
    the largest D_intra, also of the query, true positives are within ``2 r`` and false
    ones beyond ``min D_inter - 2 r``; so AP is 1 where the ratio exceeds 4. At 4 and
    below, the two numbers exclude no order of the items: AP may be as small as the mean
    of ``k / (k + n_false)``, which ``extremes`` returns. At 2 and below, a false
    positive may share the query's code, so no constant above 0 makes the proposition's
    second inequality true either.

    References
    ----------
    Zhu, Song, Lei, Gao and Shen, "A Lower Bound of Hash Codes' Performance", NeurIPS
    2022, section 4.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.array([[0b00000000], [0b00000001], [0b11111111]], np.uint8)
    >>> y = ["cat", "cat", "owl"]
    >>> ap_lower_bound(codes[:1], ["cat"], codes, y, 8, knowing="extremes")
    array([1.])
    >>> ap_lower_bound(np.array([[0b00111000]], np.uint8), ["cat"], codes, y, 8)
    array([0.58333333])
    """
    codes, queries = check_codes(codes, n_bits), check_codes(queries, n_bits)
    check_choice(knowing, "knowing", ("query", "classes", "extremes"))
    members = read_members(labels, len(codes))
    own_classes = _own_classes(query_labels, labels, len(queries), members.classes)
    centres = majority_codes(codes, n_bits, members)
    radii = centre_distances(codes, centres, members)
    between = hamming_distances(centres, centres)
    if knowing == "extremes":
        others = ~np.eye(len(between), dtype=bool)
        smallest = between[others].min() if others.any() else 0
        between = np.where(others, smallest, 0).astype(np.int32)
        radii = np.full_like(radii, radii.max())
    to_centres = hamming_distances(queries, centres)
    # Pairs of an item and a class of it, in the order of the items.
    order = np.argsort(members.rows, kind="stable")
    classes, radii = members.numbers[order], radii[order]
    firsts = np.flatnonzero(np.diff(members.rows[order], prepend=-1))
    bounds = np.full(len(queries), np.nan)
    for i, own in enumerate(own_classes):
        if not len(own):
            continue
        low, high = _reach(knowing, to_centres[i], between, own, n_bits)
        low, high = low[classes], high[classes]
        nearest = np.maximum(low - radii, radii - high).clip(min=0)
        lower = np.maximum.reduceat(nearest, firsts)
        upper = np.minimum.reduceat(high + radii, firsts)
        relevant = np.logical_or.reduceat(np.isin(classes, own), firsts)
        closer = np.bincount(lower[~relevant], minlength=n_bits + 1)
        closer[0] += len(codes) - len(firsts)  # without labels nothing is known
        farthest = np.sort(upper[relevant].clip(max=n_bits))
        misranks = np.cumsum(closer)[farthest]
        k = np.arange(1, len(misranks) + 1)
        bounds[i] = np.mean(k / (k + misranks))
    return bounds


def _reach(
    knowing: str,
    distances: DistanceArray,
    between: DistanceArray,
    own: IdArray,
    n_bits: int,
) -> tuple[DistanceArray, DistanceArray]:
    """Return lower and upper bounds of the distance of each centre from a query.

    Of its `distances` only those to its own centres are used unless all are known.
    """
    if knowing == "query":
        return distances, distances
    to_own = distances[own, None]
    if knowing == "classes":
        low = np.abs(between[own] - to_own).max(axis=0)
        high = (between[own] + to_own).min(axis=0)
    else:  # `between` is no more than the least that it can be
        low = (between[own] - to_own).max(axis=0).clip(min=0)
        high = np.full_like(low, n_bits)
    low[own] = high[own] = distances[own]
    return low, high


def _own_classes(
    query_labels: ArrayLike, labels: ArrayLike, n_queries: int, classes: Array
) -> list[IdArray]:
    """Return the numbers of the classes of each query that have items."""
    of_queries = as_label_rows(query_labels, n=n_queries)
    of_items = as_label_rows(labels)
    if of_queries.ndim != of_items.ndim:
        raise ArgumentError(
            "labels of queries and items must have the same form, got shapes "
            f"{of_queries.shape} and {of_items.shape}"
        )
    if of_items.ndim == 2:
        if of_queries.shape[1] != of_items.shape[1]:
            raise ArgumentError(
                f"queries have {of_queries.shape[1]} label columns, items "
                f"{of_items.shape[1]}"
            )
        return [np.flatnonzero(row) for row in of_queries[:, classes]]
    check_same_kind(of_queries, of_items, ("labels of queries", "labels of items"))
    queries = read_members(of_queries, n_queries)
    number_of = {name: i for i, name in enumerate(classes.tolist())}
    own = [np.empty(0, np.int64)] * n_queries
    for name, row in zip(
        queries.classes[queries.numbers].tolist(), queries.rows.tolist(), strict=True
    ):
        if name in number_of:
            own[row] = np.array([number_of[name]])
    return own
