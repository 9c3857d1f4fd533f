"""Words of texts, counted once per item."""

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from fewbits.errors import ArgumentError

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")

Text = str | Iterable[str] | None

#: English words that join others and name nothing by themselves.
FUNCTION_WORDS = frozenset(
    {
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "by",
        "for",
        "from",
        "in",
        "into",
        "is",
        "it",
        "its",
        "of",
        "on",
        "or",
        "other",
        "than",
        "that",
        "the",
        "their",
        "this",
        "to",
        "was",
        "were",
        "which",
        "with",
        "without",
    }
)


class Vocabulary(NamedTuple):
    """Words in sorted order, and the sparse matrix (n_words, n) of who carries them."""

    words: list[str]
    carriers: Any


def tokenize(text: Text) -> set[str]:
    """Return the different words of a text.

    Runs of letters and digits in lower case, joined by hyphens and apostrophes inside.
    No word is stemmed. A list of strings is taken as words already, which serves
    scripts without spaces between words, or with marks between letters.

    Raises
    ------
    ArgumentError
        When it is neither a text, nor a list of such, nor None, which has no words.

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


def read_vocabulary(
    texts: Sequence[Text], min_items: int, ignore: Collection[str]
) -> Vocabulary:
    """Return the words that at least `min_items` items carry."""
    from scipy.sparse import csr_array

    numbers: dict[str, int] = {}
    carried = [
        [
            numbers.setdefault(word, len(numbers))
            for word in tokenize(text).difference(ignore)
        ]
        for text in texts
    ]
    n_entries = sum(map(len, carried))
    found = np.fromiter(chain.from_iterable(carried), np.int64, n_entries)
    enough = np.bincount(found, minlength=len(numbers)) >= min_items
    words = sorted(word for word, number in numbers.items() if enough[number])
    rows = np.full(len(numbers), -1)
    rows[[numbers[word] for word in words]] = np.arange(len(words))
    items = np.repeat(np.arange(len(carried)), [len(words) for words in carried])
    kept = enough[found]
    entries = np.ones(int(kept.sum()), np.int32), (rows[found[kept]], items[kept])
    shape = len(words), len(carried)
    return Vocabulary(words, csr_array(entries, shape=shape))
