"""From a code, or scores of its bits, to the class it stands for."""

from fewbits.classify.decoders._bounded import decode_bounded
from fewbits.classify.decoders._exact import decode_exact
from fewbits.classify.decoders._nearest import decode_nearest
from fewbits.classify.decoders._orbgrand import decode_orbgrand
from fewbits.classify.decoders._soft import decode_soft

__all__ = [
    "decode_bounded",
    "decode_exact",
    "decode_nearest",
    "decode_orbgrand",
    "decode_soft",
]
