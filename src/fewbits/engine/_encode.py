"""Codes of raw items."""

from dataclasses import dataclass
from typing import Any

from fewbits._repr import one_line
from fewbits._typing import CodeArray
from fewbits.bundle import Bundle


@dataclass(frozen=True, eq=False)
class EncodeRequest:
    """Ask for the codes of raw items.

    Parameters
    ----------
    items : array-like of shape (n, n_features), or sequence
        Vectors, or whatever the backbone of the bundle takes.
    """

    items: Any


@dataclass(frozen=True, eq=False)
class EncodeResponse:
    """Codes, and how long they are.

    Attributes
    ----------
    codes : ndarray of shape (n, ceil(n_bits / 8)), dtype uint8
    n_bits : int
    """

    codes: CodeArray
    n_bits: int

    def __repr__(self) -> str:
        return one_line(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; codes in hexadecimal."""
        codes = [code.tobytes().hex() for code in self.codes]
        return {"n_bits": self.n_bits, "codes": codes}


def encode(bundle: Bundle, request: EncodeRequest) -> EncodeResponse:
    """Return the codes of raw items.

    Parameters
    ----------
    bundle : Bundle
    request : EncodeRequest

    Returns
    -------
    EncodeResponse

    Raises
    ------
    ArgumentError, FeatureError
        When the items are not what the bundle takes.
    """
    return EncodeResponse(bundle.encode(request.items), bundle.encoder.n_bits)
