"""Codes -> insight: what their bits mean, and how well they are used."""

from fewbits.analysis._bits import bit_report
from fewbits.analysis._conditions import matching
from fewbits.analysis._distances import DistanceHistogram
from fewbits.analysis._extremes import Extremes, Side, extreme_items
from fewbits.analysis._maps import CodeMap, map_codes
from fewbits.analysis._names import (
    Proposal,
    Proposals,
    Word,
    name_bits,
    propose_names,
)
from fewbits.analysis._page import write_page
from fewbits.analysis._profile import ClassProfile, class_profile
from fewbits.analysis._ranking import BitRanking, rank_bits
from fewbits.analysis._report import BitReport
from fewbits.analysis._words import FUNCTION_WORDS, tokenize

__all__ = [
    "FUNCTION_WORDS",
    "BitRanking",
    "BitReport",
    "ClassProfile",
    "CodeMap",
    "DistanceHistogram",
    "Extremes",
    "Proposal",
    "Proposals",
    "Side",
    "Word",
    "bit_report",
    "class_profile",
    "extreme_items",
    "map_codes",
    "matching",
    "name_bits",
    "propose_names",
    "rank_bits",
    "tokenize",
    "write_page",
]
