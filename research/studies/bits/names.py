"""Tests of the names of bits that names could fail."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import hypergeom

from fewbits.analysis.bits import extreme_items
from fewbits.analysis.names import Proposals, propose_names, tokenize
from fewbits.codes import unpack
from research.core.record import Metrics

SIGNIFICANCE = 0.01
#: To test a word, so many items must carry it and so many must not.
MIN_ITEMS = 5
#: Times that classes exchange their texts; items that show a side best.
N_SWAPS, N_EXTREMES = 10, 6

Rows = NDArray[np.int64]


class Sample(NamedTuple):
    """Codes, and the texts of their items."""

    codes: NDArray[np.uint8]
    n_bits: int
    texts: list[str]

    def take(self, rows: Rows) -> "Sample":
        """Return some of the items."""
        texts = [self.texts[row] for row in rows.tolist()]
        return Sample(self.codes[rows], self.n_bits, texts)

    def names(self) -> list["Named"]:
        """Return the best word that the package proposes for each side, if any."""
        proposals: Proposals = propose_names(
            self.texts,
            self.codes,
            self.n_bits,
            n_words=1,
            min_items=MIN_ITEMS,
            significance=SIGNIFICANCE,
            min_share=0,
        )
        return [
            Named(bit, side, words[0].word)
            for bit, proposal in proposals.bits.items()
            for side, words in enumerate(proposal)
            if words
        ]


class Named(NamedTuple):
    """Items with a word are on a side of a bit more often than others."""

    bit: int
    side: int
    word: str


def count_names(sample: Sample) -> Metrics:
    """Count bits with names on ``both`` sides, named ``sides``, different ``words``."""
    named = sample.names()
    sides = Counter(each.bit for each in named)
    return {
        "both": sum(n == 2 for n in sides.values()),
        "sides": len(named),
        "words": len({each.word for each in named}),
    }


def check(named: Sequence[Named], sample: Sample) -> Metrics:
    """Count the names that hold on other items than those that they come from.

    Returns
    -------
    dict
        ``claims``, and how many of them are ``tested``, as enough items have the word
        and have it not; how many of these have the same ``direction``, and how many
        ``hold``, being significant by Fisher's exact test (one-sided, corrected for
        the number of tests). How often an item ``with`` the word is on the side, and
        one ``without``, are sums over those that are tested.
    """
    bits = unpack(sample.codes, sample.n_bits)
    carriers = _carriers({each.word for each in named}, sample.texts)
    tables = [_table(bits[:, n.bit] == n.side, carriers[n.word]) for n in named]
    tested = [table for table in tables if min(table[1], table[3]) >= MIN_ITEMS]
    hits, n_with, others, n_without = np.array(tested, np.int64).reshape(-1, 4).T
    share, other_share = hits / n_with, others / n_without
    same = share > other_share
    chance = hypergeom.sf(hits - 1, n_with + n_without, hits + others, n_with)
    return {
        "claims": len(named),
        "tested": len(tested),
        "direction": int(same.sum()),
        "hold": int((same & (chance * len(tested) <= SIGNIFICANCE)).sum()),
        "with": float(share.sum()),
        "without": float(other_share.sum()),
    }


def check_extremes(sample: Sample, scores: NDArray[np.float32]) -> Metrics:
    """Add up the shares of items with the best word of a side that has one.

    Of the most ``extreme`` items of the side, and of ``all`` items of the side.
    """
    named = sample.names()
    bits = unpack(sample.codes, sample.n_bits)
    carriers = _carriers({each.word for each in named}, sample.texts)
    extremes = extreme_items(scores, N_EXTREMES)
    best = [carriers[n.word][extremes[n.side].rows[n.bit]].mean() for n in named]
    sides = [carriers[n.word][bits[:, n.bit] == n.side].mean() for n in named]
    return {
        "tested": len(named),
        "extreme": float(sum(best)),
        "all": float(sum(sides)),
    }


def _carriers(words: set[str], texts: Sequence[str]) -> dict[str, NDArray[np.bool_]]:
    """Return for each word which items carry it."""
    found = {word: np.zeros(len(texts), bool) for word in words}
    for row, text in enumerate(texts):
        for word in tokenize(text) & words:
            found[word][row] = True
    return found


def _table(on_side: Any, carries: Any) -> tuple[int, int, int, int]:
    """Count items with the word on the side and anywhere, and the same without it."""
    n_with, hits = int(carries.sum()), int((on_side & carries).sum())
    return hits, n_with, int(on_side.sum()) - hits, len(carries) - n_with


def check_halves(sample: Sample, rng: np.random.Generator) -> Metrics:
    """Name bits on one half of the items and check the names on the other."""
    order = rng.permutation(len(sample.texts))
    half = len(order) // 2
    return check(sample.take(order[:half]).names(), sample.take(order[half:]))


def check_novel(sample: Sample, n_known: int) -> Metrics:
    """Name bits on items of known classes, the first ones, and check on the others."""
    rows = np.arange(len(sample.texts))
    return check(sample.take(rows[:n_known]).names(), sample.take(rows[n_known:]))


def check_swapped(
    sample: Sample, classes: NDArray[Any], n_known: int, rng: np.random.Generator
) -> Metrics:
    """Return what `check_novel` counts in all where classes swap their texts.

    Known classes among themselves, and novel ones: a text that went from one part to
    the other would be missing where it came from, and names would turn round.
    """
    rows = np.arange(len(classes))
    total: Counter[str] = Counter()
    for _ in range(N_SWAPS):
        texts = [
            text
            for part in (rows[:n_known], rows[n_known:])
            for text in swapped(sample.take(part), classes[part], rng).texts
        ]
        total.update(check_novel(sample._replace(texts=texts), n_known))
    return dict(total)


def shuffled(sample: Sample, rng: np.random.Generator) -> Sample:
    """Give every item the text of any other: no name is right."""
    order = rng.permutation(len(sample.texts)).tolist()
    return sample._replace(texts=[sample.texts[row] for row in order])


def swapped(sample: Sample, classes: NDArray[Any], rng: np.random.Generator) -> Sample:
    """Give every class the texts of another class.

    Items of a class still have like texts and like codes, so that words distinguish
    sides; but what they say about one class says nothing about the next.
    """
    names = rng.permutation(np.unique(classes))
    texts = list(sample.texts)
    for receiver, giver in zip(names, np.roll(names, 1), strict=True):
        rows = np.flatnonzero(classes == receiver)
        given = rng.choice(np.flatnonzero(classes == giver), len(rows))
        for row, source in zip(rows.tolist(), given.tolist(), strict=True):
            texts[row] = sample.texts[source]
    return sample._replace(texts=texts)
