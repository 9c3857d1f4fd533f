"""The meaning of single bits, and how well they are used."""

from fewbits.analysis.bits._alike import count_ones as count_ones
from fewbits.analysis.bits._alike import distinct_bits as distinct_bits
from fewbits.analysis.bits._attributes import (
    BitRanking,
    ClassProfile,
    Extremes,
    Side,
    class_profile,
    extreme_items,
    rank_bits,
)
from fewbits.analysis.bits._report import BitReport, DistanceHistogram, bit_report
from fewbits.analysis.bits._report import diagnose_codes as diagnose_codes

__all__ = [
    "BitRanking",
    "BitReport",
    "ClassProfile",
    "DistanceHistogram",
    "Extremes",
    "Side",
    "bit_report",
    "class_profile",
    "extreme_items",
    "rank_bits",
]
