"""Filters: conditions on the user's columns and on bits of the codes."""

from fewbits.filters._matching import matching_rows

__all__ = ["matching_rows"]
