"""A binary code for each class, to train towards: arrays of -1 and 1, without torch."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from scipy.linalg.blas import dger
from scipy.spatial.distance import pdist, squareform
from sklearn.random_projection import GaussianRandomProjection
from sklearn.utils import check_random_state

from fewbits._labels import check_binary
from fewbits.codes import n_bytes, pack, smallest_distance, unpack
from fewbits.errors import ArgumentError
from fewbits.learners._core._parameters import N_BITS, Interval, check
from fewbits.learners._linalg._adam import Adam

__all__ = [
    "balanced_centres",
    "hadamard_centres",
    "hierarchy_vectors",
    "predictable_centres",
    "semantic_centres",
    "separated_centres",
]

Centres = NDArray[np.int8]


class UniqueCodes(NamedTuple):
    """Codes (n_classes, n_bits) of -1 and 1, and how many had to be changed."""

    codes: NDArray[np.int8]
    n_changed: int


def unique(C: NDArray[Any], length: int | None = None) -> UniqueCodes:
    """Return the signs of C, equal ones made different where C is least certain."""
    # Of classes with equal codes the one with the largest numbers keeps it. The others
    # flip bits, those with the smallest numbers first, until their code is free. The
    # first bits up to `length`, and with them every longer prefix, distinguish all.
    C = np.asarray(C, np.float64)
    codes = np.where(C >= 0, 1, -1).astype(np.int8)
    sure, signs = np.abs(C[:, :length]), codes[:, :length]
    check_sizes(*signs.shape)
    taken: set[bytes] = {row.tobytes() for row in signs}
    first: set[bytes] = set()
    n_changed = 0
    for i in np.argsort(-sure.min(axis=1), kind="stable"):
        code = signs[i].tobytes()
        if code in first:
            signs[i] = _nearest_free(signs[i], sure[i], taken)
            code = signs[i].tobytes()
            taken.add(code)
            n_changed += 1
        first.add(code)
    return UniqueCodes(codes, n_changed)


def _nearest_free(
    code: NDArray[np.int8], cost: NDArray[np.float64], taken: set[bytes]
) -> NDArray[np.int8]:
    """Return a free code, trying flips of small total cost first."""
    by_cost = np.argsort(cost, kind="stable")
    queue: list[tuple[float, tuple[int, ...]]] = [(float(cost[by_cost[0]]), (0,))]
    while queue:
        total, flips = heappop(queue)
        free = code.copy()
        free[by_cost[list(flips)]] *= -1
        if free.tobytes() not in taken:
            return free
        last = flips[-1]
        if last + 1 < len(code):  # each set of flips is reached in exactly one way
            more, old = float(cost[by_cost[last + 1]]), float(cost[by_cost[last]])
            heappush(queue, (total + more, (*flips, last + 1)))
            heappush(queue, (total + more - old, (*flips[:-1], last + 1)))
    raise AssertionError("more classes than codes")


def check_sizes(n_classes: Any, n_bits: Any) -> None:
    """Refuse more classes than codes."""
    check("n_bits", n_bits, N_BITS)
    check("n_classes", n_classes, [Interval(int, 1)])
    if bits_needed(n_classes) > n_bits:
        raise ArgumentError(
            f"{n_classes} classes need at least {bits_needed(n_classes)} bits to get "
            f"codes of their own, got {n_bits}"
        )


def bits_needed(n_classes: int) -> int:
    """Return the shortest length that has a code for each class."""
    return max(1, (int(n_classes) - 1).bit_length())


def all_live(centres: Centres) -> bool:
    return bool((centres != centres[0]).any(axis=0).all())


def opposed(centres: Centres) -> Centres:
    """Return them with the last the opposite of the first: no bit is constant then."""
    if len(centres) > 1:
        centres[-1] = -centres[0]
    return centres


Words = NDArray[np.uint64]  # packed codes, filled up with zeros
#: Candidates for each word of the basis before a smaller distance is tried.
_CANDIDATES = 4096
_STEP = 64  # words compared with the candidates at a time


def separated_centres(n_classes: int, n_bits: int, *, random_state: Any = 0) -> Centres:
    """Return centres that all differ in at least so many bits, and say how many.

    A greedy linear code, shifted by a random word: words are added to a basis as long
    as they and all sums with it keep the distance, for the largest distance with which
    enough are found; few classes and many bits have repetitions of a simplex code where
    it finds none (100 classes at 16 bits: 5 or 6, where CSQ's random centres have 2).

    Parameters
    ----------
    n_classes, n_bits : int
    random_state : int, RandomState instance or None, default=0

    Returns
    -------
    ndarray of shape (n_classes, n_bits), dtype int8
        -1 and 1; no column is constant if there are two classes or more.

    Raises
    ------
    ArgumentError
        When there are more classes than codes.

    References
    ----------
    Wang et al., "Deep Hashing with Minimal-Distance-Separated Hash Centers", CVPR 2023,
    has the aim; the construction here is Varshamov's.

    Examples
    --------
    >>> centres = separated_centres(100, 16).astype(int)
    >>> distances = (16 - centres @ centres.T) // 2
    >>> int(distances[np.triu_indices(100, 1)].min())
    6
    """
    check_sizes(n_classes, n_bits)
    rng = check_random_state(random_state)
    words = _linear_code(bits_needed(n_classes), n_bits, rng)
    bits = unpack(words.view(np.uint8)[:, : n_bytes(n_bits)], n_bits)
    # Bits that are the same in all words become others: nothing comes nearer.
    live, source = bits.any(axis=0), np.arange(n_bits)
    if live.any():
        source[~live] = rng.choice(np.flatnonzero(live), int(np.sum(~live)))
    bits = bits[:, source] ^ rng.randint(0, 2, n_bits)
    chosen = rng.permutation(len(bits))[:n_classes]
    centres: Centres = (2 * bits[chosen] - 1).astype(np.int8)
    return centres


def _linear_code(dimension: int, n_bits: int, rng: RandomState) -> Words:
    """Return the ``2**dimension`` words of a code with a large minimum distance."""
    # Words whose bits are all parities of their numbers, again and again.
    units = 1 << np.arange(dimension)
    parities = [*units, *np.setdiff1d(np.arange(1, 2**dimension), units)]
    numbers = np.arange(2**dimension)[:, None]
    simplex = _packed(np.bitwise_count(numbers & np.resize(parities, n_bits)) & 1)
    least = int(np.bitwise_count(simplex[1:]).sum(axis=1).min(initial=n_bits))
    most = n_bits  # down to what Griesmer's bound leaves open
    while sum(-(-most // 2**i) for i in range(dimension)) > n_bits:
        most -= 1
    # Candidates are all words if these are few.
    everything = None
    if 2**n_bits <= 16 * _CANDIDATES:
        numbers = np.arange(2**n_bits)
        everything = _packed(numbers[:, None] >> np.arange(n_bits)[::-1] & 1)
    for distance in range(max(1, most), max(least, 2) - 1, -1):
        words = _packed(np.zeros((1, n_bits)))
        for _ in range(dimension):
            candidates = everything
            if candidates is None:
                candidates = _packed(rng.randint(0, 2, (_CANDIDATES, n_bits)))
            word = _far_from(words, candidates, distance)
            if word is None:
                break
            words = np.concatenate([words, words ^ word])
        else:
            return words
    return simplex


def _packed(bits: NDArray[Any]) -> Words:
    packed = np.packbits(bits.astype(np.uint8), axis=1)
    return np.pad(packed, [(0, 0), (0, -packed.shape[1] % 8)]).view(np.uint64)


def _far_from(words: Words, candidates: Words, distance: int) -> Words | None:
    """Return a candidate at least `distance` from all words, the nearest such."""
    nearest = np.bitwise_count(candidates).sum(axis=1, dtype=int)  # zero is a word
    keep = nearest >= distance
    for some in np.split(words, range(_STEP, len(words), _STEP)):
        candidates, nearest = candidates[keep], nearest[keep]
        distances: NDArray[Any] = np.bitwise_count(candidates[:, None, 0] ^ some[:, 0])
        for i in range(1, some.shape[1]):
            differing = np.bitwise_count(candidates[:, None, i] ^ some[:, i])
            distances = distances + differing.astype(int)
        np.minimum(nearest, distances.min(axis=1), out=nearest)
        keep = nearest >= distance
    if not keep.any():
        return None
    word: Words = candidates[keep][nearest[keep].argmin()]
    return word


_TRIES = 100
#: Draws of balanced codes until there are enough.
_BALANCED_DRAWS = 100
#: Draws of further rows, of which those are taken that are farthest apart; of 8 bits
#: some row would nearly always be drawn twice.
_DRAWS, _FEWEST_BITS = 20, 16


def hadamard_centres(n_classes: int, n_bits: int, *, random_state: Any = 0) -> Centres:
    """Return rows of a Hadamard matrix, and of its negative, as CSQ does.

    Of up to ``2 * n_bits`` classes any two differ in half of their bits, or in all. Of
    16 bits or more, up to ``4 * n_bits`` classes have all of these rows, and the best
    of 20 draws of others with half of their bits set. Beyond, and where no matrix of
    this order is known, `separated_centres` takes their place.

    Parameters
    ----------
    n_classes, n_bits : int
    random_state : int, RandomState instance or None, default=0

    Returns
    -------
    ndarray of shape (n_classes, n_bits), dtype int8
        -1 and 1; no column is constant if there are two classes or more.

    Raises
    ------
    ArgumentError
        When there are more classes than codes; the message says how many bits do.

    References
    ----------
    Yuan et al., "Central Similarity Quantization for Efficient Image and Video
    Retrieval", CVPR 2020.

    Examples
    --------
    >>> centres = hadamard_centres(10, 16)
    >>> np.unique(centres @ centres.T)
    array([ 0, 16], dtype=int8)
    """
    check_sizes(n_classes, n_bits)
    H = hadamard_matrix(n_bits)
    most = 4 * n_bits if n_bits >= _FEWEST_BITS else 2 * n_bits
    if H is None or n_classes > most:
        return separated_centres(n_classes, n_bits, random_state=random_state)
    rng = check_random_state(random_state)
    centres: Centres
    if n_classes > 2 * n_bits:
        # All rows of the matrix and of its negative, and balanced ones. Columns get
        # signs, which change no distance, as rows do of fewer classes.
        both = np.concatenate([H, -H])
        farthest, apart = both, -1
        for _ in range(_DRAWS):
            more = balanced_centres(n_classes - len(both), n_bits, random_state=rng)
            drawn = np.concatenate([both, more])
            distance = smallest_distance(pack(drawn > 0))
            if distance > apart:
                farthest, apart = drawn, distance
        flips = rng.choice([-1, 1], n_bits).astype(np.int8)
        centres = (farthest * flips)[rng.permutation(n_classes)]
        return centres
    rows = np.concatenate([rng.permutation(n_bits), rng.permutation(n_bits)])
    chosen = H[rows[:n_classes]]
    for _ in range(_TRIES):
        first = rng.choice([-1, 1], n_bits).astype(np.int8)
        signs = np.concatenate([first[rows[:n_bits]], -first[rows[n_bits:]]])
        centres = chosen * signs[:n_classes, None]
        if all_live(centres):
            return centres
    return opposed(centres)


def hadamard_matrix(order: int) -> Centres | None:
    """Return a Hadamard matrix by Sylvester's and Paley's constructions, or None."""
    # They reach 1, 2, and all multiples of 4 up to 88 but 52.
    if order == 1:
        return np.ones((1, 1), np.int8)
    if order % 4 == 0 and _is_prime(order - 1):
        S = _conference(order - 1)
        return S + np.eye(order, dtype=np.int8)
    if order % 8 == 4 and _is_prime(order // 2 - 1):
        S, eye = _conference(order // 2 - 1), np.eye(order // 2, dtype=np.int8)
        return np.block([[S + eye, S - eye], [S - eye, -S - eye]])
    half = hadamard_matrix(order // 2) if order % 2 == 0 else None
    if half is None:
        return None
    return np.kron(np.array([[1, 1], [1, -1]], np.int8), half)


def _conference(q: int) -> Centres:
    """Return Paley's S of order ``q + 1`` for an odd prime q: ``S S' = q I``."""
    # It is symmetric for ``q = 1 (mod 4)``, and ``S' = -S`` for ``q = 3 (mod 4)``.
    residues = np.full(q, -1, np.int8)
    residues[np.unique(np.arange(1, q) ** 2 % q)] = 1
    residues[0] = 0
    Q = residues[(np.arange(q)[:, None] - np.arange(q)) % q]
    S = np.zeros((q + 1, q + 1), np.int8)
    S[0, 1:], S[1:, 0], S[1:, 1:] = 1, 1 if q % 4 == 1 else -1, Q
    return S


def _is_prime(n: int) -> bool:
    return n > 1 and all(n % i for i in range(2, int(n**0.5) + 1))


def balanced_centres(n_classes: int, n_bits: int, *, random_state: Any = 0) -> Centres:
    """Return different random centres, half of whose bits are set.

    What CSQ takes where there is no Hadamard matrix.

    Parameters
    ----------
    n_classes, n_bits : int
    random_state : int, RandomState instance or None, default=0

    Returns
    -------
    ndarray of shape (n_classes, n_bits), dtype int8
        -1 and 1, each row with ``n_bits // 2`` of the latter; no column is constant if
        draws, or for an even length an opposite pair, can help it.

    Raises
    ------
    ArgumentError
        When there are not that many balanced codes.

    Examples
    --------
    >>> balanced_centres(3, 8).sum(axis=1)
    array([0, 0, 0])
    """
    check_sizes(n_classes, n_bits)
    rng = check_random_state(random_state)
    codes = np.empty((0, n_bits), np.int8)
    for _ in range(_BALANCED_DRAWS):
        ranks = rng.random_sample((n_classes, n_bits)).argsort(axis=1)
        drawn = np.where(ranks < n_bits // 2, 1, -1).astype(np.int8)
        codes = np.unique(np.concatenate([codes, drawn]), axis=0)
        chosen: Centres = codes[rng.permutation(len(codes))[:n_classes]]
        if len(chosen) == n_classes and (n_classes == 1 or all_live(chosen)):
            return chosen
    if len(chosen) < n_classes:
        raise ArgumentError(
            f"{_BALANCED_DRAWS} draws gave {len(codes)} balanced codes of {n_bits} "
            f"bits, too few for {n_classes} classes: take more bits"
        )
    return chosen if n_bits % 2 else opposed(chosen)


Matrix = NDArray[np.float64]
_SWEEPS = 50
_CHOICE = 4  # codes for each class, if there are as many: more fit better, but are near
_LEAST = 1e-9  # gain that is worth a step, not an error of rounding


def semantic_centres(
    vectors: ArrayLike, n_bits: int, *, random_state: Any = 0
) -> Centres:
    """Return separated centres, given to classes so that like ones get near ones.

    Of four codes of `separated_centres` for each class, which class gets which is
    improved, one class or an exchange of two at a time, as long as the distances of
    codes come to fit those of classes better.

    Parameters
    ----------
    vectors : array-like of shape (n_classes, d)
        What stands for the classes: means of their features, attributes, rows of a
        linear classifier, or `hierarchy_vectors`. They are compared by the cosine.
    n_bits : int
    random_state : int, RandomState instance or None, default=0

    Returns
    -------
    ndarray of shape (n_classes, n_bits), dtype int8

    Raises
    ------
    ArgumentError
        When a vector is zero or not finite, or there are more classes than codes.

    Notes
    -----
    It has the aim of semantic hash centres (arXiv 2507.08404), class similarity from
    data and a minimum distance, by a simpler way.

    Examples
    --------
    >>> centres = semantic_centres([[1, 0], [0.9, 0.1], [0, 1], [0.1, 0.9]], 6)
    >>> distances = 3 - centres.astype(int) @ centres.T // 2
    >>> bool(distances[0, 1] < distances[0, 2:].min())
    True
    """
    V = np.asarray(vectors, np.float64)
    norms = np.linalg.norm(V, axis=1) if V.ndim == 2 else np.zeros(1)
    if not (np.isfinite(norms).all() and (norms > 0).all()):
        raise ArgumentError(
            "classes need a vector each, finite and not zero, as rows of a matrix"
        )
    T: Matrix = squareform(pdist(V / norms[:, None]))
    check_sizes(len(T), n_bits)
    rng = check_random_state(random_state)
    n_codes = min(_CHOICE * len(T), 2 ** min(n_bits, 30))
    codes = separated_centres(n_codes, n_bits, random_state=rng)
    signs = codes.astype(np.float64)
    D = (n_bits - signs @ signs.T) / 2
    if len(T) > 1:  # give T the mean and the variance of D
        values, others = squareform(T, checks=False), squareform(D)
        scale = others.std() / (values.std() or 1.0)
        T = np.asarray(squareform(others.mean() + scale * (values - values.mean())))
    # Codes p that make ``sum_ij (T_ij - D_p(i)p(j))^2`` small, step by step.
    chosen = _Assignment(T, D, rng.permutation(len(D))[: len(T)])
    for _ in range(_SWEEPS):
        before = chosen.p.copy()
        for i in rng.permutation(len(T)):
            gains = chosen.gains(i)
            code = int(gains.argmax())
            if gains[code] > _LEAST:
                chosen.take(i, code)
        if (chosen.p == before).all():
            break
    return codes[chosen.p]


class _Assignment:
    """Codes p of classes, and what it takes to tell which step is best."""

    # With ``M = T D[p]`` all gains of a class cost as much as there are codes. A step
    # changes one row of D[p], or two, so M by a product of two vectors.

    def __init__(self, T: Matrix, D: Matrix, p: NDArray[np.int64]) -> None:
        self.T, self.D, self.p = T, D, p.copy()
        self.M = np.asfortranarray(T @ D[p])  # or `dger` would copy it
        self.squares = np.einsum("ij,ij->j", D[p], D[p])

    def gains(self, i: int) -> Matrix:
        """Return by how much half the sum falls if i takes a code, or exchanges it."""
        T, D, M, p = self.T, self.D, self.M, self.p
        errors = self.squares - D[p[i]] ** 2 - 2 * M[i]
        gains: Matrix = errors[p[i]] - errors
        fit = M[np.arange(len(p)), p]
        crossed = M[i, p] + M[:, p[i]]
        # The pair (i, j) itself keeps its distance: leave it out of both sides.
        gains[p] = 2 * (crossed - fit - fit[i] + 2 * T[i] * D[p[i], p])
        gains[p[i]] = 0.0
        return gains

    def take(self, i: int, code: int) -> None:
        """Give class i a code, and its own to the class that has had it."""
        change = self.D[code] - self.D[self.p[i]]
        weights = self.T[i].copy()
        other = np.flatnonzero(self.p == code)
        if other.size:
            weights -= self.T[other[0]]
        else:
            self.squares += self.D[code] ** 2 - self.D[self.p[i]] ** 2
        self.p[other] = self.p[i]
        self.p[i] = code
        self.M = dger(1.0, weights, change, a=self.M, overwrite_a=True)


def hierarchy_vectors(paths: Sequence[Sequence[Hashable]]) -> NDArray[np.float64]:
    """Return a vector for each class, the more alike the more of their paths is common.

    With `semantic_centres` they make codes of a hierarchy, a codebook for LLC or
    centres for a loss.

    Parameters
    ----------
    paths : sequence of sequence
        For each class, in the order of the sorted labels, the groups that it is in and
        itself, from the root on: ``("A", "A1", "A10")``. Of any depth, at least 1; a
        group is identified by its whole path, so that groups of the same name below
        different ones are different.

    Returns
    -------
    ndarray of shape (n_classes, n_groups), dtype float64
        1 for each group on the path, so that the cosine of two classes is the number of
        groups that both are in, by the geometric mean of the lengths of their paths.

    Raises
    ------
    ArgumentError
        When a path is empty, or a string in place of a sequence.

    Examples
    --------
    >>> paths = [("A", "A1", "A10"), ("A", "A1", "A11"), ("A", "A2"), ("B",)]
    >>> vectors = hierarchy_vectors(paths)
    >>> (vectors @ vectors.T).astype(int)  # groups in common
    array([[3, 2, 1, 0],
           [2, 3, 1, 0],
           [1, 1, 2, 0],
           [0, 0, 0, 1]])
    >>> from fewbits.learners.deep.centres import semantic_centres
    >>> codebook = semantic_centres(vectors, 8)
    """
    columns: dict[tuple[Hashable, ...], int] = {}  # of groups, by the way to them
    rows = []
    for path in paths:
        if isinstance(path, str) or not len(path):
            raise ArgumentError(
                "each class needs a path of at least one group, such as "
                f"('A', 'A1', 'A10'), got {path!r}"
            )
        ways = [tuple(path[:depth]) for depth in range(1, len(path) + 1)]
        rows.append([columns.setdefault(way, len(columns)) for way in ways])
    vectors = np.zeros((len(rows), len(columns)))
    for vector, groups in zip(vectors, rows, strict=True):
        vector[groups] = 1
    return vectors


_MOST_FEATURES = 4096  # an eigendecomposition of more takes minutes
_PENALTIES = 10.0 ** np.arange(-3, 2.25, 0.25)  # of the mean eigenvalue
_PROBES = 64  # random codes by which a penalty is chosen
_TINY = 1e-9
_ROUNDING = 1e-10  # share of the largest eigenvalue that is more than rounding
_STEPS, _BATCH, _RATE = 400, 1024, 0.02
_STEEPNESS = 2.0  # of tanh, for scores of variance 1
_SHARPNESS = 2.0  # of the softmax, for similarities of variance 1
_START, _NOISE = 0.2, 0.05  # weights at first: how far from turning, and their spread


class _Foreseen(NamedTuple):
    """Leave-one-out predictions of ridge regression for each item."""

    # They are linear in the codes C of classes: that of item i is ``a_i C``, with ``a_i
    # = (z_i B - h_i (y_i - p)) / (1 - h_i)``.

    #: Items in the directions of the features, (n, r): uncorrelated, of equal spread.
    Z: NDArray[np.float32]
    B: NDArray[np.float32]  # coefficients of the regression on the labels, (r, k)
    h: NDArray[np.float32]  # how much an item weighs in its own prediction, (n, 1)
    Y: sp.csr_array  # labels, 0 and 1, (n, k)
    p: NDArray[np.float32]  # their means, (k,)

    def scores(self, rows: Any, C: NDArray[Any]) -> NDArray[Any]:
        h = self.h[rows]
        own = self.Y[rows] @ C - self.p @ C
        scores: NDArray[Any] = (self.Z[rows] @ (self.B @ C) - h * own) / (1 - h)
        return scores

    def back(self, rows: Any, G: NDArray[Any]) -> NDArray[Any]:
        """Return the gradient by C, (n_classes, n_bits), from that by the scores."""
        h = self.h[rows]
        G = G / (1 - h)
        own = self.Y[rows].T @ (h * G) - np.outer(self.p, (h * G).sum(axis=0))
        gradient: NDArray[Any] = self.B.T @ (self.Z[rows].T @ G) - own
        return gradient


def predictable_centres(
    X: ArrayLike, labels: Any, n_bits: int, *, random_state: Any = 0
) -> Centres:
    """Return centres whose bits features predict, for items they were not learnt from.

    A codebook that is learnt by classifying training items, as in phase 1 of LLC, suits
    those items. Here the scores of an item are those that ridge regression predicts
    from all other items, and codes of classes are learnt, straight-through, by
    classifying with these scores. They start from `semantic_centres`.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Features. Of more than 4,096 as many random combinations are taken.
    labels : array-like or sparse matrix of shape (n, n_classes)
        1 for each label of an item; each class has an item.
    n_bits : int
    random_state : int, RandomState instance or None, default=0

    Returns
    -------
    ndarray of shape (n_classes, n_bits), dtype int8

    Raises
    ------
    ArgumentError
        When shapes do not fit, a feature is not finite, a class has no item, or there
        are more classes than codes.

    Notes
    -----
    With ``s = tanh(2 a_i C)``, ``a_i`` scaled so that scores of random codes have
    variance 1, the loss is the cross-entropy of ``2 s C' / sqrt(n_bits)`` with the
    class, or with all labels in equal parts.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> centres = predictable_centres(X, np.eye(10)[y], 8)
    >>> centres.shape, len(np.unique(centres, axis=0))
    ((10, 8), 10)
    """
    X = np.asarray(X, np.float64)
    if X.ndim != 2 or not np.isfinite(X).all():
        raise ArgumentError(
            f"features must be a matrix of finite numbers, got shape {X.shape}"
        )
    Y = sp.csr_array(check_binary(labels), dtype=np.float32)
    if Y.shape[0] != len(X):
        raise ArgumentError(
            f"{len(X)} items need a row of labels each, got {Y.shape[0]} rows"
        )
    empty = np.flatnonzero(Y.sum(axis=0) == 0)
    if empty.size:
        raise ArgumentError(f"class {empty[0]} has no item")
    check_sizes(Y.shape[1], n_bits)
    rng = check_random_state(random_state)
    foreseen = _foresee(X, Y, rng)
    # From semantic centres, where classes are alike that are taken for each other.
    scores = foreseen.scores(slice(None), np.eye(Y.shape[1], dtype=np.float32))
    means = (Y.T @ scores) / Y.sum(axis=0)[:, None]
    means += _TINY * rng.standard_normal(means.shape)  # so that all have a direction
    start = semantic_centres(means, n_bits, random_state=rng)
    return unique(_learn(foreseen, start, rng)).codes


def _foresee(X: Matrix, Y: sp.csr_array, rng: Any) -> _Foreseen:
    """Return leave-one-out predictions, with the penalty whose errors are smallest."""
    # Errors are those of bits of random codes, as a codebook's will be.
    if X.shape[1] > _MOST_FEATURES < len(X):
        X = GaussianRandomProjection(_MOST_FEATURES, random_state=rng).fit_transform(X)
    # Eigenvalues (r,) of the scatter, and orthonormal columns Z (n, r).
    X, n, p = X - X.mean(axis=0), len(X), Y.mean(axis=0)
    wide = n <= X.shape[1]
    values, vectors = np.linalg.eigh(X @ X.T if wide else X.T @ X)
    real = values > _ROUNDING * max(values[-1], np.finfo(float).tiny)
    values, vectors = values[real], vectors[:, real]
    Z = vectors if wide else X @ vectors / np.sqrt(values)
    C = np.where(rng.random_sample((Y.shape[1], _PROBES)) < 0.5, -1.0, 1.0)
    probes = Y @ C - p @ C
    coefficients = Z.T @ probes
    best = np.inf, values, np.zeros((n, 1))
    # Without any direction, of constant features, a penalty changes nothing.
    for penalty in _PENALTIES * (values.mean() if values.size else 1.0):
        gain = values / (values + penalty)
        h = np.minimum(1 / n + Z**2 @ gain, 1 - 1e-6)[:, None]
        error = np.mean(((probes - Z @ (gain[:, None] * coefficients)) / (1 - h)) ** 2)
        if error < best[0]:
            best = error, gain, h
    _, gain, h = best
    B = gain[:, None] * (Y.T @ Z).T  # the mean of Z is 0, that of Y adds nothing
    return _Foreseen(_single(Z), _single(B), _single(h), Y, _single(p))


def _single(values: Matrix) -> NDArray[np.float32]:
    return values.astype(np.float32)


def _learn(foreseen: _Foreseen, codes: Centres, rng: Any) -> NDArray[np.float32]:
    """Return weights whose signs are the codes, learnt straight-through by Adam."""
    n_items, n_bits = foreseen.Y.shape[0], codes.shape[1]
    W = _single(_START * codes + _NOISE * rng.standard_normal(codes.shape))
    scores = foreseen.scores(slice(None), codes.astype(np.float32))
    scale = _STEEPNESS / np.float32(max(np.sqrt(np.mean(scores**2)), _TINY))
    sharpness = np.float32(_SHARPNESS / n_bits**0.5)
    adam, size, order = Adam([W]), min(_BATCH, n_items), np.empty(0, np.int64)
    for _ in range(_STEPS):
        if len(order) < size:  # every item once before any comes again
            order = rng.permutation(n_items)
        rows, order = order[:size], order[size:]
        C = np.where(W >= 0, np.float32(1), np.float32(-1))
        S = np.tanh(scale * foreseen.scores(rows, C))
        errors = sharpness * _errors(sharpness * (S @ C.T), foreseen.Y[rows])
        back = foreseen.back(rows, scale * (errors @ C) * (1 - S**2))
        gradient = errors.T @ S + back
        gradient[np.abs(W) > 1] = 0  # far from turning; passes no further
        adam.step([gradient], _RATE)
    return W


def _errors(logits: NDArray[np.float32], Y: sp.csr_array) -> NDArray[np.float32]:
    """Return the gradient of the mean cross-entropy by the logits, in place of them."""
    logits -= logits.max(axis=1, keepdims=True)
    np.exp(logits, out=logits)
    counts = Y.sum(axis=1)[:, None]
    labelled = counts > 0
    logits *= labelled / logits.sum(axis=1, keepdims=True)
    logits -= Y.toarray() / np.maximum(counts, 1)
    logits /= len(logits)
    return logits
