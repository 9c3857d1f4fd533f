"""Names for the meaning of bits."""

from fewbits.analysis.names._names import (
    Proposal,
    Proposals,
    Word,
    name_bits,
    propose_names,
)
from fewbits.analysis.names._words import FUNCTION_WORDS, tokenize

__all__ = [
    "FUNCTION_WORDS",
    "Proposal",
    "Proposals",
    "Word",
    "name_bits",
    "propose_names",
    "tokenize",
]
