"""A user's own files -> items: vectors, texts or images, with labels where given."""

from fewbits.inputs._checks import check_several, check_texts
from fewbits.inputs._input import Input
from fewbits.inputs._read import read

__all__ = ["Input", "check_several", "check_texts", "read"]
