"""A user's own files -> items: vectors, texts or images, with labels where given."""

from fewbits.inputs._read import Input, read

__all__ = ["Input", "read"]
