"""What decoders take and give: codes and scores of items, and answers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits import _kernels
from fewbits._repr import short_repr
from fewbits._typing import CodeArray, DistanceArray, IdArray
from fewbits.classify._codebook import Codebook
from fewbits.codes import as_codes, check_unused, pack, unpack
from fewbits.errors import CodeError, FeatureError


@dataclass(frozen=True, eq=False, slots=True)
class Decoded:
    """The class of every item, and what it took to find it.

    Attributes
    ----------
    distances : ndarray of shape (n,), dtype int32
        Hamming distance between the item's code and that of its class, -1 where nothing
        was found.
    rows : ndarray of shape (n,), dtype int64
        Row of the codebook, -1 for no class: nothing was found, or several classes are
        equally good and the decoder takes none of them. ``codebook.labels(rows)`` gives
        the names.
    ties : ndarray of shape (n,), dtype int64
        How many classes are equally good; 1 is a clear answer, 0 none.
    lookups : ndarray of shape (n,), dtype int64
        Codes that were looked up in a hash table.
    comparisons : ndarray of shape (n,), dtype int64
        Class codes that the item's was compared with.
    """

    distances: DistanceArray
    rows: IdArray
    ties: IdArray
    lookups: IdArray
    comparisons: IdArray

    __repr__ = short_repr

    def __len__(self) -> int:
        return len(self.rows)

    def only(self, accepted: NDArray[np.bool_]) -> Decoded:
        """Return the same, with no class for items that are not accepted, bool (n,)."""
        return replace(
            self,
            distances=np.where(accepted, self.distances, -1).astype(np.int32),
            rows=np.where(accepted, self.rows, -1),
            ties=np.where(accepted, self.ties, 0),
        )


def nothing_found(n: int) -> Decoded:
    """Return the answers for `n` items before any is looked for; to be filled in."""
    numbers = [np.zeros(n, np.int64) for _ in range(3)]
    return Decoded(np.full(n, -1, np.int32), np.full(n, -1, np.int64), *numbers)


def put(answers: Decoded, items: IdArray, part: Decoded) -> None:
    """Take over the answers to some items; the work adds up."""
    answers.distances[items], answers.rows[items] = part.distances, part.rows
    answers.ties[items] = part.ties
    answers.lookups[items] += part.lookups
    answers.comparisons[items] += part.comparisons


def first_of_each(
    n: int, items: IdArray, rows: IdArray, counts: IdArray
) -> tuple[IdArray, IdArray]:
    """Return the lowest row of each of `n` items, -1 for none, and how many classes."""
    # `items` found `rows` that stand for `counts` classes, maybe the same row twice.
    order = np.lexsort((rows, items))
    items, rows, counts = items[order], rows[order], counts[order]
    is_new = np.ones(len(rows), np.bool_)
    is_new[1:] = (items[1:] != items[:-1]) | (rows[1:] != rows[:-1])
    items, rows, counts = items[is_new], rows[is_new], counts[is_new]
    lowest = np.full(n, -1, np.int64)
    lowest[items[::-1]] = rows[::-1]  # the last write is that of the lowest row
    ties = np.zeros(n, np.int64)
    np.add.at(ties, items, counts)
    return lowest, ties


def classes_within(
    class_codes: CodeArray, codes: CodeArray, radii: NDArray[np.integer[Any]]
) -> IdArray:
    """Return how many classes lie within the radius beside each code."""
    counts = np.empty(len(codes), np.int64)
    for radius in np.unique(radii):
        items = np.flatnonzero(radii == radius)
        numbers = np.empty(len(items), np.int64)
        _kernels.hamming_within_count(
            codes[items],
            class_codes,
            int(radius),
            None,
            numbers,
            _kernels.num_threads(),
        )
        counts[items] = numbers
    return counts


FloatArray = NDArray[np.float64]

_DIGITS = 52  # binary digits of whole numbers whose sums float64 holds exactly
_ENTRIES = 1 << 20  # bits unpacked at a time
_FEW = 4  # items for which unpacking the codes takes longer than looking bytes up


def item_codes(codes: CodeArray, codebook: Codebook) -> CodeArray:
    """Return codes that are as long as those of the classes."""
    array = as_codes(codes)
    if array.shape[1] != codebook.codes.shape[1]:
        raise CodeError(
            f"codes of items have {array.shape[1]} bytes, those of the classes "
            f"{codebook.codes.shape[1]} ({codebook.n_bits} bits)"
        )
    check_unused(array, codebook.n_bits, "codes of items")
    return array


def item_scores(scores: ArrayLike, codebook: Codebook) -> NDArray[np.float64]:
    """Return finite scores, one for each bit of the classes' codes."""
    try:
        array = np.asarray(scores)
    except ValueError as error:
        raise FeatureError(f"scores are not a matrix: {error}") from None
    if array.dtype.kind in "ub":  # of a bit, 0 would be no opinion
        raise FeatureError(
            f"scores are real numbers, positive for a 1, got dtype {array.dtype}: "
            "decode codes by Nearest, or give 2.0 * bits - 1"
        )
    if array.dtype.kind not in "fi" or array.ndim != 2:
        raise FeatureError(
            "scores must be a matrix of real numbers (n, n_bits), got dtype "
            f"{array.dtype} and shape {array.shape}"
        )
    if array.shape[1] != codebook.n_bits:
        raise FeatureError(
            f"scores must have a column for each of the {codebook.n_bits} bits of the "
            f"codebook, got {array.shape[1]}"
        )
    array = array.astype(np.float64)
    # Sums of larger numbers could overflow; NaN fails the comparison as well.
    finite = (np.abs(array) <= 1e150).all(axis=1)
    if not finite.all():
        raise FeatureError(
            f"scores must be finite, got NaN or infinity in row {np.argmin(finite)}"
        )
    return array


