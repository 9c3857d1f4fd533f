"""Proposal of names from the words that the items on either side carry."""

from collections.abc import Collection, Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fewbits._checks import check_bits, check_count
from fewbits._spans import spans
from fewbits._typing import CodeArray
from fewbits.analysis._checks import check_codes, check_share
from fewbits.analysis.names._contrast import Contrast, contrast
from fewbits.analysis.names._names import Proposal, Proposals, Word
from fewbits.analysis.names._word_groups import read_groups
from fewbits.analysis.names._words import FUNCTION_WORDS, Text, read_vocabulary
from fewbits.errors import ArgumentError

_BITS = 16  # counted at once


def propose_names(
    texts: Sequence[Text],
    codes: CodeArray,
    n_bits: int,
    *,
    bits: Iterable[int] | None = None,
    n_words: int = 3,
    min_items: int = 5,
    significance: float = 0.01,
    min_share: float = 0.1,
    prior: float = 0.1,
    ignore: Collection[str] = FUNCTION_WORDS,
    groups: ArrayLike | None = None,
) -> Proposals:
    """Propose names for both sides of bits: the words that distinguish them best.

    A word counts once for each item that carries it. Words are runs of letters and
    digits in lower case, see `tokenize`; nothing is stemmed.

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
        Words that a smaller share of the items of a side carry are not proposed for it:
        they may be significant, but do not say what the side is. 0 proposes them.
    prior : float, default=0.1
        Weight of the prior, as a share of all words counted.
    ignore : collection of str, default=FUNCTION_WORDS
        Words that are not counted, in lower case. The default is a few dozen English
        ones, such as "of" and "with": they may distinguish sides, but name nothing.
    groups : array-like of shape (n,), default=None
        Classes of the items, or whatever else makes some of them alike, all strings or
        all numbers; at least 3. With them a name is to hold for other groups, too, of
        which these are a sample. None takes items as independent, and names hold for
        groups such as these.

    Returns
    -------
    Proposals

    Raises
    ------
    ArgumentError
        When texts or groups are not one per code, texts are not texts, there is no such
        bit, a number lies outside its range, or fewer than 3 groups have words.

    Notes
    -----
    The log-odds ratio with an informative Dirichlet prior of Monroe et al. The prior is
    the distribution of words in the whole collection: ``a_w``, the count of the word
    there times `prior`, and ``a``, the sum over all words. With ``y`` the count of the
    word on a side and ``n`` that of all words there, the log-odds of the side are
    ``log((y + a_w) / (n + a - y - a_w))``, their variance is about ``1 / (y + a_w)``,
    and ``z`` is the difference between the sides over its standard error. A prior of
    about a tenth finds most: a word that is on one side only has a variance of
    ``1 / a_w`` on the other, however frequent it is.

    These are odds among words. A word that is proposed for a side is also carried by a
    larger share of its items, which need not follow where texts of the sides differ in
    length.

    P values are two-sided and normal, times the number of words and bits (Bonferroni).
    They take items as independent: near-duplicates make them too small, and so do
    classes whose items have like codes and like words.

    With `groups` the variance is robust to that. By the delta method, an item on side
    ``s`` with ``m`` words counted, which has the word (``y`` = 1) or not, moves the
    log-odds of its side by ``(y - p m) / (N p (1 - p))``, with ``N = n + a`` and ``p =
    (y_s + a_w) / N``. These are summed within each of K groups, over both sides and
    with the sign of the side, then squared, summed over the groups, and multiplied with
    ``K / (K - 1)`` (Cameron and Miller). The variance is never below that of
    independent items, and ``z`` is one of Student's t with K - 1 degrees of freedom,
    where K counts the groups with words.

    That variance is too small where few groups have a word and all of them lie on one
    side, as five do by chance in one bit of sixteen: they do not differ then. So a word
    must also pass a score test, for which groups take their sides at random: the
    difference of the shares of the word among all words, over the root of the sum of
    squares of what each group contributes to it, where all have the same share. That
    hardly exceeds the root of the number of such groups, so that its p value cannot be
    corrected for many tests; it must be at most .001 as it is, which takes about eleven
    groups. Of other words the p value is 1.

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
    >>> found = propose_names(texts, codes, n_bits=1, n_words=1)
    >>> found.bits[0].names
    ('green', 'red')
    """
    codes = check_codes(codes, n_bits)
    chosen = check_bits(bits, n_bits)
    if isinstance(texts, str) or len(texts) != len(codes):
        raise ArgumentError(f"need one text for each of {len(codes)} codes")
    n_words = check_count(n_words, "n_words")
    min_items = check_count(min_items, "min_items")
    significance = check_share(significance, "significance")
    if not 0 <= min_share < 1:
        raise ArgumentError(f"min_share must lie in [0, 1), got {min_share}")
    if not prior > 0 or not np.isfinite(prior):
        raise ArgumentError(f"prior must be above 0 and finite, got {prior}")
    vocabulary = read_vocabulary(texts, min_items, frozenset(ignore))
    grouped = None if groups is None else read_groups(vocabulary.carriers, groups)
    n_tests = len(vocabulary.words) * len(chosen)
    found: dict[int, Proposal] = {}
    for part in spans(len(chosen), _BITS):
        values = _values(codes, chosen[part])
        compared = contrast(vocabulary.carriers, values, prior, grouped)
        for column, bit in enumerate(chosen[part]):
            sides = (
                _best(
                    vocabulary.words,
                    compared,
                    column,
                    side,
                    n_words,
                    n_tests,
                    significance,
                    min_share,
                )
                for side in (0, 1)
            )
            found[bit] = Proposal(*sides)
    n_groups = None if grouped is None else grouped.n_groups
    counts = len(vocabulary.words), n_tests
    return Proposals(found, *counts, significance, min_share, n_groups)


def _best(
    words: list[str],
    found: Contrast,
    column: int,
    side: int,
    n_words: int,
    n_tests: int,
    significance: float,
    min_share: float,
) -> tuple[Word, ...]:
    """Return the most significant words of a side, ties in alphabetical order."""
    z = found.z[:, column] * (1 if side else -1)
    p_values = np.minimum(found.p_values[:, column] * n_tests, 1)
    shares, others = found.shares[side], found.shares[1 - side]
    # Odds are among words: where texts are short, all words have higher ones.
    more = (z > 0) & (shares[:, column] > others[:, column])
    common = shares[:, column] >= min_share
    candidates = np.flatnonzero(more & common & (p_values <= significance))
    order = candidates[np.argsort(-z[candidates], kind="stable")][:n_words]
    return tuple(
        Word(
            words[i],
            float(z[i]),
            float(p_values[i]),
            float(shares[i, column]),
            float(others[i, column]),
        )
        for i in order
    )


def _values(codes: CodeArray, bits: Sequence[int]) -> NDArray[np.uint8]:
    """Return the chosen bits, one column each, without unpacking the others."""
    places = np.array(bits)
    shifts = (7 - places % 8).astype(np.uint8)
    return (codes[:, places // 8] >> shifts & 1).astype(np.uint8, copy=False)
