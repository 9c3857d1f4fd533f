"""Drawings, and the HTML pages that `fewbits.collection.pages` writes."""

from fewbits.report._bits_page import BitsPage
from fewbits.report._drawing import Drawing
from fewbits.report._taxonomy_page import write_taxonomy_page

__all__ = ["BitsPage", "Drawing", "write_taxonomy_page"]
