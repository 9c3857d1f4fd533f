"""Exact decoding: the class whose code the item has."""

from fewbits._typing import CodeArray
from fewbits.classify._codebook import Codebook
from fewbits.classify._decoded import Answers, Decoded, check_ties
from fewbits.classify._items import item_codes


def decode_exact(
    codebook: Codebook, codes: CodeArray, *, ties: str = "none"
) -> Decoded:
    """Look each code up among those of the classes.

    One look-up in a hash table, however many classes there are.

    Parameters
    ----------
    codebook : Codebook
    codes : ndarray of shape (n, n_bytes), dtype uint8
        Codes of items, as long as those of the classes.
    ties : {"none", "first"}, default="none"
        What to answer where several classes have the code: no class, or that of the
        lowest row. ``codebook.sharing(row)`` names them all.

    Returns
    -------
    Decoded
        ``distances`` are 0, or -1 where no class has the code.

    Raises
    ------
    CodeError
        When the codes are not as long as those of the classes.

    See Also
    --------
    fewbits.evaluation.decoding_accuracy
        Counts as the paper's repository does, or strictly.

    References
    ----------
    Kusupati et al., "LLC: Accurate, Multi-purpose Learnt Low-dimensional Binary Codes",
    NeurIPS 2021, section 4.1.1: ED.

    Examples
    --------
    >>> from fewbits.codes import pack
    >>> book = Codebook(pack([[0, 0, 0], [1, 1, 1], [0, 0, 0]]), n_bits=3)
    >>> decode_exact(book, pack([[1, 1, 1], [0, 0, 0], [0, 1, 1]])).rows
    array([ 1, -1, -1])
    """
    check_ties(ties)
    codes = item_codes(codes, codebook)
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
    return found.decided(ties)