class SoftBits(NamedTuple):
    """Bits of items, and what it costs to contradict each of them, by their scores."""

    # `costs` are ``|score|`` in units of a power of two, chosen for each item so that
    # they are whole numbers and their sum is below 2**53. So float64 adds them exactly,
    # in any order, on any machine. What is lost is nothing where float32 scores lie
    # within a factor of 2**22 of each other.

    codes: CodeArray
    costs: FloatArray


def soft_bits(scores: FloatArray, zero_bit: int) -> SoftBits:
    """Return what finite scores (n, n_bits) say."""
    bits = scores >= 0 if zero_bit else scores > 0
    return SoftBits(pack(bits), np.abs(whole(scores)[0]))


def whole(scores: FloatArray) -> tuple[FloatArray, NDArray[np.int32]]:
    """Return rows of whole numbers, and the power of two that each is a multiple of."""
    digits = _DIGITS - (scores.shape[1] - 1).bit_length()
    largest = np.abs(scores).max(axis=1, keepdims=True)
    exponents = np.frexp(largest)[1] - digits
    return np.rint(np.ldexp(scores, -exponents)), exponents


def pair_costs(soft: SoftBits, items: IdArray, codes: CodeArray) -> FloatArray:
    """Return what it costs some items (n_pairs,) to have the codes beside them."""
    n_bits = soft.costs.shape[1]
    totals, step = np.empty(len(items)), max(1, _ENTRIES // n_bits)
    for start in range(0, len(items), step):
        block = items[start : start + step]
        differ = unpack(soft.codes[block] ^ codes[start : start + step], n_bits)
        totals[start : start + step] = (soft.costs[block] * differ).sum(axis=1)
    return totals


def class_sums(numbers: FloatArray, codes: CodeArray) -> FloatArray:
    """Add up, for each code, the numbers (n, n_bits) of its bits that are 1."""
    # Numbers are whole, and in sum below 2**53 in each row: the sums are exact.
    n, n_bits = numbers.shape
    if n > _FEW:
        bits = unpack(codes, n_bits).astype(np.float64)
        return np.asarray(numbers @ bits.T)
    padded = np.zeros((n, -(-n_bits // 8), 8))
    padded.reshape(n, -1)[:, :n_bits] = numbers
    bytes_ = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
    by_byte = padded.transpose(1, 0, 2) @ bytes_.T.astype(np.float64)
    sums = np.zeros((n, len(codes)))
    for values, column in zip(by_byte, codes.T, strict=True):
        sums += values[:, column]
    return sums
