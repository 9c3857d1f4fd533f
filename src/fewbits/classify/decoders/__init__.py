"""From a code, or scores of its bits, to the class it stands for.

A decoder is a small object, of which one does for any codebook:

>>> from fewbits.classify import Codebook
>>> from fewbits.codes import pack
>>> book = Codebook(pack([[0, 0, 0, 0], [1, 1, 1, 1]]), n_bits=4)
>>> Bounded(radius=1).decode(book, pack([[0, 0, 0, 1], [0, 0, 1, 1]])).rows
array([ 0, -1])
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from fewbits._checks import nearest
from fewbits.classify.decoders._base import CodeDecoder, Decoder, ScoreDecoder
from fewbits.classify.decoders._codes import Bounded, Exact, Nearest, Soft
from fewbits.classify.decoders._orbgrand import Orbgrand
from fewbits.errors import ArgumentError

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
]

#: Decoders by their short names.
DECODERS: Mapping[str, type[Decoder]] = {
    "exact": Exact,
    "bounded": Bounded,
    "nearest": Nearest,
    "soft": Soft,
    "orbgrand": Orbgrand,
}


def decoder_of(decoder: Decoder | str, **parameters: Any) -> Decoder:
    """Return a decoder by its short name and parameters, or the one that is given."""
    if isinstance(decoder, Decoder):
        if parameters:
            raise ArgumentError(
                f"{next(iter(parameters))} belongs into {decoder!r}: give it there"
            )
        return decoder
    if not isinstance(decoder, str) or decoder not in DECODERS:
        raise ArgumentError(f"no decoder {decoder!r}; known: {', '.join(DECODERS)}")
    names = [parameter.name for parameter in fields(DECODERS[decoder])]
    for name in parameters:
        if name not in names:
            raise ArgumentError(
                f"decoder {decoder!r} has no parameter {name!r}"
                f"{nearest(name, names)}; known: {', '.join(names)}"
            )
    return DECODERS[decoder](**parameters)
