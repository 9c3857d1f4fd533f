"""The meaning of single bits, and how well they are used."""

from fewbits.analysis.bits._bit_report import bit_report
from fewbits.analysis.bits._columns import count_ones
from fewbits.analysis.bits._diagnose import diagnose_codes
from fewbits.analysis.bits._distances import DistanceHistogram
from fewbits.analysis.bits._distinct import distinct_bits
from fewbits.analysis.bits._extremes import Extremes, Side, extreme_items
from fewbits.analysis.bits._profile import ClassProfile, class_profile
from fewbits.analysis.bits._ranking import BitRanking, rank_bits
from fewbits.analysis.bits._report import BitReport

__all__ = [
    "BitRanking",
    "BitReport",
    "ClassProfile",
    "DistanceHistogram",
    "Extremes",
    "Side",
    "bit_report",
    "class_profile",
    "count_ones",
    "diagnose_codes",
    "distinct_bits",
    "extreme_items",
    "rank_bits",
]
