"""The bits of a collection: how they are used, and what their sides are called."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from fewbits._repr import one_line
from fewbits._typing import CodeArray
from fewbits.analysis.bits import count_ones, distinct_bits
from fewbits.analysis.names import Proposal, Word, propose_names
from fewbits.bundle import Bundle
from fewbits.engine.explore._bit_names import Sides
from fewbits.engine.explore._samples import affordable, sampled_rows, words_of
from fewbits.errors import ArgumentError

_USUAL = 512  # bits; of longer codes, fewer are looked at
_COMPARED = 10_000  # codes that bits are compared on
_FEWEST = 500  # codes that tell which bits are alike
_READ = 50_000  # texts that names are proposed from
_WORDS = 6  # of a side, as evidence
_IN_NAME = 3
_TIMES = 3  # as often on its side a word of a name is as on the other
_LEAST = 0.25  # of the items of a side, together, that the words of its name are of


@dataclass(frozen=True)
class BitsRequest:
    """Ask how the bits of a collection are used.

    Parameters
    ----------
    proposals : bool, default=True
        Whether to propose names, which takes most of the time.
    """

    proposals: bool = True


@dataclass(frozen=True)
class BitSummary:
    """One bit.

    Attributes
    ----------
    bit : int
    share : float
        Share of the items that have a 1.
    is_dead : bool
        Whether all items have the same value.
    same_as : tuple of int
        Bits that correlate with this one, or with one that does, by more than .5 in
        absolute value, so that they say about the same.
    names : (str or None, str or None)
        What people call the values 0 and 1.
    proposal : Proposal or None
        Words of both sides; None where names were not proposed.
    """

    bit: int
    share: float
    is_dead: bool
    same_as: tuple[int, ...] = ()
    names: Sides = (None, None)
    proposal: Proposal | None = None

    def evidence(self, names: Sides | None = None) -> dict[str, Any]:
        """Return `to_dict`, with names that people gave and the words of both sides."""
        named = self if names is None else replace(self, names=names)
        sides = () if self.proposal is None else self.proposal
        words = [[word._asdict() for word in side] for side in sides]
        return {**named.to_dict(), "words": words}

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        proposed = None if self.proposal is None else list(map(_name, self.proposal))
        return {
            "bit": self.bit,
            "share": self.share,
            "dead": self.is_dead,
            "same_as": list(self.same_as),
            "names": list(self.names),
            "proposed": proposed,
        }


def _name(words: Sequence[Word]) -> str:
    """Return a name of a side; empty where its words do not say what the side is.

    A word may be significant of a side, and yet be met on few of its items or on nearly
    as many of the other's.
    """
    telling = [each for each in words if each.share >= _TIMES * each.other_share]
    chosen = telling[:_IN_NAME]
    if sum(each.share for each in chosen) < _LEAST:
        return ""
    return ", ".join(each.word for each in chosen)


@dataclass(frozen=True)
class BitsResponse:
    """All bits, in their order.

    Attributes
    ----------
    bits : tuple of BitSummary
    n_items : int
        Items of the collection, over all of which shares are exact.
    n_compared, n_read : int
        Items that bits were compared on, 0 where codes are too long to compare all
        bits; and texts that names were proposed from, 0 where there are none, or they
        were not asked for.
    """

    bits: tuple[BitSummary, ...]
    n_items: int
    n_compared: int
    n_read: int

    def __repr__(self) -> str:
        return one_line(self)

    @cached_property
    def n_groups(self) -> int:
        """Number of bits that say different things; dead ones say nothing."""
        alive = [each for each in self.bits if not each.is_dead]
        return len({min((each.bit, *each.same_as)) for each in alive})

    def named(self, names: Mapping[int, Sides]) -> "BitsResponse":
        """Return the response with names that people gave."""
        return replace(
            self,
            bits=tuple(
                replace(each, names=names.get(each.bit, (None, None)))
                for each in self.bits
            ),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "n_items": self.n_items,
            "n_compared": self.n_compared,
            "n_read": self.n_read,
            "n_groups": self.n_groups,
            "bits": [each.to_dict() for each in self.bits],
        }


def bits(bundle: Bundle, request: BitsRequest | None = None) -> BitsResponse:
    """Return the use, the groups and the names of the bits of a collection.

    Parameters
    ----------
    bundle : Bundle
        With a collection.
    request : BitsRequest, default=None

    Returns
    -------
    BitsResponse

    Raises
    ------
    ArgumentError
        When the collection has no items.

    Examples
    --------
    >>> import numpy as np
    >>> from fewbits.bundle import Bundle
    >>> from fewbits.encoders import LinearEncoder
    >>> bundle = Bundle(LinearEncoder(np.eye(2), np.zeros(2)))
    >>> found = bits(bundle.with_items([[1, 1], [1, -1]]))
    >>> [(each.bit, each.share, each.is_dead) for each in found.bits]
    [(0, 1.0, True), (1, 0.5, False)]
    """
    request = request or BitsRequest()
    codes, n_bits = filled(bundle).collection.codes, bundle.encoder.n_bits
    compared, alike = _compared(codes, n_bits)
    n_read, proposals = _proposals(bundle) if request.proposals else (0, {})
    shares = (count_ones(codes, n_bits) / len(codes)).tolist()
    return BitsResponse(
        tuple(
            BitSummary(
                bit,
                share,
                share in (0.0, 1.0),
                alike.get(bit, ()),
                proposal=proposals.get(bit),
            )
            for bit, share in enumerate(shares)
        ),
        len(codes),
        compared,
        n_read,
    )


def _compared(codes: CodeArray, n_bits: int) -> tuple[int, dict[int, tuple[int, ...]]]:
    """Return how many codes bits were compared on, and those that are alike."""
    n = affordable(_COMPARED, n_bits, _USUAL, 2)
    if n < min(_FEWEST, len(codes)) and n_bits > _USUAL:
        return 0, {}
    sample = codes[sampled_rows(len(codes), n)]
    return len(sample), _alike(distinct_bits(sample, n_bits, n_shown=n_bits))


def filled(bundle: Bundle) -> Bundle:
    """Return a bundle that has items.

    Raises
    ------
    ArgumentError
        When it has none, so that its bits cannot be described.
    """
    if not len(bundle.collection):
        raise ArgumentError("the collection is empty")
    return bundle


def _alike(chosen: Mapping[int, list[int]]) -> dict[int, tuple[int, ...]]:
    """Return of each bit the others of its group."""
    groups = [sorted((bit, *others)) for bit, others in chosen.items()]
    return {
        bit: tuple(each for each in group if each != bit)
        for group in groups
        for bit in group
    }


def _proposals(bundle: Bundle) -> tuple[int, dict[int, Proposal]]:
    n_read = affordable(_READ, bundle.encoder.n_bits, _USUAL, 1)
    rows = sampled_rows(len(bundle.collection), n_read)
    texts = words_of(bundle, rows)
    if texts is None:
        return 0, {}
    # Of many classes, each is a small share of a side that it yet belongs to.
    least = 0.1 if bundle.item_kind == "texts" else 0.0
    codes = np.ascontiguousarray(bundle.collection.codes[rows])
    found = propose_names(
        texts, codes, bundle.encoder.n_bits, n_words=_WORDS, min_share=least
    )
    return len(rows), found.bits
