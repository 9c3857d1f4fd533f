"""Names for both sides of a bit: those proposed, and those given by hand."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from fewbits._repr import one_line
from fewbits.errors import ArgumentError

#: Names of the two sides of a bit: 0 and 1.
Names = tuple[str, str]


class Word(NamedTuple):
    """A word that one side of a bit carries more often than the other.

    Attributes
    ----------
    word : str
    z : float
        Log-odds ratio in standard errors, above 0; robust ones where groups count.
    p_value : float
        Two-sided, corrected for the number of tests.
    share, other_share : float
        Share of the items on this side, and on the other, that carry the word.
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
        return one_line(self)

    @property
    def names(self) -> Names:
        """The words of each side, joined by commas; empty where none is significant."""
        zeros, ones = (", ".join(word.word for word in side) for side in self)
        return zeros, ones


@dataclass(frozen=True, slots=True)
class Proposals:
    """Result of `propose_names`.

    Attributes
    ----------
    bits : dict of int to Proposal
    n_words : int
        Words that enough items carry.
    n_tests : int
        Words times bits: what p values are multiplied with.
    significance : float
        The largest corrected p value of a word that is in a name.
    min_share : float
        The smallest share of the items of a side that carry a word in its name.
    n_groups : int, default=None
        Groups with words, where these count in place of items.
    """

    bits: dict[int, Proposal] = field(repr=False)
    n_words: int
    n_tests: int
    significance: float
    min_share: float = 0
    n_groups: int | None = None

    def __repr__(self) -> str:
        return one_line(self)


def name_bits(
    proposals: Proposals | None = None,
    by_hand: Mapping[int, tuple[str | None, str | None]] | None = None,
) -> dict[int, Names]:
    """Return the names of both sides of bits; those given by hand go first.

    Parameters
    ----------
    proposals : Proposals, default=None
    by_hand : mapping of int to pair of str or None, default=None
        Names of the side of zeros and of ones. None keeps what is proposed.

    Returns
    -------
    dict of int to pair of str
        For every bit that is in either; empty where a side has no name.

    Raises
    ------
    ArgumentError
        When a name given by hand is not text, or there are not two for a bit.

    Examples
    --------
    >>> name_bits(by_hand={3: ("natural", "boxy"), 5: (None, "round")})
    {3: ('natural', 'boxy'), 5: ('', 'round')}
    """
    names = (
        {bit: found.names for bit, found in proposals.bits.items()} if proposals else {}
    )
    for bit, sides in (by_hand or {}).items():
        if isinstance(sides, str) or len(sides) != 2:
            raise ArgumentError(f"bit {bit} needs two names, got {sides!r}")
        if not all(side is None or isinstance(side, str) for side in sides):
            raise ArgumentError(f"the names of bit {bit} must be texts, got {sides!r}")
        known = names.get(bit, ("", ""))
        zeros, ones = (
            old if new is None else new for old, new in zip(known, sides, strict=True)
        )
        names[bit] = zeros, ones
    return names
