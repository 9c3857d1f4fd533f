"""Whether the names of bits mean something: tests that names could fail."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments._cells import Cell
from fewbits.analysis.bits import extreme_items
from fewbits.analysis.names import Proposals, propose_names, tokenize
from fewbits.codes import unpack

SIGNIFICANCE = 0.01
#: To test a word, so many items must carry it and so many must not.
MIN_ITEMS = 5
#: Times that classes exchange their texts.
N_SWAPS = 10
#: Items that show a side best.
N_EXTREMES = 6

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

    def names(self, n_words: int = 1) -> Proposals:
        """Return the names that the package proposes."""
        return propose_names(
            self.texts,
            self.codes,
            self.n_bits,
            n_words=n_words,
            min_items=MIN_ITEMS,
            significance=SIGNIFICANCE,
            min_share=0,
        )


class Claim(NamedTuple):
    """Items with a word are on a side of a bit more often than others."""

    bit: int
    side: int
    word: str


def claims_of(proposals: Proposals) -> list[Claim]:
    """Return the best word of each side that has one."""
    return [
        Claim(bit, side, words[0].word)
        for bit, proposal in proposals.bits.items()
        for side, words in enumerate(proposal)
        if words
    ]


def count_names(sample: Sample) -> Cell:
    """Count bits with names on ``both`` sides, named ``sides``, different ``words``."""
    claims = claims_of(sample.names())
    sides = Counter(claim.bit for claim in claims)
    return {
        "both": sum(n == 2 for n in sides.values()),
        "sides": len(claims),
        "words": len({claim.word for claim in claims}),
    }


def check(claims: Sequence[Claim], sample: Sample) -> Cell:
    """Count the claims that hold on other items than those that they come from.

    Returns
    -------
    dict
        ``claims``, and how many of them are ``tested``, as enough items have the word
        and have it not; how many of these have the same ``direction``, and how many
        ``hold``, being significant by Fisher's exact test (one-sided, corrected for
        the number of tests). How often an item ``with`` the word is on the side, and
        one ``without``, are sums over the tested claims.
    """
    bits = unpack(sample.codes, sample.n_bits)
    carriers = carriers_of({claim.word for claim in claims}, sample.texts)
    tables = [_table(bits[:, c.bit] == c.side, carriers[c.word]) for c in claims]
    tested = [table for table in tables if min(table[1], table[3]) >= MIN_ITEMS]
    columns = np.array(tested, np.int64).reshape(-1, 4).T
    share, other_share = columns[0] / columns[1], columns[2] / columns[3]
    same = share > other_share
    return {
        "claims": len(claims),
        "tested": len(tested),
        "direction": int(same.sum()),
        "hold": int((same & (_fisher(*columns) * len(tested) <= SIGNIFICANCE)).sum()),
        "with": float(share.sum()),
        "without": float(other_share.sum()),
    }


def check_extremes(sample: Sample, scores: NDArray[np.float32]) -> Cell:
    """Add up the shares of items with the best word of a side that has one.

    Of the most ``extreme`` items of the side, and of ``all`` items of the side.
    """
    claims = claims_of(sample.names())
    bits = unpack(sample.codes, sample.n_bits)
    carriers = carriers_of({claim.word for claim in claims}, sample.texts)
    extremes = extreme_items(scores, N_EXTREMES)
    best = [carriers[c.word][extremes[c.side].rows[c.bit]].mean() for c in claims]
    sides = [carriers[c.word][bits[:, c.bit] == c.side].mean() for c in claims]
    return {
        "tested": len(claims),
        "extreme": float(sum(best)),
        "all": float(sum(sides)),
    }


def carriers_of(words: set[str], texts: Sequence[str]) -> dict[str, NDArray[np.bool_]]:
    """Return for each word which items carry it."""
    found = {word: np.zeros(len(texts), bool) for word in words}
    for row, text in enumerate(texts):
        for word in tokenize(text) & words:
            found[word][row] = True
    return found


def _table(
    on_side: NDArray[np.bool_], carries: NDArray[np.bool_]
) -> tuple[int, int, int, int]:
    """Count items with the word on the side and anywhere, and the same without it."""
    n_with, hits = int(carries.sum()), int((on_side & carries).sum())
    return hits, n_with, int(on_side.sum()) - hits, len(carries) - n_with


def _fisher(hits: Rows, n_with: Rows, others: Rows, n_without: Rows) -> Any:
    from scipy.stats import hypergeom

    return hypergeom.sf(hits - 1, n_with + n_without, hits + others, n_with)


def check_halves(sample: Sample, rng: np.random.Generator) -> Cell:
    """Name bits on one half of the items and check the names on the other."""
    order = rng.permutation(len(sample.texts))
    half = len(order) // 2
    claims = claims_of(sample.take(order[:half]).names())
    return check(claims, sample.take(order[half:]))


def check_novel(sample: Sample, n_known: int) -> Cell:
    """Name bits on items of known classes, the first ones, and check on the others."""
    rows = np.arange(len(sample.texts))
    claims = claims_of(sample.take(rows[:n_known]).names())
    return check(claims, sample.take(rows[n_known:]))


def check_swapped(
    sample: Sample, classes: NDArray[Any], n_known: int, rng: np.random.Generator
) -> Cell:
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

    Items of a class still have like texts and like codes, so that words tell sides
    apart; but what they say about one class says nothing about the next.
    """
    names = rng.permutation(np.unique(classes))
    texts = list(sample.texts)
    for receiver, giver in zip(names, np.roll(names, 1), strict=True):
        rows = np.flatnonzero(classes == receiver)
        given = rng.choice(np.flatnonzero(classes == giver), len(rows))
        for row, source in zip(rows.tolist(), given.tolist(), strict=True):
            texts[row] = sample.texts[source]
    return sample._replace(texts=texts)
