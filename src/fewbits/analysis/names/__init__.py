"""Names for the meaning of bits."""

from fewbits.analysis.names._names import (
    Names,
    Proposal,
    Proposals,
    Word,
    name_bits,
)
from fewbits.analysis.names._propose import propose_names
from fewbits.analysis.names._words import FUNCTION_WORDS, tokenize

__all__ = [
    "FUNCTION_WORDS",
    "Names",
    "Proposal",
    "Proposals",
    "Word",
    "name_bits",
    "propose_names",
    "tokenize",
]
