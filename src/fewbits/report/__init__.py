"""Figures and HTML pages for the results of `fewbits.analysis`."""

from fewbits.report._drawing import Drawing
from fewbits.report._page import write_page
from fewbits.report._taxonomy_page import write_taxonomy_page
from fewbits.report._trees import dendrogram

__all__ = ["Drawing", "dendrogram", "write_page", "write_taxonomy_page"]
