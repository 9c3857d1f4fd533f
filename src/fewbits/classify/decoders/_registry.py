"""Short names of decoders."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from fewbits._checks import nearest
from fewbits.classify.decoders._base import Decoder
from fewbits.classify.decoders._bounded import Bounded
from fewbits.classify.decoders._exact import Exact
from fewbits.classify.decoders._nearest import Nearest
from fewbits.classify.decoders._orbgrand import Orbgrand
from fewbits.classify.decoders._soft import Soft
from fewbits.errors import ArgumentError

#: Decoders by their short names.
DECODERS: Mapping[str, type[Decoder]] = {
    "exact": Exact,
    "bounded": Bounded,
    "nearest": Nearest,
    "soft": Soft,
    "orbgrand": Orbgrand,
}


def decoder_of(decoder: Decoder | str, **parameters: Any) -> Decoder:
    """Return a decoder by its short name, or the one that is given.

    Parameters
    ----------
    decoder : Decoder or str
        A decoder, or one of `DECODERS`.
    **parameters
        Those of the decoder; only with a name.

    Returns
    -------
    Decoder

    Raises
    ------
    ArgumentError
        When there is no such decoder, it has no such parameter, or a value is out of
        range.

    Examples
    --------
    >>> decoder_of("bounded", radius=2)
    Bounded(radius=2)
    >>> decoder_of("soft")
    Soft()
    """
    if isinstance(decoder, Decoder):
        if parameters:
            raise ArgumentError(
                f"{next(iter(parameters))} belongs into {decoder!r}: give it there"
            )
        return decoder
    if not isinstance(decoder, str) or decoder not in DECODERS:
        raise ArgumentError(f"no decoder {decoder!r}; known are {', '.join(DECODERS)}")
    kind = DECODERS[decoder]
    known = [each.name for each in fields(kind)]
    for name in parameters:
        if name not in known:
            raise ArgumentError(
                f"decoder {decoder!r} has no parameter {name!r}"
                f"{nearest(name, known)}; known are {', '.join(known)}"
            )
    return kind(**parameters)
