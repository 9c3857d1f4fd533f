"""From a code, or scores of its bits, to the class it stands for.

A decoder is a small object, of which one does for any codebook:

>>> from fewbits.classify import Codebook
>>> from fewbits.codes import pack
>>> book = Codebook(pack([[0, 0, 0, 0], [1, 1, 1, 1]]), n_bits=4)
>>> Bounded(radius=1).decode(book, pack([[0, 0, 0, 1], [0, 0, 1, 1]])).rows
array([ 0, -1])
"""

from fewbits.classify.decoders._base import CodeDecoder, Decoder, ScoreDecoder
from fewbits.classify.decoders._bounded import Bounded
from fewbits.classify.decoders._exact import Exact
from fewbits.classify.decoders._nearest import Nearest
from fewbits.classify.decoders._orbgrand import Orbgrand
from fewbits.classify.decoders._registry import DECODERS, decoder_of
from fewbits.classify.decoders._soft import Soft

__all__ = [
    "DECODERS",
    "Bounded",
    "CodeDecoder",
    "Decoder",
    "Exact",
    "Nearest",
    "Orbgrand",
    "ScoreDecoder",
    "Soft",
    "decoder_of",
]
