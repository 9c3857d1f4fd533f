"""Exact decoding: the class whose code the item has."""

from dataclasses import dataclass, field

from fewbits._typing import CodeArray
from fewbits.classify._codebook import Codebook
from fewbits.classify._decoded import Answers
from fewbits.classify.decoders._base import CodeDecoder


@dataclass(frozen=True, repr=False)
class Exact(CodeDecoder):
    """Look each code up among those of the classes.

    One look-up in a hash table, however many classes there are. ``distances`` of the
    answer are 0, or -1 where no class has the code.

    Parameters
    ----------
    ties : {"none", "first"}, default="none"
        What to answer where several classes have the code: no class, or that of the
        lowest row. ``codebook.sharing(row)`` names them all.

    References
    ----------
    Kusupati et al., "LLC: Accurate, Multi-purpose Learnt Low-dimensional Binary Codes",
    NeurIPS 2021, section 4.1.1: ED.

    Examples
    --------
    >>> from fewbits.codes import pack
    >>> book = Codebook(pack([[0, 0, 0], [1, 1, 1], [0, 0, 0]]), n_bits=3)
    >>> Exact().decode(book, pack([[1, 1, 1], [0, 0, 0], [0, 1, 1]])).rows
    array([ 1, -1, -1])
    """

    ties: str = field(default="none", kw_only=True)

    @property
    def max_distance(self) -> int:
        """Zero: a class has exactly the code, or is not found."""
        return 0

    def _answers(self, codebook: Codebook, codes: CodeArray) -> Answers:
        table = codebook.table
        queries, entries = table.hits(table.keys(codes))
        if not table.is_exact:
            same = (codebook.codes[table.rows[entries]] == codes[queries]).all(axis=1)
            queries, entries = queries[same], entries[same]
        found = Answers.none(len(codes))
        found.distances[queries] = 0
        found.rows[queries] = table.rows[entries]
        found.ties[queries] = table.counts[entries]
        found.lookups[:] = 1
        return found
