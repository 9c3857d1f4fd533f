"""Conditions about the user's own columns, and about bits -> which rows meet them."""

from fewbits.filters._matching import matching_rows

__all__ = ["matching_rows"]
