"""Names for the sides of bits, from the words that their items carry."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_bits, check_count, check_rate
from fewbits._labels import as_classes
from fewbits._repr import short_repr
from fewbits._spans import spans
from fewbits._typing import CodeArray, IdArray
from fewbits.analysis._codes import check_codes
from fewbits.errors import ArgumentError

__all__ = [
    "Names",
    "Proposal",
    "Proposals",
    "Word",
    "propose_names",
    "tokenize",
]

#: Names of the two sides of a bit: 0 and 1.
Names = tuple[str, str]
_BITS = 16  # counted at once
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_Text = str | Iterable[str] | None
#: English words that join others and name nothing by themselves.
_FUNCTION_WORDS = frozenset(
    _WORD.findall(
        "a an and are as at be by for from in into is it its of on or other than that "
        "the their this to was were which with without"
    )
)
FloatArray = NDArray[np.float64]
# Of one word and bit: ten groups on one side are few enough for chance.
_BY_CHANCE = 0.001
_PRIOR = 0.1  # of its words, as a share of all words counted
_FEWEST = 3


class Word(NamedTuple):
    """A word that one side of a bit carries more often than the other.

    `z` is its log-odds ratio in standard errors, robust ones where groups count,
    `p_value` two-sided and corrected for the number of tests; `share` and `other_share`
    of the items on this side, and on the other, carry the word.
    """

    word: str
    z: float
    p_value: float
    share: float
    other_share: float


class Proposal(NamedTuple):
    """Significant words of both sides of a bit, the most significant first."""

    zeros: tuple[Word, ...]
    ones: tuple[Word, ...]

    def __repr__(self) -> str:
        return short_repr(self)

    @property
    def names(self) -> Names:
        """The words of each side, joined by commas; empty where none is significant."""
        zeros, ones = (", ".join(word.word for word in side) for side in self)
        return zeros, ones


@dataclass(frozen=True, slots=True)
class Proposals:
    """Result of `propose_names`, whose `significance` and `min_share` these are.

    `bits` has a `Proposal` for each bit; `n_words` words are tested, those that enough
    items carry, and `n_groups` are the groups with words, where these count in place of
    items, or None.
    """

    bits: dict[int, Proposal] = field(repr=False)
    n_words: int
    significance: float
    min_share: float
    n_groups: int | None

    __repr__ = short_repr


def name_bits(
    proposals: Proposals | None = None,
    by_hand: Mapping[int, tuple[str | None, str | None]] | None = None,
) -> dict[int, Names]:
    """Return the names of both sides of bits; those given by hand go first.

    None among these keeps what is proposed. For every bit that is in either; empty
    where a side has no name.
    """
    names = (
        {bit: proposal.names for bit, proposal in proposals.bits.items()}
        if proposals
        else {}
    )
    for bit, sides in (by_hand or {}).items():
        if isinstance(sides, str) or len(sides) != 2:
            raise ArgumentError(f"bit {bit} needs two names, got {sides!r}")
        if not all(side is None or isinstance(side, str) for side in sides):
            raise ArgumentError(f"the names of bit {bit} must be texts, got {sides!r}")
        proposed = names.get(bit, ("", ""))
        zeros, ones = (
            old if new is None else new
            for old, new in zip(proposed, sides, strict=True)
        )
        names[bit] = zeros, ones
    return names


def propose_names(
    texts: Sequence[_Text],
    codes: CodeArray,
    n_bits: int,
    *,
    bits: Iterable[int] | None = None,
    n_words: int = 3,
    min_items: int = 5,
    significance: float = 0.01,
    min_share: float = 0.1,
    groups: ArrayLike | None = None,
) -> Proposals:
    """Propose names for both sides of bits: the words that distinguish them best.

    A word counts once for each item that carries it, see `tokenize`. A few dozen
    English ones, such as "of" and "with", are not counted: they name nothing.

    Parameters
    ----------
    texts : sequence of str, list of str, or None, of length n
        What the items carry: captions, names of classes, or lists of words, which stay
        as they are. None is an item without text.
    codes : ndarray of shape (n, n_bytes), dtype uint8
    n_bits : int
        Length of the codes.
    bits : iterable of int, default=None
        The bits to name, all for None. The fewer, the fewer tests.
    n_words : int, default=3
        Words per side at most.
    min_items : int, default=5
        Words that fewer items carry are not tested.
    significance : float, default=0.01
        Words with a larger corrected p value are not proposed.
    min_share : float, default=0.1
        Words that a smaller share of the items of a side carry are not proposed for it.
    groups : array-like of shape (n,), default=None
        Classes of the items, or whatever else makes some of them alike; at least 3.
        With them a name is to hold for other groups, too, of which these are a sample.
        None takes items as independent, and names hold for groups such as these.

    Raises
    ------
    ArgumentError
        When texts or groups are not one per code, texts are not texts, there is no such
        bit, a number lies outside its range, or fewer than 3 groups have words.

    Notes
    -----
    The log-odds ratio with an informative Dirichlet prior of Monroe et al. The prior is
    the distribution of words in the whole collection: ``a_w``, the count of the word
    there times .1, and ``a``, the sum over all words. With ``y`` the count of the
    word on a side and ``n`` that of all words there, the log-odds of the side are
    ``log((y + a_w) / (n + a - y - a_w))``, their variance is about ``1 / (y + a_w)``,
    and ``z`` is the difference between the sides over its standard error. A word that
    is proposed for a side is also carried by a larger share of its items. P values are
    two-sided and normal, times the number of words and bits (Bonferroni).

    With `groups` the variance is that between groups (Cameron and Miller), where an
    item on side ``s`` with ``m`` words counted, which has the word (``y`` = 1) or not,
    moves the log-odds by ``(y - p m) / (N p (1 - p))``, ``N = n + a`` and ``p = (y_s +
    a_w) / N``. It is never below that of independent items, and ``z`` is one of
    Student's t with K - 1 degrees of freedom, where K counts the groups with words.
    That variance is too small where the few groups with a word all lie on one side, so
    a word must also pass a score test, for which groups take their sides at random, at
    .001, which takes about eleven groups. Of other words the p value is 1.

    References
    ----------
    Monroe, Colaresi and Quinn, "Fightin' Words: Lexical Feature Selection and
    Evaluation for Identifying the Content of Political Conflict", Political Analysis
    16, 2008.

    Cameron and Miller, "A Practitioner's Guide to Cluster-Robust Inference", Journal of
    Human Resources 50, 2015.

    Examples
    --------
    >>> import numpy as np
    >>> texts = ["a red car", "a red bus", "a green tree", "a green leaf"] * 20
    >>> codes = np.array([[128], [128], [0], [0]] * 20, np.uint8)
    >>> proposals = propose_names(texts, codes, n_bits=1, n_words=1)
    >>> proposals.bits[0].names
    ('green', 'red')
    """
    codes = check_codes(codes, n_bits)
    shown_bits = check_bits(bits, n_bits)
    if isinstance(texts, str) or len(texts) != len(codes):
        raise ArgumentError(f"need one text for each of {len(codes)} codes")
    n_words = check_count(n_words, "n_words")
    min_items = check_count(min_items, "min_items")
    check_rate(significance, "significance")
    if not 0 <= min_share < 1:
        raise ArgumentError(f"min_share must lie in [0, 1), got {min_share}")
    from scipy.sparse import csr_array
    from scipy.special import ndtr, stdtr

    # The sorted words of at least `min_items` items, and who carries them (n_words, n).
    numbers: dict[str, int] = {}
    carried = [
        [
            numbers.setdefault(word, len(numbers))
            for word in tokenize(text).difference(_FUNCTION_WORDS)
        ]
        for text in texts
    ]
    entries = np.fromiter(chain.from_iterable(carried), np.int64)
    frequent = np.bincount(entries, minlength=len(numbers)) >= min_items
    words = sorted(word for word, number in numbers.items() if frequent[number])
    places_of = np.full(len(numbers), -1)
    places_of[[numbers[word] for word in words]] = np.arange(len(words))
    items = np.repeat(np.arange(len(carried)), [len(row) for row in carried])
    counted_entries = frequent[entries]
    ones_of = np.ones(int(counted_entries.sum()), np.int32)
    carriers = csr_array(
        (ones_of, (places_of[entries[counted_entries]], items[counted_entries])),
        shape=(len(words), len(carried)),
    )
    total = np.asarray(carriers.sum(axis=1), dtype=np.float64)[:, None]
    weights = _PRIOR * total
    word_groups = None if groups is None else _WordGroups.of(carriers, groups)
    n_tests = len(words) * len(shown_bits)

    def best(
        z: FloatArray, p_values: FloatArray, share: FloatArray, other: FloatArray
    ) -> tuple[Word, ...]:
        # Odds are among words: where texts are short, all words have higher ones.
        more = (z > 0) & (share > other) & (share >= min_share)
        rows = np.flatnonzero(more & (p_values <= significance))
        rows = rows[np.argsort(-z[rows], kind="stable")][:n_words]  # ties by alphabet
        columns = (column[rows].tolist() for column in (z, p_values, share, other))
        return tuple(map(Word, [words[row] for row in rows], *columns))

    proposals: dict[int, Proposal] = {}
    for part in spans(len(shown_bits), _BITS):
        places = np.array(shown_bits[part])
        shifts = (7 - places % 8).astype(np.uint8)
        values = (codes[:, places // 8] >> shifts & 1).astype(np.uint8, copy=False)
        ones = (carriers @ values.astype(np.int32)).astype(np.float64)
        zeros = total - ones
        # Positive where ones carry more.
        z = _log_odds(ones + weights) - _log_odds(zeros + weights)
        variance = 1 / (ones + weights) + 1 / (zeros + weights)
        n_ones = values.sum(axis=0, dtype=np.int64)
        shares = (
            zeros / np.maximum(len(values) - n_ones, 1),
            ones / np.maximum(n_ones, 1),
        )
        if word_groups is None:
            z /= np.sqrt(variance)
            p_values = 2 * ndtr(-np.abs(z))
        else:
            counts = np.stack([zeros, ones])
            # By the delta method a word moves log(p / (1 - p)) by 1 / (N p (1 - p)).
            weighted = counts + weights
            totals = weighted.sum(axis=1, keepdims=True)
            scales, product = np.zeros(counts.shape), weighted * (totals - weighted)
            np.divide(totals, product, out=scales, where=product > 0)
            expected = weighted / np.maximum(totals, 1)
            robust = word_groups.squares(values, scales, expected)
            z /= np.sqrt(np.maximum(variance, robust))
            # The variance between groups is too small where the few groups with a word
            # all lie on one side: they do not differ then. So the difference of shares
            # is tested, too, against sides that groups take at random.
            counted = np.maximum(counts.sum(axis=1, keepdims=True), 1)
            pooled = counts.sum(axis=0) / np.maximum(counts.sum(axis=(0, 1)), 1)
            scales = np.broadcast_to(1 / counted, counts.shape)
            squares = word_groups.squares(values, scales, np.stack([pooled, pooled]))
            gap = np.abs(ones / counted[1] - zeros / counted[0])
            score = np.zeros(z.shape)
            np.divide(gap, np.sqrt(squares), out=score, where=squares > 0)
            by_variance = 2 * stdtr(word_groups.n_groups - 1, -np.abs(z))
            p_values = np.where(2 * ndtr(-score) <= _BY_CHANCE, by_variance, 1.0)
        p_values = np.minimum(p_values * n_tests, 1)
        for column, bit in enumerate(shown_bits[part]):
            of_zeros, of_ones = (share[:, column] for share in shares)
            z_bit, p = z[:, column], p_values[:, column]
            proposals[bit] = Proposal(
                best(-z_bit, p, of_zeros, of_ones), best(z_bit, p, of_ones, of_zeros)
            )
    n_groups = None if word_groups is None else word_groups.n_groups
    return Proposals(proposals, len(words), significance, min_share, n_groups)


def tokenize(text: _Text) -> set[str]:
    """Return the different words of a text; of None, which has none.

    Runs of letters and digits in lower case, joined by hyphens and apostrophes inside.
    No word is stemmed. A list of strings is taken as words already, which serves
    scripts without spaces between words, or with marks between letters.

    Examples
    --------
    >>> sorted(tokenize("Type-2 diabetes, the patient's; car_side"))
    ['car', 'diabetes', "patient's", 'side', 'the', 'type-2']
    >>> sorted(tokenize(["palm tree", "sea"]))
    ['palm tree', 'sea']
    """
    if text is None:
        return set()
    if isinstance(text, str):
        return set(_WORD.findall(text.lower()))
    words = set(text) if isinstance(text, Iterable) else {text}
    if not all(isinstance(word, str) for word in words):
        raise ArgumentError(f"texts must be strings, got {type(text).__name__}")
    return words


class _WordGroups(NamedTuple):
    """Words that the items of each group carry."""

    n_groups: int  # with words
    entries: IdArray  # the pair of word and group that each entry of the carriers is of
    items: IdArray  # of each entry
    words: IdArray  # of each pair
    groups: IdArray  # of each pair
    lengths: FloatArray  # words of each item
    members: IdArray  # the group of each item

    @classmethod
    def of(cls, carriers: Any, groups: ArrayLike) -> Self:
        """Read the groups of items; `carriers` is sparse, of shape (n_words, n)."""
        names, members = as_classes(groups, carriers.shape[1], "groups")
        entries = carriers.tocoo()
        words, items = (np.asarray(x, np.int64) for x in (entries.row, entries.col))
        lengths = np.bincount(items, minlength=len(members)).astype(np.float64)
        n_groups = len(np.unique(members[lengths > 0])) if len(words) else len(names)
        if n_groups < _FEWEST:
            raise ArgumentError(
                f"need at least {_FEWEST} groups of items with words, got {n_groups}"
            )
        pairs, entry_pairs = np.unique(
            words * len(names) + members[items], return_inverse=True
        )
        return cls(
            n_groups,
            entry_pairs,
            items,
            *np.divmod(pairs, len(names)),
            lengths,
            members,
        )

    def squares(
        self, values: NDArray[np.uint8], scales: FloatArray, shares: FloatArray
    ) -> FloatArray:
        """Sum the squares of what the groups contribute to a difference of sides.

        An item on side ``s`` with ``m`` words contributes ``scales[s] * (y - shares[s]
        * m)``, with a minus on side 0; ``y`` is 1 if it has the word. `values` are
        (n, n_bits), `scales` and `shares` (2, n_words, n_bits).
        """
        squares = np.empty(scales.shape[1:])
        total = np.bincount(self.entries, minlength=len(self.words))

        def by_word(weights: FloatArray) -> FloatArray:
            return np.bincount(self.words, weights, len(squares)).astype(np.float64)

        for bit, column in enumerate(values.T):
            scale, share = scales[:, :, bit], shares[:, :, bit]
            first = np.bincount(self.entries, column[self.items], len(self.words))
            counted = scale[1, self.words] * first
            counted -= scale[0, self.words] * (total - first)
            ones = np.bincount(self.members, self.lengths * column)
            zeros = np.bincount(self.members, self.lengths * (1 - column.astype(int)))
            a, b = scale[1] * share[1], scale[0] * share[0]
            # Only few groups have a word, so the square of `counted - expected` is
            # written out: what was expected has its sum over all groups in closed form.
            squares[:, bit] = (
                by_word(counted**2)
                - 2 * a * by_word(counted * ones[self.groups])
                + 2 * b * by_word(counted * zeros[self.groups])
                + a**2 * (ones @ ones)
                - 2 * a * b * (ones @ zeros)
                + b**2 * (zeros @ zeros)
            )
        correction = self.n_groups / (self.n_groups - 1)
        return np.asarray(np.maximum(squares, 0) * correction)


def _log_odds(counts: FloatArray) -> FloatArray:
    others = counts.sum(axis=0) - counts
    # Where there is one word only, it has no odds, and both sides are alike.
    odds = np.divide(counts, others, out=np.ones(counts.shape), where=others > 0)
    result: FloatArray = np.log(odds)
    return result
